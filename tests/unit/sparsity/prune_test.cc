#include "heddle/sparsity/prune.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "models.h"

namespace heddle {
namespace {

using testing::convModel;
using testing::Model;
using testing::modelOf;
using testing::number;
using testing::someWeights;

// Two convolutions, 1x1, so that weights are matrices.
Model twoLayers(std::int64_t a, std::int64_t b, std::int64_t c,
                const std::vector<std::int8_t>& first, const std::vector<std::int8_t>& second,
                float secondScale = 0.5F) {
  ModelBuilder m;
  std::string x = m.requantized(m.input("x", {1, a, 4, 4}), 0.25F);
  x = m.requantized(m.op("Conv", {x, m.weights({b, a, 1, 1}, first, 0.5F)}), 2.F);
  x = m.requantized(m.op("Conv", {x, m.weights({c, b, 1, 1}, second, secondScale)}), 2.F);
  m.output(x);
  return modelOf(m);
}

Pruning pruned(const Model& model, const PruneOptions& options) {
  Result<Pruning> pruning = choosePruning(model.graph, model.canonical, options);
  HEDDLE_CHECK(pruning) << toText(pruning.diagnostics());
  return std::move(*pruning);
}

std::string codeOf(const Model& model, const PruneOptions& options) {
  const Result<Pruning> pruning = choosePruning(model.graph, model.canonical, options);
  return pruning ? "" : pruning.diagnostics().at(0).code;
}

// 16x16 weights whose 8x8 blocks hold one value each.
std::vector<std::int8_t> fourBlocks(std::array<std::int8_t, 4> values) {
  std::vector<std::int8_t> weights;
  for (std::size_t r = 0; r < 16; ++r)
    for (std::size_t c = 0; c < 16; ++c) weights.push_back(values[r / 8 * 2 + c / 8]);
  return weights;
}

std::string gamma(const PrunedLayer& layer, const WeightExtents& extents) {
  const Bits blocks = blocksKept(extents, layer.kept, 8, 8);
  std::string text;
  for (std::int64_t i = 0; i < blocks.size(); ++i) text += blocks[i] ? '1' : '0';
  return text;
}

TEST(Prune, TheLeastImportantBlocksGo) {
  const Model model = modelOf(convModel({16, 16, 1, 1}, fourBlocks({9, 2, 1, 4})));
  const PrunedLayer layer = pruned(model, {.ratioMillionths = 500'000}).layers.at(0);
  EXPECT_EQ(gamma(layer, {16, 1, 16}), "1001");
  EXPECT_EQ(layer.blocks, 4);
  EXPECT_EQ(layer.blocksKept, 2);
  EXPECT_DOUBLE_EQ(layer.energyKept, 97.0 / 102);
}

TEST(Prune, ImportanceIsOfTheRealValues) {
  // Alternating signs have the larger spread, the constant block the larger sum.
  std::vector<std::int8_t> weights = fourBlocks({10, 0, 0, 0});
  for (std::size_t r = 8; r < 16; ++r)
    for (std::size_t c = 8; c < 16; ++c)
      weights[r * 16 + c] = static_cast<std::int8_t>((r + c) % 2 ? 9 : -9);
  for (std::size_t r = 0; r < 8; ++r) weights[r * 16 + 8] = 60;  // few and large: l2, not l1
  const Model model = modelOf(convModel({16, 16, 1, 1}, weights));
  const auto kept = [&](Importance importance) {
    return gamma(pruned(model, {.ratioMillionths = 750'000, .importance = importance}).layers.at(0),
                 {16, 1, 16});
  };
  EXPECT_EQ(kept(Importance::L1), "1000");        // 640, 480, 0, 576
  EXPECT_EQ(kept(Importance::L2), "0100");        // 6400, 28800, 0, 5184
  EXPECT_EQ(kept(Importance::Variance), "0100");  // 0, 394, 0, 81
}

TEST(Prune, ScalesOfChannelsCount) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 8, 4, 4}), 0.25F);
  // 12 quarters and 7 halves.
  std::vector<std::int8_t> values(16 * 8, 7);
  std::fill_n(values.begin(), 8 * 8, std::int8_t{12});
  std::vector<float> scales(16, 0.5F);
  for (std::size_t o = 0; o < 8; ++o) scales[o] = 0.25F;
  auto& w = m.node("DequantizeLinear", {m.constant({16, 8, 1, 1}, values), m.constant({16}, scales),
                                        m.constant({16}, std::vector<std::int8_t>(16, 0))});
  ModelBuilder::set(w, "axis", std::int64_t{0});
  m.output(m.requantized(m.op("Conv", {x, w.output(0)}), 2.F));
  EXPECT_EQ(gamma(pruned(modelOf(m), {.ratioMillionths = 500'000}).layers.at(0), {16, 1, 8}), "01");
}

TEST(Prune, NetworkScopeComparesSharesOfALayer) {
  for (const float scale : {0.5F, 8.F}) {  // which does not matter
    const Model model =
        twoLayers(16, 16, 16, fourBlocks({9, 1, 1, 9}), fourBlocks({5, 5, 5, 5}), scale);
    const Pruning pruning =
        pruned(model, {.ratioMillionths = 250'000, .scope = PruneScope::Network});
    EXPECT_EQ(gamma(pruning.layers.at(0), {16, 1, 16}), "1001");
    EXPECT_EQ(gamma(pruning.layers.at(1), {16, 1, 16}), "1111");
  }
}

TEST(Prune, WithStepsSharesAreOfWhatIsLeft) {
  // Shares .25 each; .48 .17 .17 .17. Without two blocks the second layer's are .74 .26.
  const Model model = twoLayers(16, 16, 16, fourBlocks({5, 5, 5, 5}), fourBlocks({10, 6, 6, 6}));
  const auto kept = [&](std::int64_t steps) {
    const Pruning pruning =
        pruned(model, {.ratioMillionths = 375'000, .scope = PruneScope::Network, .steps = steps});
    return std::pair(pruning.layers[0].blocksKept, pruning.layers[1].blocksKept);
  };
  EXPECT_EQ(kept(1), std::pair(std::int64_t{4}, std::int64_t{1}));
  EXPECT_EQ(kept(3), std::pair(std::int64_t{3}, std::int64_t{2}));
}

TEST(Prune, KeptLayersStay) {
  const Model model = twoLayers(16, 16, 16, someWeights(256), someWeights(256));
  PruneOptions options{.ratioMillionths = 500'000, .keep = {"first"}};
  EXPECT_EQ(pruned(model, options).layers[0].stays, "kept");
  EXPECT_EQ(pruned(model, options).layers[1].stays, "");
  EXPECT_EQ(pruned(model, options).masks().size(), 1U);
  options.keep = {"last"};
  EXPECT_EQ(pruned(model, options).layers[1].stays, "kept");
  options.keep = {model.graph[model.canonical.weights[1].value].name};
  EXPECT_EQ(pruned(model, options).layers[1].stays, "kept");
  options.keep = {"first", "last"};
  EXPECT_EQ(pruned(model, options).masks().size(), 0U);
  options.keep = {"frist"};
  EXPECT_EQ(codeOf(model, options), "SPARSE006");
}

TEST(Prune, SaysWhyALayerStays) {
  const Model depthwise = modelOf(convModel({8, 1, 3, 3}, someWeights(72), 8));
  EXPECT_EQ(codeOf(depthwise, {}), "SPARSE004");

  ModelBuilder m;
  std::string x = m.requantized(m.input("x", {1, 16, 4, 4}), 0.25F);
  const std::string w = m.weights({16, 16, 1, 1}, someWeights(256), 0.5F);
  for (int i = 0; i < 2; ++i) x = m.requantized(m.op("Conv", {x, w}), 2.F);
  m.output(x);
  const Pruning pruning = pruned(modelOf(m), {.ratioMillionths = 500'000});
  EXPECT_EQ(pruning.layers.at(0).stays, "");
  EXPECT_TRUE(pruning.layers.at(1).stays.starts_with("its weights are those of"));
}

TEST(Prune, BlocksAtTheEdgeArePartial) {
  const Model model = modelOf(convModel({10, 9, 1, 1}, someWeights(90)));
  const PrunedLayer layer = pruned(model, {.ratioMillionths = 1'000'000}).layers.at(0);
  EXPECT_EQ(layer.blocks, 4);
  EXPECT_EQ(layer.blocksKept, 0);
  EXPECT_EQ(layer.kept.count(), 0);
  EXPECT_EQ(layer.energyKept, 0);
  EXPECT_EQ(layer.imbalance, 1);
}

TEST(Prune, RefusesABlockLargerThanEveryLayer) {
  const Model model = modelOf(convModel({10, 9, 1, 1}, someWeights(90)));
  EXPECT_EQ(codeOf(model, {.blockRows = 11, .blockColumns = 10}), "SPARSE005");
  EXPECT_EQ(codeOf(model, {.blockRows = 10, .blockColumns = 10}), "");
}

TEST(Prune, ALayerOfZerosIsLegal) {
  const Model model = modelOf(convModel({16, 16, 1, 1}, std::vector<std::int8_t>(256, 0)));
  const PrunedLayer layer = pruned(model, {.ratioMillionths = 500'000}).layers.at(0);
  EXPECT_EQ(layer.blocksKept, 2);
  EXPECT_EQ(layer.energyKept, 1);
}

TEST(EqualShares, AreEqualButForGroupsThatAreFull) {
  EXPECT_EQ(equalShares(6, {4, 4, 4}), (std::vector<std::int64_t>{2, 2, 2}));
  EXPECT_EQ(equalShares(7, {4, 4, 4}), (std::vector<std::int64_t>{3, 3, 3}));
  EXPECT_EQ(equalShares(7, {1, 4, 4}), (std::vector<std::int64_t>{1, 3, 3}));
  EXPECT_EQ(equalShares(9, {1, 4, 4}), (std::vector<std::int64_t>{1, 4, 4}));
  EXPECT_EQ(equalShares(0, {1, 4, 0}), (std::vector<std::int64_t>{0, 0, 0}));
}

PruneOptions randomOptions() {
  PruneOptions options;
  options.blockRows = *rc::gen::element<std::int64_t>(1, 3, 8, 16);
  options.blockColumns = *rc::gen::element<std::int64_t>(1, 4, 8, 16);
  options.ratioMillionths =
      *rc::gen::element<std::int64_t>(0, 10'000, 333'333, 500'000, 900'000, 999'999, 1'000'000);
  options.importance = *rc::gen::element(Importance::L1, Importance::L2, Importance::Variance);
  return options;
}

Model randomModel() {
  const auto extent = [] { return number(16, 40); };
  const std::int64_t a = extent(), b = extent(), c = extent();
  const auto weights = [](std::int64_t count) {
    auto values = someWeights(count);
    const auto zeros = number(0, 1000);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (static_cast<std::int64_t>(i * 7919 % 1000) < zeros) values[i] = 0;
    return values;
  };
  return twoLayers(a, b, c, weights(a * b), weights(b * c));
}

RC_GTEST_PROP(Prune, KeepsTheShareThatItPromises, ()) {
  const Model model = randomModel();
  const PruneOptions options = randomOptions();
  for (const PrunedLayer& layer : pruned(model, options).layers) {
    const std::int64_t left = 1'000'000 - options.ratioMillionths;
    RC_ASSERT(layer.blocksKept == divideRoundUp(layer.blocks * left, 1'000'000));
    const WeightExtents& extents = model.canonical.weights[layer.op.at()].extents;
    RC_ASSERT(elementsOf(extents,
                         blocksKept(extents, layer.kept, options.blockRows, options.blockColumns),
                         options.blockRows, options.blockColumns) == layer.kept);
  }
}

RC_GTEST_PROP(Prune, TheNetworkKeepsTheShareThatItPromises, ()) {
  const Model model = randomModel();
  PruneOptions options = randomOptions();
  options.scope = PruneScope::Network;
  options.steps = *rc::gen::element<std::int64_t>(1, 2, 7);
  std::int64_t blocks = 0, kept = 0;
  for (const PrunedLayer& layer : pruned(model, options).layers) {
    blocks += layer.blocks;
    kept += layer.blocksKept;
  }
  RC_ASSERT(kept == divideRoundUp(blocks * (1'000'000 - options.ratioMillionths), 1'000'000));
}

RC_GTEST_PROP(Prune, ABalanceBalances, ()) {
  const Model model = randomModel();
  PruneOptions options = randomOptions();
  options.balance = *rc::gen::element(BalanceAxis::Outputs, BalanceAxis::Inputs);
  options.groups = number(1, 9);
  if (*rc::gen::arbitrary<bool>()) options.scope = PruneScope::Network;
  const bool outputs = options.balance == BalanceAxis::Outputs;
  for (const PrunedLayer& layer : pruned(model, options).layers) {
    const WeightExtents& e = model.canonical.weights[layer.op.at()].extents;
    const std::int64_t rows = divideRoundUp(e.rows, options.blockRows),
                       columns = divideRoundUp(e.columns, options.blockColumns);
    const Bits blocks = blocksKept(e, layer.kept, options.blockRows, options.blockColumns);
    std::vector<std::int64_t> kept(static_cast<std::size_t>(options.groups)), size = kept;
    for (std::int64_t g = 0; g < options.groups; ++g) {
      const BlockGroup part = blockGroup(outputs ? rows : columns, options.groups, g);
      const auto i = static_cast<std::size_t>(g);
      size[i] = part.count * (outputs ? columns : rows);
      for (std::int64_t b = 0; b < blocks.size(); ++b) {
        const std::int64_t at = outputs ? b / columns : b % columns;
        if (blocks[b] && at >= part.first && at < part.first + part.count) ++kept[i];
      }
    }
    RC_ASSERT(layer.groups == kept);
    RC_ASSERT(std::accumulate(kept.begin(), kept.end(), std::int64_t{0}) == layer.blocksKept);
    const std::int64_t most = std::ranges::max(kept);
    for (std::size_t g = 0; g < kept.size(); ++g) RC_ASSERT(kept[g] == most || kept[g] == size[g]);
    if (options.scope == PruneScope::Layer) {
      const std::int64_t asked =
          divideRoundUp(layer.blocks * (1'000'000 - options.ratioMillionths), 1'000'000);
      RC_ASSERT(layer.blocksKept >= asked && layer.blocksKept < asked + options.groups);
    }
  }
}

RC_GTEST_PROP(Prune, WithinALayerNoBlockThatGoesIsMoreImportant, ()) {
  const Model model = modelOf(convModel({24, 16, 1, 1}, [] {
    std::vector<std::int8_t> values;
    for (int i = 0; i < 24 * 16; ++i) values.push_back(*rc::gen::arbitrary<std::int8_t>());
    return values;
  }()));
  const PruneOptions options{.ratioMillionths = number(0, 1'000'000)};
  const PrunedLayer layer = pruned(model, options).layers.at(0);
  const auto& conv = std::get<Conv>(model.canonical.graph.ops[0].attributes);
  std::array<std::int64_t, 6> energy{};
  for (std::size_t i = 0; i < conv.weights.size(); ++i)
    energy[i / (16 * 8) * 2 + i % 16 / 8] += conv.weights[i] * conv.weights[i];
  const Bits blocks = blocksKept({24, 1, 16}, layer.kept, 8, 8);
  for (std::int64_t a = 0; a < 6; ++a)
    for (std::int64_t b = 0; b < 6; ++b)
      if (blocks[a] && !blocks[b])
        RC_ASSERT(energy[static_cast<std::size_t>(a)] >= energy[static_cast<std::size_t>(b)]);
}

}  // namespace
}  // namespace heddle
