#include "timeline_file.h"

#include "heddle/driver/files.h"

namespace heddle {
namespace {

constexpr std::uintmax_t kMostTimeline = std::uintmax_t{1} << 31;

}  // namespace

Result<TimelineFile> readTimelineFile(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path file =
      fs::is_directory(path, ignored) ? fs::path(path) / "timeline.json" : fs::path(path);
  Result<std::string> text = readTextFile(file, kMostTimeline);
  if (!text) {
    Diagnostics faults = text.diagnostics();
    faults.front().mend = "give a folder that compile wrote, or its timeline.json";
    return faults;
  }
  HEDDLE_TRY(TimelineDocument document, parseTimelineJson(*text, file.string()));
  return TimelineFile{file, std::move(*text), std::move(document)};
}

std::filesystem::path beside(const TimelineFile& file, std::string_view ending) {
  std::filesystem::path path = file.path;
  path.replace_extension();
  path += ending;
  return path;
}

}  // namespace heddle
