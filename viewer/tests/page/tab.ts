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
    axe: { run(context: object, options: object): Promise<{ violations: { id: string; impact: string; nodes: { target: string[]; failureSummary: string }[] }[] }> };
  }
}

export const PAGES = process.env["HEDDLE_PAGES"] ?? "";

let browser: Browser;

/** For a file of tests: one browser for all of them. */
export function useBrowser(): void {
  beforeAll(async () => {
    expect(existsSync(PAGES), "HEDDLE_PAGES: the folder of make_pages.sh").toBe(true);
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

export async function open(file: string, hash = "", { dark = false, width = 1600, height = 900, prepare }: Sight = {}): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
  const faults: string[] = [];
  page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") faults.push(`console: ${message.text()}`); });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) faults.push(`request: ${request.url()}`); });
  page.on("dialog", (dialog) => { faults.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  await prepare?.(page);
  await page.goto(`file://${file}${hash}`);
  await page.waitForFunction(() => "heddle" in window || document.querySelector("#problem[role=alert]"));
  await settle(page);
  return { page, faults };
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
