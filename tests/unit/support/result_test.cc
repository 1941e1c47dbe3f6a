#include "heddle/support/result.h"

#include <gtest/gtest.h>

#include "heddle/support/fault_list.h"

namespace heddle {
namespace {

Diagnostic fault(const std::string& summary) {
  return {
      .code = "DEV003", .where = "d.yaml:1", .summary = summary, .what = {}, .mend = "remove it"};
}

Result<void> place(bool fits) {
  if (!fits) return fault("it does not fit");
  return {};
}
Result<int> placeTwice(bool fits) {
  HEDDLE_DO(place(true));
  HEDDLE_DO(place(fits));
  return 2;
}

TEST(Result, OfNothingIsDoneOrSaysWhyNot) {
  EXPECT_TRUE(place(true));
  EXPECT_EQ(place(true).diagnostics(), Diagnostics{});
  EXPECT_FALSE(place(false));
  EXPECT_EQ(*placeTwice(true), 2);
  EXPECT_EQ(placeTwice(false).diagnostics(), Diagnostics{fault("it does not fit")});
  EXPECT_THROW(static_cast<void>(Result<void>(Diagnostics{})), InternalError);
}

TEST(Diagnostic, ShowsNamesOfOthersWithoutWhatATerminalObeys) {
  const Diagnostic hostile{.code = "ONNX007",
                           .where = "m.onnx, node '\x1b]0;x\x07'",
                           .summary = "it reads '\xC2\x9B'",
                           .what = "a\nerror[BUG001] heddle: a line that is not ours",
                           .mend =
                               "\xE2\x80\xAE"
                               "x\xFF"};
  EXPECT_EQ(toText(hostile),
            "error[ONNX007] m.onnx, node '\\u001b]0;x\\u0007': it reads '\\u009b'\n"
            "  what:  a\\nerror[BUG001] heddle: a line that is not ours\n"
            "  mend:  \\u202ex\\xff\n");
}

TEST(FaultList, KeepsTheFirstAndCountsTheOthers) {
  FaultList faults("d.yaml");
  EXPECT_TRUE(faults.empty());
  for (std::size_t i = 0; i < FaultList::kMostKept; ++i) {
    EXPECT_FALSE(faults.full());
    faults.add(fault(std::to_string(i)));
  }
  EXPECT_TRUE(faults.full());
  faults.add(fault("one too many"));
  faults.add({});
  EXPECT_EQ(faults.count(), FaultList::kMostKept + 2);
  const Diagnostics kept = faults.take();
  ASSERT_EQ(kept.size(), FaultList::kMostKept + 1);
  EXPECT_EQ(kept[FaultList::kMostKept - 1], fault("99"));
  EXPECT_EQ(toText(kept.back()),
            "error[FILE004] d.yaml: 2 more faults\n  what:  the first 100 are shown\n"
            "  mend:  mend these first\n");
}

TEST(FaultList, SaysThatThereMayBeMoreWhereNobodyLooked) {
  FaultList faults("p.asm", 2);
  faults.add(fault("a"));
  EXPECT_FALSE(faults.full());
  faults.add(fault("b"));
  EXPECT_TRUE(faults.full());
  faults.stop();
  const Diagnostics kept = faults.take();
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(toText(kept.back()),
            "error[FILE004] p.asm: there may be more faults\n  what:  the first 2 are shown\n"
            "  mend:  mend these first\n");
}

TEST(FaultList, SaysNothingMoreWhereAllAreShown) {
  FaultList faults("d.yaml");
  for (std::size_t i = 0; i < FaultList::kMostKept; ++i) faults.add(fault("x"));
  EXPECT_EQ(faults.take().size(), FaultList::kMostKept);
  EXPECT_TRUE(faults.empty());
}

}  // namespace
}  // namespace heddle
