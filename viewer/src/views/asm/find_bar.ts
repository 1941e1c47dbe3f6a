// The field that looks for text in the listing, with its count and the buttons to the next and the previous line.
import { button, element } from "../../ui/dom";
import { count } from "../../ui/numbers";

export interface FindActions {
  look(query: string): void;
  go(by: 1 | -1): void;
}

/** `at` is -1 before one went to the first. */
export function hitsText(at: number, found: number): string {
  if (!found) return "not found";
  const lines = `${count(found)} ${found === 1 ? "line" : "lines"}`;
  return at < 0 ? `found in ${lines}` : `found: ${count(at + 1)} of ${lines}`;
}

export class FindBar {
  readonly root: HTMLElement;
  private readonly field: HTMLInputElement;
  // Spoken only: the picture shows it.
  private readonly hits = element("span", { className: "asm-hits", aria: { live: "polite" } });
  private readonly buttons: HTMLButtonElement[];

  constructor(actions: FindActions) {
    this.field = element("input", { type: "search", className: "asm-find", placeholder: "Find in asm", aria: { label: "Find in asm" }, oninput: () => actions.look(this.field.value) });
    this.field.addEventListener("keydown", (e) => {
      if (e.key === "Enter") actions.go(e.shiftKey ? -1 : 1);
      else if (e.key === "Escape") this.field.blur();
      else return;
      e.preventDefault();
    });
    this.buttons = [button("↑", "Previous line found (Shift+Enter)", () => actions.go(-1)), button("↓", "Next line found (Enter)", () => actions.go(1))];
    this.root = element("div", { className: "asm-bar", aria: { role: "search", label: "Find in asm" } }, this.hits, this.field, ...this.buttons);
  }

  focus(): void {
    this.field.focus();
    this.field.select();
  }

  /** `at` is the place among the lines found, or -1 before one went to the first. */
  show(query: string, at: number, found: number): void {
    if (this.field.value !== query) this.field.value = query;
    this.hits.textContent = query ? hitsText(at, found) : "";
    for (const node of this.buttons) node.disabled = !found;
  }
}
