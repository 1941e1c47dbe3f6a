import type { Painter } from "../../paint/painter";
import type { App } from "../../ui/app";
import { CanvasView, type Table } from "../../ui/view";

export class MemoryView extends CanvasView {
  constructor(app: App) {
    super(app, "memory", "Memory");
  }

  paint(p: Painter): void {
    p.text(20, 20, "Memory");
  }

  table(): Table {
    return { caption: "Memory", columns: [], rows: [] };
  }
}
