// Why a layer is mapped as it is: what explain.json says, in the panel of the layer.
import { css, resourceColour } from "../paint/theme";
import type { ExplainedLayerJson, MappingJson } from "../run/format";
import type { Layer } from "../run/run";
import { element } from "./dom";
import { count, percent } from "./numbers";
import { List, type Words } from "./panel_parts";

/** Nothing where the file does not say. */
export function mappingOf(words: Words, layer: Layer): Node[] {
  const { run } = words.app;
  const explained = run.explanation?.layers[layer.index];
  if (!explained) return [];
  const parts: Node[] = [element("h3", { textContent: "How it is mapped" })];
  if (explained.mapping) parts.push(mappingList(explained.mapping));
  return [...parts, ...alternatives(words, layer, explained)];
}

function mappingList({ cut, streams, loops }: MappingJson): HTMLElement {
  const list = new List();
  list.add("cut", cut);
  streams.forEach((stream, k) => list.add(k ? "" : "streams", stream));
  list.add("loops", loops);
  return list.root;
}

/** In short, with the streams that go another way than the chosen mapping's: of two kinds with the same split only these differ. */
function nameOf(other: MappingJson, chosen: MappingJson | null): HTMLElement {
  const streams = other.streams.filter((stream) => !chosen?.streams.includes(stream));
  return element("th", { scope: "row" }, other.split, ...streams.map((stream) => element("div", { className: "faint", textContent: stream })));
}

function alternatives({ app }: Words, layer: Layer, { mapping: mine, alternatives: others, noAlternatives, tried }: ExplainedLayerJson): Node[] {
  const { run } = app;
  if (!others.length) return noAlternatives ? [element("p", { className: "faint", textContent: `No other mapping to compare with: ${noAlternatives}.` })] : [];
  const rows = others.map(({ mapping, closedFormCycles, losesCycles, boundBy }) => {
    const chosen = closedFormCycles - losesCycles;
    const loss = losesCycles >= 0 ? `+${count(losesCycles)}` : `−${count(-losesCycles)}`;
    const title = [mapping.cut, ...mapping.streams, mapping.loops, losesCycles < 0 ? "gains less than the closed form errs" : ""].filter(Boolean).join("; ");
    const swatch = element("span", { className: "swatch", style: { background: css(resourceColour(run.instructions.resources.indexOf(boundBy))) } });
    const share = chosen > 0 ? percent(Math.abs(losesCycles) / chosen) : "";
    return element("tr", { title }, nameOf(mapping, mine), element("td", { textContent: loss }), element("td", { textContent: share }), element("td", {}, swatch, boundBy));
  });
  const head = element("tr", {}, ...["next best", "cycles", "", "then bound by"].map((text) => element("th", { scope: "col", textContent: text })));
  const many = (layer.steps?.length ?? 0) > 1 ? ", for the first of its steps" : "";
  return [
    element("table", { className: "figures-table" }, element("thead", {}, head), element("tbody", {}, ...rows)),
    element("p", { className: "faint", textContent: `The best of other kinds, of ${tried} mappings that the closed form timed${many}.` }),
  ];
}
