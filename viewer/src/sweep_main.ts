// Reads the sweep that the page carries and shows it.
import "./style.css"; // before the views' own
import "./ui/grid.css";
import "./sweep_page/sweep.css";
import { unpack } from "./run/unpack";
import { refusal, type SweepJson } from "./sweep/document";
import { Sweep } from "./sweep/sweep";
import { Page, type ViewMakers } from "./sweep_page/page";
import { start } from "./ui/start";
import { ChartView } from "./sweep_views/chart_view";
import { CompareView } from "./sweep_views/compare_view";
import { HeatView } from "./sweep_views/heat_view";
import { LimitsView } from "./sweep_views/limits_view";
import { ParallelView } from "./sweep_views/parallel_view";
import { ParetoView } from "./sweep_views/pareto_view";
import { PointsView } from "./sweep_views/points_view";
import { SlowerView } from "./sweep_views/slower_view";
import { TornadoView } from "./sweep_views/tornado_view";

const VIEWS: ViewMakers = {
  points: (app) => new PointsView(app),
  chart: (app) => new ChartView(app),
  heat: (app) => new HeatView(app),
  pareto: (app) => new ParetoView(app),
  limits: (app) => new LimitsView(app),
  parallel: (app) => new ParallelView(app),
  tornado: (app) => new TornadoView(app),
  slower: (app) => new SlowerView(app),
  compare: (app) => new CompareView(app),
};

start("sweep", async (host) => {
  const node = document.querySelector<HTMLScriptElement>("script.sweep");
  if (!node) throw new Error("The page carries no sweep. heddle collect writes pages that do.");
  const json: unknown = await unpack((node.textContent ?? "").trim());
  node.remove(); // its text may be some megabytes
  const reason = refusal(json);
  if (reason) throw new Error(reason);
  const page = new Page(new Sweep(json as SweepJson), VIEWS, host);
  Object.assign(window, { heddle: page.app, heddlePage: page });
});
