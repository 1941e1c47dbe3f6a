// The page: header, two panes with a view each, the details of the selection, keys. Views are made when they are first shown.
import type { Run } from "../run/run";
import { App } from "./app";
import { Brief } from "./brief";
import { Details } from "./details";
import { element } from "./dom";
import { Header } from "./header";
import { Keys } from "./keys";
import { Pane } from "./pane";
import { type Change, EVERYTHING, type ViewId, VIEWS } from "./state";
import type { View } from "./view";

export type ViewMakers = Readonly<Record<ViewId, (app: App) => View>>;

export class Page {
  readonly app: App;
  private readonly views = new Map<ViewId, View>();
  private readonly panes: [Pane, Pane];
  private readonly header: Header;
  private readonly details: Details;
  private readonly brief: Brief;

  constructor(
    runs: readonly Run[],
    private readonly makers: ViewMakers,
    host: HTMLElement,
  ) {
    const app = (this.app = new App(runs, VIEWS.filter((id) => id !== "compare" || runs.length > 1)));
    const viewOf = (id: ViewId) => this.viewOf(id);
    this.panes = [new Pane(app, "view", viewOf), new Pane(app, "lower", viewOf)];
    const keys = new Keys(app, () => this.shown, viewOf);
    this.header = new Header(app, keys);
    this.details = new Details(app);
    this.brief = new Brief(app);
    const panes = element("div", { className: "panes" }, ...this.panes.map((pane) => pane.root));
    host.replaceChildren(this.header.root, element("main", {}, panes, this.details.root), this.brief.root);
    app.store.listen((change) => this.changed(change));
    this.changed(EVERYTHING);
  }

  viewOf(id: ViewId): View {
    let view = this.views.get(id);
    if (!view) this.views.set(id, (view = this.makers[id](this.app)));
    return view;
  }

  /** Views on screen, upper first. */
  private get shown(): View[] {
    return this.panes.flatMap((pane) => (pane.shown ? [pane.shown] : []));
  }

  private changed(change: Change): void {
    this.panes.forEach((pane) => pane.changed(change));
    this.header.changed(change);
    this.details.changed(change);
    this.brief.show(this.details.root);
  }
}
