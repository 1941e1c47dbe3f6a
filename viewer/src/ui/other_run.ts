// From one run to the other and back: to the same layer, and to where one was.
import type { Run, Stretch } from "../run/run";
import { focusOf, type Selection, type State } from "./state";

/** How a run was left, and what the other one then had selected. */
export interface Left {
  run: number;
  selection: Selection | null;
  window: Stretch;
  shown: Selection | null;
}

export interface Entered {
  selection: Selection | null;
  window: Stretch;
  isBack: boolean;
}

/** What run `index` shows: as it was left unless another layer was selected since, else as whole as the run before and with its layer. */
export function entered(runs: readonly Run[], state: Readonly<State>, left: Left | null, index: number): Entered {
  const [run, other] = [runs[state.run] as Run, runs[index] as Run];
  const layer = focusOf(run, state.selection).layer;
  if (left?.run === index && isOfLayer(run, left.shown, state.selection, layer)) return { selection: left.selection, window: left.window, isBack: true };
  const name = run.layers[layer]?.name;
  const namesake = other.layers.findIndex((l) => l.name === name);
  return { selection: namesake >= 0 ? { kind: "layer", layer: namesake } : null, window: windowIn(other, run, state.window), isBack: false };
}

const isOfLayer = (run: Run, shown: Selection | null, selection: Selection | null, layer: number) =>
  shown === selection || (layer >= 0 && focusOf(run, shown).layer === layer);

function windowIn(other: Run, run: Run, window: Stretch): Stretch {
  const { from, to } = window;
  if (from <= 0 && to >= run.makespan) return { from: 0, to: other.makespan };
  if (to <= other.makespan) return window;
  return { from: Math.max(0, other.makespan - (to - from)), to: other.makespan };
}
