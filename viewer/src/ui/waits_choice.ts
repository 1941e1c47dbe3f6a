// The button that says whether waits are told by their root or by the neighbour that ended them, in every bar that shows some.
import type { App } from "./app";
import { button } from "./dom";

const TITLE = "What waits are named after: the resource at the end of their chain of causes, as in the report, or the neighbour that ended them (Z)";

export class WaitsChoice {
  readonly root: HTMLButtonElement;

  constructor(private readonly app: App) {
    this.root = button("", TITLE, () => app.toggleWaits());
    this.mark();
  }

  mark(): void {
    const text = this.app.waits === "root" ? "Waits: followed back" : "Waits: direct";
    if (this.root.textContent === text) return; // each change of the window asks, and to write it lays out the page
    this.root.textContent = text;
    this.root.setAttribute("aria-pressed", String(this.app.waits === "direct"));
  }
}
