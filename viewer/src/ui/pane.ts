// Half of the page: a bar of tabs and the view that is chosen.
import type { Surroundings, ViewOf } from "./base_view";
import { button, element } from "./dom";
import { exportMenu, type Naming } from "./export";
import { nextSort, type Sort, twinOf } from "./twin";

/** A page whose panes these are. */
export interface Paned<Id extends string, Chosen> extends Surroundings {
  readonly viewIds: readonly Id[];
  readonly store: { readonly state: Readonly<{ view: Id; lower: Id | "" }>; set(change: { view?: Id; lower?: Id | "" }): void };
  select(selection: Chosen): void;
  toggleLower(): void;
}

export interface PaneParts<Id extends string, Chosen, Key> {
  titles: Readonly<Record<Id, string>>;
  viewOf(id: Id): ViewOf<Surroundings, Id, ReadonlySet<Key>, Chosen>;
  naming(id: Id): Naming;
  /** For a view that comes on screen. */
  everything: ReadonlySet<Key>;
}

export class Pane<Id extends string, Chosen, Key> {
  readonly root: HTMLElement;
  shown: ViewOf<Surroundings, Id, ReadonlySet<Key>, Chosen> | null = null;
  private readonly tabs = new Map<Id, HTMLButtonElement>();
  private readonly tools = element("div", { className: "tools" });
  private readonly body: HTMLElement;
  private asTable = false;
  private sort: Sort | null = null;

  constructor(
    private readonly app: Paned<Id, Chosen>,
    private readonly place: "view" | "lower",
    private readonly parts: PaneParts<Id, Chosen, Key>,
  ) {
    const name = place === "view" ? "upper" : "lower";
    this.body = element("div", { className: "pane-body", id: `pane-${name}`, aria: { role: "tabpanel" } });
    const list = element("div", { className: "tabs", aria: { role: "tablist", label: `View in the ${name} pane` } });
    for (const id of app.viewIds) {
      const tab = element("button", { type: "button", id: `tab-${name}-${id}`, textContent: parts.titles[id], aria: { role: "tab", controls: this.body.id }, onclick: () => this.choose(id) });
      this.tabs.set(id, tab);
      list.append(tab);
    }
    list.addEventListener("keydown", (e) => this.walkTabs(e));
    this.root = element("section", { className: `pane pane-${name}`, aria: { label: `${name} pane` } }, element("div", { className: "pane-bar" }, list, this.tools), this.body);
    if (place === "lower") this.root.prepend(this.splitter());
  }

  changed(change: ReadonlySet<Key>): void {
    const id = this.app.store.state[this.place];
    this.root.hidden = id === "";
    if (id === "") {
      this.shown = null;
      this.body.replaceChildren();
      return;
    }
    const view = this.parts.viewOf(id);
    if (view !== this.shown) {
      this.shown = view;
      this.asTable = false;
      this.sort = null;
      this.body.replaceChildren(view.root);
      this.body.setAttribute("aria-labelledby", `tab-${this.place === "view" ? "upper" : "lower"}-${id}`);
      this.fillTools(view);
      change = this.parts.everything;
    }
    for (const [tab, node] of this.tabs) {
      node.setAttribute("aria-selected", String(tab === id));
      node.tabIndex = tab === id ? 0 : -1;
    }
    view.changed(change);
    // A selection changes nothing in a table, and who clicks a row wants it to stay where it is.
    if (this.asTable && [...change].some((key) => key !== "selection")) this.fillTable(view);
  }

  private choose(id: Id): void {
    const { view, lower } = this.app.store.state;
    // A view stands in one pane at a time: choosing the other pane's swaps the two.
    if (this.place === "view") this.app.store.set(id === lower ? { view: id, lower: view } : { view: id });
    else this.app.store.set(id === view ? { view: lower || view, lower: view } : { lower: id });
  }

  private walkTabs(e: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!step) return;
    const ids = [...this.tabs.keys()];
    const at = ids.findIndex((id) => this.tabs.get(id) === document.activeElement);
    const next = ids[(at + step + ids.length) % ids.length] as Id;
    this.choose(next);
    this.tabs.get(next)?.focus();
    e.preventDefault();
    e.stopPropagation();
  }

  private fillTools(view: NonNullable<typeof this.shown>): void {
    const table = button("Table", "What is drawn, as a table", () => {
      this.asTable = !this.asTable;
      table.setAttribute("aria-pressed", String(this.asTable));
      if (this.asTable) this.fillTable(view);
      else this.body.replaceChildren(view.root);
      view.changed(this.parts.everything);
    });
    table.setAttribute("aria-pressed", "false");
    this.tools.replaceChildren(...view.tools(), table, exportMenu(() => this.parts.naming(view.id), view));
    if (this.place === "lower") this.tools.append(button("✕", "Close the lower pane", () => this.app.store.set({ lower: "" })));
    else this.tools.append(this.splitButton());
  }

  private splitButton(): HTMLButtonElement {
    return button("◫", "Open or close the lower pane (B)", () => this.app.toggleLower());
  }

  private fillTable(view: NonNullable<typeof this.shown>): void {
    const scrolled = this.body.querySelector(":scope > .scrolls > .twin")?.parentElement?.scrollTop ?? 0;
    const region = twinOf(view.table(), this.sort, (selection) => this.app.select(selection), (column) => {
      this.sort = nextSort(this.sort, column);
      this.fillTable(view);
      this.body.querySelector<HTMLElement>(`.twin th:nth-child(${column + 1}) button`)?.focus();
    });
    this.body.replaceChildren(region);
    region.scrollTop = scrolled;
  }

  private splitter(): HTMLElement {
    const bar = element("div", { className: "splitter", title: "Drag to resize", tabIndex: 0, aria: { role: "separator", orientation: "horizontal", label: "Height of the lower pane", valuenow: "38", valuemin: "10", valuemax: "85" } });
    const set = (share: number) => {
      const percent = Math.round(Math.max(0.1, Math.min(0.85, share)) * 100);
      bar.setAttribute("aria-valuenow", String(percent));
      this.root.style.flexBasis = `${percent}%`;
    };
    bar.addEventListener("pointerdown", (e) => bar.setPointerCapture(e.pointerId));
    bar.addEventListener("pointermove", (e) => {
      const box = this.root.parentElement?.getBoundingClientRect();
      if (box && bar.hasPointerCapture(e.pointerId)) set((box.bottom - e.clientY) / box.height);
    });
    bar.addEventListener("keydown", (e) => {
      const step = { ArrowUp: 0.05, ArrowDown: -0.05 }[e.key];
      if (!step) return;
      set(Number(bar.getAttribute("aria-valuenow")) / 100 + step);
      e.preventDefault();
      e.stopPropagation();
    });
    return bar;
  }
}
