// What can be checked of a sight without eyes: nothing stands beyond the window or its own box, no words lie on others, and all can be
// read. The DOM is asked for the places of its words; of a canvas, each word's place and colour are noted as it is drawn, and what is
// drawn over it; its ground is told by the pixels of the picture without words.
import { readFileSync } from "node:fs";
import type { Page as Tab } from "playwright-core";
import { settle } from "./browser";

export const AXE = readFileSync(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

interface Word {
  text: string;
  colour: string; // as the canvas has it: "#rrggbb" or "rgba(...)"
  /** Corners of what is drawn, round about, in pixels of the canvas. */
  corners: [number, number][];
  /** What neither the picture's end nor what was drawn over it took away. */
  seen: Box;
}

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

declare global {
  interface Window {
    drawn: { words: Map<HTMLCanvasElement, Word[]>; hides: boolean };
  }
}

/** To be called before the page is opened: canvases note the words that they draw. */
export const noteWords = (page: Tab): Promise<void> => page.addInitScript(noting);

// Runs in the page, like all below that says so.
function noting(): void {
  const drawn = (window.drawn = { words: new Map<HTMLCanvasElement, Word[]>(), hides: false });
  const context = CanvasRenderingContext2D.prototype;
  const { fillText, fillRect, rect, clip, save, restore } = context;
  const WHOLE: Box = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
  const clips = new WeakMap<HTMLCanvasElement, Box[]>(); // by depth of save()
  const stackOf = (canvas: HTMLCanvasElement) => clips.get(canvas) ?? (clips.set(canvas, [WHOLE]), clips.get(canvas)!);
  let path = WHOLE; // the last rectangle of one

  const placed = (at: DOMMatrix, x: number, y: number): [number, number] => [at.a * x + at.c * y + at.e, at.b * x + at.d * y + at.f];
  const boxOf = (points: [number, number][]): Box => {
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
    return { left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) };
  };
  const common = (a: Box, b: Box): Box => ({ left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) });
  /** What is left of words under what is drawn over them. */
  const cover = (canvas: HTMLCanvasElement, over: Box) => {
    for (const { seen } of drawn.words.get(canvas) ?? []) {
      const [across, down] = [over.left <= seen.left && over.right >= seen.right, over.top <= seen.top && over.bottom >= seen.bottom];
      if (across && over.top <= seen.top && over.bottom > seen.top) seen.top = over.bottom;
      else if (across && over.bottom >= seen.bottom && over.top < seen.bottom) seen.bottom = over.top;
      else if (down && over.left <= seen.left && over.right > seen.left) seen.left = over.right;
      else if (down && over.right >= seen.right && over.left < seen.right) seen.right = over.left;
    }
  };

  context.save = function () {
    const stack = stackOf(this.canvas);
    stack.push(stack[stack.length - 1]!);
    save.call(this);
  };
  context.restore = function () {
    const stack = stackOf(this.canvas);
    if (stack.length > 1) stack.pop();
    restore.call(this);
  };
  context.rect = function (x, y, width, height) {
    const at = this.getTransform();
    path = boxOf([placed(at, x, y), placed(at, x + width, y + height)]);
    rect.call(this, x, y, width, height);
  };
  context.clip = function () {
    const stack = stackOf(this.canvas);
    stack[stack.length - 1] = common(stack[stack.length - 1]!, path);
    (clip as () => void).call(this);
  };
  context.fillRect = function (x, y, width, height) {
    const { canvas } = this;
    const stack = stackOf(canvas);
    // A picture begins with its ground.
    if (x === 0 && y === 0 && width > canvas.clientWidth - 1 && height > canvas.clientHeight - 1) drawn.words.set(canvas, []);
    const at = this.getTransform();
    if (String(this.fillStyle).startsWith("#")) cover(canvas, common(boxOf([placed(at, x, y), placed(at, x + width, y + height)]), stack[stack.length - 1]!));
    fillRect.call(this, x, y, width, height);
  };
  context.fillText = function (text, x, y) {
    const { actualBoundingBoxLeft: left, actualBoundingBoxRight: right, actualBoundingBoxAscent: up, actualBoundingBoxDescent: down } = this.measureText(text);
    const at = this.getTransform();
    const corners = ([[x - left, y - up], [x + right, y - up], [x + right, y + down], [x - left, y + down]] as const).map(([u, v]) => placed(at, u, v));
    const stack = stackOf(this.canvas);
    const seen = common(common(boxOf(corners), stack[stack.length - 1]!), { left: 0, top: 0, right: this.canvas.width, bottom: this.canvas.height });
    drawn.words.get(this.canvas)?.push({ text, colour: String(this.fillStyle), corners, seen });
    if (!drawn.hides) fillText.call(this, text, x, y);
  };
}

