// What the run would gain if something were free: executed by the compiler where the file says so, else bounded by a replay here.
import { type FreeBy, Replay, type Task } from "./replay";
import type { Run } from "./run";

/** A group of FreeBy with the cycles that it has on the critical path. */
export interface OnPath {
  group: number;
  cycles: number;
}

export interface Gain {
  /** How much shorter the run would be. */
  cycles: number;
  /** "executed": exact, from the program run again. "at most": an upper bound. */
  how: "executed" | "at most";
}

const MOST_SLICES = 8e6; // to replay: each takes some 40 bytes
const BUDGET = 6; // milliseconds of work between two chances for the page to draw

const known = new WeakMap<Run, Gains>();

export function gainsOf(run: Run): Gains {
  let gains = known.get(run);
  if (!gains) known.set(run, (gains = new Gains(run)));
  return gains;
}

interface Wish {
  by: FreeBy;
  group: number;
}

export class Gains {
  /** Called when another figure is there, one for each who wants to know. */
  readonly onNews = new Map<string, () => void>();
  private readonly found = new Map<string, Gain>();
  private wishes: Wish[] = [];
  private task: Task<void> | null = null;
  private replay: Replay | null = null;

  constructor(private readonly run: Run) {
    for (const { resource, cycles } of run.whatIf) {
      const group = run.instructions.resources.indexOf(resource);
      if (group >= 0) this.found.set(`resource ${group}`, { cycles: run.makespan - cycles, how: "executed" });
    }
  }

  /** Whether the run is short enough for its parts to be freed. */
  get canReplay(): boolean {
    return this.run.slices <= MOST_SLICES;
  }

  /** Null while it is not known. What takes none of the path's time gains nothing. */
  of(by: FreeBy, { group, cycles }: OnPath): Gain | null {
    return this.found.get(`${by} ${group}`) ?? (cycles > 0 ? null : { cycles: 0, how: "at most" });
  }

  /** Computes what is not known yet of these, in this order and before what was wished earlier, while the page has nothing to do. */
  want(by: FreeBy, shares: readonly OnPath[]): void {
    const fresh = shares.filter((share) => share.group >= 0 && !this.of(by, share)).map(({ group }) => ({ by, group }));
    if (!fresh.length || !this.canReplay) return;
    this.wishes = [...fresh, ...this.wishes.filter((wish) => wish.by !== by)];
    if (!this.task) {
      this.task = this.work();
      whenIdle(() => this.go());
    }
  }

  private go(): void {
    const until = performance.now() + BUDGET;
    while (this.task && performance.now() < until) if (this.task.next().done) this.task = null;
    if (this.task) whenIdle(() => this.go());
  }

  private *work(): Task<void> {
    this.replay ??= yield* Replay.of(this.run);
    for (let wish = this.wishes.shift(); wish; wish = this.wishes.shift()) {
      if (this.found.has(`${wish.by} ${wish.group}`)) continue; // wished again while it was computed
      const makespan = yield* this.replay.makespanWithout(wish.by, wish.group);
      this.found.set(`${wish.by} ${wish.group}`, { cycles: this.run.makespan - makespan, how: "at most" });
      for (const tell of this.onNews.values()) tell();
    }
  }
}

function whenIdle(act: () => void): void {
  // Safari has no idle callbacks.
  if (typeof requestIdleCallback === "function") requestIdleCallback(act, { timeout: 200 });
  else setTimeout(act, 4);
}
