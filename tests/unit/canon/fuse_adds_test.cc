#include "heddle/canon/fuse_adds.h"

#include <gtest/gtest.h>

#include "../graphs.h"
#include "heddle/canon/canonicalize.h"
#include "heddle/canon/print.h"
#include "heddle/interp/interpret.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

TensorValue ramp(const Shape& shape) {
  TensorValue values;
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    values.push_back(static_cast<std::int8_t>(i * 37 % 256 - 128));
  return values;
}

// Every tensor that stays has the values that it had.
void expectSameValues(const CanonicalGraph& graph, const CanonicalGraph& fused) {
  EXPECT_EQ(verify(fused), Diagnostics{});
  std::vector<TensorValue> inputs;
  for (const Port& port : graph.inputs)
    inputs.push_back(ramp(graph.tensors[port.tensor.at()].shape));
  const std::vector<TensorValue> before = interpret(graph, inputs),
                                 after = interpret(fused, inputs);
  const std::vector<TensorId> was = tensorsBeforeFusion(fused, graph);
  for (std::size_t t = 0; t < after.size(); ++t)
    EXPECT_EQ(after[t], before[was[t].at()]) << fused.tensors[t].name;
}

// A convolution of its own numbers, so that order and zero points count.
void colour(CanonicalGraph& graph) {
  std::int8_t zero = 3;
  for (CanonicalTensor& tensor : graph.tensors)
    tensor.zeroPoint = zero = static_cast<std::int8_t>(-zero - 4);
  for (CanonicalOp& op : graph.ops) {
    if (Add* add = std::get_if<Add>(&op.attributes)) *add = {900'000, -300'000, 20, {-100, 90}};
    Conv* conv = std::get_if<Conv>(&op.attributes);
    if (!conv) continue;
    for (std::size_t i = 0; i < conv->weights.size(); ++i)
      conv->weights[i] = static_cast<std::int8_t>(i * 11 % 17 - 8);
    conv->clamp = {-60, 110};
  }
}

TEST(FuseAdds, PutsAResidualAtTheEndOfTheConvolutionBeforeIt) {
  for (const bool second : {false, true}) {
    GraphBuilder b("net");
    const TensorId x = b.input("x", {5, 6, 8}), c = b.conv("conv", x, 8, square(3, 1, 1));
    CanonicalGraph graph = b.finish(second ? b.add("sum", x, c) : b.add("sum", c, x));
    colour(graph);
    const auto fused = fuseAdds(graph);
    ASSERT_TRUE(fused);
    ASSERT_EQ(fused->ops.size(), 1u);
    EXPECT_EQ(fused->ops[0].name, "conv");
    EXPECT_EQ(fused->ops[0].onnxOp, "Conv + Add");
    EXPECT_TRUE(isAddend(fused->ops[0], 1));
    EXPECT_FALSE(isAddend(fused->ops[0], 0));
    EXPECT_EQ(fusedAddOf(fused->ops[0])->add.multiplierA, second ? -300'000 : 900'000);
    EXPECT_EQ(fusedAddOf(fused->ops[0])->zero, graph.tensors[c.at()].zeroPoint);
    EXPECT_NE(print(*fused).find("then add times"), std::string::npos);
    expectSameValues(graph, *fused);
  }
}

TEST(FuseAdds, TakesTheLaterOfTwoConvolutionsAndMovesItToTheSum) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {4, 4, 8}), first = b.conv("first", x, 16, square(1)),
                 later = b.conv("later", x, 16, square(3, 1, 1)),
                 between = b.maxPool("between", first, square(1));
  CanonicalGraph graph = b.finish(b.add("sum", between, b.conv("last", later, 16, square(1))));
  colour(graph);
  graph.tensors[between.at()].zeroPoint = graph.tensors[first.at()].zeroPoint;
  const auto fused = fuseAdds(graph);
  ASSERT_TRUE(fused);
  EXPECT_EQ(fused->ops.back().name, "last");
  expectSameValues(graph, *fused);

  GraphBuilder two("two");
  const TensorId in = two.input("x", {4, 4, 8}), a = two.conv("a", in, 8, square(1)),
                 c = two.conv("c", in, 8, square(3, 1, 1)),
                 pooled = two.maxPool("pooled", in, square(1));
  CanonicalGraph joined = two.finish(two.add("outer", pooled, two.add("sum", c, a)));
  colour(joined);
  joined.tensors[pooled.at()].zeroPoint = joined.tensors[in.at()].zeroPoint;
  const auto both = fuseAdds(joined);
  ASSERT_TRUE(both);
  std::vector<std::string> names;
  for (const CanonicalOp& op : both->ops) names.push_back(op.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "pooled", "c", "outer"}));
  expectSameValues(joined, *both);
}

TEST(FuseAdds, LeavesWhatOthersReadToo) {
  GraphBuilder read("read");
  const TensorId x = read.input("x", {4, 4, 8}), c = read.conv("conv", x, 8, square(1)),
                 sum = read.add("sum", c, x);
  EXPECT_FALSE(fuseAdds(read.finish(read.add("again", sum, c))));

  GraphBuilder doubled("doubled");
  const TensorId y = doubled.conv("conv", doubled.input("x", {4, 4, 8}), 8, square(1));
  EXPECT_FALSE(fuseAdds(doubled.finish(doubled.add("sum", y, y))));

  GraphBuilder given("given");
  const TensorId in = given.input("x", {4, 4, 8}), out = given.conv("conv", in, 8, square(1)),
                 last = given.add("sum", out, in);
  static_cast<void>(last);
  EXPECT_FALSE(fuseAdds(given.finish(out)));  // the host reads it
}

TEST(FuseAdds, AWrongAddendIsAFault) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {5, 6, 8});
  CanonicalGraph fused = *fuseAdds(b.finish(b.add("sum", b.conv("conv", x, 8, square(1)), x)));
  CanonicalGraph lacking = fused;
  lacking.ops[0].inputs.pop_back();
  EXPECT_FALSE(verify(lacking).empty());
  std::get<Conv>(fused.ops[0].attributes).fusedAdd->add.shift = 63;
  EXPECT_FALSE(verify(fused).empty());
}

}  // namespace
}  // namespace heddle
