#include "composites.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "heddle/packing/verify.h"
#include "random_cuts.h"

namespace heddle::packing {
namespace {

using Buffers = std::vector<LiveBuffer>;

Composites composed(const Buffers& buffers, std::int64_t tolerance = 0,
                    std::int64_t capacity = INT64_MAX, std::int64_t work = INT64_MAX,
                    const std::function<bool()>& stop = {}) {
  return Composites(describe(buffers), tolerance, capacity, work, stop);
}

TEST(Composites, WhatFillsARectangleIsOne) {
  const Buffers buffers = {{0, 10, 4}, {0, 10, 2}, {10, 19, 6}};
  const Composites composites = composed(buffers);
  ASSERT_EQ(composites.instance().count(), 1);
  EXPECT_EQ(composites.instance().sizes[0], 6);
  const Offsets offsets = composites.offsetsOfBuffers({100});
  EXPECT_EQ(std::min(offsets[0], offsets[1]), 100);
  EXPECT_EQ(offsets[2], 100);
  EXPECT_EQ(findPackingFault(buffers, offsets, 106), std::nullopt);
}

// The one that lives longer than both keeps them apart in nothing: no clique lies between them.
TEST(Composites, TimeThatNobodyBeginsInIsNoGap) {
  EXPECT_EQ(composed({{0, 10, 4}, {15, 20, 4}, {0, 20, 1}}).instance().count(), 1);
  EXPECT_EQ(composed({{0, 10, 4}, {15, 20, 4}, {0, 20, 1}, {11, 14, 2}}).instance().count(), 4);
}

TEST(Composites, EdgesMayDifferByTheTolerance) {
  const Buffers behind = {{0, 10, 1000}, {10, 20, 1010}};
  EXPECT_EQ(composed(behind).instance().count(), 2);
  EXPECT_EQ(composed(behind, 10).instance().count(), 2);  // 10.1 of 1024, rounded up
  EXPECT_EQ(composed(behind, 11).instance().count(), 1);
  // Two live through ten of eleven cliques each, beside short ones of very different sizes.
  Buffers above = {{0, 10, 7}, {1, 11, 5}};
  for (std::int64_t k = 0; k < 11; ++k) above.push_back({k, k + 1, 1000 << 2 * k});
  EXPECT_EQ(composed(above, 2 * kWholeEdge / 11).instance().count(), 13);
  EXPECT_EQ(composed(above, 2 * kWholeEdge / 11 + 1).instance().count(), 12);
}

TEST(Composites, EndWithTheirWorkOrWhenToldTo) {
  const Buffers buffers(64, {0, 10, 1});
  const std::int64_t all = composed(buffers).workDone();
  EXPECT_EQ(composed(buffers).instance().count(), 1);
  const Composites some = composed(buffers, 0, INT64_MAX, all - 100);
  EXPECT_GT(some.instance().count(), 1);
  EXPECT_LT(some.workDone(), all);
  int asked = 0;
  EXPECT_EQ(composed(buffers, 0, INT64_MAX, all, [&] { return ++asked > 1; }).instance().count(),
            32);
}

TEST(Composites, NoCliqueComesToHaveMoreThanTheCapacity) {
  const Buffers buffers = {{0, 10, 100}, {10, 20, 90}, {10, 20, 11}};
  EXPECT_EQ(composed(buffers, kWholeEdge / 8, 100).instance().count(), 2);
  EXPECT_EQ(composed(buffers, kWholeEdge / 8, 111).instance().count(), 1);
}

TEST(Composites, BytesUpToTheirLimitDoNotOverflow) {
  const std::int64_t half = kMostPackedBytes / 2;
  EXPECT_EQ(composed({{0, 1, half}, {0, 1, half}}).instance().sizes[0], kMostPackedBytes);
  EXPECT_EQ(composed({{0, 1, 1}, {1, 2, kMostPackedBytes - 1}}, kWholeEdge).instance().count(), 1);
}

// Wherever composites lie, their buffers are packed as they are.
RC_GTEST_PROP(Composites, APackingOfThemIsOneOfTheirBuffers, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto style =
      *rc::gen::elementOf(std::vector<CutStyle>(std::begin(kCutStyles), std::end(kCutStyles)));
  Buffers buffers =
      cutRectangle(seed, *rc::gen::inRange<std::size_t>(1, 80), 200, 1000, style).buffers;
  for (LiveBuffer& buffer : buffers)
    buffer.size = std::max<std::int64_t>(1, buffer.size - *rc::gen::inRange<std::int64_t>(0, 3));
  const Instance instance = describe(buffers);
  const auto capacity = *rc::gen::inRange<std::int64_t>(0, 2000);
  const Composites composites(instance, *rc::gen::inRange<std::int64_t>(0, kWholeEdge), capacity,
                              INT64_MAX, {});
  RC_ASSERT(composites.instance().mostLive() <= std::max(capacity, instance.mostLive()));
  const Offsets placed = stack(composites.instance(), orderBy(composites.instance(), 0));
  const std::int64_t height = heightOf(composites.instance(), placed);
  RC_ASSERT(!findPackingFault(buffers, composites.offsetsOfBuffers(placed), height));
}

}  // namespace
}  // namespace heddle::packing
