// A timeline in the format of another tool.
#include <ostream>

#include "heddle/driver/commands.h"
#include "heddle/driver/files.h"
#include "own_files.h"
#include "timeline_file.h"

namespace heddle {

Diagnostics exportCommand(const ExportOptions& options, std::ostream& out, Progress& progress) {
  progress.begin("read the timeline");
  const Result<TimelineFile> file = readTimelineFile(options.path);
  if (!file) return file.diagnostics();
  progress.begin("export");
  const std::string text = exportTimeline(file->document, options.format, options.scale);
  progress.end();
  if (options.out == "-") {
    out << text;
    return {};
  }
  const std::filesystem::path path = options.out.empty() ? beside(*file, fileEnding(options.format))
                                                         : std::filesystem::path(options.out);
  removeStaleSiblings(path);
  Diagnostics faults = writeFile(path, text);
  if (faults.empty() && !options.verbosity.quiet && path != "/dev/stdout")
    out << path.string() << '\n';
  return faults;
}

}  // namespace heddle
