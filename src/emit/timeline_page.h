// The page of viewer/ as text, style and scripts put in; "@TIMELINES@" stands where the data go.
// Made at build time.
#pragma once
#include <string_view>

namespace heddle {
extern const std::string_view kTimelinePage;
}  // namespace heddle
