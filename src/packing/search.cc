#include "search.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace heddle::packing {
namespace {

constexpr std::int64_t kNone = INT64_MAX;
constexpr std::int64_t kOneWeight = 1024;  // of a first failure
constexpr std::int64_t kMostWeight = std::int64_t{1} << 50;
constexpr int kRoundsOfRaising = 3;        // of postponed buffers: each round raises some further
constexpr std::int64_t kStopPeriod = 256;  // nodes between questions to `stop`

std::uint64_t mixed(std::uint64_t x) {  // the finalizer of splitmix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

Search::Search(const Instance& instance, const std::vector<Order>& neighbours, std::size_t memory)
    : instance_(instance),
      neighbours_(neighbours),
      offsets_(instance.count()),
      lowest_(instance.count()),
      release_(instance.count()),
      placed_(instance.count()),
      postponed_(instance.count()),
      rank_(instance.count()),
      floor_(instance.cliques),
      reach_(instance.cliques),
      firstRelease_(instance.cliques),
      secondRelease_(instance.cliques),
      firstTop_(instance.cliques),
      secondTop_(instance.cliques),
      firstReleased_(instance.cliques),
      firstTopped_(instance.cliques),
      weights_(instance.live),
      failed_(std::bit_ceil(std::max<std::size_t>(memory, 1))) {}

std::int64_t Search::workOfANode() const {
  std::int64_t work = 0;
  for (const Span span : instance_.spans) work += span.length() + 4;
  return work;
}

SearchEnd Search::run(std::int64_t capacity, const SearchStyle& style, std::int64_t work,
                      const std::function<bool()>& stop) {
  capacity_ = capacity;
  style_ = style;
  workLeft_ = work;
  stop_ = &stop;
  stopped_ = false;
  wasteShift_ = std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(capacity))) -
                                40);  // so that sums over cliques stay within 64 bits
  relaxWeights();
  const Order order = orderBy(instance_, style.order);
  for (std::size_t k = 0; k < order.size(); ++k) rank_[order[k]] = static_cast<std::int32_t>(k);
  const SearchEnd end = searchParts(order);
  workDone_ += work - std::max<std::int64_t>(workLeft_, 0);
  if (end != SearchEnd::Nothing) undo({});
  return end;
}

// The clique that failed most weighs kOneWeight when an attempt begins.
void Search::relaxWeights() {
  const std::int64_t most = std::max<std::int64_t>(
      1, weights_.empty() ? 1 : *std::max_element(weights_.begin(), weights_.end()));
  const int shift =
      std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most))) - 40);
  for (std::int64_t& weight : weights_)
    weight = (weight >> shift) * kOneWeight / std::max<std::int64_t>(most >> shift, 1);
  blame_ = kOneWeight;
}

void Search::blame(Span span) {
  for (std::int32_t c = span.first; c < span.end; ++c)
    if (reach_[c] > capacity_) weights_[c] += blame_;
  blame_ += blame_ / kOneWeight;
  if (blame_ < kMostWeight) return;
  for (std::int64_t& weight : weights_) weight >>= 30;
  blame_ >>= 30;
}

void Search::undo(const Mark& mark) {
  for (; changes_.size() > mark.changes; changes_.pop_back()) {
    lowest_[changes_.back().buffer] = changes_.back().lowest;
    postponed_[changes_.back().buffer] = static_cast<char>(changes_.back().postponed);
  }
  for (; floorChanges_.size() > mark.floors; floorChanges_.pop_back())
    floor_[floorChanges_.back().clique] = floorChanges_.back().floor;
  for (; placedInOrder_.size() > mark.placed; placedInOrder_.pop_back())
    placed_[placedInOrder_.back()] = 0;
}

Span Search::extentOf(const Order& left) const {
  Span extent{instance_.cliques, 0};
  for (const std::int32_t i : left) {
    extent.first = std::min(extent.first, instance_.spans[i].first);
    extent.end = std::max(extent.end, instance_.spans[i].end);
  }
  return extent;
}

// Parts that do not meet fail or succeed alone; the one that fails most comes first.
SearchEnd Search::searchParts(const Order& left) {
  if (left.empty()) return SearchEnd::Found;
  const Span extent = extentOf(left);
  std::vector<std::int32_t> change(static_cast<std::size_t>(extent.length()) + 1);
  for (const std::int32_t i : left) {
    // Between the cliques of one buffer nothing parts.
    ++change[instance_.spans[i].first - extent.first];
    --change[instance_.spans[i].end - 1 - extent.first];
  }
  std::vector<std::int32_t> partOf(extent.length());
  std::int32_t open = 0, part = 0;
  for (std::int32_t c = 0; c < extent.length(); ++c) {
    partOf[c] = part;
    open += change[c];
    if (open == 0) ++part;
  }
  std::vector<Order> parts(part);
  std::vector<std::int64_t> heat(part);
  for (const std::int32_t i : left) {
    const Span span = instance_.spans[i];
    const std::int32_t p = partOf[span.first - extent.first];
    parts[p].push_back(i);
    for (std::int32_t c = span.first; c < span.end; ++c) heat[p] = std::max(heat[p], weights_[c]);
  }
  Order order;
  for (std::int32_t p = 0; p < part; ++p)
    if (!parts[p].empty()) order.push_back(p);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return heat[a] > heat[b]; });
  const Mark before = mark();
  for (const std::int32_t p : order) {
    const SearchEnd end = searchPart(std::move(parts[p]));
    if (end == SearchEnd::Found) continue;
    undo(before);
    return end;
  }
  return SearchEnd::Found;
}

