#include "heddle/emit/sweep_html.h"

#include <gtest/gtest.h>

#include <string>

namespace heddle {
namespace {

constexpr std::string_view kBefore = "<script type=\"application/octet-stream\" class=\"sweep\">";

TEST(SweepHtml, CarriesItsDocumentSoThatNamesCannotBecomeMarkup) {
  const std::string page =
      sweepHtml("{\"title\":\"</script><script>alert(1)</script><img onerror=alert(1)>\"}");
  EXPECT_EQ(page.find("alert(1)"), std::string::npos);
  EXPECT_EQ(page.find("@SWEEP@"), std::string::npos);
  const std::size_t from = page.find(kBefore) + kBefore.size();
  const std::string data = page.substr(from, page.find('<', from) - from);
  EXPECT_GT(data.size(), 40u);
  EXPECT_EQ(
      data.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="),
      std::string::npos);
  EXPECT_EQ(data.size() % 4, 0u);
  // What surrounds the document is the same for every sweep.
  const std::string empty = sweepHtml("{}");
  EXPECT_EQ(page.substr(0, from), empty.substr(0, from));
  EXPECT_EQ(page.substr(from + data.size()), empty.substr(empty.find('<', from)));
}

TEST(SweepHtml, ShowsNamesAsTextAndAsksForNothing) {
  const std::string page = sweepHtml("{}");
  for (const char* parsing : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                              "eval(", "new Function", "srcdoc"})
    EXPECT_EQ(page.find(parsing), std::string::npos) << parsing;
  for (const char* network :
       {"https:", "fetch(", "XMLHttpRequest", "WebSocket", "<link", "@import", "url(h"})
    EXPECT_EQ(page.find(network), std::string::npos) << network;
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

}  // namespace
}  // namespace heddle
