// What the sweep's page shows: plain values that the address holds.
import type { Filters } from "../sweep/filter";
import type { Sweep } from "../sweep/sweep";
import type { PageState } from "../ui/store";

export const VIEWS = ["points", "chart", "heat", "pareto", "limits", "parallel", "tornado", "slower", "compare"] as const;
export type ViewId = (typeof VIEWS)[number];
export const TITLES: Readonly<Record<ViewId, string>> = {
  points: "Points", chart: "Chart", heat: "Heat map", pareto: "Pareto", limits: "Limits", parallel: "Parallel", tornado: "Sensitivity", slower: "More is slower", compare: "Compare",
};

export interface State extends PageState<ViewId> {
  /** The point that is looked at, or -1. */
  selection: number;
  /** The point that it is compared with, or -1. */
  held: number;
  /** By the names of columns; sweep/filter.ts says how they are written. */
  filters: Filters;
  /** A column's name, "-" before it for the largest first; "" as in the file. */
  sort: string;
}

export type Change = ReadonlySet<keyof State>;
export const EVERYTHING: Change = new Set<keyof State>(["view", "lower", "selection", "held", "filters", "sort", "options"]);

export function hashOf(sweep: Sweep, state: Readonly<State>): string {
  const out = new URLSearchParams();
  out.set("view", state.view);
  out.set("lower", state.lower || "none");
  if (state.selection >= 0) out.set("point", sweep.nameOf(state.selection));
  if (state.held >= 0) out.set("held", sweep.nameOf(state.held));
  if (state.sort) out.set("sort", state.sort);
  for (const [name, text] of Object.entries(state.filters)) out.set(`f.${name}`, text);
  for (const [name, value] of Object.entries(state.options)) out.set(`o.${name}`, value);
  return `#${out}`;
}

/** What cannot be read is left out: an old link still opens the page. */
export function parseHash(sweep: Sweep, hash: string): State {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const view = (name: string) => VIEWS.find((id) => id === given.get(name));
  const point = (name: string) => (given.has(name) ? sweep.pointOf(given.get(name) ?? "") : -1);
  const options: Record<string, string> = {};
  const filters: Record<string, string> = {};
  for (const [name, value] of given) {
    if (name.startsWith("o.")) options[name.slice(2)] = value;
    else if (name.startsWith("f.") && sweep.column(name.slice(2))) filters[name.slice(2)] = value;
  }
  const upper = view("view") ?? "chart";
  const lower = given.get("lower") === "none" ? "" : (view("lower") ?? "points");
  const sort = given.get("sort") ?? "";
  return { view: upper, lower: lower === upper ? "" : lower, selection: point("point"), held: point("held"), filters, sort: sweep.column(sort.replace(/^-/, "")) ? sort : "", options };
}
