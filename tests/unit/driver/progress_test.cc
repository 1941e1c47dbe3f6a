#include "heddle/driver/progress.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

TEST(ProgressLine, ShowsTheBarAndTheTimeLeft) {
  EXPECT_EQ(progressLine("execute", 0.5, 3.2),
            "execute  [============>           ]  50 %  4 s left");
  EXPECT_EQ(progressLine("execute", 1, 0), "execute  [========================]  100 %  0 s left");
  EXPECT_EQ(progressLine("execute", 0, 125),
            "execute  [>                       ]  0 %  2 min 5 s left");
}

}  // namespace
}  // namespace heddle
