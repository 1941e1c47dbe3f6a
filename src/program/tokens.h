// Locks from edges of one frame (frame_tokens.h: between frames): which instructions take and give
// how many tokens, and what each lock begins with.
//
// A pair of queues that meet in a tile has up to two locks: of *data*, given by who writes and
// taken by who reads, and of *space*, given by who has read and taken by who writes again. An edge
// that the others imply needs no token. Where some edges of a step need tokens, all of that step
// get theirs, one for each row that is written: so rows of a ring are alike, first, middle and
// last. Where that would be more than a lock can count, one for each write; where that would be,
// only the needed edges do which wait longer than those before.
//
//   ring of 2 rows   in    acquire space, write 0 | acquire space, write 1 | acquire space, write 0
//   space = 2        core                           read 0, release space  | read 1, release space
#pragma once
#include <array>
#include <boost/container_hash/hash.hpp>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "known.h"
#include "sync.h"

namespace heddle {

struct TokenUse {  // an instruction's, of the lock at `lock`
  std::int32_t op = 0, lock = 0, count = 1;
  std::int16_t end = 0;
  bool release = false;
};

enum class LockPurpose { Space, Data, NextFrame };

struct DerivedLock {
  std::int32_t tile = 0, from = 0, to = 0;  // dense numbers of the tile and the queues
  LockPurpose purpose = LockPurpose::Space;
  std::int64_t initial = 0;
};

class Tokens {
 public:
  // `most`: what a lock can count (Limits::lockMaximum).
  explicit Tokens(std::int64_t most = INT64_MAX) : mostTokens_(most) {}

  // The next instruction, or transfer with its receivers, in the sequential order.
  void begin(std::span<const Operation> together, std::int32_t step) {
    order_.begin(together, step);
  }
  // Before the edges of an instruction that touches the tile, where the first one of its queue and
  // step to do so is to wait for all that the others wait for from steps before.
  void waitAtFirst(std::int32_t tile, const AccessPoint& by);
  // An edge to the instruction begun.
  void require(std::int32_t tile, const Edge& edge);
  void end() { order_.end(); }

  // After the last instruction. `tiles`: by number, as they stand. What was required is forgotten.
  void finish(std::span<const TileAccesses> tiles);
  const std::vector<DerivedLock>& locks() const { return locks_; }
  KnownOrder& order() { return order_; }
  std::int32_t addLock(const DerivedLock& lock);
  void use(std::int32_t lock, const AccessPoint& by, bool release, std::int64_t count);
  // Of a queue, unordered.
  std::vector<TokenUse>& usesOf(std::int32_t queue) {
    const auto q = static_cast<std::size_t>(queue);
    if (uses_.size() <= q) uses_.resize(q + 1);
    return uses_[q];
  }

 private:
  // Between the queues of a pair; there are more of them than of anything else.
  struct Demand {
    std::int32_t fromOp = -1, fromStep = -1;  // -1: `to` takes a place nobody has to give back
    std::int32_t toOp = -1, toStep = -1;
    // Of who takes a place, with data `from`: the latest of the other queue that it knew of.
    std::int32_t known = -1;
    // With data: the last row of `from` that `to` reads; else the first of `to` that waits, without
    // `from` the last that takes a place.
    std::uint16_t row = 0;
    std::uint8_t fromEnd = 0, toEnd = 0;
    bool needed : 1 = false;      // nothing else makes `to` wait for `from`
    bool takesPlace : 1 = false;  // with data: the row of `from` does, which is then given back
  };
  struct Demands {  // of one kind
    std::int32_t from = 0, to = 0;
    bool needed = false;  // one is
    std::vector<Demand> all;
    AccessPoint fromOf(const Demand& d) const {
      return {from, d.fromOp, d.fromEnd, d.fromStep, d.row};
    }
    AccessPoint toOf(const Demand& d) const { return {to, d.toOp, d.toEnd, d.toStep}; }
  };
  struct Pair {  // of queues that meet in a tile: one writes what the other reads
    std::int32_t tile = 0;
    Demands data, space;
    std::int32_t firstWait = -1;  // of who writes: what first had to wait for a place of its step
  };
  struct First {  // access of a tile in a step
    std::int32_t tile = 0, step = 0, op = 0;
    std::uint8_t end = 0;
  };
  struct Given {  // tokens that an instruction gives
    AccessPoint by;
    std::int64_t count = 0;
  };

  static Demand demand(const AccessPoint& from, const AccessPoint& to, std::int32_t row,
                       bool needed);
  Pair& pairOf(std::int32_t tile, std::int32_t writer, std::int32_t reader);
  void deriveData(const Pair& pair);
  void giveLatest(const Demands& demands, std::int32_t lock);
  void deriveSpace(Pair& pair, const TileAccesses& tile);
  void findWrites(const Pair& pair, const std::vector<std::int32_t>& regular, bool rowByRow);
  static void giveBack(const Pair& pair, const TileAccesses& tile, std::int32_t step,
                       std::int64_t count, AccessPoint last, std::map<std::int32_t, Given>& given);
  void moveToFirst(Pair& pair, const std::vector<std::int32_t>& regular) const;

  std::int64_t mostTokens_;
  KnownOrder order_;
  std::unordered_map<std::array<std::int32_t, 3>, std::size_t,
                     boost::hash<std::array<std::int32_t, 3>>>
      numbers_;
  std::vector<Pair> pairs_;
  // Of pairs_: the last one by its place of hash.
  std::vector<std::size_t> recent_ = std::vector<std::size_t>(1U << 14U);
  std::vector<std::vector<First>> firsts_;  // by queue, in order of steps
  // findWrites: the rows that take a token, and what they are found in. Kept for their room.
  std::vector<Demand> writes_, candidates_;
  std::vector<DerivedLock> locks_;
  std::vector<std::vector<TokenUse>> uses_;
};

}  // namespace heddle
