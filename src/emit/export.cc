#include "heddle/emit/export.h"

#include <array>

#include "formats.h"

namespace heddle {
namespace {

struct Format {
  std::string_view name, ending;
};
constexpr std::array<Format, 4> kFormats = {{{"chrome", ".chrome.json"},
                                             {"perfetto", ".perfetto-trace"},
                                             {"csv", ".csv"},
                                             {"vcd", ".vcd"}}};

}  // namespace

std::string exportTimeline(const TimelineDocument& document, ExportFormat format, TimeScale scale) {
  switch (format) {
    case ExportFormat::Chrome:
      return chromeTrace(document, scale);
    case ExportFormat::Perfetto:
      return perfettoTrace(document, scale);
    case ExportFormat::Csv:
      return slicesCsv(document);
    case ExportFormat::Vcd:
      return valueChangeDump(document, scale);
  }
  return {};
}

std::string_view name(ExportFormat format) {
  return kFormats[static_cast<std::size_t>(format)].name;
}

std::string_view fileEnding(ExportFormat format) {
  return kFormats[static_cast<std::size_t>(format)].ending;
}

std::vector<std::string> exportFormatNames() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::optional<ExportFormat> exportFormatNamed(const std::string& name) {
  for (std::size_t i = 0; i < kFormats.size(); ++i)
    if (kFormats[i].name == name) return static_cast<ExportFormat>(i);
  return std::nullopt;
}

}  // namespace heddle
