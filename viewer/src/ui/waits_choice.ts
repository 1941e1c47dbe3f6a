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
    this.root.textContent = this.app.waits === "root" ? "Waits: followed back" : "Waits: direct";
    this.root.setAttribute("aria-pressed", String(this.app.waits === "direct"));
  }
}
