#include "../../../src/driver/summary.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

std::string removedIn(const Report& report) {
  const std::string text = summary(report);
  const std::size_t from = text.find("removed");
  return from == std::string::npos ? "" : text.substr(from, text.find('\n', from) - from);
}

TEST(Summary, SaysWhatWasTakenOutAsAShareOfAllMacs) {
  Report report;
  report.clock = {1'000'000'000};
  EXPECT_EQ(removedIn(report), "");
  report.propagation = {.channelsRemoved = 3, .weightsZeroed = 7, .macsRemoved = 30};
  report.denseMacs = 90;
  EXPECT_EQ(
      removedIn(report),
      "removed   3 channels and 25 % of the MACs, 7 weights set to zero: no output depends on "
      "them");
}

TEST(Summary, OfANetworkWithoutMacsNoneAreTakenOut) {
  Report report;
  report.clock = {1'000'000'000};
  report.propagation.channelsRemoved = 14;
  EXPECT_EQ(
      removedIn(report),
      "removed   14 channels and 0 % of the MACs, 0 weights set to zero: no output depends on "
      "them");
}

}  // namespace
}  // namespace heddle
