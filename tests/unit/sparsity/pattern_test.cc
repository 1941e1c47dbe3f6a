#include "heddle/sparsity/pattern.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "heddle/sparsity/sparse_graph.h"
#include "models.h"

namespace heddle {
namespace {

using testing::number;

Bits bitsOf(const WeightExtents& extents, auto keep) {
  Bits bits(extents.elements());
  std::int64_t i = 0;
  for (std::int64_t r = 0; r < extents.rows; ++r)
    for (std::int64_t t = 0; t < extents.taps; ++t)
      for (std::int64_t c = 0; c < extents.columns; ++c, ++i)
        if (keep(r, t, c)) bits.set(i);
  return bits;
}

std::string nameOf(const WeightExtents& extents, auto keep) {
  return toText(patternOf(extents, bitsOf(extents, keep)));
}

TEST(Pattern, IsTheCoarsestThatServes) {
  const WeightExtents e{32, 9, 64};
  EXPECT_EQ(nameOf(e, [](auto...) { return true; }), "none");
  EXPECT_EQ(nameOf(e, [](auto...) { return false; }), "channel");
  EXPECT_EQ(nameOf(e, [](auto r, auto, auto c) { return r % 2 == 0 && c % 3 == 0; }), "channel");
  const auto checkered = [&](std::int64_t size) {
    return nameOf(e, [&](auto r, auto, auto c) { return (r / size + c / size) % 2 == 0; });
  };
  EXPECT_EQ(checkered(4), "block 4x4");
  EXPECT_EQ(checkered(8), "block 8x8");
  EXPECT_EQ(checkered(16), "block 16x16");
  EXPECT_EQ(nameOf(e, [](auto r, auto t, auto c) { return (c + r + t) % 4 < 2; }), "2:4");
  EXPECT_EQ(nameOf(e, [](auto r, auto t, auto c) { return (c + r * 3 + t) % 4 == 0; }), "1:4");
  EXPECT_EQ(nameOf(e, [](auto r, auto t, auto c) { return (r * 5 + t * 7 + c * 11) % 13 < 8; }),
            "element");
}

TEST(Pattern, SingleZerosMakeNone) {
  const WeightExtents e{16, 9, 16};
  EXPECT_EQ(nameOf(e, [](auto r, auto t, auto c) { return (r + t + c) % 4 != 0; }), "none");
  EXPECT_EQ(
      nameOf(e, [](auto r, auto t, auto c) { return (r < 8) == (c < 8) && (t + c) % 8 != 0; }),
      "block 8x8");
}

TEST(Pattern, NeverKeepsAnEmptyBlock) {  // one of 64: less than a quarter
  const WeightExtents e{64, 1, 64};
  EXPECT_EQ(nameOf(e, [](auto r, auto, auto c) { return r >= 8 || c >= 8; }), "block 8x8");
}

TEST(Pattern, StoresAsMuchAsItSays) {
  const WeightExtents e{16, 9, 16};
  const auto bits = [&](auto keep) { return patternOf(e, bitsOf(e, keep)).storedBits(); };
  EXPECT_EQ(bits([](auto...) { return true; }), 0);
  EXPECT_EQ(bits([](auto r, auto, auto) { return r % 2 == 0; }), 16 + 16);
  EXPECT_EQ(bits([](auto r, auto, auto c) { return r / 8 == c / 8; }), 4);
  EXPECT_EQ(bits([](auto r, auto t, auto c) { return (c + r + t) % 4 < 2; }), 16 * 9 * 16);
}

// Every candidate told as the elements that it keeps, slowly, and the first that serves.
class BruteForce {
 public:
  BruteForce(const WeightExtents& e, const Bits& kept, Drops drops)
      : e_(e), kept_(kept), exact_(drops == Drops::Declared) {}

  std::string name() const {
    if (serves([](auto...) { return true; })) return "none";
    if (serves([&](auto r, auto, auto c) {
          return any(r, r + 1, 0, e_.columns) && any(0, e_.rows, c, c + 1);
        }))
      return "channel";
    for (const std::int64_t s : {64, 32, 16, 8, 4})
      if (serves([&](auto r, auto, auto c) {
            return any(r / s * s, r / s * s + s, c / s * s, c / s * s + s);
          }))
        return "block " + std::to_string(s) + "x" + std::to_string(s);
    for (const std::int64_t m : {4, 8})
      for (std::int64_t n = 1; n <= m / 2; ++n)
        if (const auto places = placesOf(n, m); places && fills(*places))
          return std::to_string(n) + ":" + std::to_string(m);
    return "element";
  }

