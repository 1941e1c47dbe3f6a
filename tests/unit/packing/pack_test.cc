#include "heddle/packing/pack.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>

#include "heddle/packing/verify.h"
#include "heddle/support/check.h"
#include "random_cuts.h"

namespace heddle {
namespace {

using Buffers = std::vector<LiveBuffer>;

// Packed below `capacity`, and the offsets are what they are said to be.
Packing packed(const Buffers& buffers, std::int64_t capacity, const PackLimits& limits = {}) {
  Packing packing = pack(buffers, capacity, limits);
  EXPECT_EQ(findPackingFault(buffers, packing.offsets, packing.height), std::nullopt);
  EXPECT_GE(packing.height, packing.mostLive);
  EXPECT_GE(packing.firstFit, packing.height);
  EXPECT_EQ(packing.outcome == PackOutcome::Found, packing.height <= capacity);
  return packing;
}

TEST(Pack, BuffersThatNeverMeetShareTheFloor) {
  const Packing packing = packed({{0, 3, 4}, {3, 9, 4}, {0, 9, 4}}, 8);
  EXPECT_EQ(packing.outcome, PackOutcome::Found);
  EXPECT_EQ(packing.height, 8);
  EXPECT_EQ(packing.offsets[0], packing.offsets[1]);
}

TEST(Pack, NothingFitsInNothing) {
  EXPECT_EQ(packed({}, 0).outcome, PackOutcome::Found);
  EXPECT_EQ(packed({{0, 1, 0}, {0, 2, 0}}, 0).outcome, PackOutcome::Found);
  EXPECT_EQ(packed({{0, 1, 1}}, 0).outcome, PackOutcome::Impossible);
}

TEST(Pack, MoreLiveBytesThanTheCapacityAreImpossible) {
  const Packing packing = packed({{0, 2, 5}, {1, 3, 6}}, 10);
  EXPECT_EQ(packing.outcome, PackOutcome::Impossible);
  EXPECT_EQ(packing.height, 11);
  EXPECT_EQ(packing.mostLive, 11);
}

TEST(Pack, NumbersUpToTheirLimitsDoNotOverflow) {
  const std::int64_t half = kMostPackedBytes / 2;
  EXPECT_EQ(packed({{INT64_MIN, INT64_MAX, half}, {-1, 0, half}}, INT64_MAX).height,
            kMostPackedBytes);
  EXPECT_EQ(packed({{INT64_MIN, 0, half}, {0, INT64_MAX, half}}, half).height, half);
  EXPECT_THROW(pack({{0, 1, kMostPackedBytes}, {2, 3, 1}}, 10), InternalError);
  EXPECT_THROW(pack({{1, 1, 1}}, 10), InternalError);
  EXPECT_THROW(pack({{0, 1, -1}}, 10), InternalError);
}

TEST(Pack, TheSameInputGivesTheSameOffsets) {
  const Cuts cuts = cutRectangle(3, 60, 40, 64);
  const Packing a = pack(cuts.buffers, 64), b = pack(cuts.buffers, 64);
  EXPECT_EQ(a.offsets, b.offsets);
  EXPECT_EQ(a.work, b.work);
}

TEST(Pack, StopsWhereItIsTold) {
  const Cuts cuts = cutRectangle(1, 60, 1000, 10'000);
  int asked = 0;
  const Packing packing = packed(cuts.buffers, 9'999, {.stop = [&] { return ++asked > 0; }});
  EXPECT_EQ(packing.outcome, PackOutcome::Impossible);
  EXPECT_GT(asked, 0);
  EXPECT_EQ(packed(cuts.buffers, 10'000, {.work = 0}).work, 0);
}

TEST(Pack, HundredThousandBuffersThatAllMeetArePacked) {
  Buffers buffers;
  for (std::int64_t i = 0; i < 100'000; ++i) buffers.push_back({-i, i + 1, 1 + i % 7});
  const Packing packing = packed(buffers, INT64_MAX);
  EXPECT_EQ(packing.height, packing.mostLive);
}

RC_GTEST_PROP(PackProperty, PerfectPackingsOfUpToSixtyBuffersAreFound, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto count = *rc::gen::inRange<std::size_t>(1, 61);
  const auto time = *rc::gen::element<std::int64_t>(40, 200, 1000);
  const auto bytes = *rc::gen::element<std::int64_t>(64, 1000, 1 << 20);
  const auto style =
      *rc::gen::elementOf(std::vector<CutStyle>(std::begin(kCutStyles), std::end(kCutStyles)));
  const Cuts cuts = cutRectangle(seed, count, time, bytes, style);
  RC_ASSERT(!findPackingFault(cuts.buffers, cuts.offsets, bytes));
  const Packing packing = pack(cuts.buffers, bytes);
  RC_ASSERT(packing.outcome == PackOutcome::Found);
  RC_ASSERT(!findPackingFault(cuts.buffers, packing.offsets, bytes));
  RC_ASSERT(pack(cuts.buffers, bytes + bytes / 7).outcome == PackOutcome::Found);
}

// Larger ones with 5 % to spare; scripts/bench/packing.py --random tries more.
TEST(Pack, FourHundredFiftyBuffersThatMayLeaveATwentiethEmptyAreFound) {
  constexpr std::int64_t kBytes = 1 << 20;
  for (const CutStyle style : kCutStyles)
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(style) << " " << seed);
      const Cuts cuts = cutRectangle(seed, 450, seed == 0 ? 10'000 : 1000, kBytes, style);
      EXPECT_EQ(findPackingFault(cuts.buffers, cuts.offsets, kBytes), std::nullopt);
      EXPECT_EQ(packed(cuts.buffers, kBytes + kBytes / 20).outcome, PackOutcome::Found);
    }
}

// Nearly even pieces are the hardest, as what is to spare is about one of them. Frayed, few have an
// edge that is the same.
TEST(Pack, NearlyEvenPiecesWithFrayedEdgesAreFound) {
  constexpr std::int64_t kBytes = 1 << 20;
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    SCOPED_TRACE(seed);
    Buffers buffers = cutRectangle(seed, 450, 10'000, kBytes, CutStyle::Even).buffers;
    std::mt19937_64 random(seed);
    const auto below = [&](std::int64_t n) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    };
    for (LiveBuffer& buffer : buffers) {
      buffer.size -= below(buffer.size / 100 + 1);
      const std::int64_t shorter = below((buffer.upper - buffer.lower) / 100 + 2);
      if (below(2) == 0)
        buffer.lower += shorter;
      else
        buffer.upper -= shorter;
    }
    EXPECT_EQ(packed(buffers, kBytes + kBytes / 20).outcome, PackOutcome::Found);
  }
}

// The least height over all orders in which each buffer goes as low as it fits: some order gives
// the best packing there is.
std::int64_t leastHeight(const Buffers& buffers) {
  std::vector<std::size_t> order(buffers.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::int64_t least = INT64_MAX;
  do {
    std::vector<std::int64_t> tops(buffers.size(), 0);
    std::int64_t height = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const LiveBuffer& b = buffers[order[k]];
      std::int64_t offset = 0;
      for (std::size_t j = 0; j < k; ++j) {
        const LiveBuffer& o = buffers[order[j]];
        if (o.lower < b.upper && b.lower < o.upper) offset = std::max(offset, tops[order[j]]);
      }
      tops[order[k]] = offset + b.size;
      height = std::max(height, offset + b.size);
    }
    least = std::min(least, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

RC_GTEST_PROP(PackProperty, AgreesWithEveryOrderTriedWhereThatIsPossible, ()) {
  Buffers buffers(*rc::gen::inRange<std::size_t>(1, 8));
  for (LiveBuffer& b : buffers) {
    b.lower = *rc::gen::inRange<std::int64_t>(0, 6);
    b.upper = b.lower + *rc::gen::inRange<std::int64_t>(1, 5);
    b.size = *rc::gen::inRange<std::int64_t>(1, 6);
  }
  const std::int64_t least = leastHeight(buffers);
  const Packing found = pack(buffers, least);
  RC_ASSERT(found.outcome == PackOutcome::Found);
  RC_ASSERT(!findPackingFault(buffers, found.offsets, least));
  const Packing none = pack(buffers, least - 1);
  RC_ASSERT(none.outcome == PackOutcome::Impossible);
  RC_ASSERT(none.height == least);
  const Packing asked = pack(buffers, least - 1, {.lower = false});
  RC_ASSERT(asked.outcome == none.outcome);
  RC_ASSERT(asked.work <= none.work);
  RC_ASSERT(!findPackingFault(buffers, asked.offsets, asked.height));
}

TEST(VerifyPacking, NamesWhatIsWrong) {
  const Buffers buffers{{0, 3, 4}, {2, 9, 4}, {3, 9, 4}};
  EXPECT_EQ(findPackingFault(buffers, {0, 4, 0}, 8), std::nullopt);
  EXPECT_EQ(findPackingFault(buffers, {0, 4}, 8), "2 offsets for 3 buffers");
  EXPECT_EQ(findPackingFault(buffers, {0, 4, 0}, 7),
            "buffer 1 lies outside the memory: bytes 4 and 4 on of 7");
  EXPECT_EQ(findPackingFault(buffers, {0, -1, 0}, 8),
            "buffer 1 lies outside the memory: bytes -1 and 4 on of 8");
  EXPECT_EQ(findPackingFault(buffers, {0, 3, 7}, 20),
            "buffers 0 and 1 share bytes at time 2: bytes 0 and 4 on; bytes 3 and 4 on");
  EXPECT_EQ(findPackingFault(buffers, {0, 4, 4}, 20),
            "buffers 1 and 2 share bytes at time 3: bytes 4 and 4 on; bytes 4 and 4 on");
  EXPECT_EQ(findPackingFault(buffers, {0, 4, INT64_MAX}, 20).has_value(), true);
}

}  // namespace
}  // namespace heddle
