import type { Painter } from "../../paint/painter";
import type { App } from "../../ui/app";
import { CanvasView, type Table } from "../../ui/view";

export class GraphView extends CanvasView {
  constructor(app: App) {
    super(app, "graph", "Graph");
  }

  paint(p: Painter): void {
    p.text(20, 20, "Graph");
  }

  table(): Table {
    return { caption: "Graph", columns: [], rows: [] };
  }
}
