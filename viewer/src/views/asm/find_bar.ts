// The field that looks for text in the listing, with its count and the buttons to the next and the previous line.
import { button, element } from "../../ui/dom";

export interface FindActions {
  look(query: string): void;
  go(by: 1 | -1): void;
}

const HOW = "Text, /a regular expression/, or the number of a line. Empty: the arrows go through the lines of what is selected.";

export class FindBar {
  readonly root: HTMLElement;
  private readonly field: HTMLInputElement;
  // Spoken only: the picture shows it.
  private readonly said = element("span", { className: "asm-said", aria: { live: "polite" } });
  private readonly buttons: HTMLButtonElement[];

  constructor(actions: FindActions) {
    this.field = element("input", { type: "search", className: "asm-find", placeholder: "Find, /regex/, :line", title: HOW, aria: { label: "Find in asm" }, oninput: () => actions.look(this.field.value) });
    this.field.addEventListener("keydown", (e) => {
      if (e.key === "Enter") actions.go(e.shiftKey ? -1 : 1);
      else if (e.key === "Escape") this.field.blur();
      else return;
      e.preventDefault();
    });
    this.buttons = [button("↑", "Previous line found (Shift+Enter)", () => actions.go(-1)), button("↓", "Next line found (Enter)", () => actions.go(1))];
    this.root = element("div", { className: "asm-bar", aria: { role: "search", label: "Find in asm" } }, this.said, this.field, ...this.buttons);
  }

  focus(): void {
    this.field.focus();
    this.field.select();
  }

  show(query: string, said: string, isWrong: boolean, canStep: boolean): void {
    if (this.field.value !== query) this.field.value = query;
    if (this.said.textContent !== said) this.said.textContent = said;
    this.field.setAttribute("aria-invalid", String(isWrong));
    for (const node of this.buttons) node.disabled = !canStep;
  }
}
