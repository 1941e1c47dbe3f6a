// One function for each ExportFormat.
#pragma once
#include <string>

#include "heddle/emit/export.h"

namespace heddle {

std::string chromeTrace(const TimelineDocument& document, TimeScale scale);
std::string perfettoTrace(const TimelineDocument& document, TimeScale scale);
std::string slicesCsv(const TimelineDocument& document);  // in cycles
std::string valueChangeDump(const TimelineDocument& document, TimeScale scale);

}  // namespace heddle
