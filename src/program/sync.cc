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

// A new stretch before the one at `at`.
TileAccesses::Stretch& TileAccesses::insert(std::size_t at, std::int64_t first, std::int64_t end) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(stretches_.size()));
    stretches_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  firsts_.insert(firsts_.begin() + static_cast<std::ptrdiff_t>(at), first);
  numbers_.insert(numbers_.begin() + static_cast<std::ptrdiff_t>(at), number);
  Stretch& made = stretches_[number];
  made.end = end;
  made.writer = made.opened = {};
  made.readers.clear();
  return made;
}

void TileAccesses::erase(std::size_t begin, std::size_t end) {
  if (begin >= end) return;
  const auto b = static_cast<std::ptrdiff_t>(begin), e = static_cast<std::ptrdiff_t>(end);
  free_.insert(free_.end(), numbers_.begin() + b, numbers_.begin() + e);
  firsts_.erase(firsts_.begin() + b, firsts_.begin() + e);
  numbers_.erase(numbers_.begin() + b, numbers_.begin() + e);
}

// Makes `byte` a border between stretches; the first stretch at or behind it, of those from `from`
// on.
std::size_t TileAccesses::split(std::int64_t byte, std::size_t from) {
  std::size_t at = from;
  // An access is mostly of one stretch: its end lies right behind.
  if (at < firsts_.size() && firsts_[at] < byte) ++at;
  if (at < firsts_.size() && firsts_[at] < byte)
    at = static_cast<std::size_t>(
        std::lower_bound(firsts_.begin() + static_cast<std::ptrdiff_t>(at), firsts_.end(), byte) -
        firsts_.begin());
  if (at == 0 || stretch(at - 1).end <= byte) return at;
  Stretch& rest = insert(at, byte, stretch(at - 1).end);
  Stretch& before = stretch(at - 1);
  before.end = byte;
  rest.writer = before.writer;
  rest.opened = before.opened;
  rest.readers = before.readers;
  return at;
}

void TileAccesses::read(std::int64_t first, std::int64_t end, AccessPoint by,
                        std::vector<Edge>& edges) {
  if (first >= end) return;
  std::size_t at = split(first, 0);
  split(end, at);
  for (std::int64_t next = first; next < end; ++at) {
    // Never touched: remember the reader all the same.
    if (at == firsts_.size() || firsts_[at] > next)
      insert(at, next, at == firsts_.size() ? end : std::min(end, firsts_[at]));
    Stretch& place = stretch(at);
    const auto mine = std::find_if(place.readers.begin(), place.readers.end(),
                                   [&](const AccessPoint& r) { return r.queue == by.queue; });
    if (mine == place.readers.end()) {
      add({place.writer, by, true, place.opened}, edges);
      place.readers.push_back(by);
    } else {
      *mine = by;
    }
    next = place.end;
  }
}

void TileAccesses::write(std::int64_t first, std::int64_t end, AccessPoint by,
                         std::vector<Edge>& edges) {
  if (first >= end) return;
  const std::size_t begin = split(first, 0);
  const std::size_t behind = split(end, begin);
  bool mine = begin < behind;
  const AccessPoint opened = mine ? stretch(begin).opened : by;
  std::int64_t last = first;  // end of the stretches so far
  for (std::size_t at = begin; at < behind; ++at) {
    const Stretch& place = stretch(at);
    mine = mine && firsts_[at] == last && place.writer.queue == by.queue;
    last = place.end;
    // Readers first: who waits for them has waited for the writer as well.
    for (const AccessPoint& reader : place.readers) {
      mine = mine && reader.queue == by.queue;
      add({reader, by, false, {}}, edges);
    }
    add({place.writer, by, false, {}}, edges);
  }
  if (begin == behind) {
    insert(begin, first, end);
  } else {
    erase(begin + 1, behind);
    firsts_[begin] = first;
  }
  Stretch& written = stretch(begin);
  written.end = end;
  written.writer = by;
  written.opened = mine && last == end ? opened : by;
  written.readers.clear();
}

}  // namespace heddle
