import type { Painter } from "../../paint/painter";
import type { App } from "../../ui/app";
import { CanvasView, type Table } from "../../ui/view";

export class CompareView extends CanvasView {
  constructor(app: App) {
    super(app, "compare", "Compare");
  }

  paint(p: Painter): void {
    p.text(20, 20, "Compare");
  }

  table(): Table {
    return { caption: "Compare", columns: [], rows: [] };
  }
}
