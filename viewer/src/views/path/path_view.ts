import type { Painter } from "../../paint/painter";
import type { App } from "../../ui/app";
import { CanvasView, type Table } from "../../ui/view";

export class PathView extends CanvasView {
  constructor(app: App) {
    super(app, "path", "Critical path");
  }

  paint(p: Painter): void {
    p.text(20, 20, "Critical path");
  }

  table(): Table {
    return { caption: "Critical path", columns: [], rows: [] };
  }
}
