#include "sync.h"

#include <algorithm>

namespace heddle {

// Makes `at` a border between stretches; the first stretch at or behind it.
std::map<std::int64_t, TileAccesses::Stretch>::iterator TileAccesses::split(std::int64_t at) {
  auto next = stretches_.lower_bound(at);
  if (next != stretches_.begin()) {
    auto before = std::prev(next);
    if (before->second.end > at) {
      Stretch rest = before->second;
      before->second.end = at;
      next = stretches_.emplace_hint(next, at, std::move(rest));
    }
  }
  return next;
}

// A queue needs no token for itself, nor for what an earlier token of the same pair has brought.
void TileAccesses::require(const AccessPoint& from, const AccessPoint& to,
                           std::vector<Edge>& edges) {
  if (from.queue < 0 || from.queue == to.queue) return;
  const std::uint64_t pair = std::uint64_t{static_cast<std::uint32_t>(from.queue)} << 32 |
                             static_cast<std::uint32_t>(to.queue);
  auto [known, fresh] = known_.try_emplace(pair, -1);
  if (known->second >= from.op) return;
  known->second = from.op;
  // Several stretches may ask in one access: only the latest counts.
  for (Edge& e : edges)
    if (e.from.queue == from.queue && e.to.queue == to.queue && e.to.op == to.op) {
      e.from = from;
      return;
    }
  edges.push_back({from, to});
}

void TileAccesses::read(std::int64_t first, std::int64_t end, AccessPoint by,
                        std::vector<Edge>& edges) {
  if (first >= end) return;
  auto at = split(first);
  split(end);
  at = stretches_.lower_bound(first);
  for (std::int64_t next = first; next < end;) {
    if (at == stretches_.end() ||
        at->first > next) {  // never touched: remember the reader all the same
      const std::int64_t gapEnd = at == stretches_.end() ? end : std::min(end, at->first);
      at = stretches_.emplace_hint(at, next, Stretch{gapEnd, {}, {}});
    }
    Stretch& stretch = at->second;
    require(stretch.writer, by, edges);
    const auto mine = std::find_if(stretch.readers.begin(), stretch.readers.end(),
                                   [&](const AccessPoint& r) { return r.queue == by.queue; });
    if (mine == stretch.readers.end())
      stretch.readers.push_back(by);
    else
      *mine = by;
    next = stretch.end;
    ++at;
  }
}

void TileAccesses::write(std::int64_t first, std::int64_t end, AccessPoint by,
                         std::vector<Edge>& edges) {
  if (first >= end) return;
  split(first);
  split(end);
  auto at = stretches_.lower_bound(first);
  while (at != stretches_.end() && at->first < end) {
    require(at->second.writer, by, edges);
    for (const AccessPoint& reader : at->second.readers) require(reader, by, edges);
    at = stretches_.erase(at);
  }
  stretches_.emplace_hint(at, first, Stretch{end, by, {}});
}

}  // namespace heddle
