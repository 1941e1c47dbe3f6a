// Above the comparison: the selected layer in both runs with the way to its slices in either, and what of the view shows.
import { button, element } from "../../ui/dom";
import { amountText, boundText, deltaText, type Difference, isThinned, type LayerChange, onlyText, ratioText, titleOf } from "./difference";
import { thinnedText } from "./sparsity";

export class CompareBar {
  private readonly name = element("b");
  private readonly text = element("span", { className: "faint" });
  private readonly buttons: [HTMLButtonElement, HTMLButtonElement];
  readonly root: HTMLElement;

  constructor(showIn: (side: 0 | 1) => void, controls: readonly HTMLElement[]) {
    this.buttons = [button("Show in A", "The layer in the timeline of A ([)", () => showIn(0)), button("Show in B", "The layer in the timeline of B (])", () => showIn(1))];
    this.root = element("div", { className: "compare-bar" }, element("span", { className: "what", aria: { role: "status" } }, this.name, this.text), ...this.buttons, ...controls);
  }

  show(difference: Difference, change: LayerChange | null, unit: "cycles" | "time"): void {
    this.name.textContent = change ? titleOf(change) : "";
    this.text.textContent = change ? textOf(difference, change, unit) : "Select a layer to find it in either run.";
    (this.root.firstElementChild as HTMLElement).title = change ? `${this.name.textContent}: ${this.text.textContent}` : "";
    for (const node of this.buttons) node.hidden = change === null;
    this.buttons[0].disabled = change?.a == null;
    this.buttons[1].disabled = change?.b == null;
  }
}

function textOf(difference: Difference, change: LayerChange, unit: "cycles" | "time"): string {
  const { a, b, before, after, delta } = change;
  const of = (amount: number) => amountText(difference, amount, unit);
  if (!a || !b) return `${onlyText(difference, change)}: ${of(before + after)}, bound by ${boundText(a ?? b)}`;
  const bound = a.boundBy === b.boundBy ? boundText(a) : `${boundText(a)} → ${boundText(b)}`;
  return `A ${of(before)} → B ${of(after)}: ${delta === 0 ? "no change" : `${deltaText(difference, delta, unit)}, ${ratioText(before, after)} as fast`}, bound by ${bound}${isThinned(change) ? `; ${thinnedText(change)}` : ""}`;
}
