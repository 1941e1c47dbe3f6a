// Programs at random, of a few queues that read and write a few tiles: whatever they touch, the
// tokens keep the order of every two instructions that conflict.
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "frame_tokens.h"
#include "sync.h"
#include "tokens.h"

namespace heddle {
namespace {

struct Touch {
  std::int32_t tile = 0;
  std::int64_t first = 0, end = 0;
  bool writes = false;
  std::int32_t row = 0;
};

struct ToldInstruction {
  std::int32_t queue = 0, op = 0, step = 0;
  std::int32_t group = 0;  // those of one meet, as a transfer and its receivers
  std::vector<Touch> touches;
};

constexpr std::size_t kMostInstructions = 400;  // of all frames
using Instructions = std::bitset<kMostInstructions>;

bool conflict(const ToldInstruction& a, const ToldInstruction& b) {
  return std::ranges::any_of(a.touches, [&](const Touch& x) {
    return std::ranges::any_of(b.touches, [&](const Touch& y) {
      return x.tile == y.tile && (x.writes || y.writes) && x.first < y.end && y.first < x.end;
    });
  });
}

std::size_t indexOf(std::int32_t number) { return static_cast<std::size_t>(number); }

class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed) {
    queues_ = draw(2, 5);
    tiles_ = draw(1, 3);
    places_ = draw(3, 12);
    inRings_ = draw(0, 3) > 0;
    most_ = draw(0, 2) == 0 ? INT64_MAX : draw(1, 40);
    frames_ = draw(0, 2) == 0 ? 3 : 1;
    for (std::int32_t q = 0; q < queues_; ++q) waitsAtFirst_.push_back(draw(0, 1));
    lengths_.resize(indexOf(queues_));
    ringAt_.resize(indexOf(tiles_));
    const std::int32_t groups = draw(10, 60), steps = draw(1, 5);
    for (std::int32_t group = 0; group < groups; ++group) {
      if (draw(0, groups / steps) == 0) ++steps_;
      const bool meet = draw(0, 7) == 0 && queues_ > 2 && tiles_ > 1;
      const std::int32_t queue = draw(0, queues_ - 1), tile = draw(0, tiles_ - 1);
      add(group, queue, tile, meet || draw(0, 3) > 0 ? 1 : 2);
      if (meet) add(group, (queue + 1) % queues_, (tile + 1) % tiles_, 1);
    }
  }

  // What is wrong with its tokens; nothing where nothing is.
  std::string fault() {
    Tokens tokens(most_);
    std::vector<TileAccesses> tiles(indexOf(tiles_));
    std::optional<FrameTokens> next;
    tell(tokens, next, tiles, 0);
    tokens.finish(tiles);
    if (frames_ > 1) {
      next.emplace(tokens, lengths_);
      tell(tokens, next, tiles, 1);
      next->finish();
    }
    std::vector<std::vector<std::size_t>> waits = waitsOf(tokens);
    return fault_.empty() ? unordered(endedBefore(waits)) : fault_;
  }

 private:
  std::int32_t draw(std::int32_t least, std::int32_t most) {
    return least + static_cast<std::int32_t>(
                       random_() % static_cast<std::uint64_t>(std::int64_t{most} - least + 1));
  }

  void add(std::int32_t group, std::int32_t queue, std::int32_t tile, std::int32_t tiles) {
    ToldInstruction made{queue, lengths_[indexOf(queue)]++, steps_, group, {}};
    for (std::int32_t t = 0; t < tiles; ++t) {
      const std::int32_t at = (tile + t) % tiles_;
      inRings_ ? touchRing(made, at) : touchAnything(made, at);
    }
    program_.push_back(made);
  }

  void touchAnything(ToldInstruction& made, std::int32_t tile) {
    for (std::int32_t touches = draw(1, 3); touches > 0; --touches) {
      const std::int64_t first = draw(0, places_ - 1);
      made.touches.push_back({tile, first, std::min<std::int64_t>(places_, first + draw(1, 3)),
                              draw(0, 1) == 1, draw(0, 3)});
    }
  }

  // Writes the next rows of the tile's ring, or reads some of those before.
  void touchRing(ToldInstruction& made, std::int32_t tile) {
    std::int32_t& at = ringAt_[indexOf(tile)];
    const bool writes = draw(0, 1) == 1;
    const std::int32_t rows = draw(1, 4), back = writes ? 0 : draw(1, places_);
    for (std::int32_t row = 0; row < (writes ? rows : std::min(rows, back)); ++row) {
      const std::int64_t place = (at - back + row + places_) % places_;
      made.touches.push_back({tile, place, place + 1, writes, writes ? row : 0});
    }
    if (writes) at = (at + rows) % places_;
  }

  void tell(Tokens& tokens, std::optional<FrameTokens>& next, std::vector<TileAccesses>& tiles,
            std::int32_t frame) const {
    for (auto first = program_.begin(); first != program_.end();) {
      const auto behind = std::find_if(
          first, program_.end(), [&](const ToldInstruction& i) { return i.group != first->group; });
      std::vector<Operation> together;
      for (auto i = first; i != behind; ++i)
        together.push_back({i->queue, i->op + frame * lengths_[indexOf(i->queue)]});
      const std::int32_t step = first->step + frame * (steps_ + 1);
      next ? next->begin(together, step) : tokens.begin(together, step);
      for (auto i = first; i != behind; ++i) touch(tokens, next, tiles, *i, frame);
      next ? next->end() : tokens.end();
      first = behind;
    }
  }

