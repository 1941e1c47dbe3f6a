// Every artefact as text: what --dump and --stop-after show, and the files of OUT.
#include "explanation.h"
#include "heddle/canon/print.h"
#include "heddle/driver/compilation.h"
#include "heddle/driver/sha256.h"
#include "heddle/emit/asm.h"
#include "heddle/emit/timeline_json.h"
#include "heddle/support/visible.h"

namespace heddle {

std::string artefactFile(Stage stage) {
  switch (stage) {
    case Stage::Graph:
    case Stage::Canonical:
    case Stage::Propagated:
    case Stage::Plan:
    case Stage::MemoryPlan:
      return name(stage) + ".txt";
    case Stage::Program:
      return "program.asm";
    case Stage::Simulate:
      return "timeline.json";
    case Stage::Report:
      return "report.json";
  }
  return {};
}

namespace {

PlanOrigin originOf(const Compilation& run) {
  return {run.modelSha256, sha256(printDevice(*run.device))};
}

}  // namespace

std::string artefactText(const Compilation& run, Stage stage) {
  switch (stage) {
    case Stage::Graph:
      return print(*run.graph, run.modelName);
    case Stage::Canonical:
      return print(run.canonical->graph);
    case Stage::Propagated:
      return print(run.network());
    case Stage::Plan:
      return print(*run.plan, run.network(), originOf(run), run.stepTimes);
    case Stage::MemoryPlan:
      return print(*run.memoryPlan, run.network(), originOf(run));
    case Stage::Program:
      return run.listing->text;
    case Stage::Simulate:
      return timelineText(run);
    case Stage::Report:
      return reportJson(*run.report);
  }
  return {};
}

std::string timelineText(const Compilation& run) { return timelineText(run, explanationOf(run)); }

std::string timelineText(const Compilation& run, const Explanation& explanation) {
  return timelineJson(run.simulated->timeline, {.graph = run.network(),
                                                .program = *run.program,
                                                .device = *run.device,
                                                .report = *run.report,
                                                .listing = *run.listing,
                                                .whatIf = run.whatIf,
                                                .explanation = &explanation});
}

}  // namespace heddle
