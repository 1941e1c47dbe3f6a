#include "heddle/support/csv.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

TEST(CsvText, KeepsOneLineAndNoFormula) {
  EXPECT_EQ(csvText("conv1"), "\"conv1\"");
  EXPECT_EQ(csvText("=1+\"1\""), "\"'=1+\"\"1\"\"\"");
  EXPECT_EQ(csvText("a\r\nb\x1b[2J"), "\"a\\r\\nb\\u001b[2J\"");
}

}  // namespace
}  // namespace heddle
