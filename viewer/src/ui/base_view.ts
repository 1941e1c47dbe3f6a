// What a view is: a pane's content that follows the state, can be saved as a picture and read as a table.
import { CanvasPainter, type Painter } from "../paint/painter";
import type { Stretch } from "../run/run";
import type { Theme } from "../paint/theme";
import { element } from "./dom";
import { count } from "./numbers";
import type { Tip } from "./tip";

/** What a view has to know of its page. */
export interface Surroundings {
  readonly theme: Theme;
  readonly tip: Tip;
}

/** The twin of what is drawn, for whoever cannot see it, and for CSV. */
export interface TableOf<Chosen> {
  caption: string;
  columns: string[];
  rows: (string | number)[][];
  /** Rows that lie before what is in sight: the page leaves them out where it cannot hold all. */
  before?: Stretch;
  /** Rows that are sums of others: sorting leaves them behind those. */
  sums?: ReadonlySet<number>;
  /** What a click on row n selects. */
  selections?: (Chosen | null)[];
}

export interface KeyBinding {
  /** As KeyboardEvent.key, in lower case: ".", "f", "arrowup". */
  key: string;
  shown: string;
  does: string;
  run(): void;
}

export interface Picture {
  width: number;
  height: number;
  paint(p: Painter): void;
}

/** Rows of a table twin that are put into the page at most; a file gets all. */
export const MOST_ROWS = 1000;

/** Numbers of the rows that the page holds, and the words that say so. */
export function rowsInPage({ rows, before = { from: 0, to: 0 } }: Pick<TableOf<unknown>, "rows" | "before">, most = MOST_ROWS): { shown: number[]; note: string } {
  const all = rows.map((_, n) => n);
  if (rows.length <= most) return { shown: all, note: "" };
  const from = Math.min(before.from, most);
  const to = Math.max(from, Math.min(before.to, rows.length - (most - from))); // so that the page is full
  const shown = [...all.slice(0, from), ...all.slice(to, to + most - from)];
  const span = (first: number, end: number) => (end > first ? [`${count(first + 1)} to ${count(end)}`] : []);
  const spans = from === to ? span(0, most) : [...span(0, from), ...span(to, to + most - from)];
  return { shown, note: ` Shown are rows ${spans.join(" and ")} of ${count(rows.length)}; CSV has them all.` };
}

export abstract class ViewOf<A extends Surroundings, Id extends string, Change, Chosen> {
  readonly root: HTMLElement;
  readonly keys: KeyBinding[] = [];

  constructor(
    readonly app: A,
    readonly id: Id,
  ) {
    this.root = element("div", { className: `view view-${id}` });
  }

  /** Called once a frame with what changed, and with everything when the view comes on screen. */
  abstract changed(change: Change): void;
  /** What is on screen now, for a file. */
  abstract picture(): Picture;
  abstract table(): TableOf<Chosen>;
  /** Buttons and choices of the view, for the bar of its pane. */
  tools(): HTMLElement[] {
    return [];
  }
}

/** A view that is one picture. Drawing happens once a frame, and only when something called `redraw`. */
export abstract class CanvasViewOf<A extends Surroundings, Id extends string, Change, Chosen> extends ViewOf<A, Id, Change, Chosen> {
  readonly canvas: HTMLCanvasElement;
  width = 300; // CSS pixels
  height = 150;
  private readonly context: CanvasRenderingContext2D;
  private ratio = 1;
  private waiting = false;
  private frame: HTMLElement; // that the picture fills
  private readonly observer = new ResizeObserver(() => this.resize());

  constructor(app: A, id: Id, label: string) {
    super(app, id);
    this.canvas = element("canvas", { tabIndex: 0, aria: { role: "img", label: `${label}. The button "Table" shows the same as a table.` } });
    this.root.append(this.canvas);
    this.context = this.canvas.getContext("2d", { alpha: false }) as CanvasRenderingContext2D;
    this.frame = this.root;
    this.observer.observe(this.root);
    this.canvas.addEventListener("pointermove", (e) => this.hover(e.offsetX, e.offsetY, e));
    this.canvas.addEventListener("pointerleave", () => app.tip.hide());
  }

  /** Leaves room in the view for what is no picture: that fills `frame` alone. */
  protected fill(frame: HTMLElement): void {
    this.observer.disconnect();
    this.frame = frame;
    frame.append(this.canvas);
    this.observer.observe(frame);
  }

  /** Everything that the view shows, at its present width and height. */
  abstract paint(p: Painter): void;

  /** The pointer is over the picture: show what is there with app.tip. */
  protected hover(_x: number, _y: number, _event: PointerEvent): void {}

  changed(_change: Change): void {
    this.redraw();
  }

  redraw(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (!this.root.isConnected || this.root.hidden) return;
      const p = new CanvasPainter(this.context, this.app.theme, this.ratio);
      p.rect(0, 0, this.width, this.height, this.app.theme.ground);
      this.paint(p);
    });
  }

  picture(): Picture {
    return { width: this.width, height: this.height, paint: (p) => this.paint(p) };
  }

  /** Device pixels of a CSS pixel. */
  protected get density(): number {
    return this.ratio;
  }

  private resize() {
    const box = this.frame.getBoundingClientRect();
    if (box.width === 0 || box.height === 0) return;
    this.ratio = window.devicePixelRatio || 1;
    this.width = box.width;
    this.height = box.height;
    this.canvas.width = Math.round(box.width * this.ratio);
    this.canvas.height = Math.round(box.height * this.ratio);
    this.redraw();
  }
}
