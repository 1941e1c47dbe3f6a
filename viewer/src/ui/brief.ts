// Where the window is narrow, the panel at the side lies over the panes and comes when it is asked for: until then a line at the foot says
// what is selected.
import { button, element } from "./dom";

const MOST_FACTS = 4;

export class Brief {
  readonly root = element("div", { id: "brief", aria: { role: "status", label: "What is selected, in short" } });
  private readonly text = element("span");

  constructor(private readonly app: { readonly hasDetails: boolean; readonly isNarrow: boolean; toggleDetails(): void }) {
    this.root.append(this.text, button("More (Q)", "Show the panel at the side (Q)", () => app.toggleDetails()));
  }

  /** `details`: the panel, whose first facts the line repeats. */
  show(details: HTMLElement, hasSelection: boolean): void {
    const { app } = this;
    this.root.hidden = app.hasDetails || !app.isNarrow || !hasSelection;
    if (this.root.hidden) return;
    const head = details.querySelector("h2")?.textContent ?? "";
    const terms = [...details.querySelectorAll("dl dt")].slice(0, MOST_FACTS);
    this.text.replaceChildren(element("b", { textContent: head }), ...terms.map((term) => `; ${term.textContent ?? ""} ${term.nextElementSibling?.textContent ?? ""}`));
  }
}
