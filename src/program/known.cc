#include "known.h"

#include <algorithm>
#include <utility>

namespace heddle {
namespace {

constexpr std::size_t kRemembered = 4096;  // entries of a queue

}  // namespace

void Known::set(const Operation& ended) {
  const auto i = static_cast<std::size_t>(ended.queue);
  if (blocks_.size() <= i / kBlockSize) blocks_.resize(i / kBlockSize + 1);
  BlockPointer& block = blocks_[i / kBlockSize];
  if (!block) {
    block = new Block;
    block->latest.fill(-1);
  } else if (block->use_count() > 1) {
    block = new Block(*block);
  }
  block->latest[i % kBlockSize] = ended.op;
}

void Known::raise(const Known& to) {
  if (blocks_.size() < to.blocks_.size()) blocks_.resize(to.blocks_.size());
  for (std::size_t b = 0; b < to.blocks_.size(); ++b) {
    if (!to.blocks_[b] || to.blocks_[b] == blocks_[b]) continue;
    if (!blocks_[b]) {
      blocks_[b] = to.blocks_[b];
      continue;
    }
    const auto &mine = blocks_[b]->latest, &theirs = to.blocks_[b]->latest;
    std::array<std::int32_t, kBlockSize> both;
    std::int32_t above = 0, below = 0;  // bits that the result has and mine, theirs has not
    for (std::size_t i = 0; i < kBlockSize; ++i) {
      both[i] = std::max(mine[i], theirs[i]);
      above |= both[i] ^ mine[i];
      below |= both[i] ^ theirs[i];
    }
    if (above == 0) continue;
    if (below == 0) {
      blocks_[b] = to.blocks_[b];
      continue;
    }
    if (blocks_[b]->use_count() > 1) blocks_[b] = new Block;
    blocks_[b]->latest = both;
  }
}

void KnownOrder::begin(std::span<const Operation> together, std::int32_t step) {
  if (step != step_) {
    forget(std::exchange(step_, step));
  }
  together_.assign(together.begin(), together.end());
  now_ = nullptr;
  for (const Operation& part : together_) {
    const auto queue = static_cast<std::size_t>(part.queue);
    if (history_.size() <= queue) history_.resize(queue + 1);
    if (!history_[queue].empty()) learn(history_[queue].back().known);
  }
  learned_ = together_.size() > 1;
}

void KnownOrder::await(const Operation& ended) {
  learn(after(ended));
  if (!knows(ended)) change().set(ended);
  learned_ = true;
}

void KnownOrder::end() {
  if (!learned_) return;  // it knows what the one before it in its queue knew
  if (together_.size() > 1) {
    Known& known = change();
    for (const Operation& part : together_) known.set(part);
  }
  for (const Operation& part : together_) remember(part);
}

void KnownOrder::remember(const Operation& ended) {
  const auto queue = static_cast<std::size_t>(ended.queue);
  std::vector<Entry>& entries = history_[queue];
  if (room_.size() <= queue) room_.resize(history_.size(), 2 * kRemembered);
  if (entries.size() >= room_[queue]) {
    thinOut(entries);
    // Last entries of steps stay: they may be most of them.
    room_[queue] = std::max(2 * kRemembered, entries.size() + kRemembered / 2);
  }
  entries.push_back({ended.op, step_, now_});
}

// Of those before the last kRemembered every other one goes, and does so again, but for the last of
// each step: a step of a large image has operations by the hundred thousand, and what waits in it
// waits for recent ones.
void KnownOrder::thinOut(std::vector<Entry>& entries) {
  const std::size_t old = entries.size() - kRemembered;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i < old && i % 2 != 0 && entries[i + 1].step == entries[i].step) continue;
    if (kept != i) entries[kept] = std::move(entries[i]);
    ++kept;
  }
  entries.resize(kept);
}

// What is known now, for nobody else.
Known& KnownOrder::change() {
  if (!now_)
    now_ = new SharedKnown;
  else if (now_->use_count() > 1)
    now_ = new SharedKnown(*now_);
  return *now_;
}

void KnownOrder::learn(const KnownPointer& from) {
  if (!from || from == now_) return;
  if (now_)
    change().raise(*from);
  else
    now_ = from;
}

// Of an operation that is not remembered: what an earlier one of its queue knew.
const KnownOrder::KnownPointer& KnownOrder::after(const Operation& operation) const {
  static const KnownPointer nothing;
  const std::vector<Entry>& entries = history_[static_cast<std::size_t>(operation.queue)];
  if (entries.empty()) return nothing;
  // At most as many entries lie behind as operations: what is asked is mostly not long ago.
  const std::int64_t behind = std::int64_t{entries.back().op} - operation.op;
  const auto first = entries.end() - std::clamp<std::ptrdiff_t>(behind + 1, 0, std::ssize(entries));
  const auto next =
      std::upper_bound(first, entries.end(), operation.op,
                       [](std::int32_t op, const Entry& entry) { return op < entry.op; });
  return next == entries.begin() ? nothing : std::prev(next)->known;
}

// Of each step before the last one only the last operation of each queue. The call at the beginning
// of step `before` has left nothing to forget of the steps before its last one.
void KnownOrder::forget(std::int32_t before) {
  for (std::vector<Entry>& entries : history_) {
    std::size_t kept = entries.size();
    while (kept > 0 && entries[kept - 1].step >= before - 1) --kept;
    for (std::size_t i = kept; i < entries.size(); ++i) {
      const bool old = entries[i].step < step_ - 1;
      if (old && i + 1 < entries.size() && entries[i + 1].step == entries[i].step) continue;
      if (kept != i) entries[kept] = std::move(entries[i]);
      ++kept;
    }
    entries.resize(kept);
  }
}

}  // namespace heddle
