#include "heddle/tiling/geometry.h"

#include <gtest/gtest.h>

#include "../graphs.h"
#include "heddle/canon/batch.h"
#include "heddle/canon/fuse_operators.h"
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

TEST(OperandGeometry, RowsAreClippedAtTheBordersOfEachImageOfABatch) {
  const CanonicalGraph graph = withBatch(strided(), 3);
  const OperandGeometry g(graph, graph.ops[0], 0);
  EXPECT_EQ(g.rows(27, {0, 3}), (Interval{53, 3}));
  EXPECT_EQ(g.rows(28, {0, 3}), (Interval{56, 2}));
  EXPECT_EQ(g.firstRow(28, {0, 3}), 55);  // the image's before: border
  EXPECT_TRUE(g.rows(28, {0, 1}).empty());
  EXPECT_EQ(g.rows(57, {0, 3}), (Interval{113, 3}));
  EXPECT_EQ(g.rows(83, {0, 3}), (Interval{165, 3}));
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

// 3x3, pad 1, on 9 rows, then the largest of 3x3, stride 2, pad 1.
CanonicalGraph pooledAtItsEnd() {
  GraphBuilder b("pooled");
  const TensorId c = b.conv("conv", b.input("x", {9, 9, 8}), 8, square(3, 1, 1));
  return *fuseOperators(b.finish(b.maxPool("pool", c, square(3, 2, 1))));
}

TEST(PooledGeometry, ImagesOfABatchShareNoRows) {
  const CanonicalGraph graph = withBatch(pooledAtItsEnd(), 2);
  const PooledGeometry g(graph, graph.ops[0]);
  EXPECT_EQ(g.rows(4), (Interval{7, 2}));
  EXPECT_EQ(g.rows(5), (Interval{9, 2}));
  EXPECT_EQ(g.firstRow(5), 8);
  EXPECT_EQ(g.freshRows(5, true), (Interval{9, 2}));
  EXPECT_EQ(g.mostRows(), 3);
  EXPECT_EQ(g.mostRows(2), 6);  // the last of one image and the first of the next
  EXPECT_EQ(g.mostRows(10), 18);
  const OperandGeometry kernel = OperandGeometry::ofKernel(graph, graph.ops[0], 0);
  EXPECT_EQ(kernel.rows(8, {0, 3}), (Interval{7, 2}));
  EXPECT_EQ(kernel.rows(9, {0, 3}), (Interval{9, 2}));
}

TEST(PooledGeometry, RowsAndColumnsAreThoseThatThePoolSees) {
  const CanonicalGraph graph = pooledAtItsEnd();
  const PooledGeometry g(graph, graph.ops[0]);
  EXPECT_EQ(g.rows(0), (Interval{0, 2}));
  EXPECT_EQ(g.rows(1), (Interval{1, 3}));
  EXPECT_EQ(g.rows(4), (Interval{7, 2}));
  EXPECT_EQ(g.freshRows(1, false), (Interval{1, 3}));
  EXPECT_EQ(g.freshRows(1, true), (Interval{2, 2}));  // row 1 is there already
  EXPECT_EQ(g.columns({0, 2}), (Interval{0, 4}));
  EXPECT_EQ(g.columns({2, 3}), (Interval{3, 6}));
  EXPECT_EQ(g.mostRows(), 3);
  EXPECT_EQ(g.mostRows(2), 5);
  EXPECT_EQ(g.mostRows(5), 9);
  EXPECT_EQ(g.mostColumns(2), 5);
}

TEST(PooledGeometry, AnOutputThatIsNotPooledIsItsKernels) {
  const CanonicalGraph graph = strided();
  const PooledGeometry g(graph, graph.ops[0]);
  EXPECT_EQ(g.rows(3), (Interval{3, 1}));
  EXPECT_EQ(g.freshRows(3, true), (Interval{3, 1}));
  EXPECT_EQ(g.columns({2, 5}), (Interval{2, 5}));
}

TEST(PooledGeometry, AWideStrideLeavesRowsOut) {
  GraphBuilder b("gaps");
  const TensorId c = b.conv("conv", b.input("x", {9, 9, 8}), 8, square(1));
  const CanonicalGraph graph = *fuseOperators(b.finish(b.maxPool("pool", c, square(2, 3))));
  const PooledGeometry g(graph, graph.ops[0]);
  EXPECT_EQ(g.freshRows(1, true), (Interval{3, 2}));
  EXPECT_EQ(g.mostRows(3), 6);
}

TEST(OperandGeometry, WhatAPoolSeesOfTheInputIsItsWindowsTogether) {
  const CanonicalGraph graph = pooledAtItsEnd();
  const CanonicalOp& op = graph.ops[0];
  EXPECT_EQ(windowOf(op)->kernelY, 5);
  EXPECT_EQ(windowOf(op)->strideX, 2);
  EXPECT_EQ(kernelWindowOf(op)->kernelY, 3);
  EXPECT_EQ(tapsOf(op, {{0, 1}, {0, 5}}), 9);
  const OperandGeometry all(graph, op, 0), kernel = OperandGeometry::ofKernel(graph, op, 0);
  EXPECT_EQ(all.rows(1, {0, 5}), (Interval{0, 5}));  // of rows 1 to 3
  EXPECT_EQ(kernel.rows(3, {0, 3}), (Interval{2, 3}));
  EXPECT_EQ(all.columns({0, 2}), (Interval{0, 5}));
}

TEST(LayerNest, ACallComputesTheRowsThatTheOneBeforeHasNot) {
  const CanonicalGraph graph = pooledAtItsEnd();
  Mapping m;
  m.parts = {{{0, 1}, {0, 5}}};
  const LayerNest nest(graph, OpId(0), m);
  const std::vector<RowCall> calls{
      {1, 1, {0, 3}, 0}, {2, 1, {0, 3}, 0}, {3, 1, {0, 3}, 1}, {0, 1, {0, 3}, 1}};
  EXPECT_EQ(nest.rowsComputed(calls, 0), (Interval{1, 3}));
  EXPECT_EQ(nest.rowsComputed(calls, 1), (Interval{4, 2}));
  EXPECT_EQ(nest.rowsComputed(calls, 2), (Interval{5, 3}));  // of another box
  EXPECT_EQ(nest.rowsComputed(calls, 3), (Interval{0, 2}));
  EXPECT_EQ(nest.cellsComputed(calls), (3 + 2 + 3 + 2) * 6);
  EXPECT_EQ(nest.rowsOfKernel(0, {calls[0], calls[1]}, Iteration()),
            (std::vector<Interval>{{0, 3}, {1, 3}, {2, 3}, {3, 3}, {4, 3}}));
}

// What only sums writes no row for the window at the end: the kernel may compute those of several
// of its rows at once, though each is written by itself.
TEST(LayerNest, CallsThatOnlySumComputeTheRowsOfSeveralWindows) {
  const CanonicalGraph graph = pooledAtItsEnd();
  Mapping m;
  m.parts = {{{0, 1}, {0, 5}}, {{0, 1}, {0, 5}}, {{0, 1}, {0, 5}}};
  const std::int64_t height = graph.tensors[graph.ops[0].output.at()].shape.height;
  m.shares = {{.core = {}, .boxes = {{{0, height}, {0, 3}}}, .blocks = {0, 1}}};
  const auto callsIn = [&](std::int64_t part) {
    const LayerNest nest(graph, OpId(0), m);
    Iteration at;
    at.part = part;
    std::vector<Interval> computed;
    const std::vector<RowCall> calls = nest.calls(m.shares[0], {0, height}, at);
    for (std::size_t k = 0; k < calls.size(); ++k) computed.push_back(nest.rowsComputed(calls, k));
    return std::pair(computed, nest.kernelCallRows(at));
  };
  const auto [single, one] = callsIn(1);
  ASSERT_EQ(std::ssize(single), height);
  EXPECT_EQ(one, 1);
  m.innerCallRows = 4;  // two windows apart by two rows
  const auto [some, most] = callsIn(1);
  ASSERT_EQ(std::ssize(some), (height + 1) / 2);
  EXPECT_GT(most, 4);
  for (std::size_t k = 0; k < some.size(); ++k) {
    const std::size_t last = std::min(2 * k + 1, single.size() - 1);
    EXPECT_EQ(some[k], (Interval{single[2 * k].first, single[last].end() - single[2 * k].first}));
  }
  EXPECT_EQ(callsIn(0), (std::pair(single, one)));  // its rows are just computed
  EXPECT_EQ(callsIn(2), (std::pair(single, one)));  // it writes
  m.innerCallRows = 3;
  EXPECT_EQ(callsIn(1), (std::pair(single, std::int64_t{3})));
}

TEST(RecordBytes, CountsZerosGammaBlocksAndEpilogue) {
  CanonicalGraph graph = strided();
  // 2 bits of gamma in 8 bytes, 2 blocks of 9 x 64, 8 x (bias, multiplier, shift).
  EXPECT_EQ(recordBytes(graph.ops[0], {0, 1}, {{0, 2}, {0, 3}}, true), 8 + 2 * 9 * 64 + 8 * 9);
  EXPECT_EQ(recordBytes(graph.ops[0], {0, 1}, {{0, 1}, {0, 3}}, false), 8 + 9 * 64);
  Conv& conv = std::get<Conv>(graph.ops[0].attributes);
  conv.weightZero.back() = -1;  // 8 zero points, as one is not 0
  EXPECT_EQ(recordBytes(graph.ops[0], {0, 1}, {{0, 1}, {0, 3}}, false), 8 + 8 + 9 * 64);
  conv.requantizeNegative = conv.requantize;
  EXPECT_EQ(recordBytes(graph.ops[0], {0, 1}, {{0, 1}, {0, 3}}, true), 8 + 8 + 9 * 64 + 8 * 14);
  conv.fusedTable = FusedTable();  // in the last part alone
  EXPECT_EQ(recordBytes(graph.ops[0], {0, 1}, {{0, 1}, {0, 3}}, true),
            8 + 8 + 9 * 64 + 8 * 14 + 256);
  EXPECT_EQ(recordBytes(graph.ops[0], {0, 1}, {{0, 1}, {0, 3}}, false), 8 + 8 + 9 * 64);
}

TEST(RecordBytes, OfADepthwiseEndStandInTheRecordOfTheLastPart) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {8, 8, 16});
  CanonicalGraph graph =
      *fuseOperators(b.finish(b.depthwise("dw", b.conv("conv", x, 24, {}), square(3, 1, 1))));
  ASSERT_EQ(graph.ops.size(), 1U);
  // Per block 9 x 8 weights, 8 x (bias, multiplier, shift).
  EXPECT_EQ(endRecordBytes(graph.ops[0], 2), 2 * (9 * 8 + 8 * 9));
  std::get<Conv>(graph.ops[0].attributes).kept = Bits(3 * 2);
  std::get<Conv>(graph.ops[0].attributes).kept.set(3);
  for (const auto& [blocks, kept] :
       {std::pair{Interval{0, 2}, 1}, {Interval{1, 2}, 1}, {Interval{2, 1}, 0}})
    for (const bool last : {true, false}) {
      const ReductionPart whole{{0, 2}, {0, 3}};
      const std::int64_t end = last ? blocks.count * (9 * 8 + 8 * 9) : 0;
      EXPECT_EQ(recordBytes(graph.ops[0], blocks, whole, last),
                8 + kept * 64 + (last ? blocks.count * 8 * 9 : 0) + end);
      EXPECT_EQ(RecordLengths(graph.ops[0]).bytes(blocks.count, whole, last, kept),
                recordBytes(graph.ops[0], blocks, whole, last));
    }
}

