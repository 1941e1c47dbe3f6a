#include "heddle/tiling/views.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "../graphs.h"
#include "heddle/canon/batch.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

// The pixels that a map names, one by one.
void expectPixels(const PixelMap& pixels, const Shape& own, const Shape& root,
                  const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& columns) {
  for (std::int64_t y = 0; y < own.height; ++y)
    EXPECT_EQ(pixels.row(y), rows[static_cast<std::size_t>(y)]) << y;
  for (std::int64_t x = 0; x < own.width; ++x)
    EXPECT_EQ(pixels.column(x), columns[static_cast<std::size_t>(x)]) << x;
  const auto in = [](const std::vector<std::int64_t>& places, const Interval& of) {
    return std::ranges::count_if(
        places, [&](std::int64_t place) { return of.first <= place && place < of.end(); });
  };
  for (std::int64_t first = 0; first <= root.height; ++first)
    for (std::int64_t count = 0; first + count <= root.height; ++count) {
      const Interval y = pixels.rowsIn({first, count});
      ASSERT_EQ(y.count, in(rows, {first, count})) << first << " for " << count;
      for (std::int64_t i = y.first; i < y.end(); ++i)
        ASSERT_EQ(common({first, count}, {rows[static_cast<std::size_t>(i)], 1}).count, 1);
    }
  for (std::int64_t first = 0; first <= root.width; ++first)
    for (std::int64_t count = 0; first + count <= root.width; ++count)
      ASSERT_EQ(pixels.columnsIn({first, count}).count, in(columns, {first, count}));
  for (std::int64_t y = 0; y < own.height; ++y) {
    const std::int64_t even = pixels.evenRows(y, own.height - y);
    ASSERT_GE(even, 1);
    for (std::int64_t i = 1; i < even; ++i)
      EXPECT_EQ(pixels.row(y + i), pixels.row(y) + i * pixels.rowStep());
    if (y + even < own.height)
      EXPECT_NE(pixels.row(y + even), pixels.row(y) + even * pixels.rowStep());
  }
  EXPECT_EQ(pixels.reachOfRows({0, own.height}), (Interval{rows[0], rows.back() + 1 - rows[0]}));
  EXPECT_EQ(pixels.reachOfColumns({0, own.width}),
            (Interval{columns[0], columns.back() + 1 - columns[0]}));
  EXPECT_TRUE(pixels.reachOfRows({}).empty());
}

TEST(PixelMap, FindsThePixelsOfItsRoot) {
  const Sampling odd{{1, 2}, {0, 3}};
  expectPixels({odd, {3, 2, 8}, {7, 5, 8}, 1}, {3, 2, 8}, {7, 5, 8}, {1, 3, 5}, {0, 3});
  // Rows count in their image: of 7 rows each, the second's begin at 7.
  expectPixels({odd, {6, 2, 8}, {14, 5, 8}, 2}, {6, 2, 8}, {14, 5, 8}, {1, 3, 5, 8, 10, 12},
               {0, 3});
  // Where the images are as long as the rows taken are apart, all are apart alike.
  const Sampling even{{0, 2}, {1, 1}};
  expectPixels({even, {4, 2, 8}, {8, 4, 8}, 2}, {4, 2, 8}, {8, 4, 8}, {0, 2, 4, 6}, {1, 2});
  expectPixels({std::nullopt, {2, 3, 8}, {2, 3, 8}, 1}, {2, 3, 8}, {2, 3, 8}, {0, 1}, {0, 1, 2});
}

TEST(Steps, AreInsideWhateverTheNumbersAre) {
  constexpr std::int64_t kLeast = INT64_MIN, kMost = INT64_MAX;
  EXPECT_TRUE((Steps{1, 2}.areInside(3, 6)));
  EXPECT_FALSE((Steps{1, 2}.areInside(3, 5)));
  EXPECT_TRUE((Steps{0, 1}.areInside(kMost, kMost)));
  for (const auto& [steps, count, size] :
       std::vector<std::tuple<Steps, std::int64_t, std::int64_t>>{{{-1, 1}, 1, 4},
                                                                  {{0, 0}, 1, 4},
                                                                  {{0, 5}, 1, 4},
                                                                  {{0, 1}, 0, 4},
                                                                  {{0, 1}, kLeast, 4},
                                                                  {{0, 1}, 1, 0},
                                                                  {{0, 1}, 1, kLeast},
                                                                  {{kMost, kMost}, kMost, kMost},
                                                                  {{kLeast, kLeast}, 1, kMost}})
    EXPECT_FALSE(steps.areInside(count, size)) << steps.first << " by " << steps.step;
}

TEST(Views, OfASliceAreItsPixels) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {9, 8, 16});
  const TensorId odd = b.slice("odd", x, {1, 2, 4}, {0, 1, 8}),
                 corner = b.slice("corner", odd, {1, 1, 3}, {2, 3, 2}),
                 used = b.conv("used", corner, 8, square(1));
  const Views views = findViews(b.finish(used));
  EXPECT_EQ(views.inPlace, (std::vector<bool>{true, true, false}));
  EXPECT_EQ(views.tensors[odd.at()], (View{x, 0, Sampling{{1, 2}, {0, 1}}}));
  // Rows 1, 2, 3 of rows 1, 3, 5, 7: rows 3, 5, 7.
  EXPECT_EQ(views.tensors[corner.at()], (View{x, 0, Sampling{{3, 2}, {2, 3}}}));
  EXPECT_EQ(views.tensors[used.at()], (View{used, 0, {}}));
}

