// The pages of viewer/ as text, style and scripts put in; a word between two "@" stands where the
// data go. Made at build time.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

extern const std::string_view kTimelinePage;  // @TIMELINES@
extern const std::string_view kSweepPage;     // @SWEEP@

struct PageData {
  std::string_view css_class, text;
};

// `page` with the texts at `place`, each in a script element of its class that nothing runs: gzip
// in base64, which is small and holds no character that markup could be made of.
std::string pageWithData(std::string_view page, std::string_view place,
                         const std::vector<PageData>& data);

}  // namespace heddle
