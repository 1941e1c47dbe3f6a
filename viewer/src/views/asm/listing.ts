// The lines of program.asm as a reader meets them: their sections, their layers, and their text for the search.
import type { Run } from "../../run/run";
import { layersOfHeads } from "./schedule";

export interface Listing {
  /** Line of the `on ...` that each line stands under, or -1. */
  head: Int32Array;
  /** Layer of each line, or -1: of its instruction, else of its section. */
  layer: Int32Array;
  /** First instruction of each line, or -1. */
  leaf: Int32Array;
  /** First line with an instruction of each layer, or -1. */
  firstOfLayer: Int32Array;
}

const known = new WeakMap<Run, Listing>();
const lowered = new WeakMap<Run, string[]>();

export function listingOf(run: Run): Listing {
  let listing = known.get(run);
  if (!listing) known.set(run, (listing = listingFor(run)));
  return listing;
}

const isHead = (text: string) => text.startsWith("on ");

function listingFor(run: Run): Listing {
  const lines = run.asm.length;
  const listing: Listing = {
    head: new Int32Array(lines).fill(-1), layer: new Int32Array(lines).fill(-1), leaf: new Int32Array(lines).fill(-1), firstOfLayer: new Int32Array(run.layers.length).fill(-1),
  };
  const { instructions } = run;
  for (let leaf = instructions.count - 1; leaf >= 0; leaf--) {
    const at = instructions.line[leaf] as number;
    if (at >= 0 && at < lines) listing.leaf[at] = leaf;
  }
  const layerOfHead = layersOfHeads(run.asm);
  let head = -1;
  let layer = -1;
  run.asm.forEach((text, at) => {
    if (isHead(text)) [head, layer] = [at, layerOfHead(text)];
    listing.head[at] = head;
    const leaf = listing.leaf[at] as number;
    const own = leaf >= 0 ? (instructions.layer[leaf] as number) : layer;
    listing.layer[at] = own;
    if (leaf >= 0 && listing.firstOfLayer[own] === -1) listing.firstOfLayer[own] = at;
  });
  giveCommentsToTheNext(run, listing);
  return listing;
}

// A comment at the margin speaks of the section below it.
function giveCommentsToTheNext(run: Run, { head, layer }: Listing): void {
  for (let at = run.asm.length - 2; at >= 0; at--) {
    if (!(run.asm[at] as string).startsWith("#")) continue;
    const below = run.asm[at + 1] as string;
    if (!isHead(below) && !below.startsWith("#")) continue;
    head[at] = head[at + 1] as number;
    layer[at] = layer[at + 1] as number;
  }
}

export function loweredOf(run: Run): string[] {
  let lines = lowered.get(run);
  if (!lines) lowered.set(run, (lines = run.asm.map((line) => line.toLowerCase())));
  return lines;
}
