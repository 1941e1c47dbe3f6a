// Offsets for buffers whose times are known, so that all fit one memory: static allocation.
//
//   offset 8 [ b3                ]      b1 [0, 3) and b2 [3, 9) never meet, so they share the
//          4 [ b1   ][ b2        ]      floor; b3 [0, 9) meets both and lies above.
//     time   0       3           9
//
// Integers decide everything, and the search counts its own work: the same buffers, capacity and
// limits give the same offsets on every machine, unless `stop` ends it.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace heddle {

struct LiveBuffer {
  std::int64_t lower = 0, upper = 0;  // lives in [lower, upper), in any unit of time
  std::int64_t size = 0;              // bytes
  friend bool operator==(const LiveBuffer&, const LiveBuffer&) = default;
};

// Of all sizes together: sums of two heights stay within 64 bits.
inline constexpr std::int64_t kMostPackedBytes = std::int64_t{1} << 62;
// Of work by default: some five seconds of a core.
inline constexpr std::int64_t kPackWork = 3'000'000'000;

struct PackLimits {
  std::int64_t work = kPackWork;  // entries of buffers and of cliques looked at; a pair is some
  // Asked now and then; true: stop with what there is. Only with it does an answer depend on time.
  std::function<bool()> stop;
  bool lower = true;  // what does not fit is packed as low as the rest of the work allows
};

enum class PackOutcome {
  Found,       // all below the capacity
  Impossible,  // more bytes live at one time than the capacity, or the search has seen everything
  NotFound,    // the limits ended the search
};

struct Packing {
  PackOutcome outcome = PackOutcome::NotFound;
  std::vector<std::int64_t> offsets;  // per buffer, bytes; valid in every outcome ...
  std::int64_t height = 0;            // ... up to this top: the lowest that was reached
  std::int64_t firstFit = 0;          // the top that first fit alone reached, in its best order
  std::int64_t mostLive = 0;          // bytes that live at one time at most: no packing is lower
  std::int64_t work = 0;              // done, of PackLimits
};

// Packs `buffers` below `capacity` bytes where it finds how. Needs: lower < upper and size >= 0 of
// each buffer, all sizes together at most kMostPackedBytes, capacity >= 0.
//
// Time and memory: n log n for n buffers and a first answer; that is all where more than
// kMostPairs pairs of buffers meet, or a part of the instance is larger than kMostSearched.
// Source: Moffitt, MiniMalloc, ASPLOS 2023 (canonical solutions, inference from sections,
// dominance, decomposition); Le Pape, set times or postpone (branching); weights of conflicts.
Packing pack(const std::vector<LiveBuffer>& buffers, std::int64_t capacity,
             const PackLimits& limits = {});

inline constexpr std::int64_t kMostPairs = 4'000'000;
inline constexpr std::size_t kMostSearched = 2000;

}  // namespace heddle
