// Whatever the bytes, parseReport answers with a report that can be written and compared, or with a
// diagnostic.
#include <cstdint>
#include <string>

#include "heddle/report/compare.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<Report> report = parseReport(text, "fuzz.json");
  if (!report) return 0;
  const std::string written = reportJson(*report);
  const Result<Report> again = parseReport(written, "again.json");
  HEDDLE_CHECK(again) << toText(again.diagnostics());
  HEDDLE_CHECK(reportJson(*again) == written) << "it reads back as another";
  const LayerMatch match = matchLayers(*report, *again);
  HEDDLE_CHECK(match.both.size() == report->layers.size() && match.onlyB.empty())
      << match.both.size();
  HEDDLE_CHECK(sparsityGain(*report, *again, match).layers.empty()) << "of a run over itself";
  return 0;
}
