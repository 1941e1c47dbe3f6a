// The browser's Back and Forward: each thing that a user did is a step, and those of one movement are one.
import type { Change, State } from "./state";

/** Changes of these are steps; those of the others come along with the next. */
const STEPS: readonly (keyof State)[] = ["view", "lower", "run", "selection", "window", "measure"];
const ONE_MOVE = 1000; // milliseconds within which zooming and panning go on

export class Steps {
  private readonly changed = new Set<keyof State>();
  private movedAt = -Infinity;
  private arrived = false; // at an address that was given: by Back, or typed

  add(change: Change): void {
    for (const key of change) this.changed.add(key);
  }

  arrive(): void {
    this.arrived = true;
  }

  /** Puts the state into the address, as a new step where it is one. */
  write(hash: string): void {
    const now = performance.now();
    const isMove = [...this.changed].every((key) => key === "window" || !STEPS.includes(key));
    const goesOn = isMove && now - this.movedAt < ONE_MOVE;
    const isStep = !this.arrived && !goesOn && STEPS.some((key) => this.changed.has(key));
    if (isMove && this.changed.has("window") && !this.arrived) this.movedAt = now;
    else this.movedAt = -Infinity;
    this.arrived = false;
    this.changed.clear();
    if (hash === location.hash) return;
    if (isStep) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
  }
}
