// A page's state in one place: plain values, and who wants to hear of changes.

/** What every page's state has. */
export interface PageState<Id extends string> {
  /** The views above and, if any, below. */
  view: Id;
  lower: Id | "";
  /** Settings of a view, "memory.tile" and the like; a view owns the names that begin with its own. */
  options: Readonly<Record<string, string>>;
}

export class StateStore<S extends PageState<string>> {
  private readonly defaults = new Map<string, string>(); // of the options that were read
  private readonly listeners: ((change: ReadonlySet<keyof S>) => void)[] = [];
  private pending: Set<keyof S> | null = null;

  constructor(private current: S) {}

  get state(): Readonly<S> {
    return this.current;
  }

  /** Listeners hear of it once a frame, with all that has changed since. */
  set(change: Partial<S>): void {
    const keys = (Object.keys(change) as (keyof S)[]).filter((key) => change[key] !== this.current[key]);
    if (!keys.length) return;
    this.current = { ...this.current, ...change };
    this.tell(keys);
  }

  /** Lets everything be drawn anew, with the state as it is. */
  refresh(): void {
    this.tell(["options"]);
  }

  option(name: string, byDefault: string): string {
    this.defaults.set(name, byDefault);
    return this.current.options[name] ?? byDefault;
  }

  /** What is as by default is not kept, so that the address stays short. */
  setOption(name: string, value: string): void {
    const { [name]: old, ...others } = this.current.options;
    const byDefault = this.defaults.get(name);
    if ((old ?? byDefault) !== value) this.set({ options: value === byDefault ? others : { ...others, [name]: value } } as unknown as Partial<S>);
  }

  listen(listener: (change: ReadonlySet<keyof S>) => void): void {
    this.listeners.push(listener);
  }

  private tell(keys: Iterable<keyof S>): void {
    if (!this.pending) {
      this.pending = new Set();
      requestAnimationFrame(() => {
        const changed = this.pending ?? new Set();
        this.pending = null;
        for (const listener of this.listeners) listener(changed);
      });
    }
    for (const key of keys) this.pending.add(key);
  }
}
