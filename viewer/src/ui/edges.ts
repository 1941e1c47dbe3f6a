// A shade at the side where a scrolled table goes on: scroll bars that hide themselves do not say so.
import "./edges.css";
import { element } from "./dom";

export function markEdges(frame: HTMLElement, scroller: HTMLElement): void {
  const shade = element("div", { className: "edge-shade", hidden: true });
  frame.classList.add("edges");
  frame.append(shade);
  let scrolled = -1;
  const mark = () => {
    scrolled = scroller.scrollLeft;
    shade.hidden = scroller.scrollWidth - scroller.clientWidth - scrolled <= 1;
    shade.style.right = `${scroller.offsetWidth - scroller.clientWidth}px`;
    shade.style.bottom = `${scroller.offsetHeight - scroller.clientHeight}px`;
  };
  scroller.addEventListener("scroll", () => {
    if (scroller.scrollLeft !== scrolled) mark();
  }, { passive: true });
  const observer = new ResizeObserver(mark);
  observer.observe(scroller);
  if (scroller.firstElementChild) observer.observe(scroller.firstElementChild);
}