  void touch(Tokens& tokens, std::optional<FrameTokens>& next, std::vector<TileAccesses>& tiles,
             const ToldInstruction& instruction, std::int32_t frame) const {
    AccessPoint by{instruction.queue, instruction.op + frame * lengths_[indexOf(instruction.queue)],
                   0, instruction.step + frame * (steps_ + 1)};
    std::vector<Edge> edges;
    for (std::size_t t = 0; t < instruction.touches.size(); ++t) {
      const Touch& one = instruction.touches[t];
      const bool isFirst = t == 0 || instruction.touches[t - 1].tile != one.tile;
      if (isFirst && !next && waitsAtFirst_[indexOf(by.queue)] > 0)
        tokens.waitAtFirst(one.tile, by);
      by.row = one.row;
      TileAccesses& tile = tiles[indexOf(one.tile)];
      one.writes ? tile.write(one.first, one.end, by, edges)
                 : tile.read(one.first, one.end, by, edges);
      if (t + 1 < instruction.touches.size() && instruction.touches[t + 1].tile == one.tile)
        continue;
      for (const Edge& edge : edges)
        next ? next->require(one.tile, edge) : tokens.require(one.tile, edge);
      edges.clear();
    }
  }

  // For each instruction of all frames those that have surely ended before it by its queue's order
  // and its tokens: the last without which a lock's tokens would not have sufficed.
  std::vector<std::vector<std::size_t>> waitsOf(Tokens& tokens) {
    std::vector<std::vector<std::size_t>> ofQueue(indexOf(queues_));
    for (std::int32_t frame = 0; frame < frames_; ++frame)
      for (std::size_t i = 0; i < program_.size(); ++i)
        ofQueue[indexOf(program_[i].queue)].push_back(indexOf(frame) * program_.size() + i);
    std::vector<std::vector<std::size_t>> waits(indexOf(frames_) * program_.size());
    for (const std::vector<std::size_t>& queue : ofQueue)
      for (std::size_t i = 1; i < queue.size(); ++i) waits[queue[i]].push_back(queue[i - 1]);
    struct Use {
      std::size_t by = 0;
      std::int64_t count = 0;
    };
    std::vector<std::vector<Use>> taken(tokens.locks().size()), given(tokens.locks().size());
    for (std::int32_t q = 0; q < queues_; ++q) {
      std::vector<TokenUse> uses = tokens.usesOf(q);
      std::ranges::stable_sort(uses, {}, &TokenUse::op);
      for (std::int32_t frame = 0; frame < frames_; ++frame)
        for (const TokenUse& use : uses)
          (use.release ? given : taken)[indexOf(use.lock)].push_back(
              {ofQueue[indexOf(q)][indexOf(frame * lengths_[indexOf(q)] + use.op)], use.count});
    }
    for (std::size_t lock = 0; lock < taken.size(); ++lock) {
      std::int64_t needed = -tokens.locks()[lock].initial, there = 0;
      auto next = given[lock].begin();
      for (const Use& take : taken[lock]) {
        needed += take.count;
        for (; there < needed && next != given[lock].end(); ++next) there += next->count;
        if (there < needed) fault_ = "a lock has too few tokens";
        if (needed <= 0 || next == given[lock].begin()) continue;
        waits[take.by].push_back(std::prev(next)->by);
        if (std::prev(next)->by >= take.by) fault_ = "a token comes from what is told later";
      }
      for (; next != given[lock].end(); ++next) there += next->count;
      if (there != needed + tokens.locks()[lock].initial)
        fault_ = "a lock does not end as it began";
    }
    return waits;
  }

  std::vector<Instructions> endedBefore(const std::vector<std::vector<std::size_t>>& waits) const {
    std::vector<Instructions> ended(waits.size());
    const auto groupOf = [&](std::size_t i) { return program_[i % program_.size()].group; };
    const auto meet = [&](std::size_t a, std::size_t b) {
      return a / program_.size() == b / program_.size() && groupOf(a) == groupOf(b);
    };
    for (std::size_t first = 0, behind = 0; first < waits.size(); first = behind) {
      Instructions before;
      for (behind = first; behind < waits.size() && meet(first, behind); ++behind)
        for (const std::size_t one : waits[behind]) {
          before |= ended[one];
          for (std::size_t i = one; i < waits.size() && meet(one, i); ++i) before.set(i);
          for (std::size_t i = one; i > 0 && meet(one, i - 1); --i) before.set(i - 1);
        }
      std::fill(ended.begin() + static_cast<std::ptrdiff_t>(first),
                ended.begin() + static_cast<std::ptrdiff_t>(behind), before);
    }
    return ended;
  }

  std::string unordered(const std::vector<Instructions>& ended) const {
    for (std::size_t later = 0; later < ended.size(); ++later)
      for (std::size_t one = 0; one < later; ++one) {
        const ToldInstruction &a = program_[one % program_.size()],
                              &b = program_[later % program_.size()];
        const bool meet = a.group == b.group && one / program_.size() == later / program_.size();
        if (!meet && a.queue != b.queue && !ended[later][one] && conflict(a, b))
          return "instruction " + std::to_string(later) + " does not wait for " +
                 std::to_string(one);
      }
    return {};
  }

  std::mt19937_64 random_;
  std::int32_t queues_ = 0, tiles_ = 0, places_ = 0, frames_ = 1, steps_ = 0;
  bool inRings_ = false;
  std::int64_t most_ = 0;
  std::vector<std::int32_t> waitsAtFirst_, lengths_;  // by queue
  std::vector<std::int32_t> ringAt_;                  // by tile: the next place
  std::vector<ToldInstruction> program_;
  std::string fault_;
};

TEST(TokensOfRandomPrograms, KeepTheOrderOfWhatConflicts) {
  constexpr std::uint64_t kPrograms = 2000;
  for (std::uint64_t seed = 1; seed <= kPrograms; ++seed)
    ASSERT_EQ(RandomProgram(seed).fault(), "") << "program " << seed;
}

}  // namespace
}  // namespace heddle
