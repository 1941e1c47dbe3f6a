#include "heddle/emit/timeline_json.h"
#include "pages.h"

namespace heddle {

std::string timelineHtml(const std::vector<std::string>& jsons) {
  return pageWithData(kTimelinePage, "@TIMELINES@", "timeline", {jsons.begin(), jsons.end()});
}

}  // namespace heddle
