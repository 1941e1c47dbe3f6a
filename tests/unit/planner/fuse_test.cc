#include "heddle/planner/fuse.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

using Tiling = PlanOptions::Tiling;

TEST(Fuse, AWordOrGroupsByCommas) {
  PlanOptions options;
  for (const auto& [text, tiling] :
       {std::pair{"", Tiling::Auto}, {"off", Tiling::Off}, {"auto", Tiling::Auto}}) {
    EXPECT_EQ(readFuse(text, options), std::nullopt) << text;
    EXPECT_EQ(options.tiling, tiling) << text;
    EXPECT_TRUE(options.groups.empty()) << text;
  }
  EXPECT_EQ(readFuse("a..b:8,c:1..d:x,e..f:0", options), std::nullopt);
  EXPECT_EQ(options.tiling, Tiling::Given);
  EXPECT_EQ(options.groups,
            (std::vector<PlanOptions::Group>{{"a", "b", 8}, {"c:1", "d:x", 0}, {"e", "f:0", 0}}));
}

TEST(Fuse, WhatIsNoGroupIsNamed) {
  PlanOptions options;
  for (const char* text : {"conv1", "..b", "a..", "a..:3"}) {
    EXPECT_EQ(readFuse(text, options), text);
    EXPECT_EQ(readFuse(std::string("a..b,") + text, options), text);
  }
}

TEST(Fuse, ItsTextReadsBack) {
  for (const std::string text : {"auto", "off", "a..b", "a..b:2,c..d:16,e:x..f"}) {
    PlanOptions options;
    ASSERT_EQ(readFuse(text, options), std::nullopt);
    EXPECT_EQ(fuseText(options), text);
  }
}

}  // namespace
}  // namespace heddle
