import type { Painter } from "../../paint/painter";
import type { App } from "../../ui/app";
import { CanvasView, type Table } from "../../ui/view";

export class LayersView extends CanvasView {
  constructor(app: App) {
    super(app, "layers", "Layers");
  }

  paint(p: Painter): void {
    p.text(20, 20, "Layers");
  }

  table(): Table {
    return { caption: "Layers", columns: [], rows: [] };
  }
}
