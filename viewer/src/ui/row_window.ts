// A table of thousands of rows of one height: only those in sight, and some about them, are in the page. Two rows without
// content stand for the others, so that the scroll bar is that of the whole table.
import { element } from "./dom";

export const ROW_HEIGHT = 22; // as the style sheet has it
const BEYOND = 10; // rows kept above and below those in sight

export interface Span {
  from: number;
  to: number; // exclusive
}

/** Rows to have in the page for a place of the scroll bar; `now` where it still does. */
export function rowsToHave(count: number, scrolled: number, height: number, now: Span, row = ROW_HEIGHT): Span {
  const first = Math.max(0, Math.min(count - 1, Math.floor(scrolled / row)));
  const last = Math.min(count, Math.ceil((scrolled + height) / row));
  const fits = now.from <= first && now.to >= last && now.to <= count && now.to - now.from <= last - first + 3 * BEYOND;
  return fits ? now : { from: Math.max(0, first - BEYOND), to: Math.min(count, last + BEYOND) };
}

const filler = () => element("tbody", { aria: { hidden: "true" } }, element("tr", {}, element("td", { style: { padding: "0", border: "0" } })));

export class RowWindow {
  readonly body = element("tbody");
  private readonly above = filler();
  private readonly below = filler();
  private readonly observer = new ResizeObserver(() => {
    this.fill();
    if (this.scroller.scrollTop === this.heldAt) this.reveal(this.held);
  });
  private count = 0;
  private span: Span = { from: 0, to: 0 };
  private height = ROW_HEIGHT;
  // The row that was revealed last, and the place of the scroll bar then: until somebody scrolls, it stays in sight.
  private held = -1;
  private heldAt = -1;

  /** `head` and `foot` stick to the edges of `scroller` and cover what is behind them. */
  constructor(
    private readonly scroller: HTMLElement,
    private readonly table: HTMLTableElement,
    private readonly head: HTMLElement,
    private readonly foot: HTMLElement | null,
    private readonly rowAt: (place: number) => HTMLTableRowElement,
  ) {
    scroller.addEventListener("scroll", () => this.fill(), { passive: true });
    this.observer.observe(scroller);
  }

  get parts(): HTMLElement[] {
    return [this.above, this.body, this.below];
  }

  /** There are `count` rows now, all of them other than before, each of `height` pixels. */
  show(count: number, height = ROW_HEIGHT): void {
    [this.count, this.height, this.held] = [count, height, -1];
    this.span = { from: 0, to: -1 };
    this.table.setAttribute("aria-rowcount", String(count + 1));
    this.fill();
  }

  reveal(place: number): void {
    if (place < 0 || place >= this.count) return;
    const { scroller } = this;
    const top = place * this.height;
    const room = scroller.clientHeight - this.covered;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (room > 0 && top + this.height > scroller.scrollTop + room) scroller.scrollTop = top + this.height - room;
    [this.held, this.heldAt] = [place, scroller.scrollTop];
    this.fill();
  }

  /** Rows that are in sight whole. */
  get page(): number {
    return Math.max(1, Math.floor((this.scroller.clientHeight - this.covered) / this.height));
  }

  private get covered(): number {
    return this.head.offsetHeight + (this.foot?.offsetHeight ?? 0);
  }

  private fill(): void {
    const span = rowsToHave(this.count, this.scroller.scrollTop, this.scroller.clientHeight, this.span, this.height);
    if (span === this.span) return;
    this.span = span;
    const rows: HTMLTableRowElement[] = [];
    for (let place = span.from; place < span.to; place++) {
      const row = this.rowAt(place);
      row.setAttribute("aria-rowindex", String(place + 2));
      rows.push(row);
    }
    // Rows that stay are not touched: laying out a row anew costs more than making it.
    const stay = new Set<Node>(rows);
    for (const row of [...this.body.children]) if (!stay.has(row)) row.remove();
    rows.forEach((row, k) => {
      if (this.body.children[k] !== row) this.body.insertBefore(row, this.body.children[k] ?? null);
    });
    stretch(this.above, span.from * this.height);
    stretch(this.below, (this.count - span.to) * this.height);
  }
}

function stretch(part: HTMLElement, height: number): void {
  part.hidden = height <= 0;
  (part.firstElementChild as HTMLElement).style.height = `${Math.max(0, height)}px`;
}
