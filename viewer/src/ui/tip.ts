// The one box that follows the pointer.
import { element } from "./dom";

/** [text, kind]: "head" is bold, "code" is asm, "faint" is small print. */
export type TipLine = string | [string, "head" | "code" | "faint"];

export class Tip {
  private readonly box = element("div", { id: "tip", hidden: true, aria: { role: "status" } });

  constructor(host: HTMLElement) {
    host.append(this.box);
    // It says what is under the pointer: keys and the wheel may put something else there.
    for (const moves of ["keydown", "wheel"]) addEventListener(moves, () => this.hide(), { capture: true, passive: true });
  }

  show(event: PointerEvent, lines: TipLine[]): void {
    this.box.replaceChildren(...lines.map((line) => (typeof line === "string" ? element("div", { textContent: line }) : element("div", { textContent: line[0], className: line[1] }))));
    this.box.hidden = false;
    const { width, height } = this.box.getBoundingClientRect();
    this.box.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - width - 6))}px`;
    this.box.style.top = `${event.clientY + 18 + height > window.innerHeight ? Math.max(4, event.clientY - height - 12) : event.clientY + 18}px`;
  }

  hide(): void {
    this.box.hidden = true;
  }
}