bool Search::spend(const Order& left) {
  for (const std::int32_t i : left) workLeft_ -= instance_.spans[i].length() + 4;
  if (++nodes_ % kStopPeriod == 0 && *stop_ && (*stop_)()) stopped_ = true;
  return workLeft_ >= 0 && !stopped_;
}

// What a node's outcome depends on: which buffers are left, how low each goes, and whether it may.
std::uint64_t Search::hashOf(const Order& left) const {
  std::uint64_t hash = mixed(static_cast<std::uint64_t>(capacity_) + 1);
  for (const std::int32_t i : left)
    hash += mixed(mixed(static_cast<std::uint64_t>(i) + 1) +
                  2 * static_cast<std::uint64_t>(lowest_[i]) +
                  static_cast<std::uint64_t>(postponed_[i]));
  return std::max<std::uint64_t>(hash, 1);
}

// Places what must be placed, and tries both ways for what need not, until one is the answer.
SearchEnd Search::searchPart(Order left) {
  const Mark before = mark();
  const std::uint64_t entered = hashOf(left);
  const auto entry = [&](std::uint64_t hash) -> std::uint64_t& {
    return failed_[hash & (failed_.size() - 1)];
  };
  const auto nothing = [&](std::uint64_t hash) {
    entry(hash) = hash;
    entry(entered) = entered;
    undo(before);
    return SearchEnd::Nothing;
  };
  for (std::uint64_t hash = entered;; hash = hashOf(left)) {
    if (!spend(left)) {
      undo(before);
      return SearchEnd::Stopped;
    }
    if (entry(hash) == hash) return nothing(hash);
    if (!raisePostponed(left)) return nothing(hash);
    sortByLowest(left);
    if (!everyCliqueFits(left)) return nothing(hash);
    const std::int32_t must = forced(left);
    const std::int32_t chosen = must >= 0 ? must : choose(left);
    if (chosen < 0) return nothing(hash);
    const Mark here = mark();
    const SearchEnd end = place(left, chosen);
    if (end == SearchEnd::Found) return end;
    undo(end == SearchEnd::Nothing ? here : before);
    if (end == SearchEnd::Stopped) return end;
    if (must >= 0) return nothing(hash);
    changes_.push_back({chosen, lowest_[chosen], false});
    postponed_[chosen] = 1;
  }
}

SearchEnd Search::place(const Order& left, std::int32_t buffer) {
  const std::int64_t top = lowest_[buffer] + instance_.sizes[buffer];
  const Span span = instance_.spans[buffer];
  for (std::int32_t c = span.first; c < span.end; ++c) {
    floorChanges_.push_back({c, floor_[c]});
    floor_[c] = top;
  }
  placed_[buffer] = 1;
  offsets_[buffer] = lowest_[buffer];
  placedInOrder_.push_back(buffer);
  for (const std::int32_t k : neighbours_[buffer]) {
    if (placed_[k] != 0) continue;
    changes_.push_back({k, lowest_[k], postponed_[k] != 0});
    lowest_[k] = std::max(lowest_[k], top);
    postponed_[k] = 0;  // one that meets it lies below it now
  }
  Order rest;
  rest.reserve(left.size());
  for (const std::int32_t i : left)
    if (i != buffer) rest.push_back(i);
  return searchParts(rest);
}

// Sets releases. A postponed buffer will lie on one that meets it and is left: no lower than the
// lowest top of these. False: it cannot.
bool Search::raisePostponed(const Order& left) {
  bool raised = false;
  for (const std::int32_t i : left) {
    release_[i] = lowest_[i];
    raised = raised || postponed_[i] != 0;
  }
  for (int round = 0; raised && round < kRoundsOfRaising; ++round)
    if (!raiseByNeighbours(left, raised)) return false;
  return true;
}

