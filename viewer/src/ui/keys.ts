// The keyboard. Keys of the page work everywhere; those of a view where it is on screen: first those of the pane that was clicked last
// (it has the focus), then the upper pane's.
import { type Executions, executionsOf, executionsOfLeaf, executionsOfLock } from "../run/executions";
import type { App } from "./app";
import { element } from "./dom";
import { TITLES } from "./pane";
import type { ViewId } from "./state";
import type { KeyBinding, View } from "./view";

const ZOOM = 1.045; // a frame
const MOVE = 0.02;

export class Keys {
  private readonly held = new Set<string>();
  private measuredLast = true;
  private walksChoice = false;
  private readonly sheet = element("dialog", { id: "keys", aria: { label: "Keys" } });

  /** `shown`: the views on screen, upper first. */
  constructor(
    private readonly app: App,
    private readonly shown: () => View[],
    private readonly viewOf: (id: ViewId) => View,
  ) {
    document.body.append(this.sheet);
    addEventListener("keydown", (e) => this.down(e));
    addEventListener("keyup", (e) => this.held.delete(e.key.toLowerCase()));
    addEventListener("blur", () => this.held.clear());
    addEventListener("pointerdown", () => { this.walksChoice = false; });
    addEventListener("change", (e) => this.letGo(e.target));
    app.store.listen((change) => {
      if (change.has("measure") || change.has("selection")) this.measuredLast = change.has("measure");
    });
  }

  private get own(): KeyBinding[] {
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

  showSheet(): void {
    const list = (bindings: { shown: string; does: string }[]) => element("dl", {}, ...bindings.flatMap(({ shown, does }) => [element("dt", { textContent: shown }), element("dd", { textContent: does })]));
    const page = [{ shown: "W S", does: "zoom in, out" }, { shown: "A D", does: "move left, right" }, ...this.own];
    const mouse = [
      { shown: "wheel", does: "zoom (with Ctrl, too); over the names, or with Shift: scroll" },
      { shown: "drag", does: "move; on the axis, or with Shift: measure; over the whole run: move the window, pull its sides" },
      { shown: "double click", does: "zoom to it" },
      { shown: "Shift and click", does: "in Asm: choose several lines" },
      { shown: "a table's heading", does: "click: sort by it; again: the other way; again: as it was" },
      { shown: "Tab, arrows", does: "from control to control; rows of a table, tabs, what was found" },
    ];
    // Those on screen first; the others' keys work once they are.
    const shown = this.shown();
    const all = [...shown, ...this.app.viewIds.map((id) => this.viewOf(id)).filter((view) => !shown.includes(view))].filter((view) => view.keys.length);
    const views = all.flatMap((view) => [element("h3", { textContent: `${TITLES[view.id]}${shown.includes(view) ? "" : " (when it is shown)"}` }), list(view.keys)]);
    const close = element("button", { type: "button", textContent: "Close", onclick: () => this.sheet.close() });
    this.sheet.replaceChildren(element("h2", { textContent: "Keys" }), list(page), ...views, element("h3", { textContent: "Mouse" }), list(mouse), close);
    this.sheet.showModal();
  }

  private focus(): void {
    const { app } = this;
    const { measure } = app.store.state;
    const selected = selectedStretch(app);
    const stretch = this.measuredLast ? (measure ?? selected) : (selected ?? measure);
    if (stretch) app.showStretch(stretch);
  }

  // A menu keeps the focus after one has chosen from it, and with it the keys; only who walks it by keys goes on there, until Escape.
  private letGo(target: EventTarget | null): void {
    if (target instanceof HTMLSelectElement && !this.walksChoice) target.blur();
  }

  private down(e: KeyboardEvent): void {
    this.walksChoice = e.key !== "Enter" && e.key !== " ";
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
    const target = e.target as HTMLElement;
    if (target instanceof HTMLSelectElement && e.key === "Escape") target.blur();
    if (e.key === "Escape" && closeMenus()) {
      e.preventDefault();
      return;
    }
    if (target.closest("input, select, textarea, dialog")) return;
    const key = e.key.toLowerCase();
    if ("wasd".includes(key) && key.length === 1) {
      const idle = this.held.size === 0;
      this.held.add(key);
      if (idle) requestAnimationFrame(() => this.move());
    } else {
      // Enter and the arrows belong to a button or a row that has the focus.
      if (target.closest("button, summary, tr, a") && (key === "enter" || key === " ")) return;
      const views = this.shown();
      const first = views.filter((view) => view.root.contains(target));
      const binding = [...first, ...views].flatMap((view) => view.keys).concat(this.own).find((b) => b.key === key);
      if (!binding) return;
      binding.run();
    }
    e.preventDefault();
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

/** Whether any menu was open; the focus goes back to its title. */
function closeMenus(): boolean {
  const open = [...document.querySelectorAll<HTMLDetailsElement>("details.menu[open]")];
  for (const menu of open) {
    menu.open = false;
    menu.querySelector("summary")?.focus();
  }
  return open.length > 0;
}

/** When what is selected happens, or null. */
export function selectedStretch(app: App): { from: number; to: number } | null {
  const { focus, run } = app;
  if (focus.slice) {
    const track = run.tracks[focus.slice.track];
    return track ? { from: track.ready(focus.slice.index), to: track.end(focus.slice.index) } : null;
  }
  const { selection } = app.store.state;
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