/** Sentences, none where all is well. */
export async function faultsOf(page: Tab): Promise<string[]> {
  const faults = [...(await page.evaluate(domFaults)), ...(await page.evaluate(canvasFaults))];
  await settle(page);
  return faults;
}

/** What axe finds, of any impact; takes a second. */
export async function axeFaultsOf(page: Tab): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations.map((v) => `axe: ${v.id} ${v.nodes.slice(0, 3).map((n) => `${n.target.join(" ")}: ${n.failureSummary}`).join("; ")}`);
}

// Runs in the page.
function domFaults(): string[] {
  const faults: string[] = [];
  const LEAST = 1.5; // pixels that are no fault
  const [ARROW, LEAST_NAME] = [21, 60]; // pixels of a choice, for its arrow with the room around it and for what says something of a name
  const quoted = (text: string) => `"${text.trim().replace(/\s+/g, " ").slice(0, 60)}"`;
  if (document.documentElement.scrollWidth > innerWidth) faults.push(`the page is ${document.documentElement.scrollWidth} pixels wide in a window of ${innerWidth}`);

  interface Piece {
    node: Node;
    owner: Element;
    left: number;
    right: number;
    top: number;
    bottom: number;
  }
  const pieces: Piece[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const owner = node.parentElement as Element;
    if (!node.textContent?.trim() || !owner.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || owner.closest("select, script, style")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      const seen = { left: rect.left, right: rect.right, top: rect.top, bottom: rect.bottom };
      let cutBy: Element | null = null;
      for (let at: Element | null = owner; at && at !== document.body; at = at.parentElement) {
        const style = getComputedStyle(at);
        if (style.clipPath !== "none") seen.right = seen.left; // spoken only
        if (style.overflowX === "visible" && style.overflowY === "visible") continue;
        const box = at.getBoundingClientRect();
        const before = { ...seen };
        seen.left = Math.max(seen.left, box.left);
        seen.right = Math.min(seen.right, box.right);
        seen.top = Math.max(seen.top, box.top);
        seen.bottom = Math.min(seen.bottom, box.bottom);
        const isHidden = seen.right <= seen.left || seen.bottom <= seen.top;
        const lost = before.right - seen.right > LEAST || seen.left - before.left > LEAST || (style.overflowY === "hidden" && (before.bottom - seen.bottom > 3 || seen.top - before.top > 3));
        const scrolls = /auto|scroll/.test(style.overflowX);
        const isNamed = style.textOverflow === "ellipsis" && at.closest("[title], [aria-label]") !== null;
        if (lost && !isHidden && !scrolls && !isNamed) cutBy ??= at;
      }
      if (seen.right - seen.left < 1 || seen.bottom - seen.top < 3) continue;
      if (cutBy) faults.push(`${quoted(node.textContent)} is cut by <${cutBy.tagName.toLowerCase()} class="${cutBy.className}">`);
      if (seen.right > innerWidth + LEAST || seen.bottom > innerHeight + 3) faults.push(`${quoted(node.textContent)} stands beyond the window`);
      const box = owner.closest("button, summary, td, th")?.getBoundingClientRect();
      if (box && (rect.right > box.right + LEAST || rect.left < box.left - LEAST) && !cutBy && getComputedStyle(owner).overflowX === "visible") faults.push(`${quoted(node.textContent)} stands beyond its box`);
      // What has no ground of its own covers nothing.
      const stack = document.elementsFromPoint((seen.left + seen.right) / 2, (seen.top + seen.bottom) / 2);
      const top = stack.find((at) => at === owner || owner.contains(at) || at.tagName === "CANVAS" || !/^rgba\(.*, 0\)$/.test(getComputedStyle(at).backgroundColor));
      if (top && (owner === top || owner.contains(top) || top.contains(owner))) pieces.push({ node, owner, ...seen });
    }
  }
  pieces.sort((a, b) => a.top - b.top);
  pieces.forEach((a, k) => {
    for (let j = k + 1; j < pieces.length; j++) {
      const b = pieces[j] as Piece;
      if (b.top > a.bottom) break;
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - b.top;
      if (a.node !== b.node && across > 2 && down > 4) faults.push(`${quoted(a.node.textContent ?? "")} lies on ${quoted(b.node.textContent ?? "")}`);
    }
  });
  const measured = document.createElement("canvas").getContext("2d")!;
  for (const field of document.querySelectorAll<HTMLInputElement>("input[placeholder]")) {
    const style = getComputedStyle(field);
    measured.font = style.font;
    const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    if (field.checkVisibility() && style.textOverflow !== "ellipsis" && measured.measureText(field.placeholder).width > room + LEAST) faults.push(`the field's "${field.placeholder}" is cut`);
  }
  for (const choice of document.querySelectorAll("select")) {
    const style = getComputedStyle(choice);
    measured.font = style.font;
    const text = choice.selectedOptions[0]?.textContent ?? "";
    const room = choice.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - ARROW;
    const least = style.textOverflow === "ellipsis" ? Math.min(LEAST_NAME, measured.measureText(text).width) : measured.measureText(text).width;
    if (choice.checkVisibility() && least > room + LEAST) faults.push(`the choice ${quoted(text)} is cut`);
  }
  for (const at of document.querySelectorAll("main *, header *")) {
    const style = getComputedStyle(at);
    if (!/auto|scroll/.test(style.overflowX) || at.tagName === "PRE" || !at.checkVisibility()) continue;
    if (at.scrollWidth > at.clientWidth + LEAST && !at.querySelector(":scope > .twin")) faults.push(`<${at.tagName.toLowerCase()} class="${at.className}"> scrolls sideways: ${at.scrollWidth} pixels in ${at.clientWidth}`);
  }
  return faults;
}