bool Search::raiseByNeighbours(const Order& left, bool& raised) {
  const Span extent = extentOf(left);
  std::fill(firstTop_.begin() + extent.first, firstTop_.begin() + extent.end, kNone);
  std::fill(secondTop_.begin() + extent.first, secondTop_.begin() + extent.end, kNone);
  for (const std::int32_t i : left) {
    const std::int64_t top = release_[i] + instance_.sizes[i];
    for (std::int32_t c = instance_.spans[i].first; c < instance_.spans[i].end; ++c) {
      if (top < firstTop_[c]) {
        secondTop_[c] = firstTop_[c];
        firstTop_[c] = top;
        firstTopped_[c] = i;
      } else {
        secondTop_[c] = std::min(secondTop_[c], top);
      }
    }
  }
  raised = false;
  for (const std::int32_t i : left) {
    if (postponed_[i] == 0) continue;
    std::int64_t lowest = kNone;
    for (std::int32_t c = instance_.spans[i].first; c < instance_.spans[i].end; ++c)
      lowest = std::min(lowest, firstTopped_[c] == i ? secondTop_[c] : firstTop_[c]);
    if (lowest == kNone || lowest > capacity_ - instance_.sizes[i]) return false;
    raised = raised || lowest > release_[i];
    release_[i] = std::max(release_[i], lowest);
  }
  return true;
}

// Nearly sorted by the node before.
void Search::sortByLowest(Order& left) const {
  const auto before = [&](std::int32_t a, std::int32_t b) {
    return release_[a] != release_[b] ? release_[a] < release_[b] : rank_[a] < rank_[b];
  };
  for (std::size_t k = 1; k < left.size(); ++k) {
    const std::int32_t moved = left[k];
    std::size_t to = k;
    for (; to > 0 && before(moved, left[to - 1]); --to) left[to] = left[to - 1];
    left[to] = moved;
  }
}

// Whether each clique's buffers, each no lower than its release, end below the capacity.
// Needs: `left` sorted by release.
bool Search::everyCliqueFits(const Order& left) {
  const Span extent = extentOf(left);
  std::fill(reach_.begin() + extent.first, reach_.begin() + extent.end, 0);
  std::fill(firstRelease_.begin() + extent.first, firstRelease_.begin() + extent.end, kNone);
  std::fill(secondRelease_.begin() + extent.first, secondRelease_.begin() + extent.end, kNone);
  std::fill(firstReleased_.begin() + extent.first, firstReleased_.begin() + extent.end, -1);
  for (const std::int32_t i : left) {
    const Span span = instance_.spans[i];
    const std::int64_t release = release_[i], size = instance_.sizes[i];
    std::int64_t top = 0;
    for (std::int32_t c = span.first; c < span.end; ++c) {
      if (firstReleased_[c] < 0) {
        firstReleased_[c] = i;
        firstRelease_[c] = release;
      } else if (secondRelease_[c] == kNone) {
        secondRelease_[c] = release;
      }
      reach_[c] = std::max(reach_[c], release) + size;
      top = std::max(top, reach_[c]);
    }
    if (top > capacity_) {
      blame(span);
      return false;
    }
  }
  return true;
}

// Whether a buffer, placed, ends below all that meet it and are left.
bool Search::blocksNothing(std::int32_t buffer) const {
  const std::int64_t top = lowest_[buffer] + instance_.sizes[buffer];
  const Span span = instance_.spans[buffer];
  for (std::int32_t c = span.first; c < span.end; ++c)
    if ((firstReleased_[c] == buffer ? secondRelease_[c] : firstRelease_[c]) < top) return false;
  return true;
}

std::int32_t Search::forced(const Order& left) const {
  for (const std::int32_t i : left)
    if (postponed_[i] == 0 && blocksNothing(i)) return i;
  return -1;
}

// Bytes that stay empty below a buffer once it is placed, over its cliques.
std::int64_t Search::wasteBelow(std::int32_t buffer) const {
  const Span span = instance_.spans[buffer];
  std::int64_t waste = 0;
  for (std::int32_t c = span.first; c < span.end; ++c)
    waste += (lowest_[buffer] - floor_[c]) >> wasteShift_;
  return waste;
}

std::int32_t Search::choose(const Order& left) const {
  const Span extent = extentOf(left);
  std::int32_t clique = -1;
  for (std::int32_t c = extent.first; c < extent.end; ++c) {
    if (firstReleased_[c] < 0 || postponed_[firstReleased_[c]] != 0) continue;
    const bool lower =
        style_.lowestFirst && clique >= 0 && firstRelease_[c] != firstRelease_[clique];
    if (clique < 0 ||
        (lower ? firstRelease_[c] < firstRelease_[clique] : weights_[c] > weights_[clique]))
      clique = c;
  }
  if (clique < 0) {
    const auto free =
        std::find_if(left.begin(), left.end(), [&](std::int32_t i) { return postponed_[i] == 0; });
    return free == left.end() ? -1 : *free;
  }
  if (!style_.leastWaste) return firstReleased_[clique];
  std::int32_t chosen = -1;
  std::int64_t least = kNone;
  for (const std::int32_t i : left) {
    const Span span = instance_.spans[i];
    if (postponed_[i] != 0 || release_[i] > firstRelease_[clique]) continue;
    if (span.first > clique || span.end <= clique) continue;
    const std::int64_t waste = wasteBelow(i);
    if (waste >= least) continue;
    least = waste;
    chosen = i;
  }
  return chosen;
}

}  // namespace heddle::packing
