// The keys of a sweep's page.
import type { KeyBinding } from "../ui/base_view";
import { type Entry, KeyBoard, type Keyed } from "../ui/key_board";
import type { App } from "./app";
import { TITLES, type ViewId } from "./state";

export class Keys extends KeyBoard<ViewId> {
  constructor(
    private readonly app: App,
    page: Keyed<ViewId>,
  ) {
    super(page);
  }

  protected override get own(): KeyBinding[] {
    const { app } = this;
    const views = app.viewIds.map((id, i): KeyBinding => ({ key: String(i + 1), shown: String(i + 1), does: TITLES[id], run: () => app.open(id) }));
    return [
      ...views,
      { key: "h", shown: "H", does: "hold the selected point, to compare others with it; again: let it go", run: () => { if (app.selection >= 0) app.hold(app.selection); } },
      { key: "c", shown: "C", does: "compare the selected point with the one that is held", run: () => app.open("compare") },
      { key: "x", shown: "X", does: "let all filters go", run: () => app.clearFilters() },
      { key: "/", shown: "/", does: "add a filter", run: () => document.getElementById("add-filter")?.focus() },
      { key: "b", shown: "B", does: "open or close the lower pane", run: () => app.toggleLower() },
      { key: "q", shown: "Q", does: "show or hide the panel at the side", run: () => app.toggleDetails() },
      { key: "escape", shown: "Esc", does: "clear the selection", run: () => app.select(-1) },
      { key: "?", shown: "?", does: "this sheet", run: () => this.showSheet() },
    ];
  }

  protected override get others(): { keys: Entry[]; mouse: Entry[] } {
    return {
      keys: [],
      mouse: [
        { shown: "click", does: "select a point; again: the next one on the same spot" },
        { shown: "Shift and click", does: "hold a point, to compare others with it" },
        { shown: "drag along an axis", does: "in Parallel: let through what the stretch holds" },
        { shown: "a table's heading", does: "click: sort by it; again: the other way; again: as it was" },
        { shown: "Tab, arrows", does: "from control to control; rows of a table, tabs, cells, points" },
      ],
    };
  }
}
