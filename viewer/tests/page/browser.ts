// Debian's Chromium, headless and without a GPU, as on a build machine.
import { type Browser, chromium, type Page } from "playwright-core";

export const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });

/** Until what was changed is drawn. */
export const settle = (page: Page): Promise<unknown> => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));
