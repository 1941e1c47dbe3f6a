#include "heddle/emit/timeline_json.h"
#include "pages.h"

namespace heddle {

std::string timelineHtml(const std::vector<std::string>& jsons,
                         const std::vector<std::string>& keys) {
  std::vector<PageData> data;
  for (std::size_t i = 0; i < jsons.size(); ++i) {
    data.push_back({"timeline", jsons[i]});
    if (i < keys.size() && !keys[i].empty()) data.push_back({"keys", keys[i]});
  }
  return pageWithData(kTimelinePage, "@TIMELINES@", data);
}

}  // namespace heddle
