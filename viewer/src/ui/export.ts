// Any view as a file: PNG, SVG, and its table as CSV.
import { CanvasPainter, SvgPainter } from "../paint/painter";
import type { App } from "./app";
import { runName } from "../run/names";
import { button, download, element } from "./dom";
import { count } from "./numbers";
import type { Picture, Table, View } from "./view";

const PNG_SCALE = 2;
const CAPTION = 24; // pixels over a picture

/** The view's picture below a line that says of what run it is. */
function captioned(app: App, view: View): Picture {
  const { width, height, paint } = view.picture();
  const { run } = app;
  const { window } = app.store.state;
  const [from, to] = [Math.max(0, window.from), Math.min(run.makespan, window.to)];
  const part = from > 0 || to < run.makespan ? `; cycles ${count(from)} to ${count(to)}` : "";
  const runs = view.id === "compare" ? app.runs : [run];
  const text = runs.map((each) => `${runName(each)}, ${count(each.makespan)} cycles`).join(" against ") + (view.id === "compare" ? "" : part);
  return {
    width,
    height: height + CAPTION,
    paint: (p) => {
      p.text(8, CAPTION / 2, text, { bold: true, size: 12, width: width - 16 });
      p.shift(0, CAPTION, () => paint(p));
    },
  };
}

export function svgOf(app: App, view: View): string {
  const { width, height, paint } = captioned(app, view);
  const painter = new SvgPainter(app.theme, width, height);
  paint(painter);
  return painter.document();
}

export async function pngOf(app: App, view: View): Promise<Blob> {
  const { width, height, paint } = captioned(app, view);
  const canvas = element("canvas", { width: Math.round(width * PNG_SCALE), height: Math.round(height * PNG_SCALE) });
  const context = canvas.getContext("2d", { alpha: false }) as CanvasRenderingContext2D;
  const painter = new FilePainter(context, app.theme, PNG_SCALE);
  painter.rect(0, 0, width, height, app.theme.ground);
  paint(painter);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large for the browser"))), "image/png"));
}

/** RFC 4180; a cell that a spreadsheet would run as a formula is kept from it. */
export function csvOf({ columns, rows }: Table): string {
  const cell = (value: string | number) => {
    const text = typeof value === "string" && /^[=+@\t\r-]/.test(value) && !/^[-+]?[\d.,]+/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

export function exportMenu(app: App, view: View): HTMLElement {
  const name = (ending: string) => `${app.run.model}-${view.id}.${ending}`.replace(/[^\w.-]+/g, "_");
  const items: [string, () => void][] = [
    ["PNG picture", () => void pngOf(app, view).then((blob) => download(name("png"), blob))],
    ["SVG picture", () => download(name("svg"), new Blob([svgOf(app, view)], { type: "image/svg+xml" }))],
    ["CSV table", () => download(name("csv"), new Blob([csvOf(view.table())], { type: "text/csv" }))],
  ];
  const menu = element("details", { className: "menu" }, element("summary", { textContent: "Save", title: "Save this view as a file" }));
  menu.append(element("div", { className: "menu-items" }, ...items.map(([text, act]) => button(text, text, () => { menu.open = false; act(); }))));
  menu.addEventListener("focusout", (e) => { if (!menu.contains(e.relatedTarget as Node | null)) menu.open = false; });
  return menu;
}

/** Device pixels made for the screen are stretched to the density of the file. */
class FilePainter extends CanvasPainter {
  constructor(private readonly canvas: CanvasRenderingContext2D, theme: CanvasPainter["theme"], ratio: number) {
    super(canvas, theme, ratio);
  }
  override image(x: number, y: number, width: number, height: number, pixels: ImageData) {
    const source = element("canvas", { width: pixels.width, height: pixels.height });
    source.getContext("2d")?.putImageData(pixels, 0, 0);
    this.canvas.imageSmoothingEnabled = false;
    this.canvas.drawImage(source, x, y, width, height);
  }
}
