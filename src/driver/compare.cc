// Two results of compile, layer by layer, from their reports.
#include <algorithm>
#include <ostream>

#include "compare_text.h"
#include "heddle/driver/commands.h"
#include "heddle/driver/files.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

// The device.yaml beside a report is the run's, where there is one.
Result<ComparedRun> readRun(const std::string& path) {
  std::error_code ignored;
  const fs::path file =
      fs::is_directory(path, ignored) ? fs::path(path) / "report.json" : fs::path(path);
  const Result<std::string> text = readTextFile(file, kMostReport);
  if (!text) {
    Diagnostics faults = text.diagnostics();
    faults.front().mend = "give a folder that compile wrote, or its report.json";
    return faults;
  }
  ComparedRun run{.path = path};
  HEDDLE_TRY(run.report, parseReport(*text, file.string()));
  run.frames = run.report.frames;
  run.batch = run.report.batch;
  const fs::path deviceFile = file.parent_path() / "device.yaml";
  if (!fs::exists(deviceFile, ignored)) return run;
  HEDDLE_TRY(const std::string yaml, readTextFile(deviceFile, kMostDevice));
  HEDDLE_TRY(run.device, parseDevice(yaml, deviceFile.string()));
  return run;
}

double secondsGained(const RunComparison& c, const LayerPair& pair) {
  const Report &a = c.a.report, &b = c.b.report;
  return a.seconds(a.layers[pair.a].cycles) - b.seconds(b.layers[pair.b].cycles);
}

}  // namespace

Diagnostics compareCommand(const CompareOptions& options, std::ostream& out, Progress& progress) {
  progress.begin("compare");
  Result<ComparedRun> a = readRun(options.a);
  if (!a) return a.diagnostics();
  Result<ComparedRun> b = readRun(options.b);
  if (!b) return b.diagnostics();
  RunComparison comparison{.a = std::move(*a), .b = std::move(*b)};
  if (comparison.perInference())
    for (ComparedRun* run : {&comparison.a, &comparison.b})
      run->report = meanInference(run->report);
  tellAlike(comparison.a.report, comparison.b.report);
  comparison.match = matchLayers(comparison.a.report, comparison.b.report);
  comparison.gain = sparsityGain(comparison.a.report, comparison.b.report, comparison.match);
  if (options.order == CompareOrder::Gain)
    std::ranges::stable_sort(comparison.match.both, [&](const LayerPair& x, const LayerPair& y) {
      return secondsGained(comparison, x) > secondsGained(comparison, y);
    });
  progress.end();
  if (options.verbosity.json)
    out << comparisonJson(comparison);
  else if (!options.verbosity.quiet)
    out << comparisonText(comparison);
  return {};
}

}  // namespace heddle
