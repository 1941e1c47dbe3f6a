// The foot of the view: what its colours, hatches and lines mean.
import { type Painter, textWidth } from "../../paint/painter";
import { css, resourceColour } from "../../paint/theme";
import { TENSOR_COLOURS } from "./paint_strip";

export const LEGEND = 18;
const SMALL = { size: 10 };
const SIGN = 18; // pixels wide
const GAP = 12;

type Paint = (p: Painter, x: number, y: number) => void;

const HEIGHT = 9;
const tensor = TENSOR_COLOURS[0] ?? [128, 128, 128];
const plain = (p: Painter, x: number, y: number) => p.rect(x, y, SIGN, HEIGHT, css(tensor, 0.82));

type Sign = readonly [string, Paint];
const SIGNS: readonly Sign[] = [
  ["tensor, each with its hue", (p, x, y) => TENSOR_COLOURS.slice(0, 3).forEach((colour, k) => p.rect(x + (k * SIGN) / 3, y, SIGN / 3, HEIGHT, css(colour, 0.82)))],
  ["weights on their way", (p, x, y) => {
    p.rect(x, y, SIGN, HEIGHT, css(resourceColour(1), 0.82));
    p.hatch(x, y, SIGN, HEIGHT, css(resourceColour(1), 0.5));
  }],
  ["places used in turn", (p, x, y) => {
    p.rect(x, y, SIGN, HEIGHT, css(tensor, 0.82));
    p.rect(x, y, SIGN, HEIGHT / 2, css(tensor, 0.5));
    p.frame(x + 0.5, y + 0.5, SIGN - 1, HEIGHT - 1, p.theme.faint, 1);
  }],
  ["rows to or from DDR", (p, x, y) => {
    plain(p, x, y);
    for (const edge of [y, y + HEIGHT]) p.line([x, edge, x + SIGN, edge], p.theme.text, 1, [4, 3]);
  }],
  ["the same bytes for two", (p, x, y) => {
    plain(p, x, y);
    p.hatch(x, y, SIGN, HEIGHT, p.theme.dark ? "rgba(16,18,20,0.75)" : "rgba(29,31,33,0.55)");
  }],
  ["lies within another", (p, x, y) => {
    plain(p, x, y);
    p.rect(x, y, 2, HEIGHT, p.theme.text);
  }],
  ["no tensor: sums, buffers", (p, x, y) => p.rect(x, y, SIGN, HEIGHT, css([150, 155, 160], 0.82))],
];

const SPILLED: Sign = ["⇅ goes to DDR and comes back", () => {}];

/** As many as have room; first those that this run has need of. */
export function paintLegend(p: Painter, width: number, top: number, spills: boolean): void {
  const { theme } = p;
  p.rect(0, top, width, LEGEND, theme.raised);
  p.rect(0, top, width, 1, theme.line);
  let x = 8;
  for (const [text, paint] of spills ? [...SIGNS.slice(0, 1), SPILLED, ...SIGNS.slice(1)] : SIGNS) {
    const sign = text.startsWith("⇅") ? 0 : SIGN + 4;
    const room = sign + textWidth(text, SMALL);
    if (x + room > width) return;
    paint(p, x, top + (LEGEND - HEIGHT) / 2 + 0.5);
    p.text(x + sign, top + LEGEND / 2 + 0.5, text, { ...SMALL, colour: theme.faint });
    x += room + GAP;
  }
}
