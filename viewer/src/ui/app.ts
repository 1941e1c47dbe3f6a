// What views and panels know of the page: the runs, the state, and how to move about. It knows none of them.
import { DARK, LIGHT, type Theme } from "../paint/theme";
import type { Run, Stretch } from "../run/run";
import { type Waits, WAITS } from "../run/stalls";
import { hashOf, parseHash } from "./hash";
import { durationText } from "./numbers";
import { Steps } from "./steps";
import { entered, type Left } from "./other_run";
import { type Change, EDGE, type Focus, focusOf, type Selection, type State, Store, type ViewId } from "./state";
import { Tip } from "./tip";

// What puts something else under a pointer that rests.
const MOVES: readonly (keyof State)[] = ["view", "lower", "run", "window", "selection"];
const ADDRESS_DELAY = 150; // ms
const LEAST_WINDOW = 10; // cycles
const DETAILS = "page.details"; // the option that says whether the panel at the side is there
const WAITS_OPTION = "page.waits";
const NARROW = matchMedia("(max-width: 900px)"); // as in style.css: the panel lies over the panes, and only for whoever asks

export class App {
  readonly store: Store;
  readonly tip = new Tip(document.body);
  theme: Theme;
  // What came with a stretch of time to show: from the address, or with a run that one comes back to.
  private linked: Selection | null;
  private left: Left | null = null;
  private address = 0; // timer
  private readonly steps = new Steps();
  private known: { run: Run; selection: Selection | null; focus: Focus } | null = null;

  /** `viewIds`: the views that the page has, in order. */
  constructor(
    readonly runs: readonly Run[],
    readonly viewIds: readonly ViewId[],
  ) {
    this.store = new Store(this.stateOf(location.hash));
    this.linked = this.store.state.selection;
    this.theme = matchMedia("(prefers-color-scheme: dark)").matches ? DARK : LIGHT;
    this.markTheme();
    NARROW.addEventListener("change", () => this.store.refresh());
    this.store.listen((change) => {
      if (MOVES.some((key) => change.has(key))) this.tip.hide();
      this.writeAddress(change);
    });
    addEventListener("hashchange", ({ newURL }) => {
      clearTimeout(this.address);
      const state = this.stateOf(new URL(newURL).hash); // location may have been written since
      this.linked = state.selection;
      this.left = null;
      this.steps.arrive();
      this.store.set(state);
    });
  }

  /** The run that the views show. */
  get run(): Run {
    return this.runs[this.store.state.run] as Run;
  }

  /** Whether waits are told by the resource at the end of their chain of causes, as in the report, or by the neighbour's. */
  get waits(): Waits {
    const chosen = this.store.option(WAITS_OPTION, "root");
    return WAITS.find((waits) => waits === chosen) ?? "root";
  }

  toggleWaits(): void {
    this.store.setOption(WAITS_OPTION, this.waits === "root" ? "direct" : "root");
  }

  get focus(): Focus {
    const { selection } = this.store.state;
    if (this.known?.run !== this.run || this.known.selection !== selection) this.known = { run: this.run, selection, focus: focusOf(this.run, selection) };
    return this.known.focus;
  }

  select(selection: Selection | null): void {
    this.store.set({ selection });
  }

  /** Selects what the user has before them: nothing moves to bring more of it into sight. */
  selectInSight(selection: Selection | null): void {
    this.linked = selection;
    this.select(selection);
  }

  /** Shows the other run: as it was left unless another layer was selected since, else as whole as this one and with its layer. */
  showRun(index: number): void {
    const { run, selection, window } = this.store.state;
    if (!this.runs[index] || index === run) return;
    const now = entered(this.runs, this.store.state, this.left, index);
    this.left = { run, selection, window, shown: now.selection };
    if (now.isBack) this.linked = now.selection;
    this.store.set({ run: index, window: now.window, measure: null, selection: now.selection });
  }

  toggleLower(): void {
    const { view, lower } = this.store.state;
    this.store.set({ lower: lower ? "" : view === "layers" ? "timeline" : "layers" });
  }

  get hasDetails(): boolean {
    return this.store.option(DETAILS, NARROW.matches ? "none" : "shown") === "shown";
  }

  get isNarrow(): boolean {
    return NARROW.matches;
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

  /** Moves so that the stretch of what is selected is in sight, without zooming in; not where a link says what to show. */
  reveal({ from, to }: Stretch): void {
    const { window, selection } = this.store.state;
    if (selection && selection === this.linked) return;
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
    return durationText(cycles, this.run.device.clockHz, this.store.state.unit);
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.markTheme();
    this.store.refresh();
  }

  private markTheme(): void {
    document.documentElement.classList.toggle("dark", this.theme.dark);
  }

  // Not at each frame: browsers stop a page that writes its address too often.
  private writeAddress(change: Change): void {
    this.steps.add(change);
    clearTimeout(this.address);
    this.address = window.setTimeout(() => this.steps.write(hashOf(this.store.state)), ADDRESS_DELAY);
  }

  private stateOf(hash: string): State {
    const byDefault: Omit<State, "window"> = { view: this.runs.length > 1 ? "compare" : "timeline", lower: "layers", run: 0, selection: null, measure: null, unit: "cycles", options: {} };
    return parseHash(hash, byDefault, this.runs.map((run) => run.makespan));
  }
}
