// Where the rows are on screen: pinned ones at the top, the others scroll below them.
import type { Run } from "../../run/run";
import type { Track } from "../../run/track";
import type { Store } from "../../ui/state";
import { fitted, type GroupRow, layOut, type Row, type Rows } from "./rows";

const TOGGLED = "timeline.toggled";
const PINNED = "timeline.pinned";
const MOST_PINNED = 24;
const ROOM = 8; // below the last row

/** A stretch of the picture, with the rows that are in sight there. */
export interface Part {
  top: number;
  height: number;
  rows: Row[];
}

export class Lanes {
  private rows: Rows = { pinned: [], pinnedHeight: 0, rows: [], height: 0 };
  private laidOut: { run: Run; toggled: string; pinned: string; room: number } | null = null;
  private scrolled = 0;
  private top = 0;
  private bottom = 0;

  constructor(private readonly store: Store) {}

  /** What stands in the options, between `top` and `bottom` of the picture. */
  layOut(run: Run, top: number, bottom: number): void {
    this.top = top;
    this.bottom = Math.max(top, bottom);
    const [toggled, pinned] = [this.store.option(TOGGLED, ""), this.store.option(PINNED, "")];
    const room = this.bottom - top;
    if (this.laidOut?.run !== run || this.laidOut.toggled !== toggled || this.laidOut.pinned !== pinned || this.laidOut.room !== room) {
      this.rows = layOut(run, new Set(toggled.split(" ")), this.pinned);
      this.rows = fitted(this.rows, this.bottom - this.scrollTop - ROOM);
      this.laidOut = { run, toggled, pinned, room };
    }
    this.scrollBy(0);
  }

  /** In order, from above. */
  get all(): readonly Row[] {
    return [...this.rows.pinned, ...this.rows.rows];
  }

  get parts(): Part[] {
    const { pinned, rows } = this.rows;
    const height = this.bottom - this.scrollTop;
    const inSight = rows.filter((row) => row.top + row.height > this.scrolled && row.top < this.scrolled + height);
    const below: Part = { top: this.scrollTop, height, rows: inSight };
    return pinned.length ? [{ top: this.top, height: this.scrollTop - this.top, rows: pinned }, below] : [below];
  }

  y(row: Row): number {
    return this.isPinnedRow(row) ? this.top + row.top : this.scrollTop + row.top - this.scrolled;
  }

  at(y: number): Row | null {
    const part = this.parts.find(({ top, height }) => y >= top && y < top + height);
    return part?.rows.find((row) => y >= this.y(row) && y < this.y(row) + row.height) ?? null;
  }

  /** The row that shows the track, or its core where its channels are folded away. */
  of(track: Track): Row | null {
    const own = this.all.find((row) => row.kind === "lane" && row.track === track.index);
    if (own || (track.engine !== "coreIn" && track.engine !== "coreOut")) return own ?? null;
    return this.all.find((row) => row.key === `core${track.row},${track.column}`) ?? null;
  }

  /** The group that the track is folded away in, or null. */
  groupOf(track: Track): GroupRow | null {
    return this.rows.rows.find((row): row is GroupRow => row.kind === "group" && !row.open && row.tracks.includes(track.index)) ?? null;
  }

  scrollBy(pixels: number): void {
    const most = Math.max(0, this.rows.height - (this.bottom - this.scrollTop) + ROOM);
    this.scrolled = Math.max(0, Math.min(this.scrolled + pixels, most));
  }

  reveal(row: Row): void {
    if (this.isPinnedRow(row)) return;
    const y = this.y(row);
    if (y < this.scrollTop) this.scrollBy(y - this.scrollTop - 4);
    else if (y + row.height > this.bottom) this.scrollBy(y + row.height - this.bottom + 4);
  }

  toggle(...keys: string[]): void {
    const toggled = new Set(this.store.option(TOGGLED, "").split(" ").filter(Boolean));
    for (const key of keys) if (!toggled.delete(key)) toggled.add(key);
    this.store.setOption(TOGGLED, [...toggled].join(" "));
  }

  /** Opens all groups, or shuts them where any is open. */
  toggleGroups(): void {
    const groups = this.rows.rows.filter((row) => row.kind === "group");
    const open = groups.filter((row) => row.open);
    this.toggle(...(open.length ? open : groups).map((row) => row.key));
  }

  togglePin(track: number): void {
    const { pinned } = this;
    const next = pinned.includes(track) ? pinned.filter((t) => t !== track) : [...pinned, track].slice(-MOST_PINNED);
    this.store.setOption(PINNED, next.join(" "));
  }

  get pinned(): number[] {
    const tracks = this.store.option(PINNED, "").split(" ").filter((text) => /^\d{1,6}$/.test(text)).map(Number);
    return [...new Set(tracks)].slice(0, MOST_PINNED);
  }

  isPinnedRow(row: Row): boolean {
    return row.kind === "lane" && this.rows.pinned.includes(row);
  }

  /** Pinned rows never take more than half of the room. */
  private get scrollTop(): number {
    return this.top + Math.min(this.rows.pinnedHeight, (this.bottom - this.top) / 2);
  }
}
