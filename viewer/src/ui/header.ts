// Title, figures of the run, search and the page's buttons.
import { DARK, LIGHT } from "../paint/theme";
import { runName } from "../run/names";
import type { App } from "./app";
import { button, element } from "./dom";
import type { Keys } from "./keys";
import { count, percent, seconds } from "./numbers";
import { type Hit, search } from "./search";
import type { Change } from "./state";

const MOST_HITS = 60;
const SPILL = /^spill(s|ed)?$/i;

export class Header {
  readonly root: HTMLElement;
  private readonly title = element("h1");
  private readonly figures = element("p", { className: "figures" });
  private readonly unit: HTMLButtonElement;
  private readonly input = element("input", {
    id: "search", type: "search", placeholder: "Search (/): layer, core 2,1, spill, lock 3", autocomplete: "off", spellcheck: false,
    aria: { role: "combobox", label: "Search layers, tensors, tiles, engines, spills, instructions, addresses and locks", controls: "hits", expanded: "false", autocomplete: "list" },
  });
  private readonly list = element("ul", { id: "hits", hidden: true, aria: { role: "listbox", label: "What was found" } });
  private hits: Hit[] = [];
  private chosen = 0;

  constructor(
    private readonly app: App,
    keys: Keys,
  ) {
    this.unit = button("", "Show cycles or time (U)", () => app.store.set({ unit: app.store.state.unit === "time" ? "cycles" : "time" }));
    const theme = button("◐", "Dark or light", () => app.setTheme(app.theme.dark ? LIGHT : DARK));
    theme.setAttribute("aria-label", "Dark or light");
    const side = button("◨", "Show or hide the panel at the side (Q)", () => app.toggleDetails());
    side.setAttribute("aria-label", "Show or hide the panel at the side");
    const sheet = button("?", "Keys (?)", () => keys.showSheet());
    sheet.setAttribute("aria-label", "Show the keys");
    const tools = element("div", { className: "tools" }, element("div", { className: "search" }, this.input, this.list), this.unit, theme, side, sheet);
    if (app.runs.length > 1) tools.prepend(this.runChoice());
    this.root = element("header", {}, this.title, this.figures, tools);
    this.listen();
  }

  changed(change: Change): void {
    const { app } = this;
    const { unit } = app.store.state;
    if (change.has("unit")) this.unit.textContent = unit === "time" ? "time" : "cycles";
    if (!change.has("run") && !change.has("unit")) return;
    const { run } = app;
    this.title.textContent = runName(run);
    this.title.title = runName(run);
    document.title = `${runName(run)} – heddle`;
    const { report } = run;
    const proof = report.verification.ran ? (report.verification.matches ? `${report.verification.tensorsCompared} tensors bit-exact` : `${report.verification.mismatches} mismatches`) : "not verified";
    const figures: [string, string][] = [
      ["", app.duration(run.makespan)],
      ["of the layer bound", percent(report.bounds["efficiency"])],
      ["", proof],
      ["slices", count(run.slices)],
      ["clock", `${run.device.clockHz / 1e9} GHz`],
    ];
    this.figures.replaceChildren(...figures.map(([label, value]) => element("span", {}, element("b", { textContent: value }), label ? ` ${label}` : "")));
    if (report.notModelled.length) this.figures.append(element("span", { className: "not-modelled", title: `Not in the estimate:\n${report.notModelled.join("\n")}`, textContent: `${report.notModelled.length} effects not modelled` }));
  }

  private runChoice(): HTMLElement {
    const { app } = this;
    const choice = element("select", { title: "The run that the views show", aria: { label: "The run that the views show" } });
    app.runs.forEach((run, i) => choice.append(element("option", { value: String(i), textContent: `${"AB"[i]}: ${runName(run)}, ${seconds(run.report.time.seconds)}` })));
    choice.value = String(app.store.state.run);
    choice.addEventListener("change", () => app.showRun(Number(choice.value)));
    app.store.listen(() => { choice.value = String(app.store.state.run); });
    return choice;
  }

  private listen(): void {
    const { input, list } = this;
    input.addEventListener("input", () => this.find());
    input.addEventListener("focus", () => {
      input.select(); // what was found last is in the way of what is wanted now
      this.find();
    });
    input.addEventListener("blur", () => this.close());
    input.addEventListener("keydown", (e) => {
      if (e.key === "ArrowDown" || e.key === "ArrowUp") {
        this.chosen = (this.chosen + (e.key === "ArrowDown" ? 1 : -1) + this.hits.length) % Math.max(1, this.hits.length);
        this.mark();
        e.preventDefault();
      } else if (e.key === "Enter") {
        this.take(this.chosen);
      } else if (e.key === "Escape") {
        input.value = "";
        input.blur();
      }
    });
    list.addEventListener("pointerdown", (e) => {
      e.preventDefault(); // keeps the focus, so that the list is still there when the click is taken
      const item = (e.target as HTMLElement).closest("li");
      if (item?.dataset["hit"]) this.take(Number(item.dataset["hit"]));
    });
  }

  private find(): void {
    const query = this.input.value.trim();
    this.hits = query ? search(this.app.run, query, MOST_HITS) : [];
    this.chosen = 0;
    const items = this.hits.map((hit, i) => element("li", { id: `hit${i}`, data: { hit: String(i) }, aria: { role: "option" } }, element("small", { textContent: hit.kind }), element("span", { textContent: hit.text }), element("small", { className: "note", textContent: hit.note })));
    if (query && !items.length) items.push(element("li", { className: "none", textContent: SPILL.test(query) ? "Nothing spills in this run" : "Nothing found", aria: { role: "option", disabled: "true" } }));
    this.list.replaceChildren(...items);
    this.list.hidden = !query;
    this.input.setAttribute("aria-expanded", String(Boolean(query)));
    this.mark();
  }

  private mark(): void {
    [...this.list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === this.chosen)));
    const item = this.list.children[this.chosen];
    item?.scrollIntoView({ block: "nearest" });
    if (item && this.hits.length) this.input.setAttribute("aria-activedescendant", item.id);
    else this.input.removeAttribute("aria-activedescendant");
  }

  private take(index: number): void {
    const hit = this.hits[index];
    if (!hit) return;
    this.app.select(hit.selection);
    this.input.blur();
  }

  private close(): void {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
  }
}
