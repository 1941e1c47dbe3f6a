// What the panels at the side are made of: lists of facts, bars, and links to other things of the run.
import { css, resourceColour, stallColour } from "../paint/theme";
import { gainsOf, type OnPath } from "../run/gains";
import { layerName, tensorName, trackName } from "../run/names";
import type { FreeBy } from "../run/replay";
import type { SliceRef } from "../run/run";
import { NO_WORK, STALLS } from "../run/stalls";
import type { Track } from "../run/track";
import type { App } from "./app";
import { button, element } from "./dom";
import { percent } from "./numbers";
import type { Selection, ViewId } from "./state";

export class List {
  readonly root = element("dl");
  add(name: string, value: Node | string): void {
    this.root.append(element("dt", { textContent: name }), element("dd", {}, value));
  }
}

/** A row with a bar behind its figure. */
export function barRow(name: Node | string, share: number, colour: string, figure: string, title = ""): HTMLElement {
  const bar = element("span", { className: "bar", style: { width: `${100 * Math.max(0, Math.min(1, share))}%`, background: colour } });
  return element("tr", { title }, element("th", { scope: "row" }, name), element("td", { className: "bars" }, bar), element("td", { textContent: figure }));
}

export const barTable = (titles: [string, string], rows: HTMLElement[]): HTMLElement => {
  const head = element("tr", {}, element("th", { scope: "col", textContent: titles[0] }), element("th", { scope: "col", colSpan: 2, textContent: titles[1] }));
  return element("table", { className: "figures-table" }, element("thead", {}, head), element("tbody", {}, ...rows));
};

/** Waits as bars, longest first; `whole` is what 100 % are. */
export const waitRows = (waits: readonly number[], whole: number, figure: (cycles: number) => string): HTMLElement[] =>
  waits.map((cycles, stall) => ({ cycles, stall })).filter(({ cycles }) => cycles >= 0.5).sort((a, b) => b.cycles - a.cycles)
    .map(({ cycles, stall }) => barRow(stall === NO_WORK ? (STALLS[stall] as string) : `waits for ${STALLS[stall]}`, cycles / Math.max(1, whole), css(stallColour(stall)), figure(cycles), percent(cycles / Math.max(1, whole))));

export const resourceSwatch = (resource: number): string => css(resourceColour(resource));

/** What the group has of the critical path, and what the run would gain were it free, as soon as that is known. */
export function addGain(list: List, app: App, by: FreeBy, onPath: OnPath, what: string): void {
  const gains = gainsOf(app.run);
  list.add("on the path", onPath.cycles > 0 ? `${app.duration(onPath.cycles)} of the critical path ${what}` : "nothing: the end of the run does not wait for it");
  const free = element("span");
  const show = () => {
    const gain = gains.of(by, onPath);
    free.textContent = gain ? `at most ${app.duration(gain.cycles)} less, replayed` : gains.canReplay ? "…" : "not computed: a run of fewer frames tells";
  };
  gains.onNews.set("panel", show);
  gains.want(by, [onPath]);
  show();
  list.add("were it free", free);
}

/** What every panel can say: it knows the page, and how things are linked. */
export class Words {
  constructor(readonly app: App) {}

  link(text: string, selection: Selection): HTMLButtonElement {
    const node = button(text, text, () => this.app.select(selection));
    node.className = "link";
    return node;
  }

  layer(layer: number): Node {
    return layer >= 0 ? this.link(layerName(this.app.run, layer), { kind: "layer", layer }) : element("span", { textContent: "none" });
  }

  tensor(tensor: number): Node {
    return this.link(tensorName(this.app.run, tensor), { kind: "tensor", tensor });
  }

  slice(at: SliceRef, more = ""): HTMLButtonElement {
    const { run } = this.app;
    const track = run.tracks[at.track] as Track;
    return this.link(`${run.mnemonicOf(track.leaf(at.index))} on ${trackName(run, track)}${more}`, { kind: "slice", ...at });
  }

  /** The engines by name; of many the first, and how many more. */
  engines(tracks: readonly number[], most = 4): Node {
    const { run } = this.app;
    const named = tracks.slice(0, most).flatMap((t, k) => [k ? ", " : "", this.link(trackName(run, run.tracks[t] as Track), { kind: "engine", track: t })]);
    return element("span", {}, ...named, tracks.length > most ? ` and ${tracks.length - most} more` : "");
  }

  asm(leaf: number): Node {
    return element("pre", { className: "code", textContent: this.app.run.textOf(leaf) });
  }

  faint(text: string): Node {
    return element("p", { className: "faint", textContent: text });
  }

  views(ids: ViewId[]): Node {
    const known = ids.filter((id) => this.app.viewIds.includes(id));
    return element("p", { className: "see" }, "Show in ", ...known.map((id) => button(id, `Show in the view ${id}`, () => this.app.open(id))));
  }
}
