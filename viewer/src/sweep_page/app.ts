// What views and panels know of the page: the sweep, what is looked at of it, and how to move about.
import { inOrder, type Visible, visible } from "../sweep/filter";
import { type Independent, independents } from "../sweep/independent";
import { isConstant, type NumberColumn, type Sweep, type TextColumn } from "../sweep/sweep";
import { axesOf } from "../sweep/figures";
import { Stage } from "../ui/stage";
import { hashOf, parseHash, type State, VIEWS, type ViewId } from "./state";

const ADDRESS_STEPS: readonly (keyof State)[] = ["view", "lower", "selection", "held", "filters", "sort"];
const SHIFTS: readonly (keyof State)[] = ["view", "lower", "selection", "filters", "sort"];

export class App extends Stage<ViewId, State> {
  private seen: { filters: State["filters"]; visible: Visible } | null = null;
  private sorted: { of: Visible; sort: string; points: number[] } | null = null;
  private independent: Independent[] | null = null;

  constructor(readonly sweep: Sweep) {
    super(VIEWS, { read: (hash) => parseHash(sweep, hash), write: (state) => hashOf(sweep, state), steps: ADDRESS_STEPS, moves: ["filters"], shifts: SHIFTS });
  }

  /** The points that the filters let through. */
  get visible(): Visible {
    const { filters } = this.store.state;
    if (this.seen?.filters !== filters) this.seen = { filters, visible: visible(this.sweep, filters) };
    return this.seen.visible;
  }

  /** The same in the order that the table has. */
  get ordered(): readonly number[] {
    const of = this.visible;
    const { sort } = this.store.state;
    if (this.sorted?.of !== of || this.sorted.sort !== sort) this.sorted = { of, sort, points: inOrder(this.sweep, of.points, sort) };
    return this.sorted.points;
  }

  /** The keys that say what was varied. */
  get keys(): readonly Independent[] {
    return (this.independent ??= independents(this.sweep));
  }

  get selection(): number {
    return this.store.state.selection;
  }

  get held(): number {
    return this.store.state.held;
  }

  select(selection: number): void {
    this.store.set({ selection });
  }

  /** Keeps a point, for others to be compared with; again: lets it go. */
  hold(point: number): void {
    this.store.set({ held: point === this.held ? -1 : point });
  }

  /** What a click on a picture means: select the point, or -1 for none; with Shift hold it. */
  pick(point: number, withShift: boolean): void {
    if (point >= 0 && withShift) this.hold(point);
    else this.select(point);
  }

  toggleLower(): void {
    const { view, lower } = this.store.state;
    this.store.set({ lower: lower ? "" : view === "points" ? "chart" : "points" });
  }

  /** "" lets everything through. */
  setFilter(name: string, text: string): void {
    const { [name]: old = "", ...others } = this.store.state.filters;
    if (old !== text) this.store.set({ filters: text ? { ...this.store.state.filters, [name]: text } : others });
  }

  clearFilters(): void {
    if (Object.keys(this.store.state.filters).length) this.store.set({ filters: {} });
  }

  /** The networks, where there is more than one. */
  get models(): TextColumn | null {
    const models = this.sweep.texts("model");
    return models && !isConstant(models) ? models : null;
  }

  /** What a choice of figures names, or the first of the wishes that the sweep has. */
  axis(option: string, ...wishes: string[]): NumberColumn | null {
    const { sweep } = this;
    const byDefault = wishes.map((name) => sweep.numbers(name)).find((column) => column && column.distinct > 0) ?? axesOf(sweep)[0];
    const chosen = sweep.numbers(this.store.option(option, byDefault?.name ?? ""));
    return chosen ?? byDefault ?? null;
  }
}
