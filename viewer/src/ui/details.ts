// The selection in words, at the side; every thing that it names is one click away.
import { executionsOfLeaf } from "../run/executions";
import type { SliceRef } from "../run/run";
import type { App } from "./app";
import { element } from "./dom";
import { Words } from "./panel_parts";
import { framePanel } from "./panels_frames";
import { groupPanel } from "./panels_tiles";
import { blockPanel, layerPanel, momentPanel, placeText as placeOfBlock, tensorPanel } from "./panels_network";
import { enginePanel, instructionPanel, lockPanel, slicePanel, tilePanel } from "./panels_program";
import type { Change, Selection } from "./state";
import { summary } from "./summary";

export class Details {
  readonly root = element("aside", { id: "details", aria: { label: "Details of the selection" } });
  private readonly words: Words;

  constructor(private readonly app: App) {
    this.words = new Words(app);
  }

  changed(change: Change): void {
    this.root.hidden = !this.app.hasDetails;
    if (!change.has("selection") && !change.has("run") && !change.has("unit")) return;
    const { selection } = this.app.store.state;
    this.root.replaceChildren(...((selection && this.of(selection)) ?? summary(this.app)));
  }

  /** Null for what the run does not have. */
  private of(selection: Selection): Node[] | null {
    const { words } = this;
    switch (selection.kind) {
      case "slice":
        return slicePanel(words, { track: selection.track, index: selection.index });
      case "layer":
        return layerPanel(words, selection.layer);
      case "instruction":
        return instructionPanel(words, selection.leaf);
      case "tensor":
        return tensorPanel(words, selection.tensor);
      case "block":
        return blockPanel(words, selection.block);
      case "lock":
        return lockPanel(words, selection.lock);
      case "tile":
        return tilePanel(words, this.app.focus.tile);
      case "engine":
        return enginePanel(words, selection.track);
      case "group":
        return groupPanel(words, selection.group, selection.tile, selection.layer);
      case "frame":
        return framePanel(words, selection.frame);
      case "moment":
        return momentPanel(words, selection.memory, selection.cycle);
    }
  }
}

/** "memtile 0–3 at 0x1a40" */
export function placeText(app: App, index: number): string {
  const block = app.run.memory[index];
  return block ? placeOfBlock(block) : "";
}

export const firstSliceOf = (app: App, leaf: number): SliceRef | null => executionsOfLeaf(app.run, leaf).first;
