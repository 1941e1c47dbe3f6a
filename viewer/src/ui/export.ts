// Any view as a file: PNG, SVG, and its table as CSV.
import { CanvasPainter, SvgPainter } from "../paint/painter";
import type { Theme } from "../paint/theme";
import type { Picture, Surroundings, TableOf, ViewOf } from "./base_view";
import { button, download, element } from "./dom";

const PNG_SCALE = 2;
const CAPTION = 24; // pixels over a picture

type Saved = Pick<ViewOf<Surroundings, string, never, unknown>, "picture" | "table">;

/** How a page names what it saves. */
export interface Naming {
  theme: Theme;
  /** The line over a picture. */
  caption: string;
  /** Of the file, without its ending. */
  name: string;
}

/** The view's picture below a line that says what it is of. */
function captioned(caption: string, view: Saved): Picture {
  const { width, height, paint } = view.picture();
  return {
    width,
    height: height + CAPTION,
    paint: (p) => {
      p.text(8, CAPTION / 2, caption, { bold: true, size: 12, width: width - 16 });
      p.shift(0, CAPTION, () => paint(p));
    },
  };
}

function svgOf({ theme, caption }: Naming, view: Saved): string {
  const { width, height, paint } = captioned(caption, view);
  const painter = new SvgPainter(theme, width, height);
  paint(painter);
  return painter.document();
}

async function pngOf({ theme, caption }: Naming, view: Saved): Promise<Blob> {
  const { width, height, paint } = captioned(caption, view);
  const canvas = element("canvas", { width: Math.round(width * PNG_SCALE), height: Math.round(height * PNG_SCALE) });
  const context = canvas.getContext("2d", { alpha: false }) as CanvasRenderingContext2D;
  const painter = new FilePainter(context, theme, PNG_SCALE);
  painter.rect(0, 0, width, height, theme.ground);
  paint(painter);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large for the browser"))), "image/png"));
}

/** RFC 4180; a cell that a spreadsheet would run as a formula is kept from it. */
export function csvOf({ columns, rows }: TableOf<unknown>): string {
  const cell = (value: string | number) => {
    const text = typeof value === "string" && /^[=+@\t\r-]/.test(value) && !/^[-+]?[\d.,]+/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** `naming` is asked when something is saved. */
export function exportMenu(naming: () => Naming, view: Saved): HTMLElement {
  const name = (ending: string) => `${naming().name}.${ending}`.replace(/[^\w.-]+/g, "_");
  const items: [string, () => void][] = [
    ["PNG picture", () => void pngOf(naming(), view).then((blob) => download(name("png"), blob))],
    ["SVG picture", () => download(name("svg"), new Blob([svgOf(naming(), view)], { type: "image/svg+xml" }))],
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
