// The device drawn as it is, with what its tiles and links did in the window.
import type { Painter } from "../../paint/painter";
import type { App } from "../../ui/app";
import { button, element } from "../../ui/dom";
import { percent } from "../../ui/numbers";
import { type Change, tileOfTrack } from "../../ui/state";
import { wheelFactor } from "../../ui/time_axis";
import type { TipLine } from "../../ui/tip";
import { CanvasView, type Table } from "../../ui/view";
import { WaitsChoice } from "../../ui/waits_choice";
import { cursorAt, listenToBar } from "../../ui/window_bar";
import { feedsOf } from "../../run/feeds";
import { type LinkFigures, meshFigures, type MeshFigures, type Mode, MODES, stretchOf, type TileFigures } from "./figures";
import { distance, type Geometry, HEAD, holds, layOut } from "./geometry";
import { type Load, loadOf } from "../../run/load";
import { type Look, paintMesh, writeBox } from "./paint";
import { paintLegend, paintPanel } from "./panel";
import { FIRST_STEP, Player, WHOLE } from "./player";
import { paintScrubber, paintScrubberKey } from "./scrubber";
import { linkTip, meshTable, scrubberTip, tileTip } from "./tips";
import "./mesh.css";

const TITLES: Record<Mode, string> = { busy: "Busy", stalled: "Stalled", idle: "Idle", padded: "Padded work" };
const SLICE_OF_FRAME = 24; // milliseconds

type Hit = { tile: TileFigures } | { link: LinkFigures } | null;

export class MeshView extends CanvasView {
  private known: { load: Load; from: number; to: number; figures: MeshFigures } | null = null;
  private wire = -1;
  private readonly buttons = new Map<Mode, HTMLButtonElement>();
  /** In place of the buttons where the pane is narrow. */
  private readonly choice = element("select", { className: "mesh-choice", title: "What the heat shows (H)", aria: { label: "What the heat shows" } });

  private readonly player: Player;
  private readonly waitsChoice: WaitsChoice;

