#include "heddle/packing/buffers_csv.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

std::vector<std::string> faultsOf(const std::string& text) {
  const Result<BufferTable> table = parseBuffers(text, "b.csv");
  std::vector<std::string> faults;
  for (const Diagnostic& d : table.diagnostics())
    faults.push_back(d.code + " " + d.where + " " + d.summary);
  return faults;
}
using Faults = std::vector<std::string>;

TEST(BuffersCsv, ReadsColumnsInAnyOrderAndWritesOffsets) {
  const auto table =
      parseBuffers("size,id,upper,lower\r\n4, a ,3,0\n\n7,\"b,\"\"c\"\"\",9,-3", "b.csv");
  ASSERT_TRUE(table) << toText(table.diagnostics());
  EXPECT_EQ(table->buffers, (std::vector<LiveBuffer>{{0, 3, 4}, {-3, 9, 7}}));
  EXPECT_EQ(table->lines, (std::vector<std::size_t>{2, 4}));
  const std::string printed = printBuffers(*table, {7, 0});
  EXPECT_EQ(printed, "id,lower,upper,size,offset\na,0,3,4,7\n\"b,\"\"c\"\"\",-3,9,7,0\n");
  const auto again = parseBuffers(printed, "again.csv");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->ids, table->ids);
  EXPECT_EQ(again->buffers, table->buffers);
}

TEST(BuffersCsv, SaysWhatIsWrongWithTheHeader) {
  EXPECT_EQ(faultsOf(""), Faults{"PACK001 b.csv:1 the table of buffers has no header"});
  EXPECT_EQ(faultsOf("id,lower,size\n1,2,3"),
            Faults{"PACK001 b.csv:1 the column 'upper' is missing"});
  EXPECT_EQ(faultsOf("id,lower,upper,size,size"),
            Faults{"PACK001 b.csv:1 the column 'size' is there twice"});
  EXPECT_EQ(faultsOf("\nid,lower,upper,size,alignment"),
            Faults{"PACK001 b.csv:2 unknown column 'alignment'"});
}

TEST(BuffersCsv, SaysWhatIsWrongWithALine) {
  const std::string head = "id,lower,upper,size\n";
  EXPECT_EQ(faultsOf(head + "a,0,3"),
            Faults{"PACK002 b.csv:2 a line with another number of fields than the header"});
  EXPECT_EQ(faultsOf(head + "a,0,3,4\n\"b,0,3,4"), Faults{"PACK002 b.csv:3 a line that is no CSV"});
  EXPECT_EQ(faultsOf(head + "a,x,3,9223372036854775808\nb,0,,1.5"),
            (Faults{"PACK003 b.csv:2 'x' is no whole number of 64 bits",
                    "PACK003 b.csv:2 '9223372036854775808' is no whole number of 64 bits",
                    "PACK003 b.csv:3 '' is no whole number of 64 bits",
                    "PACK003 b.csv:3 '1.5' is no whole number of 64 bits"}));
  EXPECT_EQ(faultsOf(head + "a,3,3,-1"),
            (Faults{"PACK004 b.csv:2 the buffer 'a' lives at no time",
                    "PACK004 b.csv:2 the buffer 'a' has a negative size"}));
  EXPECT_EQ(faultsOf(head + "a,0,3,1\n\"a\",0,3,1"),
            Faults{"PACK005 b.csv:3 the buffer 'a' is there twice"});
  EXPECT_EQ(faultsOf(head + "a,0,3,4611686018427387904\nb,0,3,1"),
            Faults{"PACK006 b.csv:3 the buffers have too many bytes together"});
}

}  // namespace
}  // namespace heddle
