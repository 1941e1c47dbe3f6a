// What the views of a sweep are made of.
import type { Column } from "../sweep/sweep";
import { axesOf, titleOf } from "../sweep/figures";
import { CanvasViewOf, type TableOf, ViewOf } from "../ui/base_view";
import { button, element } from "../ui/dom";
import type { App } from "./app";
import type { Change, ViewId } from "./state";

export type Table = TableOf<number>;
export abstract class View extends ViewOf<App, ViewId, Change, number> {}
export abstract class CanvasView extends CanvasViewOf<App, ViewId, Change, number> {}

/** A picture with choices above it that say what it shows. */
export abstract class ChoiceView extends CanvasView {
  protected choices: readonly Choice[] = [];

  override tools(): HTMLElement[] {
    return this.choices.map(({ root }) => root);
  }

  override changed(_change: Change): void {
    for (const choice of this.choices) choice.follow();
    this.redraw();
  }
}

export interface Choice {
  root: HTMLElement;
  /** Puts what the state says into it. */
  follow(): void;
}

/** A menu that sets an option: [value, text]. */
export function choiceOf(app: App, label: string, options: readonly (readonly [string, string])[], option: string, value: () => string): Choice {
  const select = element("select", { title: label, aria: { label } }, ...options.map(([name, text]) => element("option", { value: name, textContent: text })));
  select.addEventListener("change", () => app.store.setOption(option, select.value));
  const root = element("label", { className: "choice-of" }, element("span", { className: "faint", textContent: label }), select);
  return { root, follow: () => { select.value = value(); } };
}

export const columnOptions = (columns: readonly Column[]): (readonly [string, string])[] => columns.map((column) => [column.name, titleOf(column)]);
export const axisOptions = (app: App) => columnOptions(axesOf(app.sweep));

/** A button that is pressed or not, and an option behind it. */
export function switchOf(app: App, text: string, title: string, option: string): Choice & { readonly isOn: boolean } {
  const isOn = () => app.store.option(option, "") === "on";
  const root = button(text, title, () => app.store.setOption(option, isOn() ? "" : "on"));
  return { root, follow: () => root.setAttribute("aria-pressed", String(isOn())), get isOn() { return isOn(); } };
}
