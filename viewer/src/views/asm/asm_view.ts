import type { Painter } from "../../paint/painter";
import type { App } from "../../ui/app";
import { CanvasView, type Table } from "../../ui/view";

export class AsmView extends CanvasView {
  constructor(app: App) {
    super(app, "asm", "Asm");
  }

  paint(p: Painter): void {
    p.text(20, 20, "Asm");
  }

  table(): Table {
    return { caption: "Asm", columns: [], rows: [] };
  }
}
