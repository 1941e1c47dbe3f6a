// The page of a sweep: header, filters, two panes with a view each, the details of the selection, keys.
import { Brief } from "../ui/brief";
import { element } from "../ui/dom";
import type { KeyedView } from "../ui/key_board";
import { Pane, type PaneParts } from "../ui/pane";
import type { Sweep } from "../sweep/sweep";
import { App } from "./app";
import { Details } from "./details";
import { FilterBar } from "./filter_bar";
import { Header } from "./header";
import { Keys } from "./keys";
import type { View, CanvasView } from "./parts";
import { type Change, EVERYTHING, type State, TITLES, type ViewId } from "./state";

export type AnyView = View | CanvasView;
export type ViewMakers = Readonly<Record<ViewId, (app: App) => AnyView>>;

export class Page {
  readonly app: App;
  private readonly views = new Map<ViewId, AnyView>();
  private readonly panes: readonly Pane<ViewId, number, keyof State>[];
  private readonly header: Header;
  private readonly filters: FilterBar;
  private readonly details: Details;
  private readonly brief: Brief;

  constructor(
    sweep: Sweep,
    private readonly makers: ViewMakers,
    host: HTMLElement,
  ) {
    const app = (this.app = new App(sweep));
    const viewOf = (id: ViewId) => this.viewOf(id);
    const parts: PaneParts<ViewId, number, keyof State> = {
      titles: TITLES, viewOf, everything: EVERYTHING,
      naming: (id) => ({ theme: app.theme, caption: `${sweep.title}: ${TITLES[id].toLowerCase()}; ${this.filters.words}`, name: `${sweep.title}-${id}` }),
    };
    this.panes = (["view", "lower"] as const).map((place) => new Pane<ViewId, number, keyof State>(app, place, parts));
    const keys = new Keys(app, { titles: TITLES, shown: () => this.shown, all: () => app.viewIds.map(viewOf) });
    this.header = new Header(app, keys);
    this.filters = new FilterBar(app);
    this.details = new Details(app);
    this.brief = new Brief(app);
    const panes = element("div", { className: "panes" }, ...this.panes.map((pane) => pane.root));
    host.replaceChildren(this.header.root, this.filters.root, element("main", {}, panes, this.details.root), this.brief.root);
    app.store.listen((change) => this.changed(change));
    this.changed(EVERYTHING);
  }

  viewOf(id: ViewId): AnyView {
    let view = this.views.get(id);
    if (!view) this.views.set(id, (view = this.makers[id](this.app)));
    return view;
  }

  /** Views on screen, upper first. */
  private get shown(): KeyedView<ViewId>[] {
    return this.panes.flatMap((pane) => (pane.shown ? [pane.shown] : []));
  }

  private changed(change: Change): void {
    this.filters.changed(change);
    this.panes.forEach((pane) => pane.changed(change));
    this.header.changed(change);
    this.details.changed(change);
    this.brief.show(this.details.root, this.app.selection >= 0);
  }
}
