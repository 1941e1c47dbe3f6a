#include "../../../src/planner/row_sweeps.h"

#include <gtest/gtest.h>

#include "../graphs.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

// 3x3, pad 1, on 8 rows of 8 pixels and 8 channels.
CanonicalGraph eightRows() {
  GraphBuilder b("net");
  return b.finish(b.conv("conv", b.input("x", {8, 8, 8}), 8, square(3, 1, 1)));
}

Mapping onCores(std::vector<PixelBox> boxes) {
  Mapping m;
  for (std::size_t c = 0; c < boxes.size(); ++c)
    m.shares.push_back({{0, static_cast<std::int64_t>(c)}, {boxes[c]}, {0, 1}, {}});
  m.parts = {{{0, 1}, {0, 3}}};
  return m;
}

// Rows that two memtiles keep, from `cut` on the second.
Home cutAt(std::int64_t cut) {
  return {{0, {0, cut}, {0, 8}, {0, 1}}, {1, {cut, 8 - cut}, {0, 8}, {0, 1}}};
}

std::vector<std::pair<std::int64_t, std::int64_t>> runsOf(const RowSweep& sweep) {
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;  // first row, calls
  for (const CallRun& run : sweep.runs) runs.emplace_back(run.y, run.times);
  return runs;
}

using Runs = std::vector<std::pair<std::int64_t, std::int64_t>>;

TEST(RowSweeps, CallsThatDifferInTheirRowAloneAreOneRun) {
  const CanonicalGraph graph = eightRows();
  const Mapping m = onCores({{{0, 8}, {0, 8}}});
  const LayerNest nest(graph, OpId(0), m);
  RowSweeps sweeps(nest, {0, 8}, {RowCuts({}), RowCuts({})});
  const RowSweep& sweep = sweeps.of(m.shares[0], {});
  EXPECT_EQ(runsOf(sweep), (Runs{{0, 1}, {1, 1}, {2, 5}, {7, 1}}));
  std::vector<std::int64_t> fresh;
  for (std::size_t call = 0; call < sweep.calls(); ++call) fresh.push_back(sweep.of(call, 0).fresh);
  EXPECT_EQ(fresh, (std::vector<std::int64_t>{2, 1, 1, 1, 1, 1, 1, 0}));
  ASSERT_EQ(sweep.told.at(0).size(), 1u);
  EXPECT_EQ(sweep.told[0][0].y, (Interval{0, 8}));
}

// Of four bands of two rows the outer ones see a border; the inner ones differ where another
// memtile keeps what one reads or writes.
TEST(RowSweeps, BandsAreOfOneKindWhereNothingButTheirRowsDiffers) {
  const CanonicalGraph graph = eightRows();
  Mapping m = onCores({{{0, 8}, {0, 8}}});
  m.bands = 4;
  const LayerNest nest(graph, OpId(0), m);
  const auto kinds = [&](const Home& input, const Home& output) {
    RowSweeps sweeps(nest, {0, 8}, {RowCuts(input), RowCuts(output)});
    std::vector<std::size_t> ofBands;
    for (Iteration i; i.band < m.bands; ++i.band) ofBands.push_back(sweeps.of(m.shares[0], i).kind);
    return ofBands;
  };
  const std::vector<std::size_t> alike{0, 1, 1, 2}, apart{0, 1, 2, 3};
  EXPECT_EQ(kinds({}, {}), alike);
  EXPECT_EQ(kinds(cutAt(4), {}), apart);
  EXPECT_EQ(kinds({}, cutAt(4)), apart);
  EXPECT_EQ(kinds(cutAt(7), cutAt(6)), alike);
}

// Two operands in turns, four rows of each: a call asks for the one that gives to it.
TEST(RowSweeps, OfMovementsACallAsksForWhatGivesToItsRow) {
  GraphBuilder b("net");
  Assemble move;
  for (const std::int64_t first : {0, 4})
    move.parts.push_back(
        {{{.to = first, .from = 0, .count = 4}}, {{.count = 8}}, {{.count = 8}}, {}});
  const TensorId x = b.input("x", {4, 8, 8}), y = b.conv("conv", x, 8, square(1));
  const CanonicalGraph graph = b.finish(b.op("move", "Concat", {x, y}, {8, 8, 8}, move));
  const Mapping m = onCores({{{0, 8}, {0, 8}}});
  const LayerNest nest(graph, OpId(1), m);
  RowSweeps sweeps(nest, {0, 8}, {RowCuts({}), RowCuts({}), RowCuts({})});
  const RowSweep& sweep = sweeps.of(m.shares[0], {});
  ASSERT_EQ(sweep.calls(), 8u);
  for (std::size_t call = 0; call < 8; ++call) {
    ASSERT_EQ(sweep.of(call).size(), 1u);
    EXPECT_EQ(sweep.of(call)[0].operand, call / 4);
    EXPECT_EQ(sweep.of(call)[0].window, (Interval{static_cast<std::int64_t>(call % 4), 1}));
    EXPECT_EQ(sweep.of(call, 1 - call / 4).fresh, 0);
  }
  EXPECT_EQ(sweep.told.at(0)[0].y, (Interval{0, 4}));
  EXPECT_EQ(sweep.told.at(1)[0].y, (Interval{0, 4}));
  // No run goes on where another operand begins to give.
  for (const CallRun& run : sweep.runs) EXPECT_TRUE(run.y >= 4 || run.y + run.times <= 4) << run.y;
}

TEST(RowSweeps, ARunEndsWhereRowsComeFromOrGoElsewhere) {
  const CanonicalGraph graph = eightRows();
  const Mapping m = onCores({{{0, 8}, {0, 8}}});
  const LayerNest nest(graph, OpId(0), m);
  RowSweeps input(nest, {0, 8}, {RowCuts(cutAt(4)), RowCuts({})});
  EXPECT_EQ(runsOf(input.of(m.shares[0], {})), (Runs{{0, 1}, {1, 1}, {2, 1}, {3, 4}, {7, 1}}));
  RowSweeps output(nest, {0, 8}, {RowCuts({}), RowCuts(cutAt(4))});
  EXPECT_EQ(runsOf(output.of(m.shares[0], {})), (Runs{{0, 1}, {1, 1}, {2, 2}, {4, 3}, {7, 1}}));
  RowSweeps both(nest, {0, 8}, {RowCuts(cutAt(4)), RowCuts(cutAt(4))});
  EXPECT_EQ(runsOf(both.of(m.shares[0], {})),
            (Runs{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 3}, {7, 1}}));
}

TEST(RowSweeps, CoresOfTheSameRowsHaveTheSameSweep) {
  const CanonicalGraph graph = eightRows();
  const Mapping m = onCores({{{0, 4}, {0, 4}}, {{0, 4}, {4, 4}}, {{4, 4}, {0, 8}}});
  const LayerNest nest(graph, OpId(0), m);
  RowSweeps sweeps(nest, {0, 8}, {RowCuts({}), RowCuts({})});
  EXPECT_EQ(&sweeps.of(m.shares[0], {}), &sweeps.of(m.shares[1], {}));
  EXPECT_NE(&sweeps.of(m.shares[0], {}), &sweeps.of(m.shares[2], {}));
  EXPECT_EQ(sweeps.columns(m.shares[1], 0, {}), (Interval{4, 4}));
  // Of a step of the first rows alone, the third core has none.
  RowSweeps above(nest, {0, 4}, {RowCuts({}), RowCuts({})});
  EXPECT_TRUE(above.hasCalls(m.shares[0], {}));
  EXPECT_FALSE(above.hasCalls(m.shares[2], {}));
}

}  // namespace
}  // namespace heddle
