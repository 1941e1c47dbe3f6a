// The keys of a run's page.
import { type Executions, executionsOf, executionsOfLeaf, executionsOfLock } from "../run/executions";
import { stepsOf, stretchOfSteps } from "../run/groups";
import type { App } from "./app";
import { type Entry, KeyBoard, type Keyed } from "./key_board";
import { TITLES, type ViewId } from "./state";
import type { KeyBinding } from "./view";

const ZOOM = 1.045; // a frame
const MOVE = 0.02;

export class Keys extends KeyBoard<ViewId> {
  private readonly held = new Set<string>();
  private measuredLast = true;

  constructor(
    private readonly app: App,
    page: Keyed<ViewId>,
  ) {
    super(page);
    addEventListener("keyup", (e) => this.held.delete(e.key.toLowerCase()));
    addEventListener("blur", () => this.held.clear());
    app.store.listen((change) => {
      if (change.has("measure") || change.has("selection")) this.measuredLast = change.has("measure");
    });
  }

  protected override get own(): KeyBinding[] {
    const { app } = this;
    const views = app.viewIds.map((id, i): KeyBinding => ({ key: String(i + 1), shown: String(i + 1), does: TITLES[id], run: () => app.open(id) }));
    return [
      ...views,
      { key: "0", shown: "0", does: "the whole run", run: () => app.show(0, app.run.makespan) },
      { key: "f", shown: "F", does: "zoom to what was selected or measured last", run: () => this.focus() },
      { key: "b", shown: "B", does: "open or close the lower pane", run: () => app.toggleLower() },
      { key: "q", shown: "Q", does: "show or hide the panel at the side", run: () => app.toggleDetails() },
      { key: "z", shown: "Z", does: "waits: followed back to their root, or the neighbour that ended them", run: () => app.toggleWaits() },
      { key: "u", shown: "U", does: "cycles or time", run: () => app.store.set({ unit: app.store.state.unit === "time" ? "cycles" : "time" }) },
      { key: "/", shown: "/", does: "search", run: () => document.getElementById("search")?.focus() },
      { key: "escape", shown: "Esc", does: "clear the selection and the measure", run: () => app.store.set({ selection: null, measure: null }) },
      { key: "?", shown: "?", does: "this sheet", run: () => this.showSheet() },
    ];
  }

  protected override get others(): { keys: Entry[]; mouse: Entry[] } {
    return {
      keys: [{ shown: "W S", does: "zoom in, out" }, { shown: "A D", does: "move left, right" }],
      mouse: [
        { shown: "wheel", does: "zoom (with Ctrl, too); over the names, or with Shift: scroll" },
        { shown: "drag", does: "move; on the axis, or with Shift: measure; over the whole run: move the window, pull its sides" },
        { shown: "double click", does: "zoom to it" },
        { shown: "Shift and click", does: "in Asm: choose several lines" },
        { shown: "a table's heading", does: "click: sort by it; again: the other way; again: as it was" },
        { shown: "Tab, arrows", does: "from control to control; rows of a table, tabs, what was found" },
      ],
    };
  }

  private focus(): void {
    const { app } = this;
    const { measure } = app.store.state;
    const selected = selectedStretch(app);
    const stretch = this.measuredLast ? (measure ?? selected) : (selected ?? measure);
    if (stretch) app.showStretch(stretch);
  }

  protected override holds(key: string): boolean {
    if (!"wasd".includes(key) || key.length !== 1) return false;
    const idle = this.held.size === 0;
    this.held.add(key);
    if (idle) requestAnimationFrame(() => this.move());
    return true;
  }

  private move(): void {
    if (!this.held.size) return;
    const { app } = this;
    const { window } = app.store.state;
    const span = window.to - window.from;
    if (this.held.has("w")) app.zoom(1 / ZOOM);
    if (this.held.has("s")) app.zoom(ZOOM);
    if (this.held.has("a")) app.pan(-span * MOVE);
    if (this.held.has("d")) app.pan(span * MOVE);
    requestAnimationFrame(() => this.move());
  }
}

const stretchOf = ({ from, to }: Executions): { from: number; to: number } | null => (to >= from ? { from, to: Math.max(to, from + 1) } : null);

/** When what is selected happens, or null. */
export function selectedStretch(app: App): { from: number; to: number } | null {
  const { focus, run } = app;
  if (focus.slice) {
    const track = run.tracks[focus.slice.track];
    return track ? { from: track.ready(focus.slice.index), to: track.end(focus.slice.index) } : null;
  }
  const { selection } = app.store.state;
  if (focus.group >= 0) return stretchOfSteps(stepsOf(run, focus.group, focus.groupTile, focus.layer));
  const frame = run.frames[focus.frame];
  if (frame) return { from: frame.start, to: frame.end };
  if (focus.lock >= 0) return stretchOf(executionsOfLock(run, focus.lock));
  if (selection?.kind === "instruction") return stretchOf(executionsOfLeaf(run, selection.leaf));
  if (selection?.kind === "engine") return stretchOf(executionsOf(run, () => true, [selection.track]));
  if (focus.block >= 0) {
    const block = run.memory[focus.block];
    return block ? { from: block.start, to: block.end } : null;
  }
  const layer = run.layers[focus.layer];
  return layer ? { from: layer.start, to: layer.end } : null;
}
