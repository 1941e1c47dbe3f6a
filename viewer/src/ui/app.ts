// What views and panels know of the page: the runs, the state, and how to move about. It knows none of them.
import type { Run, Stretch } from "../run/run";
import { type Waits, WAITS } from "../run/stalls";
import { hashOf, parseHash } from "./hash";
import { durationText } from "./numbers";
import { entered, type Left } from "./other_run";
import { Stage } from "./stage";
import { EDGE, type Focus, focusOf, type Selection, type State, type ViewId } from "./state";

const ADDRESS_STEPS: readonly (keyof State)[] = ["view", "lower", "run", "selection", "window", "measure"];
const SHIFTS: readonly (keyof State)[] = ["view", "lower", "run", "window", "selection"];
const LEAST_WINDOW = 10; // cycles
const WAITS_OPTION = "page.waits";

export class App extends Stage<ViewId, State> {
  // What came with a stretch of time to show: from the address, or with a run that one comes back to.
  private linked: Selection | null;
  private left: Left | null = null;
  private known: { run: Run; selection: Selection | null; focus: Focus } | null = null;

  constructor(
    readonly runs: readonly Run[],
    viewIds: readonly ViewId[],
  ) {
    super(viewIds, { read: (hash) => stateOf(runs, hash), write: hashOf, steps: ADDRESS_STEPS, moves: ["window"], shifts: SHIFTS });
    this.linked = this.store.state.selection;
  }

  protected override arrived(state: State): void {
    this.linked = state.selection;
    this.left = null;
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
}

function stateOf(runs: readonly Run[], hash: string): State {
  const byDefault: Omit<State, "window"> = { view: runs.length > 1 ? "compare" : "timeline", lower: "layers", run: 0, selection: null, measure: null, unit: "cycles", options: {} };
  return parseHash(hash, byDefault, runs.map((run) => run.makespan));
}
