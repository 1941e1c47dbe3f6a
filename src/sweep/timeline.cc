// `heddle sweep --timeline`: one point of a sweep as a whole result of compile.
#include <algorithm>
#include <ostream>

#include "folder.h"
#include "heddle/driver/commands.h"
#include "heddle/driver/files.h"
#include "heddle/sweep/sweep.h"
#include "sources.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

// The one point whose name begins so.
Result<Point> pointNamed(const fs::path& folder, const std::string& begin) {
  const auto fault = [&](std::string summary, std::string mend) {
    return Diagnostic{"SWEEP015", "--timeline " + begin, std::move(summary),
                      "",         std::move(mend),       Severity::Usage};
  };
  HEDDLE_TRY(const SweepContent content, readSweepFolder(folder));
  const Point* found = nullptr;
  for (const Point& point : content.points) {
    if (begin.empty() || !point.id.starts_with(begin)) continue;
    if (found != nullptr)
      return fault("several points of " + folder.string() + " begin so", "write more of its name");
    found = &point;
  }
  if (found == nullptr)
    return fault("there is no such point in " + folder.string(),
                 "write a name of the column 'point' of results.csv");
  return *found;
}

}  // namespace

fs::path timelineFolder(const fs::path& folder, const std::string& point) {
  return folder / "timelines" / point;
}

Diagnostics sweepTimelineCommand(const SweepTimelineOptions& options, std::ostream& out,
                                 Progress& progress) {
  const Result<Point> point = pointNamed(options.folder, options.point);
  if (!point) return point.diagnostics();
  Result<CompileOptions> again = againOf(options.folder, *point);
  if (!again) return again.diagnostics();
  again->out = timelineFolder(options.folder, point->id).string();
  again->verbosity = options.verbosity;
  return compileCommand(*again, out, progress);
}

}  // namespace heddle