TEST(RecordBytes, OfTablesForEachChannelAreTheirsOrTheirLines) {
  GraphBuilder b("net");
  CanonicalGraph graph = b.finish(b.table("t", b.input("x", {8, 8, 20})));
  Table& table = std::get<Table>(graph.ops[0].attributes);
  EXPECT_EQ(recordBytes(graph.ops[0], {0, 3}, {}, true), 256);
  table.tables.resize(20, table.tables[0]);
  EXPECT_EQ(recordBytes(graph.ops[0], {0, 2}, {}, true), 16 * 256);
  table.lines.resize(20);
  EXPECT_EQ(recordBytes(graph.ops[0], {0, 2}, {}, true), 16 * 12);
}

// One for all blocks of a record, however many.
TEST(RecordBytes, OfTablesAtEndsAreCountedOnce) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {8, 8, 16}), conv = b.table("t", b.conv("conv", x, 24, {}));
  const CanonicalGraph graph =
      *fuseOperators(b.finish(b.table("u", b.depthwise("dw", conv, square(3, 1, 1)))));
  ASSERT_EQ(graph.ops.size(), 1U);
  for (const std::int64_t blocks : {1, 3}) {
    const std::int64_t end = blocks * (9 * 8 + 8 * 9) + 256;
    EXPECT_EQ(endRecordBytes(graph.ops[0], blocks), end);
    EXPECT_EQ(recordBytes(graph.ops[0], {0, blocks}, {{0, 2}, {0, 1}}, true),
              8 + blocks * 2 * 64 + blocks * 8 * 9 + 256 + end);
    EXPECT_EQ(recordBytes(graph.ops[0], {0, blocks}, {{0, 1}, {0, 1}}, false), 8 + blocks * 64);
  }
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
            6 * 8 + conv.kept.count() * 64 + 9 * 40);
}

