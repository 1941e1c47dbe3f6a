// The foot of the timeline: what height and colour of a lane mean.
import { type Painter, textWidth } from "../../paint/painter";
import { css, stallColour } from "../../paint/theme";
import { NO_WORK, STALLS, type Waits } from "../../run/stalls";
import { GUTTER } from "../../ui/time_axis";

export const KEY_HEIGHT = 18;
const SMALL = { size: 10 };
const SWATCH = 34; // with the room around it
const LONG: Record<Waits, string> = { root: "low strip: the engine waits, followed back, for", direct: "low strip: the engine waits for" };

export function paintKey(p: Painter, width: number, top: number, waits: Waits): void {
  const { theme } = p;
  const middle = top + KEY_HEIGHT / 2 + 0.5;
  p.rect(0, top, width, KEY_HEIGHT, theme.raised);
  p.rect(0, top, width, 1, theme.line);
  p.text(8, middle, "full height: busy, as above", { ...SMALL, colour: theme.faint, width: GUTTER - 12 });
  const names = STALLS.map((name) => (name === "order" ? "order of the program" : name));
  const isWide = width >= GUTTER + 4 + textWidth(LONG[waits], SMALL) + 10 + names.reduce((sum, name) => sum + textWidth(name, SMALL) + SWATCH, 0);
  const words = isWide ? LONG[waits] : "waits for";
  let x = GUTTER + 4;
  p.text(x, middle, words, { ...SMALL, colour: theme.faint });
  x += textWidth(words, SMALL) + 10;
  STALLS.forEach((name, stall) => {
    const text = isWide ? (names[stall] as string) : name;
    const room = textWidth(text, SMALL) + SWATCH;
    if (x + room > width) return;
    p.rect(x, middle + 0.5, 18, 5, css(stallColour(stall), stall === NO_WORK ? 0.2 : 0.7));
    p.text(x + 22, middle, text, SMALL);
    x += room;
  });
}
