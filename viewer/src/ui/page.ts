// The page: header, two panes with a view each, the details of the selection, keys. Views are made when they are first shown.
import type { Run } from "../run/run";
import { App } from "./app";
import { Brief } from "./brief";
import { namingOf } from "./caption";
import { Details } from "./details";
import { element } from "./dom";
import { Header } from "./header";
import type { KeyedView } from "./key_board";
import { Keys } from "./keys";
import { Pane, type PaneParts } from "./pane";
import { type Change, EVERYTHING, type Selection, type State, TITLES, type ViewId, VIEWS } from "./state";
import type { View } from "./view";

export type ViewMakers = Readonly<Record<ViewId, (app: App) => View>>;

export class Page {
  readonly app: App;
  private readonly views = new Map<ViewId, View>();
  private readonly panes: readonly Pane<ViewId, Selection, keyof State>[];
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
    const parts: PaneParts<ViewId, Selection, keyof State> = { titles: TITLES, viewOf, naming: (id: ViewId) => namingOf(app, id), everything: EVERYTHING };
    this.panes = (["view", "lower"] as const).map((place) => new Pane<ViewId, Selection, keyof State>(app, place, parts));
    const keys = new Keys(app, { titles: TITLES, shown: () => this.shown, all: () => app.viewIds.map(viewOf) });
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
  private get shown(): KeyedView<ViewId>[] {
    return this.panes.flatMap((pane) => (pane.shown ? [pane.shown] : []));
  }

  private changed(change: Change): void {
    this.panes.forEach((pane) => pane.changed(change));
    this.header.changed(change);
    this.details.changed(change);
    this.brief.show(this.details.root, this.app.store.state.selection !== null);
  }
}
