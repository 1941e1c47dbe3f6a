#include "repair.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace heddle::packing {
namespace {

constexpr std::int64_t kMixPeriod = 10;         // insertions between new orders
constexpr std::int64_t kInsertionsAStop = 256;  // insertions between questions to `stop`
constexpr std::size_t kMostCuts = 24;           // looked at for one that fits nowhere
constexpr std::int64_t kWeightStep = 16;        // of a weight
constexpr std::int64_t kHeaviest = std::int64_t{1} << 40;

}  // namespace

std::uint64_t Repair::draw() {  // splitmix64
  std::uint64_t x = random_ += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

bool Repair::run(std::int64_t capacity, const Offsets& start, int seed, std::int64_t work,
                 const std::function<bool()>& stop) {
  capacity_ = capacity;
  workLeft_ = work;
  random_ = static_cast<std::uint64_t>(seed);
  begin(start);
  if (seed % 2 == 1) weigh();
  settle();
  for (std::int64_t k = 1; !out_.empty() && workLeft_ > 0; ++k) {
    if (k % kInsertionsAStop == 0 && stop && stop()) break;
    if (k % kMixPeriod == 0) mixOrder();
    std::swap(out_[draw() % out_.size()], out_.back());
    const std::int32_t buffer = out_.back();
    out_.pop_back();
    gatherAround(buffer);
    const std::optional<Place> free = freePlace(buffer);
    insert(buffer, free ? *free : cheapestPlace(buffer));
    settle();
  }
  workDone_ += work - std::max<std::int64_t>(workLeft_, 0);
  return out_.empty();
}

void Repair::begin(const Offsets& start) {
  const std::size_t count = instance_.count();
  sunk_ = start;
  risen_.assign(count, 0);
  weights_.assign(count, kWeightStep);
  rank_.assign(count, -1);
  floor_.resize(instance_.cliques);
  order_.clear();
  out_.clear();
  for (std::size_t i = 0; i < count; ++i)
    (start[i] + instance_.sizes[i] > capacity_ ? out_ : order_)
        .push_back(static_cast<std::int32_t>(i));
  std::ranges::stable_sort(order_, {}, [&](std::int32_t i) { return start[i]; });
}

// By bytes and time: what is small in both finds another place.
void Repair::weigh() {
  const auto bitsOf = [](std::int64_t n) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n)));
  };
  std::int64_t largest = 0, sum = 0;
  for (const std::int64_t size : instance_.sizes) largest = std::max(largest, size);
  const int shift = std::max(0, bitsOf(largest) - 20);  // sums stay within 64 bits
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    weights_[i] = (instance_.sizes[i] >> shift) * instance_.spans[i].length();
    sum += weights_[i];
  }
  const std::int64_t mean = std::max<std::int64_t>(sum / std::ssize(weights_), 1);
  for (std::int64_t& weight : weights_)
    weight = std::max<std::int64_t>(2 * kWeightStep * weight / mean, 1);
}

// Lets all sink, and all rise, in their order.
void Repair::settle() {
  const auto pile = [&](std::int32_t i, Offsets& offsets) {
    const Span span = instance_.spans[i];
    const auto first = floor_.begin() + span.first, end = floor_.begin() + span.end;
    offsets[i] = *std::max_element(first, end);
    std::fill(first, end, offsets[i] + instance_.sizes[i]);
    workLeft_ -= span.length() + 1;
  };
  std::ranges::fill(floor_, 0);
  for (std::size_t k = 0; k < order_.size(); ++k) {
    rank_[order_[k]] = static_cast<std::int32_t>(k);
    pile(order_[k], sunk_);
  }
  std::ranges::fill(floor_, 0);
  for (std::size_t k = order_.size(); k-- > 0;) pile(order_[k], risen_);
}

// Those that do not meet may come in any order: by their lowest, highest or middle places.
void Repair::mixOrder() {
  const std::uint64_t kind = draw() % 3;
  std::ranges::stable_sort(order_, {}, [&](std::int32_t i) {
    const auto lowest = static_cast<std::uint64_t>(sunk_[i]);
    const auto highest = static_cast<std::uint64_t>(capacity_ - above(i));
    return kind == 0 ? lowest : kind == 1 ? highest : lowest + highest;
  });
  for (std::size_t k = 0; k < order_.size(); ++k) rank_[order_[k]] = static_cast<std::int32_t>(k);
  workLeft_ -= 8 * std::ssize(order_);
}

