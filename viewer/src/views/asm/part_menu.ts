// The menu that goes to a part of the program, and says in which one the reader is.
import type { Run } from "../../run/run";
import { element } from "../../ui/dom";
import { outlineOf, partAt } from "./outline";

export class PartMenu {
  readonly root = element("select", { className: "asm-parts", title: "The parts of the program ({ and } for its sections)", aria: { label: "Go to a part of the program" } });
  private run: Run | null = null;

  constructor(go: (line: number) => void) {
    this.root.addEventListener("change", () => {
      const part = this.run && outlineOf(this.run)[Number(this.root.value)];
      if (part) go(part.line);
    });
  }

  show(run: Run, line: number): void {
    if (this.run !== run) this.root.replaceChildren(...outlineOf(run).map(({ name }, at) => element("option", { value: String(at), textContent: name })));
    this.run = run;
    this.root.value = String(partAt(outlineOf(run), line));
  }
}
