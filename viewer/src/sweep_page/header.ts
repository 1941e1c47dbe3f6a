// Title, what the sweep holds, and the page's buttons.
import { button, element } from "../ui/dom";
import { count } from "../ui/numbers";
import type { App } from "./app";
import type { Keys } from "./keys";
import type { Change } from "./state";

export class Header {
  readonly root: HTMLElement;
  private readonly shown = element("b");

  constructor(
    private readonly app: App,
    keys: Keys,
  ) {
    const { sweep } = app;
    const named = (text: string, title: string, act: () => void) => {
      const node = button(text, title, act);
      node.setAttribute("aria-label", title);
      return node;
    };
    const tools = element("div", { className: "tools" },
      named("◐", "Dark or light", () => app.toggleTheme()),
      named("◨", "Show or hide the panel at the side (Q)", () => app.toggleDetails()),
      named("?", "Show the keys (?)", () => keys.showSheet()));
    const figures = element("p", { className: "figures" }, element("span", {}, this.shown, ` of ${count(sweep.points)} points`));
    const add = (figure: string, label: string) => figures.append(element("span", {}, element("b", { textContent: figure }), ` ${label}`));
    const models = sweep.texts("model");
    if (models) add(count(models.distinct), models.distinct === 1 ? "network" : "networks");
    const varied = sweep.columns.filter(({ role, distinct }) => role === "vary" && distinct > 1).map(({ name }) => name);
    if (varied.length) add(varied.join(", "), "varied");
    add(`heddle ${sweep.version}`, "");
    this.root = element("header", {}, element("h1", { textContent: sweep.title, title: sweep.title }), figures, tools);
    document.title = `${sweep.title} – heddle sweep`;
  }

  changed(change: Change): void {
    if (change.has("filters")) this.shown.textContent = count(this.app.visible.points.length);
  }
}
