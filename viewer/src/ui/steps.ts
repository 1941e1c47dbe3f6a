// The browser's Back and Forward: each thing that a user did is a step, and those of one movement are one.
const ONE_MOVE = 1000; // milliseconds within which a movement goes on

export class Steps<K> {
  private readonly changed = new Set<K>();
  private movedAt = -Infinity;
  private arrived = false; // at an address that was given: by Back, or typed

  /** Changes of `steps` are steps, those of others come along with the next; those of `moves` go on. */
  constructor(
    private readonly steps: readonly K[],
    private readonly moves: readonly K[],
  ) {}

  add(change: ReadonlySet<K>): void {
    for (const key of change) this.changed.add(key);
  }

  arrive(): void {
    this.arrived = true;
  }

  /** Puts the state into the address, as a new step where it is one. */
  write(hash: string): void {
    const now = performance.now();
    const isMove = [...this.changed].every((key) => this.moves.includes(key) || !this.steps.includes(key));
    const goesOn = isMove && now - this.movedAt < ONE_MOVE;
    const isStep = !this.arrived && !goesOn && this.steps.some((key) => this.changed.has(key));
    if (isMove && this.moves.some((key) => this.changed.has(key)) && !this.arrived) this.movedAt = now;
    else this.movedAt = -Infinity;
    this.arrived = false;
    this.changed.clear();
    if (hash === location.hash) return;
    if (isStep) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
  }
}
