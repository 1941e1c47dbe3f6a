// Parts of a canvas that scroll, with their bars.
import type { Painter } from "../paint/painter";
import { css } from "../paint/theme";

const BAR = 8;
const LEAST_THUMB = 24;

export class ScrollArea {
  x = 0;
  y = 0;
  width = 0;
  height = 0;
  offset = 0;
  private content = 0;
  private held: { y: number; offset: number } | null = null;

  place(x: number, y: number, width: number, height: number, content: number): void {
    Object.assign(this, { x, y, width, height: Math.max(0, height), content });
    this.scrollTo(this.offset);
  }

  scrollTo(offset: number): void {
    this.offset = Math.max(0, Math.min(offset, this.content - this.height));
  }

  /** Scrolls so that top .. bottom of the content can be seen, with a little of what is around it. */
  reveal(top: number, bottom: number): void {
    const room = Math.min(3 * (bottom - top), this.height / 3);
    if (top < this.offset) this.scrollTo(top - room);
    else if (bottom > this.offset + this.height) this.scrollTo(bottom + room - this.height);
  }

  holds(x: number, y: number): boolean {
    return x >= this.x && x < this.x + this.width && y >= this.y && y < this.y + this.height;
  }

  /** Width that is left of the bar. */
  get inner(): number {
    return this.width - (this.content > this.height ? BAR + 2 : 0);
  }

  paintBar(p: Painter): void {
    if (this.content <= this.height || this.height <= 0) return;
    const { top, height } = this.thumb;
    p.rect(this.x + this.width - BAR, this.y, BAR, this.height, p.theme.sunken);
    p.rect(this.x + this.width - BAR + 1, this.y + top, BAR - 2, height, this.held ? p.theme.accent : css(p.theme.dark ? [110, 118, 126] : [160, 165, 170]));
  }

  /** Whether the bar was taken hold of. */
  press(x: number, y: number): boolean {
    if (this.content <= this.height || !this.holds(x, y) || x < this.x + this.width - BAR - 2) return false;
    const { top, height } = this.thumb;
    const at = y - this.y;
    if (at < top || at > top + height) this.scrollTo(((at - height / 2) / Math.max(1, this.height - height)) * (this.content - this.height));
    this.held = { y, offset: this.offset };
    return true;
  }

  drag(y: number): boolean {
    if (!this.held) return false;
    const room = Math.max(1, this.height - this.thumb.height);
    this.scrollTo(this.held.offset + ((y - this.held.y) / room) * (this.content - this.height));
    return true;
  }

  release(): boolean {
    const was = this.held !== null;
    this.held = null;
    return was;
  }

  private get thumb(): { top: number; height: number } {
    const height = Math.min(this.height, Math.max(LEAST_THUMB, (this.height * this.height) / this.content));
    return { top: (this.offset / Math.max(1, this.content - this.height)) * (this.height - height), height };
  }
}

/**
 * Lets the areas of a canvas scroll by wheel and by their bars. `isTime(y)` tells what of the canvas belongs to the time axis:
 * there, and only there, wheel and drag are left to whoever listens after this.
 */
export function listenToScroll(canvas: HTMLCanvasElement, areas: readonly ScrollArea[], isTime: (y: number) => boolean, moved: () => void): void {
  let began = true; // in time
  canvas.addEventListener("wheel", (e) => {
    if (isTime(e.offsetY)) return;
    e.preventDefault();
    e.stopImmediatePropagation();
    const area = areas.find((candidate) => candidate.holds(e.offsetX, e.offsetY));
    area?.scrollTo(area.offset + e.deltaY * (e.deltaMode === 1 ? 20 : 1));
    moved();
  }, { passive: false, capture: true });
  canvas.addEventListener("pointerdown", (e) => {
    began = isTime(e.offsetY);
    if (e.button !== 0 || !areas.some((area) => area.press(e.offsetX, e.offsetY))) return;
    e.stopImmediatePropagation();
    canvas.setPointerCapture(e.pointerId);
    moved();
  }, true);
  canvas.addEventListener("pointermove", (e) => {
    const drags = areas.some((area) => area.drag(e.offsetY));
    if (drags || (e.buttons && !began)) e.stopImmediatePropagation();
    if (drags) moved();
  }, true);
  const release = (e: PointerEvent) => {
    if (!areas.map((area) => area.release()).some(Boolean)) return;
    e.stopImmediatePropagation();
    moved();
  };
  canvas.addEventListener("pointerup", release, true);
  canvas.addEventListener("pointercancel", release, true);
}
