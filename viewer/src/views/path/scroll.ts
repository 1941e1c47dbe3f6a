// A part of a canvas that scrolls, with its bar.
import type { Painter } from "../../paint/painter";
import { css } from "../../paint/theme";

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
