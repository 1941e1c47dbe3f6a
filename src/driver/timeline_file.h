// The timeline that a user names: OUT of compile, or a timeline.json by itself.
#pragma once
#include <filesystem>
#include <string>

#include "heddle/emit/timeline_document.h"
#include "heddle/support/result.h"

namespace heddle {

struct TimelineFile {
  std::filesystem::path path;
  std::string text;
  TimelineDocument document;
};

// Errors: FILE001 not there; those of parseTimelineJson.
Result<TimelineFile> readTimelineFile(const std::string& path);

// The file beside it with another ending: out/timeline.json and ".html" -> out/timeline.html.
std::filesystem::path beside(const TimelineFile& file, std::string_view ending);

}  // namespace heddle
