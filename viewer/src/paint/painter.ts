// One way to draw, for the screen and for files: a view paints itself once, onto a canvas or into an SVG.
//
// Coordinates are CSS pixels, y down. Text stands on the middle of its line.
import type { Theme } from "./theme";

export interface TextStyle {
  colour?: string; // the theme's text colour
  size?: number; // 11
  bold?: boolean;
  mono?: boolean;
  align?: "left" | "right" | "center";
  /** Cut with an ellipsis where it would be wider. */
  width?: number;
  /** Radians, about the point. */
  turn?: number;
}

export interface Painter {
  readonly theme: Theme;
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  frame(x: number, y: number, width: number, height: number, stroke: string, thickness?: number): void;
  /** Through x0 y0 x1 y1 ... */
  line(points: readonly number[], stroke: string, thickness?: number, dash?: readonly number[]): void;
  polygon(points: readonly number[], fill: string): void;
  /** A smooth line that leaves and arrives horizontally. */
  arc(x0: number, y0: number, x1: number, y1: number, stroke: string, thickness?: number): void;
  circle(x: number, y: number, radius: number, fill: string, stroke?: string): void;
  text(x: number, y: number, text: string, style?: TextStyle): void;
  /** Slanted lines over what is there: a second sign beside colour. */
  hatch(x: number, y: number, width: number, height: number, stroke: string): void;
  /** Device pixels, put at x, y with the size given. */
  image(x: number, y: number, width: number, height: number, pixels: ImageData): void;
  clip(x: number, y: number, width: number, height: number, draw: () => void): void;
  /** What `draw` draws, moved: one view's picture within another's. */
  shift(x: number, y: number, draw: () => void): void;
}

const SANS = 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const MONO = 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';

export const fontOf = (style: TextStyle): string => `${style.bold ? "600 " : ""}${style.size ?? 11}px ${style.mono ? MONO : SANS}`;

let measurer: CanvasRenderingContext2D | null = null;
const widths = new Map<string, Map<string, number>>();

/** In CSS pixels; remembered, for the same labels come back each frame. */
export function textWidth(text: string, style: TextStyle = {}): number {
  const font = fontOf(style);
  let known = widths.get(font);
  if (!known || known.size > 20000) widths.set(font, (known = new Map()));
  const before = known.get(text);
  if (before !== undefined) return before;
  measurer ??= document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
  measurer.font = font;
  const width = measurer.measureText(text).width;
  known.set(text, width);
  return width;
}

export function fitText(text: string, width: number, style: TextStyle = {}): string {
  if (width < 8) return "";
  if (textWidth(text, style) <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(`${text.slice(0, middle)}…`, style) <= width) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? `${text.slice(0, low)}…` : "";
}

