// Two reports beside each other, as text and as JSON; docs/compare.md says what each figure means.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "heddle/device/differences.h"
#include "heddle/driver/options.h"
#include "heddle/report/compare.h"

namespace heddle {

struct ComparedRun {
  std::string path;  // as the user wrote it
  Report report;     // of one inference, on average, where the runs are of different numbers
  std::optional<Device> device;        // where a device.yaml lies beside the report
  std::int64_t frames = 1, batch = 1;  // of the run
};

struct RunComparison {
  ComparedRun a, b;
  // Figures are of one inference, on average.
  bool perInference() const { return a.frames != b.frames || a.batch != b.batch; }
  LayerMatch match;  // `both` in the order in which they are shown
  SparsityGain gain;
};

// What sparsity gained and where it could not, a sentence each; none where no layer of both runs
// needs other MACs in B than in A. The page's Compare says the same
// (viewer/src/views/compare/sparsity.ts).
std::vector<std::string> sparsitySentences(const RunComparison& comparison);

std::string comparisonText(const RunComparison& comparison);
std::string comparisonJson(const RunComparison& comparison);  // heddle.comparison/1

}  // namespace heddle
