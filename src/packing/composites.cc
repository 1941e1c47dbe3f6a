#include "composites.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace heddle::packing {
namespace {

constexpr std::int64_t kWorkOfAPair = 4;  // beside an entry of a clique

// Rounded up, but for lengths beyond 50 bits. Needs: 0 <= part <= whole.
std::int64_t ofWholeEdge(std::int64_t part, std::int64_t whole) {
  const int shift =
      std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(whole))) - 50);
  const std::int64_t edge = std::max<std::int64_t>(whole >> shift, 1);
  const std::int64_t rest = (part >> shift) * kWholeEdge;
  return std::max<std::int64_t>((rest + edge - 1) / edge, part > 0 ? 1 : 0);
}

Span around(Span a, Span b) { return {std::min(a.first, b.first), std::max(a.end, b.end)}; }

}  // namespace

Composites::Composites(const Instance& instance, std::int64_t tolerance, std::int64_t capacity,
                       std::int64_t work, const std::function<bool()>& stop)
    : instance_(instance), members_(instance.count()), buffers_(instance.count()) {
  for (std::size_t i = 0; i < buffers_; ++i)
    members_[i].push_back({static_cast<std::int32_t>(i), 0});
  for (bool joined = true; joined;) {
    const auto count = static_cast<std::int64_t>(instance_.count());
    const std::int64_t round = kWorkOfAPair * count * count;
    if (workDone_ + round > work || (stop && stop())) break;
    workDone_ += round;
    joined_.assign(instance_.count(), false);
    joined = false;
    for (const Join& alike : mostAlike(tolerance)) joined |= join(alike, capacity);
    dropJoined();
  }
}

// Of two that meet the edge is their time, of others their bytes, and no time lies between them.
std::int64_t Composites::differenceOf(std::int32_t a, std::int32_t b) const {
  const Span x = instance_.spans[a], y = instance_.spans[b], both = around(x, y);
  if (x.meets(y)) return ofWholeEdge(2 * both.length() - x.length() - y.length(), both.length());
  const auto [less, more] = std::minmax(instance_.sizes[a], instance_.sizes[b]);
  return std::max(ofWholeEdge(more - less, more),
                  ofWholeEdge(both.length() - x.length() - y.length(), both.length()));
}

// For each the one that it is most like, if within the tolerance. Of equally alike ones the next:
// many that are all alike so join in pairs at once.
std::vector<Composites::Join> Composites::mostAlike(std::int64_t tolerance) const {
  const auto count = static_cast<std::int32_t>(instance_.count());
  std::vector<Join> joins;
  for (std::int32_t a = 0; a < count; ++a) {
    Join best{tolerance + 1, a, a};
    for (std::int32_t k = 1; k < count; ++k) {
      const std::int32_t b = a + k < count ? a + k : a + k - count;
      const std::int64_t difference = differenceOf(a, b);
      if (difference < best.difference) best = {difference, a, b};
      if (difference == 0) break;
    }
    if (best.difference <= tolerance) joins.push_back(best);
  }
  std::ranges::stable_sort(joins, {}, &Join::difference);
  return joins;
}

bool Composites::join(const Join& join, std::int64_t capacity) {
  if (joined_[join.first] || joined_[join.second]) return false;
  std::vector<Member>&into = members_[join.first], &from = members_[join.second];
  const Span x = instance_.spans[join.first], y = instance_.spans[join.second];
  const Span both = around(x, y);
  std::int64_t& bytes = instance_.sizes[join.first];
  const std::int64_t other = instance_.sizes[join.second];
  const std::int64_t offset = x.meets(y) ? bytes : 0;
  const std::int64_t all = x.meets(y) ? bytes + other : std::max(bytes, other);
  const auto liveThen = [&](std::int32_t c) {
    const Span now{c, c + 1};
    return instance_.live[c] - (x.meets(now) ? bytes : 0) - (y.meets(now) ? other : 0) + all;
  };
  for (std::int32_t c = both.first; c < both.end; ++c)
    if (liveThen(c) > std::max(capacity, instance_.live[c])) return false;
  for (std::int32_t c = both.first; c < both.end; ++c) instance_.live[c] = liveThen(c);
  for (const Member& member : from) into.push_back({member.buffer, member.offset + offset});
  from.clear();
  joined_[join.first] = joined_[join.second] = true;
  bytes = all;
  instance_.spans[join.first] = both;
  return true;
}

// Where fewer buffers are left, fewer times tell them apart, and more edges are alike.
void Composites::dropJoined() {
  std::vector<LiveBuffer> left;
  std::vector<std::vector<Member>> members;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].empty()) continue;
    const Span span = instance_.spans[i];
    left.push_back({span.first, span.end, instance_.sizes[i]});
    members.push_back(std::move(members_[i]));
  }
  instance_ = describe(left);
  members_ = std::move(members);
}

Offsets Composites::offsetsOfBuffers(const Offsets& composites) const {
  Offsets offsets(buffers_);
  for (std::size_t i = 0; i < members_.size(); ++i)
    for (const Member& member : members_[i]) offsets[member.buffer] = composites[i] + member.offset;
  return offsets;
}

}  // namespace heddle::packing