TEST(Views, OfASliceOfAPartOfAConcat) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {6, 6, 8});
  const TensorId left = b.conv("left", x, 8, square(1)), right = b.conv("right", x, 16, square(1)),
                 both = b.concat("both", {left, right}),
                 few = b.slice("few", right, {0, 2, 3}, {0, 2, 3}),
                 one = b.conv("one", few, 8, square(1)), two = b.conv("two", both, 8, square(1, 2));
  CanonicalGraph graph = b.finish(b.add("sum", one, two));
  Plan plan;
  plan.views = findViews(graph).tensors;
  EXPECT_EQ(plan.views[few.at()], (View{both, 1, Sampling{{0, 2}, {0, 2}}}));
  plan.homes.resize(graph.tensors.size());
  EXPECT_TRUE(homeOf(graph, plan, few).empty());
  plan.homes[both.at()] = {{0, {0, 3}, {0, 6}, {0, 2}},
                           {1, {0, 3}, {0, 6}, {2, 1}},
                           {2, {3, 3}, {0, 1}, {0, 3}},
                           {0, {3, 3}, {1, 1}, {0, 3}},
                           {1, {3, 3}, {2, 4}, {0, 3}}};
  // In its own rows, columns and blocks; column 1 of the root is none of its own.
  EXPECT_EQ(homeOf(graph, plan, few), (Home{{0, {0, 2}, {0, 3}, {0, 1}},
                                            {1, {0, 2}, {0, 3}, {1, 1}},
                                            {2, {2, 1}, {0, 1}, {0, 2}},
                                            {1, {2, 1}, {1, 2}, {0, 2}}}));
  EXPECT_EQ(homeOf(graph, plan, right), (Home{{0, {0, 3}, {0, 6}, {0, 1}},
                                              {1, {0, 3}, {0, 6}, {1, 1}},
                                              {2, {3, 3}, {0, 1}, {0, 2}},
                                              {0, {3, 3}, {1, 1}, {0, 2}},
                                              {1, {3, 3}, {2, 4}, {0, 2}}}));
  EXPECT_EQ(homeOf(graph, plan, both), plan.homes[both.at()]);
}

// The Concat would copy all of its operands, the Slice copies what it takes.
TEST(Views, OfAConcatComeBeforeThoseOfASlice) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {8, 8, 16});
  const TensorId few = b.slice("few", x, {0, 2, 4}, {0, 2, 4}),
                 other = b.conv("other", x, 64, square(2, 2)),
                 both = b.concat("both", {few, other});
  const Views views = findViews(b.finish(b.conv("conv", both, 8, square(1))));
  EXPECT_EQ(views.inPlace, (std::vector<bool>{false, false, true, false}));
  EXPECT_EQ(views.tensors[few.at()], (View{both, 0, {}}));
}

TEST(Views, OfABatchCountRowsInTheirImage) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {7, 4, 8}), few = b.slice("few", x, {0, 2, 4}, {0, 2, 2});
  const CanonicalGraph graph = withBatch(b.finish(b.conv("conv", few, 8, square(1))), 3);
  const Views views = findViews(graph);
  EXPECT_TRUE(views.inPlace[0]);
  EXPECT_EQ(views.tensors[few.at()], (View{x, 0, Sampling{{0, 2}, {0, 2}}}));
}

TEST(Views, AreNotOfWhatMovesOtherwise) {
  const auto isView = [](auto change) {
    GraphBuilder b("net");
    const TensorId x = b.input("x", {6, 6, 32}), few = b.slice("few", x, {0, 2, 3}, {1, 1, 4});
    CanonicalGraph graph = b.finish(b.conv("conv", few, 8, square(1)));
    change(graph, std::get<Assemble>(graph.ops[0].attributes).parts[0],
           graph.tensors[few.at()].shape);
    return bool{findViews(graph).inPlace[0]};
  };
  EXPECT_TRUE(isView([](CanonicalGraph&, AssemblePart&, Shape&) {}));
  EXPECT_TRUE(isView([](CanonicalGraph&, AssemblePart& part, Shape& shape) {
    part.mapC = {{0, 1, 8, 1, 16}};
    shape.channels = 16;
  }));
  EXPECT_FALSE(isView([](CanonicalGraph&, AssemblePart& part, Shape& shape) {
    part.mapC = {{0, 1, 4, 1, 16}};  // half a block
    shape.channels = 16;
  }));
  EXPECT_FALSE(isView([](CanonicalGraph&, AssemblePart& part, Shape& shape) {
    part.mapC = {{0, 1, 0, 1, 12}};  // ends in a block
    shape.channels = 12;
  }));
  EXPECT_FALSE(isView([](CanonicalGraph&, AssemblePart& part, Shape&) {
    part.mapX = {{0, 1, 4, -1, 4}};  // backwards
  }));
  EXPECT_FALSE(isView([](CanonicalGraph&, AssemblePart& part, Shape&) {
    part.mapX = {{0, 1, 0, 1, 2}, {2, 1, 4, 1, 2}};  // with a gap
  }));
  EXPECT_FALSE(isView([](CanonicalGraph&, AssemblePart& part, Shape&) {
    part.mapX = {{1, 1, 0, 1, 3}};  // and a filled column
  }));
  EXPECT_FALSE(isView([](CanonicalGraph&, AssemblePart& part, Shape&) { part.table.emplace(); }));
  EXPECT_FALSE(isView([](CanonicalGraph& graph, AssemblePart&, Shape& shape) {
    graph.outputs[0] = testing::portOf("few", graph.ops[0].output, shape);  // the host reads it
  }));
}

}  // namespace
}  // namespace heddle
