#include "tokens.h"

#include <algorithm>
#include <set>

namespace heddle {
namespace {

using StepPair = std::pair<std::int32_t, std::int32_t>;

}  // namespace

std::size_t Tokens::pairOf(std::int32_t tile, std::int32_t from, std::int32_t to, bool data) {
  const auto [at, fresh] = numbers_.try_emplace({tile, from, to, data}, pairs_.size());
  if (fresh) pairs_.push_back({.tile = tile, .from = from, .to = to, .data = data, .demands = {}});
  return at->second;
}

std::size_t Tokens::dataPairOf(std::int32_t tile, const Edge& edge) {
  if (latestData_ < pairs_.size()) {
    const Pair& latest = pairs_[latestData_];
    if (latest.data && latest.tile == tile && latest.from == edge.from.queue &&
        latest.to == edge.to.queue)
      return latestData_;
  }
  const std::size_t known = pairs_.size();
  latestData_ = pairOf(tile, edge.from.queue, edge.to.queue, true);
  if (latestData_ == known) {
    const std::size_t back = pairOf(tile, edge.to.queue, edge.from.queue, false);
    pairs_[latestData_].back = back;
  }
  return latestData_;
}

void Tokens::require(std::int32_t tile, const Edge& edge) {
  const Operation ended{edge.from.queue, edge.from.op};
  const bool needed = !order_.knows(ended);
  if (needed) order_.await(ended);
  Pair& pair = pairs_[edge.data ? dataPairOf(tile, edge)
                                : pairOf(tile, edge.from.queue, edge.to.queue, false)];
  pair.needed = pair.needed || needed;
  pair.demands.push_back({edge.from, edge.to, needed, -1});
  if (!edge.data) return;
  // Whoever reads what was written into a place gives the place back, sooner or later.
  std::vector<Demand>& space = pairs_[pair.back].demands;
  if (!space.empty() && space.back().from.op < 0 && space.back().to.op == edge.opened.op) return;
  const std::int32_t known = order_.latest({edge.opened.queue, edge.opened.op}, edge.to.queue);
  space.push_back({{edge.to.queue, -1, 0, -1}, edge.opened, false, known});
}

std::int32_t Tokens::addLock(const Pair& pair) {
  locks_.push_back({pair.tile, pair.from, pair.to, pair.data, 0});
  return static_cast<std::int32_t>(locks_.size()) - 1;
}

void Tokens::use(std::int32_t lock, const AccessPoint& by, bool release, std::int64_t count) {
  usesOf(by.queue).push_back({by.op, by.end, lock, release, count});
}

void Tokens::finish(std::span<const TileAccesses> tiles) {
  std::sort(pairs_.begin(), pairs_.end());
  for (const Pair& pair : pairs_) {
    if (!pair.needed) continue;
    if (pair.data)
      deriveData(pair);
    else
      deriveSpace(pair, tiles[static_cast<std::size_t>(pair.tile)]);
  }
}

// Each write gives one; a read takes those of all writes up to the last that it needs.
void Tokens::deriveData(const Pair& pair) {
  std::set<StepPair> needed;
  for (const Demand& d : pair.demands)
    if (d.needed) needed.emplace(d.from.step, d.to.step);
  const auto takes = [&](const Demand& d) { return needed.contains({d.from.step, d.to.step}); };
  const std::int32_t lock = addLock(pair);
  std::map<std::int32_t, AccessPoint> writes;
  for (const Demand& d : pair.demands)
    if (takes(d)) writes.emplace(d.from.op, d.from);
  for (const auto& [op, write] : writes) use(lock, write, true, 1);
  auto next = writes.begin();  // first write whose token is not taken yet
  for (auto d = pair.demands.begin(); d != pair.demands.end();) {
    const AccessPoint by = d->to;
    std::int64_t count = 0;
    for (; d != pair.demands.end() && d->to.op == by.op; ++d)
      if (takes(*d))
        for (; next != writes.end() && next->first <= d->from.op; ++next) ++count;
    if (count > 0) use(lock, by, false, count);
  }
}

// The writes that take a token, by number; each with the latest operation that it waits for, if
// any.
std::map<std::int32_t, Tokens::Demand> Tokens::writesOf(const Pair& pair,
                                                        const std::set<std::int32_t>& regular) {
  std::map<std::int32_t, Demand> writes;
  for (const Demand& d : pair.demands) {
    if (!d.needed && !regular.contains(d.to.step)) continue;
    Demand write = d;
    // What is known of steps before asks for nothing; in a regular step all rows wait alike.
    if (!d.needed && d.from.step != d.to.step) write.from.op = -1;
    const auto [at, fresh] = writes.try_emplace(d.to.op, write);
    if (fresh) continue;
    at->second.known = std::max(at->second.known, write.known);
    if (write.from.op > at->second.from.op) at->second.from = write.from;
  }
  return writes;
}

// Each write takes one; whoever is waited for gives as many as there are writes that wait for it.
void Tokens::deriveSpace(const Pair& pair, const TileAccesses& tile) {
  std::set<std::int32_t> regular;  // steps
  for (const Demand& d : pair.demands)
    if (d.needed && d.from.step == d.to.step) regular.insert(d.to.step);
  const std::int32_t lock = addLock(pair);
  std::int64_t initial = 0;
  std::vector<Demand> unbound;  // writes before the first that waits
  std::map<std::int32_t, Given> given;
  AccessPoint last;  // that is waited for
  for (const auto& [op, write] : writesOf(pair, regular)) {
    const bool later = write.from.op > last.op;
    if (!later && !regular.contains(write.to.step)) continue;
    use(lock, write.to, false, 1);
    if (later) {
      // A write that cannot run before this release anyway takes its token from it: the lock begins
      // with no token that is never needed.
      const bool first = last.op < 0;
      last = write.from;
      given[last.op] = {last, 1};
      for (const Demand& d : first ? unbound : std::vector<Demand>{})
        ++(d.to.step == last.step && d.known < last.op ? initial : given[last.op].count);
    } else if (last.op < 0) {
      unbound.push_back(write);
    } else {
      ++given[last.op].count;
    }
  }
  locks_[static_cast<std::size_t>(lock)].initial = initial;
  if (initial > 0) giveBack(pair, tile, *regular.rbegin(), initial, last, given);
  for (const auto& [op, g] : given) use(lock, g.by, true, g.count);
}

// The lock ends as it began: the last `count` places are given back though nobody writes them
// again, by who has read them in `step`.
void Tokens::giveBack(const Pair& pair, const TileAccesses& tile, std::int32_t step,
                      std::int64_t count, AccessPoint last, std::map<std::int32_t, Given>& given) {
  std::map<std::int32_t, AccessPoint> readers;  // by the operation that took the place over
  tile.forEachReadPlace([&](const AccessPoint& opened, const AccessPoint& reader) {
    if (opened.queue != pair.to || reader.queue != pair.from || opened.step != step) return;
    const auto [at, fresh] = readers.try_emplace(opened.op, reader);
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
