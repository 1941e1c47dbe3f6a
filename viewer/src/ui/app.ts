// The page: header, two panes with a view each, the selection's details, keys. Views know the App; the App knows views only as such.
import { DARK, LIGHT, type Theme } from "../paint/theme";
import type { Run, Stretch } from "../run/run";
import { Details } from "./details";
import { element } from "./dom";
import { hashOf, parseHash } from "./hash";
import { Header } from "./header";
import { Keys } from "./keys";
import { Pane } from "./pane";
import { type Change, type Focus, focusOf, type Selection, type State, Store, type ViewId, VIEWS } from "./state";
import { durationText } from "./time_axis";
import { Tip } from "./tip";
import type { View } from "./view";

export type ViewMaker = (app: App) => View;

const ALL: Change = new Set<keyof State>(["view", "lower", "run", "window", "selection", "measure", "unit", "options"]);
const ADDRESS_DELAY = 150; // ms
const LEAST_WINDOW = 10; // cycles
const DETAILS = "page.details"; // the option that says whether the panel at the side is there
const EDGE = 0.01; // of the window, that may show what lies before the run and behind it

export class App {
  readonly store: Store;
  readonly tip: Tip;
  readonly keys: Keys;
  theme: Theme;
  /** What the address selected: the address says as well which stretch of time to show, so that views leave it as it is. */
  linked: Selection | null;
  private readonly views = new Map<ViewId, View>();
  private readonly panes: [Pane, Pane];
  private address = 0; // timer
  private known: { run: Run; selection: Selection | null; focus: Focus } | null = null;

  constructor(
    readonly runs: readonly Run[],
    private readonly makers: Readonly<Partial<Record<ViewId, ViewMaker>>>,
    readonly host: HTMLElement,
  ) {
    this.theme = matchMedia("(prefers-color-scheme: dark)").matches ? DARK : LIGHT;
    this.store = new Store(this.stateOf(location.hash));
    this.linked = this.store.state.selection;
    this.tip = new Tip(document.body);
    this.panes = [new Pane(this, "view"), new Pane(this, "lower")];
    const header = new Header(this);
    const details = new Details(this);
    this.keys = new Keys(this);
    host.replaceChildren(header.root, element("main", {}, element("div", { className: "panes" }, this.panes[0].root, this.panes[1].root), details.root));
    this.setTheme(this.theme);
    this.store.listen((change) => {
      this.panes.forEach((pane) => pane.changed(change));
      header.changed(change);
      details.changed(change);
      this.writeAddress();
    });
    addEventListener("hashchange", () => {
      const state = this.stateOf(location.hash);
      this.linked = state.selection;
      this.store.set(state);
    });
    this.panes.forEach((pane) => pane.changed(ALL));
    header.changed(ALL);
    details.changed(ALL);
  }

  /** The run that the views show. */
  get run(): Run {
    return this.runs[this.store.state.run] as Run;
  }

  get focus(): Focus {
    const { selection } = this.store.state;
    if (this.known?.run !== this.run || this.known.selection !== selection) this.known = { run: this.run, selection, focus: focusOf(this.run, selection) };
    return this.known.focus;
  }

  /** Views that this page has, in order. */
  get viewIds(): ViewId[] {
    return VIEWS.filter((id) => this.makers[id] && (id !== "compare" || this.runs.length > 1));
  }

  viewOf(id: ViewId): View {
    let view = this.views.get(id);
    if (!view) {
      const maker = this.makers[id];
      if (!maker) throw new Error(`no view ${id}`);
      this.views.set(id, (view = maker(this)));
    }
    return view;
  }

  /** Views on screen, upper first. */
  get shown(): View[] {
    return this.panes.flatMap((pane) => (pane.shown ? [pane.shown] : []));
  }

  select(selection: Selection | null): void {
    this.store.set({ selection });
  }

  /** Shows the other run: as whole as this one was, with the layer of the same name selected. */
  showRun(index: number): void {
    const { state } = this.store;
    const other = this.runs[index];
    if (!other || index === state.run) return;
    const name = this.run.layers[this.focus.layer]?.name;
    const layer = other.layers.findIndex((l) => l.name === name);
    const { from, to } = state.window;
    const window = from <= 0 && to >= this.run.makespan ? { from: 0, to: other.makespan } : from < other.makespan ? state.window : { from: Math.max(0, other.makespan - (to - from)), to: other.makespan };
    this.store.set({ run: index, window, measure: null, selection: layer >= 0 ? { kind: "layer", layer } : null });
  }

  toggleLower(): void {
    const { view, lower } = this.store.state;
    this.store.set({ lower: lower ? "" : view === "layers" ? "timeline" : "layers" });
  }

  get hasDetails(): boolean {
    return this.store.option(DETAILS, "shown") === "shown";
  }

  toggleDetails(): void {
    this.store.setOption(DETAILS, this.hasDetails ? "none" : "shown");
  }

  /** Brings a view on screen, into the upper pane unless it is there already. */
  open(id: ViewId): void {
    const { view, lower } = this.store.state;
    if (id === view || id === lower) return;
    this.store.set({ view: id });
  }

  /** Shows cycles from .. to, held within the run. */
  show(from: number, to: number): void {
    const { makespan } = this.run;
    const span = Math.min(Math.max(LEAST_WINDOW, to - from), makespan * (1 + 2 * EDGE));
    const margin = EDGE * span;
    const first = Math.max(-margin, Math.min(from, makespan + margin - span));
    this.store.set({ window: { from: first, to: first + span } });
  }

  /** Shows a stretch with some room at its sides. */
  showStretch({ from, to }: Stretch): void {
    const room = Math.max(LEAST_WINDOW, (to - from) * 0.08);
    this.show(from - room, to + room);
  }

  /** Moves so that the stretch is in sight, without zooming in. */
  reveal({ from, to }: Stretch): void {
    const { window } = this.store.state;
    if (from >= window.from && to <= window.to) return;
    const span = Math.max(window.to - window.from, (to - from) * 1.2);
    const middle = (from + to) / 2;
    this.show(middle - span / 2, middle + span / 2);
  }

  zoom(factor: number, about = (this.store.state.window.from + this.store.state.window.to) / 2): void {
    const { window } = this.store.state;
    const span = window.to - window.from;
    const wanted = Math.min(Math.max(LEAST_WINDOW, span * factor), this.run.makespan * (1 + 2 * EDGE));
    const share = (about - window.from) / span;
    this.show(about - wanted * share, about + wanted * (1 - share));
  }

  pan(cycles: number): void {
    const { window } = this.store.state;
    this.show(window.from + cycles, window.to + cycles);
  }

  duration(cycles: number): string {
    return durationText(this.run, cycles, this.store.state.unit);
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    document.documentElement.classList.toggle("dark", theme.dark);
    this.shown.forEach((view) => view.changed(ALL));
  }

  // Not each frame: browsers stop a page that writes its address too often.
  private writeAddress(): void {
    clearTimeout(this.address);
    this.address = window.setTimeout(() => history.replaceState(null, "", hashOf(this.store.state)), ADDRESS_DELAY);
  }

  private stateOf(hash: string): State {
    const byDefault: Omit<State, "window"> = { view: this.runs.length > 1 ? "compare" : "timeline", lower: "layers", run: 0, selection: null, measure: null, unit: "cycles", options: {} };
    return parseHash(hash, byDefault, this.runs.map((run) => run.makespan));
  }
}
