#include "heddle/canon/batch.h"

#include <gtest/gtest.h>

#include "../graphs.h"
#include "heddle/canon/canonicalize.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

TEST(Batch, ImagesLieBelowEachOtherAndPortsAreOfOne) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {6, 5, 8});
  const CanonicalGraph one = b.finish(b.conv("conv", x, 16, square(3, 2, 1)));
  const CanonicalGraph three = withBatch(one, 3);
  EXPECT_EQ(verify(three), Diagnostics{});
  EXPECT_EQ(three.batch, 3);
  EXPECT_EQ(three.tensors[x.at()].shape, (Shape{18, 5, 8}));
  EXPECT_EQ(three.tensors[one.ops[0].output.at()].shape, (Shape{9, 3, 16}));
  EXPECT_EQ(imageShape(three, x), (Shape{6, 5, 8}));
  EXPECT_EQ(three.inputs, one.inputs);
  EXPECT_EQ(withBatch(one, 1), one);
}

TEST(Batch, AConstantIsThereForEachImage) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {2, 1, 8}), c = b.input("c", {2, 1, 8});
  CanonicalGraph one = b.finish(b.add("add", x, c));
  one.inputs.pop_back();
  for (int i = 0; i < 16; ++i) one.tensors[c.at()].constant.push_back(static_cast<std::int8_t>(i));
  const CanonicalGraph two = withBatch(one, 2);
  EXPECT_EQ(verify(two), Diagnostics{});
  std::vector<std::int8_t> twice = one.tensors[c.at()].constant;
  twice.insert(twice.end(), one.tensors[c.at()].constant.begin(),
               one.tensors[c.at()].constant.end());
  EXPECT_EQ(two.tensors[c.at()].constant, twice);
}

AxisMap rowsOf(const CanonicalGraph& graph) {
  return std::get<Assemble>(graph.ops[0].attributes).parts[0].mapY;
}

TEST(Batch, MovedRowsStayInTheirImage) {
  GraphBuilder whole("whole"), upper("upper");
  const CanonicalGraph concat = whole.finish(
      whole.concat("concat", {whole.input("x", {4, 4, 8}), whole.input("y", {4, 4, 8})}));
  // A Concat of channels is one still, as a tensor may be channels of another.
  EXPECT_EQ(rowsOf(withBatch(concat, 3)), (AxisMap{{0, 1, 0, 1, 12}}));
  Assemble top;  // the first two of four rows, turned into every other of three
  top.parts = {{{{0, 2, 0, 1, 2}}, {{0, 1, 0, 1, 4}}, {{0, 1, 0, 1, 8}}, {}}};
  const TensorId x = upper.input("x", {4, 4, 8});
  const CanonicalGraph moved =
      withBatch(upper.finish(upper.op("top", "Slice", {x}, {3, 4, 8}, top)), 2);
  EXPECT_EQ(verify(moved), Diagnostics{});
  EXPECT_EQ(rowsOf(moved), (AxisMap{{0, 2, 0, 1, 2}, {3, 2, 4, 1, 2}}));
}

TEST(Batch, VerifyLooksAtWholeImages) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {6, 5, 8});
  CanonicalGraph two = withBatch(b.finish(b.conv("conv", x, 16, square(3, 1, 1))), 2);
  two.tensors[x.at()].shape.height = 11;
  ASSERT_EQ(verify(two).size(), 1u);
  EXPECT_EQ(verify(two)[0].what, "its rows are not those of whole images");
  two.batch = 0;
  ASSERT_EQ(verify(two).size(), 1u);
  EXPECT_EQ(verify(two)[0].what, "its batch is not positive");
}

}  // namespace
}  // namespace heddle
