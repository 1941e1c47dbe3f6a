// Whatever the bytes, parseTimelineJson answers with a timeline that every format can write, or
// with a diagnostic.
#include <cstdint>
#include <string>

#include "heddle/emit/export.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  constexpr std::int64_t kMostSlices = 10'000;  // more would only take longer
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<TimelineDocument> document = parseTimelineJson(text, "fuzz.json", kMostSlices);
  if (!document) return 0;
  for (const std::string& format : exportFormatNames())
    HEDDLE_CHECK(!exportTimeline(*document, *exportFormatNamed(format)).empty()) << format;
  return 0;
}