 private:
  bool at(std::int64_t r, std::int64_t t, std::int64_t c) const {
    return kept_[(r * e_.taps + t) * e_.columns + c];
  }
  bool any(std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1) const {
    for (std::int64_t r = r0; r < std::min(r1, e_.rows); ++r)
      for (std::int64_t t = 0; t < e_.taps; ++t)
        for (std::int64_t c = c0; c < std::min(c1, e_.columns); ++c)
          if (at(r, t, c)) return true;
    return false;
  }
  bool fills(std::int64_t places) const {
    return exact_ ? kept_.count() == places : 4 * kept_.count() >= 3 * places;
  }
  bool serves(auto keeps) const {
    std::int64_t count = 0;
    for (std::int64_t r = 0; r < e_.rows; ++r)
      for (std::int64_t t = 0; t < e_.taps; ++t)
        for (std::int64_t c = 0; c < e_.columns; ++c) {
          if (!keeps(r, t, c)) continue;
          ++count;
          if (!any(r / 8 * 8, r / 8 * 8 + 8, c / 8 * 8, c / 8 * 8 + 8)) return false;
        }
    return fills(count);
  }
  // Places that n:m keeps; absent where some group has more than n.
  std::optional<std::int64_t> placesOf(std::int64_t n, std::int64_t m) const {
    std::int64_t places = 0;
    for (std::int64_t r = 0; r < e_.rows; ++r)
      for (std::int64_t t = 0; t < e_.taps; ++t)
        for (std::int64_t g = 0; g < e_.columns; g += m) {
          const std::int64_t end = std::min(e_.columns, g + m);
          std::int64_t count = 0;
          for (std::int64_t c = g; c < end; ++c) count += at(r, t, c) ? 1 : 0;
          if (count > n) return std::nullopt;
          places += std::min(n, end - g);
        }
    return places;
  }

