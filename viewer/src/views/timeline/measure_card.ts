// What happened in the measured stretch: how busy each resource was, and what the cores waited for.
import { type Painter, textWidth } from "../../paint/painter";
import { css, resourceColour, stallColour, type Rgb } from "../../paint/theme";
import type { Load } from "../../run/load";
import type { Stretch } from "../../run/run";
import type { App } from "../../ui/app";
import { count, percent } from "../../ui/numbers";
import { GUTTER, type TimeScale } from "../../ui/time_axis";
import { type Account, accountOf } from "./busy";

const LINE = 15;
const WIDTH = 216;
const PADDING = 9;
const LEAST_SHOWN = 0.0005;

interface CardLine {
  text: string;
  figure: string;
  colour?: Rgb;
}

const known: { load: Load | null; measure: Stretch | null; account: Account | null } = { load: null, measure: null, account: null };

function accountFor(load: Load, measure: Stretch): Account {
  if (known.load !== load || known.measure !== measure || !known.account) Object.assign(known, { load, measure, account: accountOf(load, measure) });
  return known.account as Account;
}

function linesOf(app: App, { resources, waits, slices }: Account, measure: Stretch): CardLine[] {
  return [
    { text: `${count(measure.from)} – ${count(measure.to)}`, figure: percent((measure.to - measure.from) / app.run.makespan) },
    { text: "slices that end in it", figure: count(slices) },
    { text: "busy, mean of the engines", figure: "" },
    ...resources.filter(({ share }) => share > LEAST_SHOWN).map(({ name, resource, share }) => ({ text: name, figure: percent(share), colour: resourceColour(resource) })),
    { text: app.waits === "root" ? "cores wait, followed back, for" : "cores wait for the neighbour", figure: "" },
    ...waits.filter(({ share }) => share > LEAST_SHOWN).map(({ name, stall, share }) => ({ text: name, figure: percent(share), colour: stallColour(stall) })),
  ];
}

/** Beside the stretch where there is room, else within it. */
export function paintMeasureCard(p: Painter, app: App, load: Load, scale: TimeScale, top: number, bottom: number): void {
  const { measure } = app.store.state;
  if (!measure) return;
  const [from, to] = [scale.x(measure.from), scale.x(measure.to)];
  if (to < GUTTER || from > scale.right) return;
  const lines = linesOf(app, accountFor(load, measure), measure);
  const height = Math.min(bottom - top - 8, lines.length * LINE + PADDING);
  if (height < 3 * LINE || scale.right - GUTTER < WIDTH + 16) return;
  const left = to + WIDTH + 12 < scale.right ? Math.max(GUTTER, to) + 8 : from - WIDTH - 8 > GUTTER ? Math.min(from, scale.right) - WIDTH - 8 : scale.right - WIDTH - 8;
  p.rect(left, top + 6, WIDTH, height, p.theme.raised);
  p.frame(left + 0.5, top + 6.5, WIDTH - 1, height - 1, p.theme.accent);
  p.clip(left, top + 6, WIDTH, height, () => lines.forEach((line, k) => paintLine(p, line, left + PADDING, top + 6 + PADDING / 2 + (k + 0.5) * LINE)));
}

function paintLine(p: Painter, { text, figure, colour }: CardLine, left: number, y: number): void {
  const right = left + WIDTH - 2 * PADDING;
  if (colour) p.rect(left, y - 4, 9, 9, css(colour));
  const room = right - left - textWidth(figure) - 8;
  p.text(left + (colour ? 15 : 0), y, text, { bold: !colour && !figure, colour: colour || !figure ? p.theme.text : p.theme.faint, width: room });
  p.text(right, y, figure, { align: "right" });
}
