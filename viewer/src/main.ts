// Reads the timelines that the page carries and starts the App on them.
import "./style.css"; // before the views' own
import "./ui/grid.css";
import { Page, type ViewMakers } from "./ui/page";
import { start } from "./ui/start";
import { type RaisedKeysJson, refusal, type TimelineJson } from "./run/format";
import { Run } from "./run/run";
import { unpack } from "./run/unpack";
import { AsmView } from "./views/asm/asm_view";
import { CompareView } from "./views/compare/compare_view";
import { GraphView } from "./views/graph/graph_view";
import { LayersView } from "./views/layers/layers_view";
import { MemoryView } from "./views/memory/memory_view";
import { MeshView } from "./views/mesh/mesh_view";
import { PathView } from "./views/path/path_view";
import { TimelineView } from "./views/timeline/timeline_view";

const VIEWS: ViewMakers = {
  timeline: (app) => new TimelineView(app),
  path: (app) => new PathView(app),
  memory: (app) => new MemoryView(app),
  mesh: (app) => new MeshView(app),
  layers: (app) => new LayersView(app),
  graph: (app) => new GraphView(app),
  asm: (app) => new AsmView(app),
  compare: (app) => new CompareView(app),
};

start("timeline", async (host) => {
  const carried = [...document.querySelectorAll<HTMLScriptElement>("script.timeline")];
  if (!carried.length) throw new Error("The page carries no timeline. heddle compile and heddle view write pages that do.");
  const runs: Run[] = [];
  for (const node of carried) {
    const json = await unpack((node.textContent ?? "").trim());
    const reason = refusal(json);
    if (reason) throw new Error(reason);
    const beside = node.nextElementSibling;
    const keys = beside?.matches("script.keys") ? await unpack((beside.textContent ?? "").trim()) : null;
    node.remove(); // its text is some megabytes
    runs.push(new Run(json as TimelineJson, keys as RaisedKeysJson[] | null));
  }
  const page = new Page(runs, VIEWS, host);
  Object.assign(window, { heddle: page.app, heddlePage: page });
});
