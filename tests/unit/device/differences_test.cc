#include "heddle/device/differences.h"

#include <gtest/gtest.h>

#include "../devices.h"

namespace heddle {
namespace {

using testing::paper;

TEST(DeviceDifferences, AreKeysWithBothValues) {
  EXPECT_TRUE(differences(paper(), paper()).empty());
  const Device slow = paper({.settings = {{"links.ddr.readTotal", "2GB/s"}}});
  EXPECT_EQ(differences(paper(), slow),
            (std::vector<DeviceDifference>{{"links.ddr.readTotal", "unlimited", "2 GB/s"}}));
}

TEST(DeviceDifferences, WiresCountOnlyInOneMesh) {
  EXPECT_EQ(differences(paper(), paper({.mesh = {{4, 2}}})),
            (std::vector<DeviceDifference>{{"columns", "4", "2"}}));
  Device fewer = paper();
  fewer.wires.pop_back();
  EXPECT_EQ(differences(paper(), fewer),
            (std::vector<DeviceDifference>{{"wires", "8", "7, not all the same,"}}));
}

}  // namespace
}  // namespace heddle
