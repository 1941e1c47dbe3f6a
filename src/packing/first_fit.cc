#include "first_fit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace heddle::packing {
namespace {

// Heights over the cliques: the highest of a range, and setting a range that is nowhere higher.
class Skyline {
 public:
  explicit Skyline(std::int32_t cliques)
      : leaves_(std::bit_ceil(static_cast<std::uint32_t>(std::max(cliques, 1)))),
        highest_(std::size_t{2} * leaves_),
        whole_(std::size_t{2} * leaves_) {}

  std::int64_t highest(Span span) const { return highest(1, {0, leaves()}, span); }
  void raise(Span span, std::int64_t top) { raise(1, {0, leaves()}, span, top); }

 private:
  std::int32_t leaves() const { return static_cast<std::int32_t>(leaves_); }
  static bool within(Span inner, Span outer) {
    return outer.first <= inner.first && inner.end <= outer.end;
  }

  std::int64_t highest(std::size_t node, Span at, Span span) const {
    if (!at.meets(span)) return 0;
    if (within(at, span)) return highest_[node];
    const std::int32_t middle = at.first + at.length() / 2;
    return std::max({whole_[node], highest(2 * node, {at.first, middle}, span),
                     highest(2 * node + 1, {middle, at.end}, span)});
  }

  void raise(std::size_t node, Span at, Span span, std::int64_t top) {
    if (!at.meets(span)) return;
    highest_[node] = std::max(highest_[node], top);
    if (within(at, span)) {
      whole_[node] = top;
      return;
    }
    const std::int32_t middle = at.first + at.length() / 2;
    raise(2 * node, {at.first, middle}, span, top);
    raise(2 * node + 1, {middle, at.end}, span, top);
  }

  std::uint32_t leaves_;
  std::vector<std::int64_t> highest_, whole_;  // anywhere below a node; everywhere below it
};

// a * b, or the largest number: only orders depend on it.
std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? INT64_MAX : out;
}

}  // namespace

Order orderBy(const Instance& instance, int kind) {
  std::vector<std::array<std::int64_t, 3>> keys;
  for (std::size_t i = 0; i < instance.count(); ++i) {
    const Span span = instance.spans[i];
    const std::int64_t size = instance.sizes[i], width = span.length();
    const std::int64_t area = product(size, width);
    // Long lives are in full cliques too; a few of them tell how full.
    std::int64_t fullest = 0;
    const std::int32_t step = std::max(1, span.length() / 64);
    for (std::int32_t c = span.first; c < span.end; c += step)
      fullest = std::max(fullest, instance.live[c]);
    switch (kind) {
      case 0:
        keys.push_back({width, area, fullest});
        break;
      case 1:
        keys.push_back({fullest, area, width});
        break;
      case 2:
        keys.push_back({fullest, width, area});
        break;
      case 3:
        keys.push_back({area, fullest, width});
        break;
      case 4:
        keys.push_back({size, fullest, width});
        break;
      default:
        keys.push_back({size, width, fullest});
        break;
    }
  }
  Order order(instance.count());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return keys[a] > keys[b]; });
  return order;
}

Offsets firstFit(const Instance& instance, const std::vector<Order>& neighbours,
                 const Order& order) {
  Offsets offsets(instance.count(), -1);
  std::vector<std::pair<std::int64_t, std::int64_t>> taken;
  for (const std::int32_t i : order) {
    taken.clear();
    for (const std::int32_t k : neighbours[i])
      if (offsets[k] >= 0) taken.emplace_back(offsets[k], offsets[k] + instance.sizes[k]);
    std::sort(taken.begin(), taken.end());
    std::int64_t offset = 0;
    for (const auto& [from, to] : taken) {
      if (from - offset >= instance.sizes[i]) break;
      offset = std::max(offset, to);
    }
    offsets[i] = offset;
  }
  return offsets;
}

Offsets stack(const Instance& instance, const Order& order) {
  Offsets offsets(instance.count());
  Skyline skyline(instance.cliques);
  for (const std::int32_t i : order) {
    offsets[i] = skyline.highest(instance.spans[i]);
    skyline.raise(instance.spans[i], offsets[i] + instance.sizes[i]);
  }
  return offsets;
}

std::int64_t heightOf(const Instance& instance, const Offsets& offsets) {
  std::int64_t height = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i)
    height = std::max(height, offsets[i] + instance.sizes[i]);
  return height;
}

}  // namespace heddle::packing