TEST(MappedAxis, GivesToSomeOutputsAlone) {
  const MappedAxis none((AxisMap())), dense({{.to = 2, .from = 5, .count = 3}}),
      strided({{.to = 1, .toStep = 3, .from = 9, .fromStep = -2, .count = 3}});
  const auto inputs = [](const MappedAxis& axis) {
    std::vector<std::int64_t> all;
    for (std::int64_t output = 0; output < 9; ++output) all.push_back(axis.inputOf(output));
    return all;
  };
  using Inputs = std::vector<std::int64_t>;
  EXPECT_EQ(inputs(none), Inputs(9, -1));
  EXPECT_EQ(inputs(dense), (Inputs{-1, -1, 5, 6, 7, -1, -1, -1, -1}));
  EXPECT_EQ(inputs(strided), (Inputs{-1, 9, -1, -1, 7, -1, -1, 5, -1}));
  EXPECT_EQ(strided.outputs(), (Inputs{1, 4, 7}));
  EXPECT_EQ(none.around({0, 9}), Interval());
  EXPECT_EQ(dense.around({0, 3}), (Interval{5, 1}));
  EXPECT_EQ(dense.around({3, 9}), (Interval{6, 2}));
  EXPECT_EQ(strided.around({2, 2}), Interval());
  EXPECT_EQ(strided.around({2, 6}), (Interval{5, 3}));
}

TEST(MappedAxis, OfWhatIsGivenToOneOutputTheLastHolds) {
  const MappedAxis twice({{.to = 0, .from = 3, .count = 2}, {.to = 1, .from = 8, .count = 1}});
  EXPECT_EQ(twice.inputOf(0), 3);
  EXPECT_EQ(twice.inputOf(1), 8);
  EXPECT_EQ(twice.outputs(), (std::vector<std::int64_t>{0, 1}));
}

}  // namespace
}  // namespace heddle
