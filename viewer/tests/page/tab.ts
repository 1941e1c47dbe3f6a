// A page in a browser, as a user has it before them, and all that it should not do.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page as Tab } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import type { Run } from "../../src/run/run";
import type { App } from "../../src/ui/app";
import type { Page } from "../../src/ui/page";
import { VIEWS } from "../../src/ui/state";
import { launch, settle } from "./browser";

export { settle };

declare global {
  interface Window {
    heddle: App;
    heddlePage: Page;
    harmed?: boolean;
    axe: { run(context: object | string, options: object): Promise<{ violations: { id: string; impact: string; nodes: { target: string[]; failureSummary: string }[] }[] }> };
  }
}

export const PAGES = process.env["HEDDLE_PAGES"] ?? "";

let browser: Browser;

interface Reused {
  page: Tab;
  faults: string[];
}

/** Tabs that nobody has: to go to another page takes a tab a third of what a new one takes. */
let idle: Reused[] = [];
const lent = new Map<Tab, Reused>();

/** For a file of tests: one browser for all of them. */
export function useBrowser(): void {
  beforeAll(async () => {
    expect(existsSync(PAGES), "HEDDLE_PAGES: the folder of make_pages.sh").toBe(true);
    idle = [];
    browser = await launch();
  });
  afterAll(() => browser?.close());
}

export interface Opened {
  page: Tab;
  /** Errors, warnings, requests and dialogs: a test expects none. */
  faults: string[];
}

export interface Sight {
  dark?: boolean;
  width?: number;
  height?: number;
  /** Runs before the page is opened. */
  prepare?: (page: Tab) => Promise<void>;
}

async function newTab(): Promise<Reused> {
  const tab: Reused = { page: await browser.newPage(), faults: [] };
  tab.page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") tab.faults.push(`console: ${message.text()}`); });
  tab.page.on("pageerror", (error) => tab.faults.push(`error: ${error.message}`));
  tab.page.on("request", (request) => { if (!/^(about|file|data|blob):/.test(request.url())) tab.faults.push(`request: ${request.url()}`); });
  tab.page.on("dialog", (dialog) => { tab.faults.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  return tab;
}

/** A page as whoever opens it finds it; close() gives its tab back. */
export async function open(file: string, hash = "", { dark = false, width = 1600, height = 900, prepare }: Sight = {}): Promise<Opened> {
  const tab = (prepare ? undefined : idle.pop()) ?? (await newTab());
  const { page } = tab;
  tab.faults = [];
  if (!prepare) lent.set(page, tab); // what was prepared stays so
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
  await prepare?.(page);
  await page.goto(`file://${file}${hash}`);
  await page.waitForFunction(() => "heddle" in window || document.querySelector("#problem[role=alert]"));
  await settle(page);
  return { page, faults: tab.faults };
}

export async function close(page: Tab): Promise<void> {
  const tab = lent.get(page);
  if (!tab) return page.close();
  lent.delete(page);
  await page.mouse.move(0, 0);
  await page.goto("about:blank"); // else an address that differs in its hash alone would load nothing
  idle.push(tab);
}

/** Until the address holds the state. */
export const addressed = (page: Tab): Promise<void> => page.waitForTimeout(400);
export const pageOf = (name: string): string => (name === "compare" ? join(PAGES, "compare.html") : join(PAGES, name, "timeline.html"));
export const viewsOf = (name: string) => VIEWS.filter((view) => view !== "compare" || name === "compare");
export const reportOf = (name: string): Run["report"] => JSON.parse(readFileSync(join(PAGES, name, "report.json"), "utf8")) as Run["report"];
/** Colours that a canvas shows; one alone means that nothing was drawn. */
export const coloursOf = (page: Tab, view: string) =>
  page.evaluate((id) => {
    const canvas = document.querySelector<HTMLCanvasElement>(`.view-${id} canvas`);
    if (!canvas) return -1;
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  }, view);
