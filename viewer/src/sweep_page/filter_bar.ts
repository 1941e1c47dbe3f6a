// The filters that hold in all views, one field each.
import { isUnderstood } from "../sweep/filter";
import type { Column } from "../sweep/sweep";
import { titleOf } from "../sweep/figures";
import { button, element } from "../ui/dom";
import { count } from "../ui/numbers";
import type { App } from "./app";
import type { Change } from "./state";

export const hintOf = (column: Column): string => (column.kind === "number" ? "2..8, 16" : "words");

/** How a filter of the column is written. */
export const helpOf = (column: Column): string =>
  column.kind === "number" ? `${column.help} Numbers or ranges: 8 or 2..8 or 4.. or ..3.5; several with commas.` : `${column.help} Words with commas between them: a value, or a part of it.`;

/** A field that sets the filter of a column as one types. */
export function filterField(app: App, column: Column, label: string): HTMLInputElement {
  const field = element("input", { type: "text", className: "filter", placeholder: hintOf(column), title: helpOf(column), autocomplete: "off", spellcheck: false, data: { column: column.name }, aria: { label } });
  field.addEventListener("input", () => app.setFilter(column.name, field.value));
  field.addEventListener("keydown", (e) => {
    if (e.key !== "Escape") return;
    if (field.value) app.setFilter(column.name, (field.value = ""));
    else field.blur();
    e.stopPropagation();
  });
  return field;
}

/** Puts what holds into a field; who types there has put it into the state already. */
export function followFilter(app: App, column: Column, field: HTMLInputElement): void {
  const text = app.store.state.filters[column.name] ?? "";
  if (field.value !== text) field.value = text;
  const isBad = !isUnderstood(column, text);
  field.setAttribute("aria-invalid", String(isBad));
  field.title = isBad ? `"${text}" lets everything through: it is no range. ${helpOf(column)}` : helpOf(column);
}

export class FilterBar {
  readonly root: HTMLElement;
  private readonly list = element("div", { className: "filter-list" });
  private readonly add: HTMLSelectElement;
  private readonly tally = element("span", { className: "faint", aria: { role: "status" } });
  private readonly clear: HTMLButtonElement;
  private readonly fields = new Map<string, { root: HTMLElement; field: HTMLInputElement; column: Column }>();
  private opened = ""; // a column whose field is there without a filter

  constructor(private readonly app: App) {
    const columns = app.sweep.columns.filter(({ distinct }) => distinct > 0);
    this.add = element("select", { id: "add-filter", title: "Filter by a column (/)", aria: { label: "Add a filter by a column" } },
      element("option", { value: "", textContent: "+ Filter" }), ...columns.map((column) => element("option", { value: column.name, textContent: titleOf(column), title: column.help })));
    this.add.addEventListener("change", () => this.open(this.add.value));
    this.clear = button("Clear", "Let all filters go (X)", () => app.clearFilters());
    this.root = element("div", { id: "filters", aria: { role: "search", label: "Filters" } }, this.list, this.add, this.clear, this.tally);
  }

  /** "all 64 points", or what holds. */
  get words(): string {
    const { app } = this;
    const held = Object.entries(app.store.state.filters).map(([name, text]) => `${name} ${text}`);
    const all = app.sweep.points;
    return held.length ? `${count(app.visible.points.length)} of ${count(all)} points: ${held.join("; ")}` : `all ${count(all)} points`;
  }

  changed(change: Change): void {
    if (!change.has("filters")) return;
    const { app } = this;
    const names = Object.keys(app.store.state.filters);
    if (this.opened && !names.includes(this.opened)) names.push(this.opened);
    for (const [name, { root }] of this.fields) {
      if (names.includes(name)) continue;
      root.remove();
      this.fields.delete(name);
    }
    for (const name of names) {
      const column = app.sweep.column(name);
      if (column && !this.fields.has(name)) this.make(column);
    }
    for (const { field, column } of this.fields.values()) followFilter(app, column, field);
    this.clear.hidden = !Object.keys(app.store.state.filters).length;
    this.tally.textContent = app.visible.points.length ? "" : "No point passes.";
  }

  private open(name: string): void {
    this.add.value = "";
    this.opened = name;
    const column = this.app.sweep.column(name);
    if (column && !this.fields.has(name)) this.make(column);
    this.fields.get(name)?.field.focus();
  }

  private make(column: Column): void {
    const { app } = this;
    const field = filterField(app, column, `Filter by ${column.name}`);
    const close = button("✕", `Let the filter by ${column.name} go`, () => {
      this.opened = "";
      app.setFilter(column.name, "");
      this.changed(new Set(["filters"]));
    });
    close.setAttribute("aria-label", close.title);
    const root = element("span", { className: "filter-chip" }, element("span", { textContent: column.name }), field, close);
    this.fields.set(column.name, { root, field, column });
    this.list.append(root);
  }
}
