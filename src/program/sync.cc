#include "sync.h"

#include <algorithm>

namespace heddle {
namespace {

// A queue needs no token for itself; one access may find an edge in several stretches.
void add(const Edge& edge, std::vector<Edge>& edges) {
  if (edge.from.queue < 0 || edge.from.queue == edge.to.queue) return;
  const bool found = std::any_of(edges.begin(), edges.end(), [&](const Edge& e) {
    return e.from.queue == edge.from.queue && e.from.op == edge.from.op && e.data == edge.data &&
           e.opened.op == edge.opened.op && e.to.end == edge.to.end;
  });
  if (!found) edges.push_back(edge);
}

}  // namespace

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
      at = stretches_.emplace_hint(at, next, Stretch{gapEnd, {}, {}, {}});
    }
    Stretch& stretch = at->second;
    const auto mine = std::find_if(stretch.readers.begin(), stretch.readers.end(),
                                   [&](const AccessPoint& r) { return r.queue == by.queue; });
    if (mine == stretch.readers.end()) {
      add({stretch.writer, by, true, stretch.opened}, edges);
      stretch.readers.push_back(by);
    } else {
      *mine = by;
    }
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
  bool mine = at != stretches_.end();
  const AccessPoint opened = mine ? at->second.opened : by;
  std::int64_t last = first;  // end of the stretches so far
  for (; at != stretches_.end() && at->first < end; at = stretches_.erase(at)) {
    const Stretch& stretch = at->second;
    mine = mine && at->first == last && stretch.writer.queue == by.queue;
    last = stretch.end;
    // Readers first: who waits for them has waited for the writer as well.
    for (const AccessPoint& reader : stretch.readers) {
      mine = mine && reader.queue == by.queue;
      add({reader, by, false, {}}, edges);
    }
    add({stretch.writer, by, false, {}}, edges);
  }
  stretches_.emplace_hint(at, first, Stretch{end, by, mine && last == end ? opened : by, {}});
}

}  // namespace heddle
