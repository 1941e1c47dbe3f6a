#include "heddle/planner/order_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "../../../src/planner/known_layers.h"
#include "../devices.h"
#include "heddle/canon/canonicalize.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/count_work.h"

namespace heddle {
namespace {

using testing::paper;

CanonicalTensor pixels(const std::string& name, std::int64_t channels) {
  return {.name = name, .shape = {8, 8, channels}, .constant = {}, .blockOrder = {}};
}

// A 1x1 convolution of which `isFull` says what blocks are not zero.
template <class IsFull>
CanonicalOp conv(const std::string& name, std::size_t input, std::size_t output,
                 std::int64_t outputs, std::int64_t inputs, IsFull isFull) {
  Conv c;
  for (std::int64_t o = 0; o < outputs; ++o) {
    for (std::int64_t i = 0; i < inputs; ++i)
      c.weights.own().push_back(isFull(o / kBlock, i / kBlock) ? std::int8_t{3} : std::int8_t{0});
    c.weightZero.push_back(0);
    c.bias.push_back(0);
    c.requantize.push_back({1 << 30, 36});
  }
  Bits kept(outputs / kBlock * (inputs / kBlock));
  for (std::int64_t b = 0; b < kept.size(); ++b)
    if (isFull(b / (inputs / kBlock), b % (inputs / kBlock))) kept.set(b);
  if (kept.count() < kept.size()) c.kept = kept;
  return {name, "Conv", {TensorId(input)}, TensorId(output), c};
}

// Three convolutions, 64 to 256 to 256 to 64 channels. Of the middle one the first half of the
// output blocks is full and the other has one block in eight: all of it is the work of one row of
// cores where each gets one half.
CanonicalGraph lopsided() {
  CanonicalGraph g{"lopsided",
                   {pixels("x", 64), pixels("a", 256), pixels("b", 256), pixels("y", 64)},
                   {},
                   {},
                   {}};
  const auto all = [](std::int64_t, std::int64_t) { return true; };
  g.ops.push_back(conv("first", 0, 1, 256, 64, all));
  g.ops.push_back(conv("middle", 1, 2, 256, 256,
                       [](std::int64_t o, std::int64_t i) { return o < 16 || (o + i) % 8 == 0; }));
  g.ops.push_back(conv("last", 2, 3, 64, 256, all));
  const std::vector<std::int64_t> shape{1, 64, 8, 8};
  g.inputs.push_back({"x", TensorId(0), ElementType::Int8, shape, shape, "NCHW"});
  g.outputs.push_back({"y", TensorId(3), ElementType::Int8, shape, shape, "NCHW"});
  return g;
}

Cycles closedForm(const CanonicalGraph& graph, const Plan& plan, const Device& device) {
  const Result<MemoryPlan> memory = allocateMemory(graph, plan, device);
  return timesInClosedForm(graph, plan, *memory, device).back().end;
}

TEST(OrderBlocks, HalvesOfUnequalWorkAreDealtOut) {
  const CanonicalGraph g = lopsided();
  ASSERT_TRUE(verify(g).empty());
  // Of a plan that cuts channels, whatever the planner thinks of it.
  const Device device = paper(4, 1);
  const Result<Plan> plan = makePlan(g, device, {.effort = 0});
  ASSERT_TRUE(plan);
  const BlockOrders orders = balancedOrders(g, *plan);
  ASSERT_FALSE(orders.empty());
  EXPECT_TRUE(verify(orders, g).empty());
  EXPECT_TRUE(orders[0].empty());
  EXPECT_TRUE(orders[3].empty());
  // Each quarter of the cores has four full blocks and four others.
  for (std::size_t quarter = 0; quarter < 4; ++quarter)
    EXPECT_EQ(std::count_if(orders[2].begin() + static_cast<std::ptrdiff_t>(quarter * 8),
                            orders[2].begin() + static_cast<std::ptrdiff_t>(quarter * 8 + 8),
                            [](std::int64_t block) { return block < 16; }),
              4)
        << quarter;
  EXPECT_EQ(balancedOrders(g, *plan), orders);
}

TEST(OrderBlocks, ThePlannerTakesWhatTheClosedFormFindsFaster) {
  const CanonicalGraph g = lopsided();
  const Device device = paper(4, 4);
  const Result<OrderedPlan> plan = planInOrder(g, device, {}, true);
  ASSERT_TRUE(plan);
  ASSERT_TRUE(plan->choices && plan->choices->order);
  const OrderChoice& choice = *plan->choices->order;
  EXPECT_GT(choice.tensors, 0);
  EXPECT_EQ(choice.taken, choice.reordered < choice.cycles);
  EXPECT_EQ(choice.taken, !plan->orders.empty());
  EXPECT_EQ(closedForm(inOrder(g, plan->orders), plan->plan, device),
            std::min(choice.cycles, choice.reordered));
  const Result<Plan> asItIs = makePlan(g, device);
  EXPECT_EQ(closedForm(g, *asItIs, device), choice.cycles);
}

// On 4x5 the model's order speaks for another cut than one in which all cores have equal work.
TEST(OrderBlocks, MoreOrdersAreTakenWhereTheyAreFaster) {
  const CanonicalGraph g = lopsided();
  const PlanOptions options;
  const std::function<void(double)> nobody;
  for (const auto& [columns, gains] : {std::pair{4, false}, {5, true}}) {
    SCOPED_TRACE(columns);
    const Device device = paper(4, columns);
    KnownLayers known(device);
    OrderSearch search(g, known, options, false, nobody);
    const Result<Cycles> first = search.begin();
    ASSERT_TRUE(first);
    search.goOn();
    const Result<OrderedPlan> found = search.finish();
    ASSERT_TRUE(found);
    const Cycles end = closedForm(inOrder(g, found->orders), found->plan, device);
    EXPECT_EQ(end < *first, gains);
  }
}

TEST(OrderBlocks, NetworksWithoutEmptyBlocksKeepTheirOrder) {
  CanonicalGraph g = lopsided();
  g.ops[1] = conv("middle", 1, 2, 256, 256, [](std::int64_t, std::int64_t) { return true; });
  const Device device = paper(4, 4);
  const Result<OrderedPlan> plan = planInOrder(g, device, {}, true);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->orders.empty());
  EXPECT_FALSE(plan->choices->order);
  EXPECT_EQ(plan->plan, *makePlan(g, device));
}

TEST(OrderBlocks, NetworksWithoutEmptyBlocksAreJudgedByTheMachineAsTheyAre) {
  CanonicalGraph g = lopsided();
  g.ops[1] = conv("middle", 1, 2, 256, 256, [](std::int64_t, std::int64_t) { return true; });
  const Device device = paper(2, 2);
  const PlanOptions options{.effort = 2};
  const Result<OrderedPlan> plan = planInOrder(g, device, options, true);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->orders.empty());
  EXPECT_TRUE(plan->choices->timed);
  EXPECT_EQ(plan->plan, *makePlan(g, device, options));
}

TEST(OrderBlocks, NotAtEffortZeroAndNotWhereItIsNotWanted) {
  const CanonicalGraph g = lopsided();
  const Device device = paper(4, 1);
  for (const PlanOptions& options : {PlanOptions{.effort = 0}, PlanOptions{.reorder = false}}) {
    const Result<OrderedPlan> plan = planInOrder(g, device, options, false);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->orders.empty());
    EXPECT_EQ(plan->plan, *makePlan(g, device, options));
  }
}

TEST(OrderBlocks, AtHigherEffortTheMachineJudgesPlansOfTheBetterOrder) {
  const CanonicalGraph g = lopsided();
  const Device device = paper(4, 1);
  const Result<OrderedPlan> usual = planInOrder(g, device, {}, false),
                            judged = planInOrder(g, device, {.effort = 2}, true);
  ASSERT_TRUE(usual && judged);
  EXPECT_EQ(judged->orders, usual->orders);
  EXPECT_TRUE(judged->choices->timed);
  EXPECT_TRUE(judged->choices->order);
}

}  // namespace
}  // namespace heddle
