// What the mouse and the clipboard's key do in the listing.
import type { ScrollArea } from "../../ui/scroll";

export interface Listener {
  lineHeight: number;
  lineAt(x: number, y: number): number;
  /** By pixels, to the right and down. */
  scrolled(x: number, y: number): void;
  hover(event: PointerEvent): void;
  click(x: number, y: number, extend: boolean): void;
  copy(): void;
}

export function listenToListing(canvas: HTMLCanvasElement, area: ScrollArea, to: Listener): void {
  let pressed: number | null = null; // line
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    const unit = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? to.lineHeight : 1;
    to.scrolled(unit * (e.shiftKey ? e.deltaX || e.deltaY : e.deltaX), e.shiftKey ? 0 : unit * e.deltaY);
    to.hover(e as unknown as PointerEvent);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    canvas.setPointerCapture(e.pointerId);
    if (area.press(e.offsetX, e.offsetY)) to.scrolled(0, 0);
    else pressed = to.lineAt(e.offsetX, e.offsetY);
  });
  canvas.addEventListener("pointermove", (e) => {
    if (area.drag(e.offsetY)) to.scrolled(0, 0);
  });
  canvas.addEventListener("pointerup", (e) => {
    if (area.release()) to.scrolled(0, 0);
    else if (pressed !== null && pressed === to.lineAt(e.offsetX, e.offsetY)) to.click(e.offsetX, e.offsetY, e.shiftKey);
    pressed = null;
  });
  canvas.addEventListener("pointercancel", () => {
    area.release();
    pressed = null;
  });
  canvas.addEventListener("keydown", (e) => {
    if (!(e.ctrlKey || e.metaKey) || e.altKey || e.key.toLowerCase() !== "c") return;
    to.copy();
    e.preventDefault();
  });
}
