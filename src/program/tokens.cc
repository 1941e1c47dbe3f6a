#include "tokens.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "heddle/support/check.h"

namespace heddle {
namespace {

using StepPair = std::pair<std::int32_t, std::int32_t>;

// Sets as sorted vectors: elements come mostly in order, often again and again.
template <class T>
void add(const T& element, std::vector<T>& to) {
  if (to.empty() || to.back() != element) to.push_back(element);
}
template <class T>
void sortOut(std::vector<T>& elements) {
  std::sort(elements.begin(), elements.end());
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
}
template <class T>
bool contains(const std::vector<T>& sorted, const T& element) {
  return std::binary_search(sorted.begin(), sorted.end(), element);
}

std::uint8_t narrowEnd(std::int32_t end) {
  constexpr std::int32_t kMostEnds = std::numeric_limits<std::uint8_t>::max();
  HEDDLE_CHECK(end <= kMostEnds) << "a transfer has more than " << kMostEnds << " destinations";
  return static_cast<std::uint8_t>(end);
}

// Rows behind the last that it can tell apart count as that one; one less than fits, to count up.
std::uint16_t narrowRow(std::int32_t row) {
  constexpr std::int32_t kLastRow = std::numeric_limits<std::uint16_t>::max() - 1;
  return static_cast<std::uint16_t>(std::min(row, kLastRow));
}

}  // namespace

Tokens::Pair& Tokens::pairOf(std::int32_t tile, std::int32_t writer, std::int32_t reader) {
  // Edges of a few pairs come again and again: most are found without the map.
  const auto place = std::size_t{1021} * static_cast<std::size_t>(tile) +
                     std::size_t{127} * static_cast<std::size_t>(writer) +
                     static_cast<std::size_t>(reader);
  std::size_t& recent = recent_[place % recent_.size()];
  if (recent < pairs_.size()) {
    Pair& pair = pairs_[recent];
    if (pair.data.to == reader && pair.data.from == writer && pair.tile == tile) return pair;
  }
  const auto [at, fresh] = numbers_.try_emplace({tile, writer, reader}, pairs_.size());
  if (fresh)
    pairs_.push_back({.tile = tile,
                      .data = {.from = writer, .to = reader, .all = {}},
                      .space = {.from = reader, .to = writer, .all = {}}});
  recent = at->second;
  return pairs_[recent];
}

Tokens::Demand Tokens::demand(const AccessPoint& from, const AccessPoint& to, std::int32_t row,
                              bool needed) {
  return {.fromOp = from.op,
          .fromStep = from.step,
          .toOp = to.op,
          .toStep = to.step,
          .row = narrowRow(row),
          .fromEnd = narrowEnd(from.end),
          .toEnd = narrowEnd(to.end),
          .needed = needed};
}

void Tokens::waitAtFirst(std::int32_t tile, const AccessPoint& by) {
  const auto queue = static_cast<std::size_t>(by.queue);
  if (firsts_.size() <= queue) firsts_.resize(queue + 1);
  std::vector<First>& firsts = firsts_[queue];
  for (auto first = firsts.rbegin(); first != firsts.rend() && first->step == by.step; ++first)
    if (first->tile == tile) return;
  firsts.push_back({.tile = tile, .step = by.step, .op = by.op, .end = narrowEnd(by.end)});
}

void Tokens::require(std::int32_t tile, const Edge& edge) {
  const Operation ended{edge.from.queue, edge.from.op};
  const bool needed = !order_.knows(ended);
  if (needed) order_.await(ended);
  Pair& pair = edge.data ? pairOf(tile, edge.from.queue, edge.to.queue)
                         : pairOf(tile, edge.to.queue, edge.from.queue);
  Demands& demands = edge.data ? pair.data : pair.space;
  demands.needed = demands.needed || needed;
  demands.all.push_back(
      demand(edge.from, edge.to, edge.data ? edge.from.row : edge.to.row, needed));
  if (!edge.data) {
    if (pair.firstWait < 0 && needed && edge.from.step == edge.to.step) pair.firstWait = edge.to.op;
    return;
  }
  // Whoever reads what was written into a place gives the place back, sooner or later.
  std::vector<Demand>& space = pair.space.all;
  Demand* taken = &demands.all.back();
  if (edge.opened.op == edge.from.op) {
    taken->takesPlace = true;
  } else if (!space.empty() && space.back().fromOp < 0 && space.back().toOp == edge.opened.op) {
    space.back().row = std::max(space.back().row, narrowRow(edge.opened.row));
    return;
  } else {
    space.push_back(demand({.step = -1}, edge.opened, edge.opened.row, false));
    taken = &space.back();
  }
  // What is told behind the first wait takes its token from who is waited for in any case.
  if (pair.firstWait < 0 || edge.opened.op <= pair.firstWait)
    taken->known = order_.latest({edge.opened.queue, edge.opened.op}, edge.to.queue);
}

std::int32_t Tokens::addLock(const DerivedLock& lock) {
  locks_.push_back(lock);
  return static_cast<std::int32_t>(locks_.size()) - 1;
}

void Tokens::use(std::int32_t lock, const AccessPoint& by, bool release, std::int64_t count) {
  std::vector<TokenUse>& uses = usesOf(by.queue);
  if (!uses.empty() && uses.back().op == by.op && uses.back().lock == lock &&
      uses.back().end == by.end && uses.back().release == release) {
    uses.back().count += static_cast<std::int32_t>(count);
    return;
  }
  uses.push_back({.op = by.op,
                  .lock = lock,
                  .count = static_cast<std::int32_t>(count),
                  .end = static_cast<std::int16_t>(by.end),
                  .release = release});
}

void Tokens::finish(std::span<const TileAccesses> tiles) {
  for (Pair& pair : pairs_) {
    if (pair.data.needed) deriveData(pair);
    if (pair.space.needed) deriveSpace(pair, tiles[static_cast<std::size_t>(pair.tile)]);
    pair.data.all = {};
    pair.space.all = {};
  }
}

// Each row that is written gives one; a read takes those of all rows up to the last that it needs.
void Tokens::deriveData(const Pair& pair) {
  const Demands& data = pair.data;
  std::vector<StepPair> needed;
  for (const Demand& d : data.all)
    if (d.needed) add({d.fromStep, d.toStep}, needed);
  sortOut(needed);
  const auto takes = [&](const Demand& d) {
    return contains(needed, StepPair{d.fromStep, d.toStep});
  };
  const std::int32_t lock = addLock({pair.tile, data.from, data.to, LockPurpose::Data, 0});
  std::vector<AccessPoint> writes;  // each once, in order, with the last of its rows that is read
  for (const Demand& d : data.all)
    if (takes(d)) writes.push_back(data.fromOf(d));
  const auto byRow = [](const AccessPoint& a, const AccessPoint& b) {
    return std::tie(a.op, b.row) < std::tie(b.op, a.row);
  };
  const auto sameOp = [](const AccessPoint& a, const AccessPoint& b) { return a.op == b.op; };
  std::stable_sort(writes.begin(), writes.end(), byRow);
  writes.erase(std::unique(writes.begin(), writes.end(), sameOp), writes.end());
  std::int64_t rows = 0;
  for (const AccessPoint& write : writes) rows += write.row + 1;
  const bool rowByRow = rows <= mostTokens_;
  if (!rowByRow && std::ssize(writes) > mostTokens_) return giveLatest(data, lock);
  const auto upTo = [&](std::int32_t row) -> std::int64_t { return rowByRow ? row + 1 : 1; };
  for (const AccessPoint& write : writes) use(lock, write, true, upTo(write.row));
  auto next = writes.begin();  // the first write not all of whose tokens are taken yet
  std::int64_t taken = 0;      // of its tokens
  for (auto d = data.all.begin(); d != data.all.end();) {
    const AccessPoint by = data.toOf(*d);
    std::int64_t count = 0;
    for (; d != data.all.end() && d->toOp == by.op; ++d)
      if (takes(*d)) {
        for (; next != writes.end() && next->op < d->fromOp; ++next, taken = 0)
          count += upTo(next->row) - taken;
        if (next != writes.end() && next->op == d->fromOp && upTo(d->row) > taken)
          count += upTo(d->row) - std::exchange(taken, upTo(d->row));
      }
    if (count > 0) use(lock, by, false, count);
  }
}

// Where a lock cannot count all that there is: each of `to` that waits longer than those before it
// takes one, given by what it waits for.
void Tokens::giveLatest(const Demands& of, std::int32_t lock) {
  std::vector<Demand> demands;
  std::ranges::copy_if(of.all, std::back_inserter(demands),
                       [](const Demand& d) { return d.needed; });
  std::ranges::stable_sort(demands, {}, &Demand::toOp);
  AccessPoint latest;
  for (auto d = demands.begin(); d != demands.end();) {
    const AccessPoint by = of.toOf(*d);
    AccessPoint waitsFor = latest;
    for (; d != demands.end() && d->toOp == by.op; ++d)
      if (d->fromOp > waitsFor.op) waitsFor = of.fromOf(*d);
    if (waitsFor.op == latest.op) continue;
    use(lock, waitsFor, true, 1);
    use(lock, by, false, 1);
    latest = waitsFor;
  }
}

// The rows that take a token, in order; each with the latest operation that it waits for, if any.
// Of a write that is in no regular step, or if not `rowByRow`: the first speaks for all.
void Tokens::findWrites(const Pair& pair, const std::vector<std::int32_t>& regular, bool rowByRow) {
  candidates_.clear();
  for (const Demand& d : pair.space.all) {
    if (!d.needed && !contains(regular, d.toStep)) continue;
    candidates_.push_back(d);
    // What is known of steps before asks for nothing; in a regular step all rows wait alike.
    if (!d.needed && d.fromStep != d.toStep) candidates_.back().fromOp = -1;
  }
  for (const Demand& d : pair.data.all)
    if (d.takesPlace && contains(regular, d.fromStep))
      candidates_.push_back({.toOp = d.fromOp,
                             .toStep = d.fromStep,
                             .known = d.known,
                             .row = d.row,
                             .toEnd = d.fromEnd});
  std::stable_sort(candidates_.begin(), candidates_.end(), [](const Demand& a, const Demand& b) {
    return std::tie(a.toOp, a.row) < std::tie(b.toOp, b.row);
  });
  writes_.clear();
  for (auto d = candidates_.begin(); d != candidates_.end();) {
    const auto behind = std::find_if(d, candidates_.end(),
                                     [&](const Demand& other) { return other.toOp != d->toOp; });
    Demand row = *d;
    row.fromOp = -1;
    std::uint16_t last = 0;
    for (auto of = d; of != behind; ++of) {
      row.known = std::max(row.known, of->known);
      if (of->fromOp < 0) last = std::max(last, of->row);
    }
    if (!rowByRow || !contains(regular, d->toStep)) last = 0;
    for (row.row = 0; row.row <= last; ++row.row) {
      for (; d != behind && (d->row <= row.row || row.row == last); ++d)
        if (d->fromOp > row.fromOp) {
          row.fromOp = d->fromOp;
          row.fromStep = d->fromStep;
          row.fromEnd = d->fromEnd;
        }
      writes_.push_back(row);
    }
  }
}

// What was told in steps before has been told before the first of this step: it can wait for all
// of that, so that those behind it are alike.
void Tokens::moveToFirst(Pair& pair, const std::vector<std::int32_t>& regular) const {
  const auto queue = static_cast<std::size_t>(pair.space.to);
  if (queue >= firsts_.size()) return;
  for (Demand& d : pair.space.all) {
    if (!d.needed || d.fromStep == d.toStep || contains(regular, d.toStep)) continue;
    auto first = std::ranges::lower_bound(firsts_[queue], d.toStep, {}, &First::step);
    for (; first != firsts_[queue].end() && first->step == d.toStep; ++first)
      if (first->tile == pair.tile) {
        d.toOp = first->op;
        d.toEnd = first->end;
      }
  }
}

// Each row that is written takes one; whoever is waited for gives as many as there are rows that
// wait for it.
void Tokens::deriveSpace(Pair& pair, const TileAccesses& tile) {
  std::vector<std::int32_t> regular;  // steps
  for (const Demand& d : pair.space.all)
    if (d.needed && d.fromStep == d.toStep) add(d.toStep, regular);
  sortOut(regular);
  moveToFirst(pair, regular);
  const std::int32_t lock =
      addLock({pair.tile, pair.space.from, pair.space.to, LockPurpose::Space, 0});
  findWrites(pair, regular, true);
  // At the end the places that the lock begins with may be given back on top of all others.
  if (std::ssize(writes_) > mostTokens_ / 2) findWrites(pair, regular, false);
  if (std::ssize(writes_) > mostTokens_) return giveLatest(pair.space, lock);
  std::int64_t initial = 0;
  std::vector<Demand> unbound;  // writes before the first that waits
  std::map<std::int32_t, Given> given;
  AccessPoint last;  // that is waited for
  for (const Demand& write : writes_) {
    const bool later = write.fromOp > last.op;
    if (!later && !contains(regular, write.toStep)) continue;
    use(lock, pair.space.toOf(write), false, 1);
    if (later) {
      // A write that cannot run before this release anyway takes its token from it: the lock begins
      // with no token that is never needed.
      const bool first = last.op < 0;
      last = pair.space.fromOf(write);
      given[last.op] = {last, 1};
      if (!first) continue;
      for (const Demand& d : unbound)
        ++(d.toStep == last.step && d.known < last.op ? initial : given[last.op].count);
    } else if (last.op < 0) {
      unbound.push_back(write);
    } else {
      ++given[last.op].count;
    }
  }
  locks_[static_cast<std::size_t>(lock)].initial = initial;
  if (initial > 0) giveBack(pair, tile, regular.back(), initial, last, given);
  for (const auto& [op, g] : given) use(lock, g.by, true, g.count);
}

// The lock ends as it began: the last `count` places are given back though nobody writes them
// again, by who has read them in `step`.
void Tokens::giveBack(const Pair& pair, const TileAccesses& tile, std::int32_t step,
                      std::int64_t count, AccessPoint last, std::map<std::int32_t, Given>& given) {
  // By the operation that took the place over, and the row of it.
  std::map<std::pair<std::int32_t, std::int32_t>, AccessPoint> readers;
  tile.forEachReadPlace([&](const AccessPoint& opened, const AccessPoint& reader) {
    if (opened.queue != pair.space.to || reader.queue != pair.space.from || opened.step != step)
      return;
    const auto [at, fresh] = readers.try_emplace({opened.op, opened.row}, reader);
    if (!fresh && at->second.op < reader.op) at->second = reader;
  });
  for (auto reader = readers.begin(); count > 0; --count) {
    if (reader != readers.end()) {
      if (reader->second.op > last.op) last = reader->second;
      ++reader;
    }
    Given& back = given[last.op];
    back.by = last;
    ++back.count;
  }
}

}  // namespace heddle