  const WeightExtents& e_;
  const Bits& kept_;
  bool exact_;
};

// Structured masks of all kinds, some with single zeros in them.
Bits randomBits(const WeightExtents& e) {
  const std::int64_t kind = number(0, 6), density = number(0, 101);
  const std::int64_t size = *rc::gen::element(2, 4, 8, 16, 32);
  const auto seed = static_cast<std::uint64_t>(number(0, 1 << 30));
  const std::int64_t noise = *rc::gen::element(0, 0, 5, 30);
  const auto chance = [&](std::int64_t a, std::int64_t b, std::uint64_t salt,
                          std::int64_t percent) {
    std::uint64_t z = seed * 0x9e3779b97f4a7c15U +
                      static_cast<std::uint64_t>(a) * 0xbf58476d1ce4e5b9U +
                      static_cast<std::uint64_t>(b) * 0x94d049bb133111ebU + salt;
    z = (z ^ (z >> 31)) * 0xd6e8feb86659fd93U;
    return static_cast<std::int64_t>((z ^ (z >> 32)) % 100) < percent;
  };
  return bitsOf(e, [&](std::int64_t r, std::int64_t t, std::int64_t c) {
    if (noise > 0 && chance(r * e.taps + t, c, 7, noise)) return false;
    switch (kind) {
      case 0:
        return chance(r * e.taps + t, c, 1, density);
      case 1:
        return chance(r / size, c / size, 2, density);
      case 2:
        return chance(r, 0, 3, density) && chance(c, 1, 3, density);
      case 3:
        return (c + r * 3 + t) % 4 < 2;
      case 4:
        return (c * 3 + r + t) % 8 < 3;
      default:
        return true;
    }
  });
}

RC_GTEST_PROP(Pattern, IsThatOfBruteForce, ()) {
  const WeightExtents e{number(1, 40), *rc::gen::element<std::int64_t>(1, 3), number(1, 70)};
  const Bits kept = randomBits(e);
  const Drops drops = *rc::gen::element(Drops::Found, Drops::Declared);
  const SparsityPattern pattern = patternOf(e, kept, drops);
  RC_TAG(toText(pattern));
  RC_ASSERT(toText(pattern) == BruteForce(e, kept, drops).name());
  for (std::int64_t i = 0; i < e.elements(); ++i) {
    const bool keeps =
        pattern.keeps(i / (e.taps * e.columns), i / e.columns % e.taps, i % e.columns);
    RC_ASSERT(keeps || !kept[i]);
    if (drops == Drops::Declared) RC_ASSERT(keeps == kept[i]);
  }
}

RC_GTEST_PROP(Pattern, BlocksAndTheirElementsGoBothWays, ()) {
  const WeightExtents e{number(1, 30), number(1, 3), number(1, 30)};
  const std::int64_t rows = number(1, 12), columns = number(1, 12);
  Bits blocks(divideRoundUp(e.rows, rows) * divideRoundUp(e.columns, columns));
  for (std::int64_t i = 0; i < blocks.size(); ++i)
    if (*rc::gen::arbitrary<bool>()) blocks.set(i);
  RC_ASSERT(blocksKept(e, elementsOf(e, blocks, rows, columns), rows, columns) == blocks);
}

TEST(SparseGraph, FindsZerosAtTheirZeroPoint) {
  std::vector<std::int8_t> values = testing::someWeights(16 * 16);
  for (std::size_t o = 0; o < 8; ++o)
    for (std::size_t c = 8; c < 16; ++c) values[o * 16 + c] = 3;
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 16, 4, 4}), 0.25F);
  const std::string w = m.dequantized(m.constant({16, 16, 1, 1}, values), 0.5F, 3);
  m.output(m.requantized(m.op("Conv", {x, w}), 2.F));
  const SparseGraph sparse = applySparsity(testing::modelOf(m).canonical.graph);
  EXPECT_EQ(verify(sparse), Diagnostics{});
  ASSERT_TRUE(sparse.weights.at(0));
  const auto* blocks = std::get_if<KeptBlocks>(&sparse.weights[0]->nonZero.kept);
  ASSERT_NE(blocks, nullptr) << toText(sparse.weights[0]->nonZero);
  EXPECT_EQ(blocks->size, 8);
  EXPECT_TRUE(blocks->kept[0] && !blocks->kept[1] && blocks->kept[2] && blocks->kept[3]);
}

TEST(SparseGraph, VerifyNoticesAPatternThatDropsTooMuch) {
  SparseGraph sparse =
      applySparsity(testing::modelOf(testing::convModel({16, 16, 1, 1}, testing::someWeights(256)))
                        .canonical.graph);
  EXPECT_EQ(verify(sparse), Diagnostics{});
  KeptBlocks blocks{8, Bits(4, true)};
  blocks.kept.reset(2);
  sparse.weights[0]->nonZero.kept = blocks;
  const Diagnostics faults = verify(sparse);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].what, "64 weights are not zero");
  sparse.weights[0]->nonZero.extents.rows = 8;
  EXPECT_EQ(verify(sparse).at(0).what, "its extents are others");
}

TEST(SparseGraph, ZeroAndNotNeededAreTwoFacts) {
  std::vector<std::int8_t> values = testing::someWeights(16 * 16);
  for (std::size_t i = 0; i < 8 * 16; ++i) values[i] = 0;  // output channels 0 to 7
  CanonicalGraph graph =
      testing::modelOf(testing::convModel({16, 16, 1, 1}, values)).canonical.graph;
  WeightMask mask{OpId(0), Bits(256, true)};
  for (std::int64_t i = 0; i < 4 * 16; ++i) mask.kept.reset(i);  // of which 0 to 3 are not needed
  const SparseGraph sparse = applySparsity(graph, std::vector{mask});
  EXPECT_TRUE(sparse.weights[0]->needed.keeps(4, 0, 0));
  EXPECT_FALSE(sparse.weights[0]->needed.keeps(3, 0, 0));
  EXPECT_FALSE(sparse.weights[0]->nonZero.keeps(4, 0, 0));
  mask.kept.reset(8 * 16);
  EXPECT_THROW(applySparsity(graph, std::vector{mask}), InternalError);
}

}  // namespace
}  // namespace heddle
