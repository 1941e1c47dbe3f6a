// Moves the window along the run, so that one sees the load wander over the mesh.
import type { App } from "../../ui/app";
import { button } from "../../ui/dom";

export const FIRST_STEP = 20; // parts of a run, where all of it was in the window
export const WHOLE = 0.95; // of the run: no room to move in
const SECONDS = 1.2; // in which the window moves by its length
const LONGEST = 30; // seconds for a run, however narrow the window

/** Cycles to move in `milliseconds`. */
export const advance = (span: number, makespan: number, milliseconds: number): number => Math.max(span / SECONDS, makespan / LONGEST) * (milliseconds / 1000);

export class Player {
  readonly button = button("▶ Play", "Move the window along the run (Space)", () => this.toggle());
  private last: number | null = null; // when the frame before was drawn; null while it stands

  constructor(
    private readonly app: App,
    private readonly isOnScreen: () => boolean,
  ) {
    this.button.setAttribute("aria-pressed", "false");
  }

  toggle(): void {
    if (this.last !== null) {
      this.stop();
      return;
    }
    const { app } = this;
    const { makespan } = app.run;
    const { window } = app.store.state;
    if (window.to - window.from >= makespan * WHOLE) app.show(0, makespan / FIRST_STEP);
    else if (window.to >= makespan) app.show(0, window.to - window.from);
    this.last = performance.now();
    this.mark();
    requestAnimationFrame((now) => this.frame(now));
  }

  private frame(now: number): void {
    if (this.last === null) return;
    const { app } = this;
    const { window } = app.store.state;
    if (!this.isOnScreen() || window.to >= app.run.makespan) {
      this.stop();
      return;
    }
    app.pan(advance(window.to - window.from, app.run.makespan, Math.max(0, now - this.last)));
    this.last = Math.max(now, this.last);
    requestAnimationFrame((next) => this.frame(next));
  }

  private stop(): void {
    this.last = null;
    this.mark();
  }

  private mark(): void {
    const runs = this.last !== null;
    this.button.textContent = runs ? "❚❚ Stop" : "▶ Play";
    this.button.setAttribute("aria-pressed", String(runs));
  }
}