export class CanvasPainter implements Painter {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    readonly theme: Theme,
    private readonly ratio: number,
  ) {
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.textBaseline = "middle";
  }

  rect(x: number, y: number, width: number, height: number, fill: string) {
    this.context.fillStyle = fill;
    this.context.fillRect(x, y, width, height);
  }
  frame(x: number, y: number, width: number, height: number, stroke: string, thickness = 1) {
    this.context.strokeStyle = stroke;
    this.context.lineWidth = thickness;
    this.context.strokeRect(x, y, width, height);
  }
  line(points: readonly number[], stroke: string, thickness = 1, dash: readonly number[] = []) {
    this.path(points);
    this.context.setLineDash([...dash]);
    this.context.strokeStyle = stroke;
    this.context.lineWidth = thickness;
    this.context.stroke();
    this.context.setLineDash([]);
  }
  polygon(points: readonly number[], fill: string) {
    this.path(points);
    this.context.fillStyle = fill;
    this.context.fill();
  }
  arc(x0: number, y0: number, x1: number, y1: number, stroke: string, thickness = 1) {
    const bend = Math.max(18, Math.abs(x1 - x0) / 2);
    this.context.beginPath();
    this.context.moveTo(x0, y0);
    this.context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    this.context.strokeStyle = stroke;
    this.context.lineWidth = thickness;
    this.context.stroke();
  }
  circle(x: number, y: number, radius: number, fill: string, stroke?: string) {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.context.fillStyle = fill;
    this.context.fill();
    if (!stroke) return;
    this.context.strokeStyle = stroke;
    this.context.lineWidth = 1.5;
    this.context.stroke();
  }
  text(x: number, y: number, text: string, style: TextStyle = {}) {
    const shown = style.width === undefined ? text : fitText(text, style.width, style);
    if (!shown) return;
    const { context } = this;
    context.font = fontOf(style);
    context.fillStyle = style.colour ?? this.theme.text;
    context.textAlign = style.align ?? "left";
    if (!style.turn) {
      context.fillText(shown, x, y);
      return;
    }
    context.save();
    context.translate(x, y);
    context.rotate(style.turn);
    context.fillText(shown, 0, 0);
    context.restore();
  }
  hatch(x: number, y: number, width: number, height: number, stroke: string) {
    this.clip(x, y, width, height, () => {
      this.context.beginPath();
      for (let at = x - height; at < x + width; at += 5) {
        this.context.moveTo(at, y + height);
        this.context.lineTo(at + height, y);
      }
      this.context.strokeStyle = stroke;
      this.context.lineWidth = 1;
      this.context.stroke();
    });
  }
  image(x: number, y: number, _width: number, _height: number, pixels: ImageData) {
    this.context.putImageData(pixels, Math.round(x * this.ratio), Math.round(y * this.ratio));
  }
  clip(x: number, y: number, width: number, height: number, draw: () => void) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
  }
  shift(x: number, y: number, draw: () => void) {
    this.context.save();
    this.context.translate(x, y);
    draw();
    this.context.restore();
  }

  private path(points: readonly number[]) {
    this.context.beginPath();
    for (let i = 0; i + 1 < points.length; i += 2) this.context.lineTo(points[i] as number, points[i + 1] as number);
  }
}

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text: string) =>
  text.replace(/[&<>"']/g, (c) => escapes[c] as string).replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
const n = (value: number) => String(Math.round(value * 100) / 100);

export class SvgPainter implements Painter {
  private readonly parts: string[] = [];
  private clips = 0;

  constructor(
    readonly theme: Theme,
    private readonly width: number,
    private readonly height: number,
  ) {
    this.rect(0, 0, width, height, theme.ground);
  }

  document(): string {
    const { width, height } = this;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" viewBox="0 0 ${n(width)} ${n(height)}">\n${this.parts.join("\n")}\n</svg>\n`;
  }

  rect(x: number, y: number, width: number, height: number, fill: string) {
    this.parts.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(Math.max(0, width))}" height="${n(Math.max(0, height))}" fill="${fill}"/>`);
  }
  frame(x: number, y: number, width: number, height: number, stroke: string, thickness = 1) {
    this.parts.push(
      `<rect x="${n(x)}" y="${n(y)}" width="${n(Math.max(0, width))}" height="${n(Math.max(0, height))}" fill="none" stroke="${stroke}" stroke-width="${n(thickness)}"/>`,
    );
  }
  line(points: readonly number[], stroke: string, thickness = 1, dash: readonly number[] = []) {
    const dashes = dash.length ? ` stroke-dasharray="${dash.map(n).join(" ")}"` : "";
    this.parts.push(`<polyline points="${points.map(n).join(" ")}" fill="none" stroke="${stroke}" stroke-width="${n(thickness)}"${dashes}/>`);
  }
  polygon(points: readonly number[], fill: string) {
    this.parts.push(`<polygon points="${points.map(n).join(" ")}" fill="${fill}"/>`);
  }
  arc(x0: number, y0: number, x1: number, y1: number, stroke: string, thickness = 1) {
    const bend = Math.max(18, Math.abs(x1 - x0) / 2);
    const d = `M${n(x0)} ${n(y0)}C${n(x0 + bend)} ${n(y0)} ${n(x1 - bend)} ${n(y1)} ${n(x1)} ${n(y1)}`;
    this.parts.push(`<path d="${d}" fill="none" stroke="${stroke}" stroke-width="${n(thickness)}"/>`);
  }
  circle(x: number, y: number, radius: number, fill: string, stroke?: string) {
    this.parts.push(`<circle cx="${n(x)}" cy="${n(y)}" r="${n(radius)}" fill="${fill}"${stroke ? ` stroke="${stroke}" stroke-width="1.5"` : ""}/>`);
  }
  text(x: number, y: number, text: string, style: TextStyle = {}) {
    const shown = style.width === undefined ? text : fitText(text, style.width, style);
    if (!shown) return;
    const anchor = { left: "start", right: "end", center: "middle" }[style.align ?? "left"];
    const turn = style.turn ? ` transform="rotate(${n((style.turn * 180) / Math.PI)} ${n(x)} ${n(y)})"` : "";
    const family = escaped(style.mono ? MONO : SANS);
    this.parts.push(
      `<text x="${n(x)}" y="${n(y)}" font-family="${family}" font-size="${style.size ?? 11}"${style.bold ? ' font-weight="600"' : ""} fill="${style.colour ?? this.theme.text}" text-anchor="${anchor}" dominant-baseline="central"${turn} xml:space="preserve">${escaped(shown)}</text>`,
    );
  }
  hatch(x: number, y: number, width: number, height: number, stroke: string) {
    this.clip(x, y, width, height, () => {
      for (let at = x - height; at < x + width; at += 5) this.line([at, y + height, at + height, y], stroke);
    });
  }
  image(x: number, y: number, width: number, height: number, pixels: ImageData) {
    const canvas = document.createElement("canvas");
    canvas.width = pixels.width;
    canvas.height = pixels.height;
    canvas.getContext("2d")?.putImageData(pixels, 0, 0);
    this.parts.push(
      `<image x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" preserveAspectRatio="none" style="image-rendering:pixelated" href="${canvas.toDataURL("image/png")}"/>`,
    );
  }
  clip(x: number, y: number, width: number, height: number, draw: () => void) {
    const id = `clip${++this.clips}`;
    this.parts.push(`<clipPath id="${id}"><rect x="${n(x)}" y="${n(y)}" width="${n(Math.max(0, width))}" height="${n(Math.max(0, height))}"/></clipPath><g clip-path="url(#${id})">`);
    draw();
    this.parts.push("</g>");
  }
  shift(x: number, y: number, draw: () => void) {
    this.parts.push(`<g transform="translate(${n(x)} ${n(y)})">`);
    draw();
    this.parts.push("</g>");
  }
}
