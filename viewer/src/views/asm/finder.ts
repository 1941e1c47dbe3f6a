// Where the search stands: what was found, and at which of it the reader is. Without a query it goes through what is selected.
import type { Run } from "../../run/run";
import { count } from "../../ui/numbers";
import { find, type Found, nextIn } from "./find";

export class Finder {
  private known: { run: Run; query: string; found: Found } | null = null;
  private through: readonly number[] = [];
  /** Place in `lines`, or -1 before one went to the first. */
  at = -1;

  look(run: Run, query: string, touched: readonly number[]): void {
    const isNew = this.known?.run !== run || this.known.query !== query;
    if (isNew) this.known = { run, query, found: find(run, query) };
    const through = query ? this.found.lines : touched;
    if (isNew || through !== this.through) this.at = -1;
    this.through = through;
  }

  get found(): Found {
    return this.known?.found ?? { lines: [], goTo: -1, placesIn: () => [], problem: "" };
  }

  get lines(): readonly number[] {
    return this.through;
  }

  /** Line that the reader went to, or -1. */
  get line(): number {
    return this.known?.query && this.found.goTo >= 0 ? this.found.goTo : (this.through[this.at] ?? -1);
  }

  /** Line to go to from what is in sight; -1 for none. */
  first(top: number): number {
    if (this.found.goTo < 0) this.at = nextIn(this.through, top - 1, 1);
    return this.line;
  }

  step(top: number, by: 1 | -1): number {
    const { length } = this.through;
    if (length) this.at = this.at >= 0 ? (this.at + by + length) % length : nextIn(this.through, top, by);
    return this.line;
  }

  /** In words; `name` is what is selected. */
  text(name: string): string {
    const query = this.known?.query ?? "";
    const { goTo, problem } = this.found;
    const { length } = this.through;
    if (query && goTo >= 0) return `line ${count(goTo + 1)}`;
    if (!length) return query ? problem || "not found" : "";
    const lines = `${count(length)} ${length === 1 ? "line" : "lines"}`;
    const place = this.at < 0 ? `in ${lines}` : `${count(this.at + 1)} of ${lines}`;
    if (!query) return `${name}: ${place}`;
    return `found ${place}${problem && `; ${problem}`}`;
  }
}