// Runs in the page.
async function canvasFaults(): Promise<string[]> {
  const { drawn } = window;
  const faults: string[] = [];
  const frames = async (n: number) => { for (let k = 0; k < n; k++) await new Promise(requestAnimationFrame); };
  const canvases = [...document.querySelectorAll("canvas")].filter((canvas) => canvas.checkVisibility() && canvas.width > 0);
  const pixelsOf = (canvas: HTMLCanvasElement) => new Uint32Array(canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  const shot = async (hides: boolean) => {
    drawn.hides = hides;
    window.heddle.store.refresh();
    await frames(4);
    return canvases.map(pixelsOf);
  };
  const isSame = (a: Uint32Array[], b: Uint32Array[]) => a.every((pixels, k) => pixels.length === b[k]!.length && pixels.every((p, i) => p === b[k]![i]));
  let full = await shot(false);
  for (let k = 0; k < 60; k++) {
    const next = await shot(false); // sums come frame by frame
    const rests = isSame(full, next);
    full = next;
    if (rests) break;
  }
  const noted = canvases.map((canvas) => [...(drawn.words.get(canvas) ?? [])]);
  const bare = await shot(true);
  await shot(false);

  const light = (r: number, g: number, b: number) => {
    const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)) as [number, number, number];
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const contrast = (colour: string, ground: number) => {
    const [gr, gg, gb] = [ground & 255, (ground >> 8) & 255, (ground >> 16) & 255];
    const hex = /^#(..)(..)(..)$/.exec(colour)?.slice(1).map((part) => parseInt(part, 16));
    const [r, g, b, a = 1] = hex ?? (/\((.*)\)/.exec(colour)?.[1]?.split(",").map(Number) as number[]);
    const over = (top: number, below: number) => a * top + (1 - a) * below;
    const [one, two] = [light(over(r!, gr), over(g!, gg), over(b!, gb)), light(gr, gg, gb)];
    return (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
  };
  /** Whether two quadrilaterals share more than a pixel or two: no side of either parts them. */
  const overlaps = (a: [number, number][], b: [number, number][], slack: number) =>
    [a, b].every((shape) => [0, 1].every((k) => {
      const [[x0, y0], [x1, y1]] = [shape[k]!, shape[k + 1]!];
      const length = Math.hypot(x1 - x0, y1 - y0) || 1;
      const [nx, ny] = [(x1 - x0) / length, (y1 - y0) / length];
      const along = (points: [number, number][]) => points.map(([x, y]) => x * nx + y * ny);
      const [p, q] = [along(a), along(b)];
      return Math.min(Math.max(...p), Math.max(...q)) - Math.max(Math.min(...p), Math.min(...q)) > slack;
    }));

  const cornersOf = ({ left, top, right, bottom }: Box): [number, number][] => [[left, top], [right, top], [right, bottom], [left, bottom]];
  canvases.forEach((canvas, c) => {
    const [with_, without, words] = [full[c]!, bare[c]!, noted[c]!];
    const view = canvas.closest(".view")?.className.replace(/.*view-/, "") ?? canvas.className;
    const ratio = canvas.width / canvas.clientWidth;
    const shown: { text: string; at: [number, number]; shape: [number, number][]; turned: boolean }[] = [];
    for (const word of words) {
      const { seen } = word;
      const [start] = word.corners as [[number, number]];
      if (!word.text.trim() || !(seen.right - seen.left > 1 && seen.bottom - seen.top > 2)) continue; // scrolled away, or under something
      if (shown.some(({ text, at }) => text === word.text && at[0] === start[0] && at[1] === start[1])) continue;
      const xs = word.corners.map(([x]) => x);
      const ys = word.corners.map(([, y]) => y);
      const [left, right, top] = [Math.min(...xs), Math.max(...xs), Math.min(...ys)];
      const grounds = new Map<number, number>();
      for (let y = Math.max(0, Math.floor(seen.top)); y < Math.min(canvas.height, Math.ceil(seen.bottom)); y++)
        for (let x = Math.max(0, Math.floor(seen.left)); x < Math.min(canvas.width, Math.ceil(seen.right)); x++) {
          const at = y * canvas.width + x;
          if (with_[at] !== without[at]) grounds.set(without[at]!, (grounds.get(without[at]!) ?? 0) + 1);
        }
      if (!grounds.size) continue;
      const what = `${view}: "${word.text}" at ${Math.round(left / ratio)}, ${Math.round(top / ratio)}`;
      const turned = Math.abs(word.corners[0]![1] - word.corners[1]![1]) > 1;
      if (seen.left - left > 2 * ratio || right - seen.right > 2 * ratio) faults.push(`${what} is cut`);
      const [ground] = [...grounds].sort((a, b) => b[1] - a[1])[0]!;
      const found = contrast(word.colour, ground);
      if (found < 4.5) faults.push(`${what} has a contrast of ${found.toFixed(1)} (${word.colour} on ${(ground & 0xffffff).toString(16)})`);
      const shape = turned ? word.corners : cornersOf(seen);
      for (const other of shown) if (overlaps(shape, other.shape, (turned || other.turned ? 3 : 2) * ratio)) faults.push(`${what} lies on "${other.text}"`);
      shown.push({ text: word.text, at: word.corners[0]!, shape, turned });
    }
  });
  return faults;
}
