// A short list of points as a table: a click or Enter takes a row, the arrows walk.
import { element } from "../ui/dom";
import { count } from "../ui/numbers";

export const MOST_ROWS = 100; // more would be slow; files have them all

export interface ListRow {
  cells: string[];
  chosen: boolean;
  title?: string;
  act(): void;
}

export class ListTable {
  readonly root: HTMLElement;
  private readonly table: HTMLTableElement;
  private readonly body = element("tbody");
  private readonly note = element("p", { className: "faint list-note" });
  private rows: readonly ListRow[] = [];
  private stop = 0; // the row that takes part in the order of Tab

  /** `columns`: titles, those of figures with a "#" before. */
  constructor(label: string, private readonly columns: readonly string[]) {
    const heads = columns.map((title) => element("th", { scope: "col", className: title.startsWith("#") ? "" : "text", textContent: title.replace(/^#/, "") }));
    this.table = element("table", { aria: { role: "grid", label } }, element("thead", {}, element("tr", {}, ...heads)), this.body);
    this.root = element("div", { className: "list grid" }, this.table, this.note);
    this.body.addEventListener("click", (e) => this.take(this.placeOf(e.target)));
    this.body.addEventListener("keydown", (e) => this.key(e));
  }

  rename(k: number, title: string): void {
    const head = this.table.tHead?.rows[0]?.cells[k];
    if (head) head.textContent = title;
  }

  /** `all`: how many there are, of which these are the first. */
  show(rows: readonly ListRow[], all = rows.length, none = "None."): void {
    const hadFocus = this.body.contains(document.activeElement);
    this.rows = rows.slice(0, MOST_ROWS);
    const chosen = this.rows.findIndex((row) => row.chosen);
    this.stop = chosen >= 0 ? chosen : Math.max(0, Math.min(this.stop, this.rows.length - 1));
    this.body.replaceChildren(...this.rows.map(({ cells, chosen: isChosen, title = "" }, k) =>
      element("tr", { className: "row", tabIndex: k === this.stop ? 0 : -1, title, aria: { selected: String(isChosen) } },
        ...cells.map((text, c) => element("td", { className: this.columns[c]?.startsWith("#") ? "" : "text", textContent: text })))));
    this.table.hidden = !rows.length;
    this.note.textContent = !rows.length ? none : all > this.rows.length ? `The first ${count(this.rows.length)} of ${count(all)}; CSV has them all.` : "";
    if (hadFocus) this.rowAt(this.stop)?.focus();
  }

  private rowAt(place: number): HTMLElement | undefined {
    return this.body.children[place] as HTMLElement | undefined;
  }

  private placeOf(target: EventTarget | null): number {
    const row = (target as HTMLElement | null)?.closest("tr");
    return row ? [...this.body.children].indexOf(row) : -1;
  }

  private take(place: number): void {
    const row = this.rows[place];
    if (!row) return;
    this.stop = place;
    [...this.body.children].forEach((node, k) => { (node as HTMLElement).tabIndex = k === place ? 0 : -1; });
    this.rowAt(place)?.focus();
    row.act();
  }

  private key(e: KeyboardEvent): void {
    const at = this.placeOf(e.target);
    const by = { ArrowDown: 1, ArrowUp: -1, Home: -this.rows.length, End: this.rows.length }[e.key];
    if (by) this.take(Math.max(0, Math.min(this.rows.length - 1, at + by)));
    else if (e.key === "Enter" || e.key === " ") this.take(at);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
}
