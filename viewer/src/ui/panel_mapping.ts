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
function nameOf(other: MappingJson, chosen: MappingJson | null): string {
  return [other.split, ...other.streams.filter((stream) => !chosen?.streams.includes(stream))].join("; ");
}

function alternatives({ app }: Words, layer: Layer, { mapping: mine, alternatives: others, noAlternatives, tried }: ExplainedLayerJson): Node[] {
  const { run } = app;
  if (!others.length) return noAlternatives ? [element("p", { className: "faint", textContent: `No other mapping to compare with: ${noAlternatives}.` })] : [];
  const list = new List();
  for (const { mapping, closedFormCycles, losesCycles, boundBy } of others) {
    const chosen = closedFormCycles - losesCycles;
    const loss = `${losesCycles < 0 ? "−" : "+"}${count(Math.abs(losesCycles))}`;
    const share = chosen > 0 ? `${percent(Math.abs(losesCycles) / chosen)} ${losesCycles < 0 ? "less: less than the closed form errs" : "more"}; ` : "";
    const swatch = element("span", { className: "swatch", style: { background: css(resourceColour(run.instructions.resources.indexOf(boundBy))) } });
    list.add(loss, element("span", { title: mapping.cut }, `${share}bound by `, swatch, `${boundBy}: ${nameOf(mapping, mine)}`));
  }
  const first = (layer.steps?.length ?? 0) > 1 ? ", for the first of its steps" : "";
  return [
    element("h3", { textContent: "Next best mappings, in cycles" }), list.root,
    element("p", { className: "faint", textContent: `The best of other kinds, of ${tried} mappings that the closed form timed${first}.` }),
  ];
}
