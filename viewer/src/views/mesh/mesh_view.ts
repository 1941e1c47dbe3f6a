import type { Painter } from "../../paint/painter";
import type { App } from "../../ui/app";
import { CanvasView, type Table } from "../../ui/view";

export class MeshView extends CanvasView {
  constructor(app: App) {
    super(app, "mesh", "Mesh");
  }

  paint(p: Painter): void {
    p.text(20, 20, "Mesh");
  }

  table(): Table {
    return { caption: "Mesh", columns: [], rows: [] };
  }
}
