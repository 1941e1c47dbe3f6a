// What a picture of a run says above it, and what its file is called.
import { runName } from "../run/names";
import type { App } from "./app";
import type { Naming } from "./export";
import { count } from "./numbers";
import type { ViewId } from "./state";

export function namingOf(app: App, view: ViewId): Naming {
  const { run } = app;
  const { window } = app.store.state;
  const [from, to] = [Math.max(0, window.from), Math.min(run.makespan, window.to)];
  const part = from > 0 || to < run.makespan ? `; cycles ${count(from)} to ${count(to)}` : "";
  const runs = view === "compare" ? app.runs : [run];
  const caption = runs.map((each) => `${runName(each)}, ${count(each.makespan)} cycles`).join(" against ") + (view === "compare" ? "" : part);
  return { theme: app.theme, caption, name: `${run.model}-${view}` };
}
