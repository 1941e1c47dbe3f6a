#include "sync.h"

#include <algorithm>

namespace heddle {
namespace {

// A queue needs no token for itself; one access may find an edge in several stretches.
void add(const Edge& edge, std::vector<Edge>& edges) {
  if (edge.from.queue < 0 || edge.from.queue == edge.to.queue) return;
  const auto found = std::find_if(edges.begin(), edges.end(), [&](const Edge& e) {
    return e.from.queue == edge.from.queue && e.from.op == edge.from.op && e.data == edge.data &&
           e.opened.op == edge.opened.op && e.to.end == edge.to.end;
  });
  if (found == edges.end()) {
    edges.push_back(edge);
  } else if (edge.data) {
    found->from.row = std::max(found->from.row, edge.from.row);
    found->opened.row = std::max(found->opened.row, edge.opened.row);
  } else {
    found->to.row = std::min(found->to.row, edge.to.row);
  }
}

}  // namespace

// The chunk where a stretch that begins at `first` belongs.
std::size_t FirstBytes::chunkOf(std::int64_t first) const {
  const auto behind = std::upper_bound(heads_.begin(), heads_.end(), first);
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(behind - heads_.begin(), 1) - 1);
}

void FirstBytes::insert(std::int64_t first, std::uint32_t number) {
  constexpr std::size_t kLongest = 128;
  if (chunks_.empty()) {
    heads_.push_back(first);
    chunks_.emplace_back();
  }
  const std::size_t c = chunkOf(first);
  Chunk& chunk = chunks_[c];
  chunk.insert(std::upper_bound(chunk.begin(), chunk.end(), first,
                                [](std::int64_t byte, const Entry& e) { return byte < e.first; }),
               {first, number});
  heads_[c] = chunk.front().first;
  if (chunk.size() < kLongest) return;
  const auto middle = chunk.begin() + kLongest / 2;
  Chunk rest(middle, chunk.end());
  chunk.erase(middle, chunk.end());
  const auto behind = static_cast<std::ptrdiff_t>(c) + 1;
  heads_.insert(heads_.begin() + behind, rest.front().first);
  chunks_.insert(chunks_.begin() + behind, std::move(rest));
}

void FirstBytes::erase(std::int64_t first) {
  const std::size_t c = chunkOf(first);
  Chunk& chunk = chunks_[c];
  chunk.erase(std::lower_bound(chunk.begin(), chunk.end(), first,
                               [](const Entry& e, std::int64_t byte) { return e.first < byte; }));
  if (!chunk.empty()) {
    heads_[c] = chunk.front().first;
    return;
  }
  heads_.erase(heads_.begin() + static_cast<std::ptrdiff_t>(c));
  chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(c));
}

std::uint32_t FirstBytes::lastBefore(std::int64_t byte) const {
  const auto behind = std::lower_bound(heads_.begin(), heads_.end(), byte);
  if (behind == heads_.begin()) return 0;
  const Chunk& chunk = chunks_[static_cast<std::size_t>(behind - heads_.begin()) - 1];
  return std::prev(std::lower_bound(chunk.begin(), chunk.end(), byte,
                                    [](const Entry& e, std::int64_t b) { return e.first < b; }))
      ->number;
}

// A new stretch before the one numbered `before`.
std::uint32_t TileAccesses::insert(std::uint32_t before, std::int64_t first, std::int64_t end) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(stretches_.size()));
    stretches_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  firsts_.insert(first, number);
  Stretch& made = stretches_[number];
  made.first = first;
  made.end = end;
  made.previous = stretches_[before].previous;
  made.next = before;
  stretches_[made.previous].next = stretches_[before].previous = number;
  made.writer = made.opened = {};
  made.readers.clear();
  return number;
}

void TileAccesses::erase(std::uint32_t at) {
  const Stretch& gone = stretches_[at];
  firsts_.erase(gone.first);
  stretches_[gone.previous].next = gone.next;
  stretches_[gone.next].previous = gone.previous;
  free_.push_back(at);
}

// Makes `byte` a border between stretches; the first stretch at or behind it.
std::uint32_t TileAccesses::split(std::int64_t byte) {
  return splitBehind(firsts_.lastBefore(byte), byte);
}
// The same, of the stretches from `from` on: an access is mostly of one, its end lies right behind.
std::uint32_t TileAccesses::split(std::int64_t byte, std::uint32_t from) {
  std::uint32_t at = from;
  while (at != kEnds && stretches_[at].first < byte) at = stretches_[at].next;
  return splitBehind(stretches_[at].previous, byte);
}
// `at`: the last stretch that begins before `byte`.
std::uint32_t TileAccesses::splitBehind(std::uint32_t at, std::int64_t byte) {
  if (at == kEnds || stretches_[at].end <= byte) return stretches_[at].next;
  const std::uint32_t made = insert(stretches_[at].next, byte, stretches_[at].end);
  Stretch &before = stretches_[at], &rest = stretches_[made];
  before.end = byte;
  rest.writer = before.writer;
  rest.opened = before.opened;
  rest.readers = before.readers;
  return made;
}

void TileAccesses::read(std::int64_t first, std::int64_t end, AccessPoint by,
                        std::vector<Edge>& edges) {
  if (first >= end) return;
  std::uint32_t at = split(first);
  split(end, at);
  for (std::int64_t next = first; next < end;) {
    // Never touched: remember the reader all the same.
    if (at == kEnds || stretches_[at].first > next)
      at = insert(at, next, at == kEnds ? end : std::min(end, stretches_[at].first));
    Stretch& place = stretches_[at];
    const auto mine = std::find_if(place.readers.begin(), place.readers.end(),
                                   [&](const AccessPoint& r) { return r.queue == by.queue; });
    if (mine == place.readers.end()) {
      add({place.writer, by, true, place.opened}, edges);
      place.readers.push_back(by);
    } else {
      *mine = by;
    }
    next = place.end;
    at = place.next;
  }
}

void TileAccesses::write(std::int64_t first, std::int64_t end, AccessPoint by,
                         std::vector<Edge>& edges) {
  if (first >= end) return;
  std::uint32_t begin = split(first);
  const std::uint32_t behind = split(end, begin);
  bool mine = begin != behind;
  const AccessPoint opened = mine ? stretches_[begin].opened : by;
  std::int64_t last = first;  // end of the stretches so far
  for (std::uint32_t at = begin; at != behind; at = stretches_[at].next) {
    const Stretch& place = stretches_[at];
    mine = mine && place.first == last && place.writer.queue == by.queue;
    last = place.end;
    // Readers first: who waits for them has waited for the writer as well.
    for (const AccessPoint& reader : place.readers) {
      mine = mine && reader.queue == by.queue;
      add({reader, by, false, {}}, edges);
    }
    add({place.writer, by, false, {}}, edges);
  }
  // One stretch takes the place of all.
  if (begin == behind || stretches_[begin].first != first) begin = insert(begin, first, end);
  while (stretches_[begin].next != behind) erase(stretches_[begin].next);
  Stretch& written = stretches_[begin];
  written.end = end;
  written.writer = by;
  written.opened = mine && last == end ? opened : by;
  written.readers.clear();
}

}  // namespace heddle