void Repair::gatherAround(std::int32_t buffer) {
  around_.clear();
  for (const std::int32_t k : neighbours_[buffer])
    if (rank_[k] >= 0) around_.push_back(k);
  std::ranges::sort(around_, {}, [&](std::int32_t k) { return rank_[k]; });
  workLeft_ -= std::ssize(neighbours_[buffer]) + 8 * std::ssize(around_);
}

// Where most bytes stay empty.
std::optional<Repair::Place> Repair::freePlace(std::int32_t buffer) {
  const std::size_t count = around_.size();
  std::vector<std::int64_t> over(count + 1);
  for (std::size_t k = count; k-- > 0;) over[k] = std::max(over[k + 1], above(around_[k]));
  std::optional<Place> best;
  std::int64_t bottom = 0, most = -1;
  for (std::size_t cut = 0; cut <= count; ++cut) {
    const std::int64_t empty = capacity_ - bottom - over[cut] - instance_.sizes[buffer];
    if (empty > most) {
      most = empty;
      best = {cut, bottom};
    }
    if (cut < count) bottom = std::max(bottom, top(around_[cut]));
  }
  return best;
}

// Where those that it drives out weigh least.
Repair::Place Repair::cheapestPlace(std::int32_t buffer) {
  const std::size_t count = around_.size();
  const std::int64_t highest = capacity_ - instance_.sizes[buffer];
  byTop_.resize(count);
  std::iota(byTop_.begin(), byTop_.end(), 0);
  byAbove_ = byTop_;
  std::ranges::sort(byTop_, {}, [&](std::int32_t k) { return top(around_[k]); });
  std::ranges::sort(byAbove_, {}, [&](std::int32_t k) { return above(around_[k]); });
  Place best;
  std::int64_t least = INT64_MAX;
  std::uint64_t alike = 1;
  const auto see = [&](const Place& place, std::int64_t weight) {
    if (weight > least || (weight == least && draw() % ++alike != 0)) return;
    if (weight < least) alike = 1;
    least = weight;
    best = place;
  };
  const std::size_t step = count / kMostCuts + 1;
  for (std::size_t cut = draw() % step; cut <= count; cut += step) {
    workLeft_ -= 1 + 2 * std::ssize(around_);
    // From the floor up: all below the cut are out, and come back; those above it go.
    const auto isBelow = [&](std::int32_t k) { return static_cast<std::size_t>(k) < cut; };
    std::int64_t weight = 0;
    for (std::size_t k = 0; k < cut; ++k) weight += weights_[around_[k]];
    auto goes = byAbove_.rbegin();
    const auto raise = [&](std::int64_t bottom) {
      for (; goes != byAbove_.rend() && above(around_[*goes]) > highest - bottom; ++goes)
        if (!isBelow(*goes)) weight += weights_[around_[*goes]];
      see({cut, bottom}, weight);
    };
    raise(0);
    for (const std::int32_t k : byTop_) {
      const std::int64_t bottom = top(around_[k]);
      if (bottom > highest) break;
      if (!isBelow(k)) continue;
      weight -= weights_[around_[k]];
      raise(bottom);
    }
  }
  weights_[buffer] = std::min(weights_[buffer] + kWeightStep, kHeaviest);
  return best;
}

void Repair::insert(std::int32_t buffer, const Place& place) {
  const std::int64_t room = capacity_ - place.bottom - instance_.sizes[buffer];  // above it
  const auto at = place.cut < around_.size() ? rank_[around_[place.cut]] : std::ssize(order_);
  order_.insert(order_.begin() + at, buffer);
  rank_[buffer] = 0;
  bool drivesOut = false;
  for (std::size_t k = 0; k < around_.size(); ++k) {
    const std::int32_t other = around_[k];
    if (k < place.cut ? top(other) <= place.bottom : above(other) <= room) continue;
    rank_[other] = -1;
    out_.push_back(other);
    drivesOut = true;
  }
  if (drivesOut) std::erase_if(order_, [&](std::int32_t i) { return rank_[i] < 0; });
}

}  // namespace heddle::packing
