// A timeline in the formats of other tools. Every slice is in each of them; docs/timeline.md says
// where what is found.
//
//   chrome     Chrome trace events, JSON           ui.perfetto.dev, chrome://tracing
//   perfetto   protobuf TrackEvents                ui.perfetto.dev, trace_processor
//   csv        one line a slice                    spreadsheets, scripts
//   vcd        value change dump                   GTKWave, Surfer
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/emit/timeline_document.h"

namespace heddle {

enum class ExportFormat { Chrome, Perfetto, Csv, Vcd };

// How the times of a run become times of a format that knows only seconds.
enum class TimeScale {
  Seconds,     // cycles / clock, rounded to the format's own step
  Nanosecond,  // one cycle is one nanosecond, exactly, whatever the clock
};

std::string exportTimeline(const TimelineDocument& document, ExportFormat format,
                           TimeScale scale = TimeScale::Seconds);

// "chrome", ...; the ending of its files, ".chrome.json", ...
std::string_view name(ExportFormat format);
std::string_view fileEnding(ExportFormat format);
std::vector<std::string> exportFormatNames();
std::optional<ExportFormat> exportFormatNamed(const std::string& name);

}  // namespace heddle
