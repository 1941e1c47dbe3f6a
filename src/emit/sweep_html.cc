#include "heddle/emit/sweep_html.h"

#include "pages.h"

namespace heddle {

std::string sweepHtml(std::string_view document) {
  return pageWithData(kSweepPage, "@SWEEP@", {{"sweep", document}});
}

}  // namespace heddle