  constructor(app: App) {
    super(app, "mesh", "The mesh of cores with its memtiles, wires and DDR channels");
    this.waitsChoice = new WaitsChoice(app);
    this.player = new Player(app, () => this.root.isConnected);
    this.choice.append(...MODES.map((mode) => element("option", { value: mode, textContent: TITLES[mode] })));
    this.choice.addEventListener("change", () => app.store.setOption("mesh.mode", this.choice.value));
    listenToBar(app, this.canvas, () => this.geometry.scrubber);
    this.canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      app.zoom(wheelFactor(e));
    }, { passive: false });
    this.canvas.addEventListener("click", (e) => this.click(e.offsetX, e.offsetY));
    this.canvas.addEventListener("pointerleave", () => this.light(-1));
    this.keys.push(
      { key: " ", shown: "Space", does: "play: move the window along the run", run: () => this.player.toggle() },
      { key: "]", shown: "]", does: "step the window on by its length", run: () => this.step(1) },
      { key: "[", shown: "[", does: "step the window back by its length", run: () => this.step(-1) },
      { key: "h", shown: "H", does: "heat: busy, stalled, idle or padded work", run: () => this.nextMode() },
    );
  }

  override tools(): HTMLElement[] {
    const group = element("div", { className: "mesh-modes", aria: { role: "group", label: "What the heat shows" } });
    for (const mode of MODES) {
      const choice = button(TITLES[mode], `${TITLES[mode]} (H)`, () => this.app.store.setOption("mesh.mode", mode));
      this.buttons.set(mode, choice);
      group.append(choice);
    }
    this.markButtons();
    return [this.player.button, group, this.choice, this.waitsChoice.root];
  }

  override changed(change: Change): void {
    this.markButtons();
    this.waitsChoice.mark();
    super.changed(change);
  }

  paint(p: Painter): void {
    const { app, geometry } = this;
    const load = loadOf(app.run, app.waits);
    load.grow(SLICE_OF_FRAME);
    if (load.done < 1) {
      p.text(12, HEAD + 10, `adding up the run: ${percent(load.done)}`, { colour: p.theme.faint });
      this.redraw();
      return;
    }
    const look = this.look;
    paintLegend(p, look.mode, this.width);
    paintMesh(p, look);
    if (geometry.panel) paintPanel(p, geometry.panel, look.figures, this.chosenTile(look), look.chosenTrack);
    paintScrubber(p, app, load, geometry.scrubber);
    if (geometry.scrubberKey) paintScrubberKey(p, geometry.scrubberKey);
  }

  table(): Table {
    loadOf(this.app.run, this.app.waits).grow(Infinity);
    return meshTable(this.figures);
  }

  protected override hover(x: number, y: number, event: PointerEvent): void {
    const { app, geometry } = this;
    if (event.buttons || loadOf(app.run, app.waits).done < 1) return;
    if (y >= geometry.scrubber.y) {
      this.canvas.style.cursor = cursorAt(app, geometry.scrubber, x);
      app.tip.show(event, scrubberTip(app, this.figures));
      this.light(-1);
      return;
    }
    const hit = this.hit(x, y);
    this.canvas.style.cursor = hit ? "pointer" : "default";
    this.light(hit && "link" in hit && hit.link.engine === "wire" ? hit.link.column : -1);
    const lines = this.tipOf(hit);
    if (lines) app.tip.show(event, lines);
    else app.tip.hide();
  }

  // ---- what is known, and where it is ----

  private get geometry(): Geometry {
    return layOut(this.app.run.device, this.width, this.height);
  }

  private get mode(): Mode {
    const wanted = this.app.store.option("mesh.mode", "busy");
    return MODES.find((mode) => mode === wanted) ?? "busy";
  }

  private get figures(): MeshFigures {
    const { run, store } = this.app;
    const load = loadOf(run, this.app.waits);
    const { from, to } = stretchOf(run, store.state.window);
    if (this.known?.load !== load || this.known.from !== from || this.known.to !== to) this.known = { load, from, to, figures: meshFigures(load, { from, to }) };
    return this.known.figures;
  }

  private get look(): Look {
    const { run, focus } = this.app;
    const { figures } = this;
    const load = loadOf(run, this.app.waits);
    const chosen = focus.tile;
    return {
      geometry: this.geometry, figures, feeds: feedsOf(run), mode: this.mode, wire: this.wire, chosenTrack: focus.track,
      isChosen: ({ tile }) => chosen !== null && tile.kind === chosen.kind && tile.column === chosen.column && (tile.kind === "memtile" || tile.row === chosen.row),
      ranLayer: ({ tile, tracks }) => focus.layer >= 0 && tile.kind === "core" && tracks.some((track) => load.ranLayer(track, focus.layer, figures.stretch)),
    };
  }

  /** The tile that is selected itself, not only where a selected slice ran. */
  private chosenTile({ figures, isChosen }: Look): TileFigures | null {
    return this.app.store.state.selection?.kind === "tile" ? ([...figures.cores, ...figures.memtiles].find(isChosen) ?? null) : null;
  }

  private hit(x: number, y: number): Hit {
    const { geometry, figures, look } = this;
    const core = geometry.cores.findIndex((box) => holds(box, x, y));
    if (core >= 0) return { tile: figures.cores[core] as TileFigures };
    const memtile = geometry.memtiles.findIndex((box) => holds(box, x, y));
    if (memtile >= 0) return { tile: figures.memtiles[memtile] as TileFigures };
    const write = figures.writes.find((link) => holds(writeBox(look, link), x, y, 1));
    if (write) return { link: write };
    const column = geometry.ddr.findIndex((box) => holds(box, x, y));
    const box = geometry.ddr[column];
    if (box) {
      const links = figures.ddr.filter((link) => link.column === column);
      const link = links[Math.min(links.length - 1, Math.floor(((x - box.x) / box.width) * links.length))];
      return link ? { link } : null;
    }
    return this.wireAt(x, y);
  }

  private wireAt(x: number, y: number): Hit {
    const { geometry, figures } = this;
    let best: LinkFigures | null = null;
    let least = 6;
    for (const line of geometry.wires) {
      const xs = [...line.feeds, line.points[0] as number];
      const inLabel = line.label.x < x && x < line.label.x + line.label.width && Math.abs(y - line.label.y) < 6;
      const away = inLabel ? 0 : Math.min(distance(line.points, x, y), distance([Math.min(...xs), line.laneY, Math.max(...xs), line.laneY], x, y));
      const link = figures.wires[line.wire];
      if (!link || away >= least) continue;
      least = away;
      best = link;
    }
    return best && { link: best };
  }

  private tipOf(hit: Hit): TipLine[] | null {
    if (!hit) return null;
    return "tile" in hit ? tileTip(this.app, this.figures, hit.tile) : linkTip(this.app, this.figures, hit.link);
  }

  // ---- what one can do ----

  // A link is selected by the first of its slices in the window; its tile, where it has none.
  private click(x: number, y: number): void {
    const { app } = this;
    if (y >= this.geometry.scrubber.y || loadOf(app.run, app.waits).done < 1) return;
    const hit = this.hit(x, y);
    if (!hit) return;
    if ("tile" in hit) {
      app.select({ kind: "tile", tile: hit.tile.tile });
      return;
    }
    const track = app.run.tracks[hit.link.track];
    if (!track?.size) return;
    const index = track.firstAfter(this.figures.stretch.from);
    const tile = tileOfTrack(app.run, hit.link.track);
    if (index < track.size && track.start(index) < this.figures.stretch.to) app.select({ kind: "slice", track: hit.link.track, index });
    else if (tile) app.select({ kind: "tile", tile });
  }

  private light(wire: number): void {
    if (wire === this.wire) return;
    this.wire = wire;
    this.redraw();
  }

  private step(by: number): void {
    const { app } = this;
    const { window } = app.store.state;
    const span = window.to - window.from;
    const { makespan } = app.run;
    if (span < makespan * WHOLE) app.pan(by * span);
    else if (by > 0) app.show(0, makespan / FIRST_STEP);
    else app.show(makespan - makespan / FIRST_STEP, makespan);
  }

  private nextMode(): void {
    this.app.store.setOption("mesh.mode", MODES[(MODES.indexOf(this.mode) + 1) % MODES.length] as string);
  }

  private markButtons(): void {
    for (const [mode, choice] of this.buttons) choice.setAttribute("aria-pressed", String(mode === this.mode));
    this.choice.value = this.mode;
  }
}
