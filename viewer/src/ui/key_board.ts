// Keys of a page: those of the page itself work everywhere; those of a view where it is on screen: first those of the pane that was
// clicked last (it has the focus), then the upper pane's.
import type { KeyBinding } from "./base_view";
import { element } from "./dom";

export interface KeyedView<Id extends string> {
  readonly id: Id;
  readonly root: HTMLElement;
  readonly keys: readonly KeyBinding[];
}

export interface Entry {
  shown: string;
  does: string;
}

/** What a page has for its keys. */
export interface Keyed<Id extends string> {
  titles: Readonly<Record<Id, string>>;
  /** On screen, upper first. */
  shown(): readonly KeyedView<Id>[];
  /** All that the page has, in its order. */
  all(): readonly KeyedView<Id>[];
}

export abstract class KeyBoard<Id extends string> {
  private walksChoice = false;
  private readonly sheet = element("dialog", { id: "keys", aria: { label: "Keys" } });

  constructor(private readonly page: Keyed<Id>) {
    document.body.append(this.sheet);
    addEventListener("keydown", (e) => this.down(e));
    addEventListener("pointerdown", () => { this.walksChoice = false; });
    addEventListener("change", (e) => this.letGo(e.target));
  }

  /** Of the page itself. */
  protected abstract get own(): KeyBinding[];
  /** For the sheet: what is no binding, and what the mouse does. */
  protected abstract get others(): { keys: Entry[]; mouse: Entry[] };

  /** A key that is held down rather than struck: whether it was taken. */
  protected holds(_key: string): boolean {
    return false;
  }

  showSheet(): void {
    const list = (entries: readonly Entry[]) => element("dl", {}, ...entries.flatMap(({ shown, does }) => [element("dt", { textContent: shown }), element("dd", { textContent: does })]));
    // Those on screen first; the others' keys work once they are.
    const shown = this.page.shown();
    const all = [...shown, ...this.page.all().filter((view) => !shown.includes(view))].filter((view) => view.keys.length);
    const views = all.flatMap((view) => [element("h3", { textContent: `${this.page.titles[view.id]}${shown.includes(view) ? "" : " (when it is shown)"}` }), list(view.keys)]);
    const close = element("button", { type: "button", textContent: "Close", onclick: () => this.sheet.close() });
    const { keys, mouse } = this.others;
    this.sheet.replaceChildren(element("h2", { textContent: "Keys" }), list([...keys, ...this.own]), ...views, element("h3", { textContent: "Mouse" }), list(mouse), close);
    this.sheet.showModal();
  }

  // A menu keeps the focus after one has chosen from it, and with it the keys; only who walks it by keys goes on there, until Escape.
  private letGo(target: EventTarget | null): void {
    if (target instanceof HTMLSelectElement && !this.walksChoice) target.blur();
  }

  private down(e: KeyboardEvent): void {
    this.walksChoice = e.key !== "Enter" && e.key !== " ";
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
    const target = e.target as HTMLElement;
    if (target instanceof HTMLSelectElement && e.key === "Escape") target.blur();
    if (e.key === "Escape" && closeMenus()) {
      e.preventDefault();
      return;
    }
    if (target.closest("input, select, textarea, dialog")) return;
    const key = e.key.toLowerCase();
    if (!this.holds(key)) {
      // Enter and the arrows belong to a button or a row that has the focus.
      if (target.closest("button, summary, tr, a") && (key === "enter" || key === " ")) return;
      const views = this.page.shown();
      const first = views.filter((view) => view.root.contains(target));
      const binding = [...first, ...views].flatMap((view) => view.keys).concat(this.own).find((b) => b.key === key);
      if (!binding) return;
      binding.run();
    }
    e.preventDefault();
  }
}

/** Whether any menu was open; the focus goes back to its title. */
function closeMenus(): boolean {
  const open = [...document.querySelectorAll<HTMLDetailsElement>("details.menu[open]")];
  for (const menu of open) {
    menu.open = false;
    menu.querySelector("summary")?.focus();
  }
  return open.length > 0;
}
