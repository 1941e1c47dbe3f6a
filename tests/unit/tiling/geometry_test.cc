#include "heddle/tiling/geometry.h"

#include <gtest/gtest.h>

#include "../graphs.h"
#include "heddle/tiling/nest.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

CanonicalGraph strided() {  // 3x3, stride 2, pad 1, on 56 rows
  GraphBuilder b("strided");
  return b.finish(b.conv("conv", b.input("x", {56, 56, 16}), 8, square(3, 2, 1)));
}

TEST(EvenPart, FirstPartsAreLongerByOne) {
  EXPECT_EQ(evenPart(10, 4, 0), (Interval{0, 3}));
  EXPECT_EQ(evenPart(10, 4, 1), (Interval{3, 3}));
  EXPECT_EQ(evenPart(10, 4, 3), (Interval{8, 2}));
  EXPECT_TRUE(evenPart(2, 4, 3).empty());
}

TEST(OperandGeometry, RowsAreClippedAtTheBorderOfTheTensor) {
  const CanonicalGraph graph = strided();
  const OperandGeometry g(graph, graph.ops[0], 0);
  EXPECT_EQ(g.rows(0, {0, 3}), (Interval{0, 2}));
  EXPECT_EQ(g.rows(1, {0, 3}), (Interval{1, 3}));
  EXPECT_EQ(g.rows(27, {0, 3}), (Interval{53, 3}));
  EXPECT_EQ(g.firstRow(0, {0, 3}), -1);
}

TEST(OperandGeometry, APartOfTheKernelNeedsOnlyItsRows) {
  const CanonicalGraph graph = strided();
  const OperandGeometry g(graph, graph.ops[0], 0);
  EXPECT_TRUE(g.rows(0, {0, 1}).empty());  // the first kernel row lies in the padding
  EXPECT_EQ(g.rows(0, {2, 1}), (Interval{1, 1}));
}

TEST(OperandGeometry, ColumnsIncludeTheNeighboursHalo) {
  const CanonicalGraph graph = strided();
  const OperandGeometry g(graph, graph.ops[0], 0);
  EXPECT_EQ(g.columns({0, 7}), (Interval{0, 14}));
  EXPECT_EQ(g.columns({7, 7}), (Interval{13, 15}));
}

TEST(OperandGeometry, AConcatOperandServesOnlyItsOwnChannels) {
  GraphBuilder b("concat");
  const TensorId x = b.input("x", {4, 4, 16}), y = b.input("y", {4, 4, 24});
  const CanonicalGraph graph = b.finish(b.concat("concat", {x, y}));
  const OperandGeometry first(graph, graph.ops[0], 0), second(graph, graph.ops[0], 1);
  EXPECT_EQ(first.blocks({0, 3}, {}), (Interval{0, 2}));
  EXPECT_EQ(second.blocks({0, 3}, {}), (Interval{0, 1}));
  EXPECT_TRUE(first.blocks({3, 2}, {}).empty());
}

TEST(RecordBytes, CountsZerosGammaBlocksAndEpilogue) {
  const CanonicalGraph graph = strided();
  // 8 zero points, 2 bits of gamma in 8 bytes, 2 blocks of 9 x 64, 3 x 8 int32.
  EXPECT_EQ(recordBytes(graph.ops[0], {0, 1}, {{0, 2}, {0, 3}}, true), 8 + 8 + 2 * 9 * 64 + 96);
  EXPECT_EQ(recordBytes(graph.ops[0], {0, 1}, {{0, 1}, {0, 3}}, false), 8 + 8 + 9 * 64);
}

TEST(MostCallsAhead, CountsCallsThatWaitForARowOfTheirOwn) {
  // 3x3 with a border of one row: calls 0 and 1 fit the three rows of the shortest ring.
  const std::vector<Interval> padded{{0, 2}, {0, 3}, {1, 3}, {2, 3}, {3, 2}};
  EXPECT_EQ(mostCallsAhead(padded, 3), 2);
  EXPECT_EQ(mostCallsAhead(padded, 4), 3);
  EXPECT_EQ(mostCallsAhead(padded, 5), 4);  // the last call needs nothing new
  // Stride 2, no border, a ring of one window; a call without rows waits for nothing.
  EXPECT_EQ(mostCallsAhead({{0, 3}, {2, 3}, {}, {4, 3}}, 3), 1);
  EXPECT_EQ(mostCallsAhead({{0, 3}, {2, 3}, {}, {4, 3}}, 7), 3);
  EXPECT_EQ(mostCallsAhead({}, 3), 0);
}

TEST(BlockCounts, CountsTheBlocksOfEveryRectangle) {
  GraphBuilder b("sparse");
  const TensorId x = b.input("x", {4, 4, 70 * 8});
  CanonicalGraph graph = b.finish(b.conv("conv", x, 5 * 8, {1, 1, 1, 1, 1, 1, 0, 0, 0, 0}));
  Conv& conv = std::get<Conv>(graph.ops[0].attributes);
  EXPECT_TRUE(BlockCounts(graph.ops[0]).whole());
  conv.kept = Bits(5 * 70);
  for (std::int64_t i = 0; i < conv.kept.size(); ++i)
    if (i * i % 7 < 3) conv.kept.set(i);
  const BlockCounts counts(graph.ops[0]);
  EXPECT_FALSE(counts.whole());
  for (std::int64_t first = 0; first < 5; ++first)
    for (std::int64_t end = first; end <= 5; ++end)
      for (const Interval& in :
           {Interval{0, 70}, Interval{0, 1}, Interval{3, 64}, Interval{63, 7}}) {
        std::int64_t kept = 0;
        for (std::int64_t o = first; o < end; ++o)
          for (std::int64_t i = in.first; i < in.end(); ++i) kept += conv.kept[o * 70 + i];
        EXPECT_EQ(counts.count({first, end - first}, in), kept);
        EXPECT_EQ(blocksComputed(graph.ops[0], {first, end - first}, {in, {0, 1}}), kept);
      }
  EXPECT_EQ(recordBytes(graph.ops[0], {0, 5}, {{0, 70}, {0, 1}}, true),
            40 + 6 * 8 + conv.kept.count() * 64 + 3 * 4 * 40);
}

}  // namespace
}  // namespace heddle
