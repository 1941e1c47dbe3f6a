#include "frame_tokens.h"

#include <algorithm>

namespace heddle {
namespace {

std::size_t indexOf(std::int32_t number) { return static_cast<std::size_t>(number); }

}  // namespace

FrameTokens::FrameTokens(Tokens& tokens, std::vector<std::int32_t> lengths)
    : tokens_(tokens),
      order_(tokens.order()),
      lengths_(std::move(lengths)),
      taken_(lengths_.size()),
      next_(lengths_.size()),
      given_(tokens.locks().size()) {
  readUses();
}

void FrameTokens::readUses() {
  for (std::size_t q = 0; q < lengths_.size(); ++q) {
    std::vector<TokenUse> uses = tokens_.usesOf(static_cast<std::int32_t>(q));
    std::stable_sort(uses.begin(), uses.end(),
                     [](const TokenUse& a, const TokenUse& b) { return a.op < b.op; });
    std::map<std::int32_t, std::int64_t> taken;  // by lock, so far
    for (const TokenUse& use : uses) {
      if (use.release) {
        std::vector<Given>& given = given_[indexOf(use.lock)];
        given.push_back({use.op, (given.empty() ? 0 : given.back().upTo) + use.count});
      } else {
        taken_[q].push_back({use.op, use.lock, taken[use.lock] += use.count});
      }
    }
  }
}

// What an instruction learns by the tokens that it takes in any case. The first ones of a frame, as
// many as the lock begins with, were given in the frame before.
void FrameTokens::awaitTokens(const Operation& operation) {
  const std::vector<Taken>& taken = taken_[indexOf(operation.queue)];
  std::size_t& next = next_[indexOf(operation.queue)];
  for (; next < taken.size() && taken[next].op + length(operation.queue) == operation.op; ++next) {
    const DerivedLock& lock = tokens_.locks()[indexOf(taken[next].lock)];
    const std::vector<Given>& given = given_[indexOf(taken[next].lock)];
    const std::int64_t number = taken[next].upTo - lock.initial;  // of this frame's, from 1
    const bool before = number <= 0;
    const auto by =
        std::lower_bound(given.begin(), given.end(), before ? number + given.back().upTo : number,
                         [](const Given& g, std::int64_t upTo) { return g.upTo < upTo; });
    order_.await({lock.from, before ? by->op : by->op + length(lock.from)});
  }
}

void FrameTokens::begin(std::span<const Operation> together, std::int32_t step) {
  order_.begin(together, step);
  for (const Operation& operation : together) awaitTokens(operation);
}

void FrameTokens::require(std::int32_t tile, const Edge& edge) {
  const Operation ended{edge.from.queue, edge.from.op};
  if (order_.knows(ended)) return;
  // Within a frame the first telling has found what holds.
  if (edge.from.op < length(edge.from.queue)) {
    // It knows nothing of that queue in its own frame, or it would know this as well: the lock
    // begins with all its tokens.
    Demand demand{edge.from, edge.to};
    demand.to.op -= length(edge.to.queue);
    demands_[{tile, edge.from.queue, edge.to.queue}].push_back(demand);
  }
  order_.await(ended);
}

// Of those that wait in order, only who waits for a later one than all before needs a token.
std::vector<FrameTokens::Demand> FrameTokens::tokensOf(const std::vector<Demand>& demands) {
  std::vector<Demand> tokens;
  for (const Demand& demand : demands) {
    if (!tokens.empty() && demand.from.op <= tokens.back().from.op) continue;
    if (!tokens.empty() && demand.to.op == tokens.back().to.op)
      tokens.back().from = demand.from;
    else
      tokens.push_back(demand);
  }
  return tokens;
}

void FrameTokens::finish() {
  for (const auto& [pair, demands] : demands_) {
    const auto& [tile, from, to] = pair;
    const std::vector<Demand> tokens = tokensOf(demands);
    const std::int32_t lock =
        tokens_.addLock({tile, from, to, LockPurpose::NextFrame, std::ssize(tokens)});
    for (const Demand& token : tokens) {
      tokens_.use(lock, token.from, true, 1);
      tokens_.use(lock, token.to, false, 1);
    }
  }
}

}  // namespace heddle
