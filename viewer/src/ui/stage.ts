// What the pages have in common: a state that the address holds, dark or light, the panel at the side, the box under the pointer.
import { DARK, LIGHT, type Theme } from "../paint/theme";
import { Steps } from "./steps";
import { type PageState, StateStore } from "./store";
import { Tip } from "./tip";

const ADDRESS_DELAY = 150; // ms
const DETAILS = "page.details"; // the option that says whether the panel at the side is there
const NARROW = matchMedia("(max-width: 900px)"); // as in style.css: the panel lies over the panes, and only for whoever asks

/** How a page's state stands in its address, and which changes are steps for Back. */
export interface Address<S> {
  read(hash: string): S;
  write(state: Readonly<S>): string;
  /** Changes of these are steps; those of the others come along with the next. */
  steps: readonly (keyof S)[];
  /** Of the steps, those that go on: one movement is one step. */
  moves: readonly (keyof S)[];
  /** What puts something else under a pointer that rests. */
  shifts: readonly (keyof S)[];
}

export abstract class Stage<Id extends string, S extends PageState<Id>> {
  readonly store: StateStore<S>;
  readonly tip = new Tip(document.body);
  theme: Theme;
  private timer = 0; // of the address
  private readonly steps: Steps<keyof S>;

  /** `viewIds`: the views that the page has, in order. */
  constructor(
    readonly viewIds: readonly Id[],
    private readonly address: Address<S>,
  ) {
    this.store = new StateStore(address.read(location.hash));
    this.steps = new Steps(address.steps, address.moves);
    this.theme = matchMedia("(prefers-color-scheme: dark)").matches ? DARK : LIGHT;
    this.markTheme();
    NARROW.addEventListener("change", () => this.store.refresh());
    this.store.listen((change) => {
      if (address.shifts.some((key) => change.has(key))) this.tip.hide();
      this.writeAddress(change);
    });
    addEventListener("hashchange", ({ newURL }) => {
      clearTimeout(this.timer);
      const state = address.read(new URL(newURL).hash); // location may have been written since
      this.arrived(state);
      this.steps.arrive();
      this.store.set(state);
    });
  }

  /** The address says what to show: by Back, or typed. */
  protected arrived(_state: S): void {}

  get hasDetails(): boolean {
    return this.store.option(DETAILS, NARROW.matches ? "none" : "shown") === "shown";
  }

  get isNarrow(): boolean {
    return NARROW.matches;
  }

  toggleDetails(): void {
    this.store.setOption(DETAILS, this.hasDetails ? "none" : "shown");
  }

  /** Brings a view on screen, into the upper pane unless it is there already. */
  open(id: Id): void {
    const { view, lower } = this.store.state;
    if (id !== view && id !== lower) this.store.set({ view: id } as Partial<S>);
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.markTheme();
    this.store.refresh();
  }

  toggleTheme(): void {
    this.setTheme(this.theme.dark ? LIGHT : DARK);
  }

  private markTheme(): void {
    document.documentElement.classList.toggle("dark", this.theme.dark);
  }

  // Not at each frame: browsers stop a page that writes its address too often.
  private writeAddress(change: ReadonlySet<keyof S>): void {
    this.steps.add(change);
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.steps.write(this.address.write(this.store.state)), ADDRESS_DELAY);
  }
}
