// Parts of time that share no buffer are packed alone. Each is tried by first fit in some orders,
// and then by many short searches, each taught by the failures of those before it, and by repair of
// what first fit leaves, by turns; and so are its composites.
#include "heddle/packing/pack.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "composites.h"
#include "first_fit.h"
#include "heddle/support/check.h"
#include "instance.h"
#include "repair.h"
#include "search.h"

namespace heddle {
namespace {

using namespace packing;

constexpr std::int64_t kLeastNodes = 100;  // about, of a first attempt
// Real networks' buffers are found by the first style, perfect packings now and then by another:
// one round of attempts has each order twice in the first style and then in one of the others.
constexpr SearchStyle kFirstStyle{.lowestFirst = true, .leastWaste = false};
constexpr SearchStyle kOtherStyles[] = {{false, false}, {true, true}, {false, true}};
constexpr int kFirstAttempts = 2 * kOrders;
constexpr int kAttempts = 3 * kOrders;  // of one length; then comes twice the length
// Behind these, of what may leave nothing empty: a perfect packing, if there is one, is often found
// sooner than one that is nearly so, for a wrong placement fails at once.
constexpr int kPerfectAttempts = kOrders;
constexpr int kLowered = 5;  // heights tried take each such a part of the work that is left
constexpr int kRepairs = 4;  // at the end of a round, each half as long as all of its attempts
// Edges of buffers that are taken for one, of kWholeEdge.
constexpr std::int64_t kTolerances[] = {0, kWholeEdge / 128, kWholeEdge / 32};
constexpr std::int64_t kComposed = 16;  // each takes at most such a part of the work that is left
constexpr std::size_t kMostRemembered = std::size_t{1} << 20;  // nodes

// Attempts on one instance.
class Attempts {
 public:
  // `instance` must outlive it. `work`: at most, of all that it will be asked.
  Attempts(const Instance& instance, std::int64_t work, const std::function<bool()>& stop)
      : instance_(instance),
        stop_(stop),
        neighbours_(neighboursOf(instance)),
        search_(instance, neighbours_, remembered(instance, work)),
        repair_(instance, neighbours_) {}

  // Attempts of the search, and then repair. The other styles ask now and then for less
  // than `goal`: where little may stay empty, a wrong placement fails sooner. Each attempt of a
  // round is twice as long as one of the round before.
  SearchEnd round(int round, std::int64_t goal, std::int64_t work) {
    most_ = workDone() + work;
    const std::int64_t before = workDone();
    const std::int64_t slack = goal - instance_.mostLive();
    for (int k = 0; k < kAttempts && !over(); ++k) {
      const bool other = k >= kFirstAttempts;
      const bool less = other && round % 2 == 1;
      const std::int64_t below = less ? instance_.mostLive() + slack / 4 * (round / 2 % 3) : goal;
      const SearchEnd end = search(round, other ? kOtherStyles[round % 3] : kFirstStyle, k, below);
      if (end == SearchEnd::Found || (end == SearchEnd::Nothing && below == goal)) return end;
    }
    if (slack == 0) return SearchEnd::Stopped;
    for (int k = 0; k < kPerfectAttempts && round > 0 && !over(); ++k)
      if (search(round, kFirstStyle, k, instance_.mostLive()) == SearchEnd::Found)
        return SearchEnd::Found;
    const std::int64_t half = (workDone() - before) / 2;
    for (int k = 0; k < kRepairs && !over(); ++k)
      if (repair(kRepairs * round + k, goal, std::min(half, most_ - workDone())))
        return SearchEnd::Found;
    return SearchEnd::Stopped;
  }

  const Offsets& offsets() const { return offsets_; }  // after Found
  std::int64_t workDone() const { return search_.workDone() + repair_.workDone(); }

 private:
  static std::size_t remembered(const Instance& instance, std::int64_t work) {
    const std::int64_t node = 4 * static_cast<std::int64_t>(instance.count());
    return std::min<std::size_t>(kMostRemembered, static_cast<std::size_t>(work / node));
  }

  bool over() const { return workDone() >= most_ || (stop_ && stop_()); }

  SearchEnd search(int round, SearchStyle style, int order, std::int64_t goal) {
    // Enough to place every buffer, for a node costs less the fewer are left, and to turn back.
    const std::int64_t nodes = std::max(kLeastNodes, static_cast<std::int64_t>(instance_.count()));
    const std::int64_t first = nodes * search_.workOfANode();
    style.order = order % kOrders;
    const SearchEnd end =
        search_.run(goal, style, std::min(first << std::min(round, 20), most_ - workDone()), stop_);
    if (end == SearchEnd::Found) offsets_ = search_.offsets();
    return end;
  }

  bool repair(int seed, std::int64_t goal, std::int64_t work) {
    const Offsets start = firstFit(instance_, neighbours_, orderBy(instance_, seed % kOrders));
    const bool found = repair_.run(goal, start, seed, work, stop_);
    if (found) offsets_ = repair_.offsets();
    return found;
  }

  const Instance& instance_;
  const std::function<bool()>& stop_;
  std::vector<Order> neighbours_;
  Search search_;
  Repair repair_;
  Offsets offsets_;
  std::int64_t most_ = 0;
};

class PartPacker {
 public:
  PartPacker(const Instance& part, bool pairsKnown, std::int64_t capacity, std::int64_t work,
             const PackLimits& limits)
      : part_(part), capacity_(capacity), work_(work), stop_(limits.stop) {
    placeInOrders(pairsKnown);
    firstFit_ = height_;
    outcome_ = height_ <= capacity          ? PackOutcome::Found
               : part.mostLive() > capacity ? PackOutcome::Impossible
                                            : PackOutcome::NotFound;
    if (outcome_ == PackOutcome::Found || !pairsKnown || part.count() > kMostSearched) return;
    own_.emplace(part, work, stop_);
    // No packing is lower than what lives at one time.
    const std::int64_t goal = std::max(capacity, part.mostLive());
    const SearchEnd end = tryRounds(goal, work_ - work_ / 4);
    if (outcome_ == PackOutcome::NotFound && end == SearchEnd::Found) outcome_ = PackOutcome::Found;
    if (outcome_ == PackOutcome::NotFound && end == SearchEnd::Nothing)
      outcome_ = PackOutcome::Impossible;
    if (end != SearchEnd::Found && limits.lower) lower(goal);
  }

  const Offsets& offsets() const { return offsets_; }
  std::int64_t height() const { return height_; }
  std::int64_t firstFitHeight() const { return firstFit_; }
  PackOutcome outcome() const { return outcome_; }

  std::int64_t workDone() const {
    std::int64_t work = composing_ + (own_ ? own_->workDone() : 0);
    for (const Joined& joined : joined_) work += joined.attempts.workDone();
    return work;
  }

 private:
  struct Joined {
    Composites composites;
    Attempts attempts;
    Joined(Composites&& of, std::int64_t work, const std::function<bool()>& stop)
        : composites(std::move(of)), attempts(composites.instance(), work, stop) {}
  };

  void placeInOrders(bool pairsKnown) {
    const std::vector<Order> neighbours = pairsKnown ? neighboursOf(part_) : std::vector<Order>();
    for (int kind = 0; kind < kOrders; ++kind) {
      const Order order = orderBy(part_, kind);
      keep(pairsKnown ? firstFit(part_, neighbours, order) : stack(part_, order));
      if (height_ <= capacity_) return;
    }
  }

  void keep(Offsets offsets) {
    const std::int64_t height = heightOf(part_, offsets);
    if (!offsets_.empty() && height >= height_) return;
    offsets_ = std::move(offsets);
    height_ = height;
  }

  bool over(std::int64_t work) const { return workDone() >= work || (stop_ && stop_()); }

  // Composites for each tolerance that joins other buffers than the one before.
  void joinBuffers(std::int64_t most) {
    composed_ = true;
    std::size_t count = part_.count();
    for (const std::int64_t tolerance : kTolerances) {
      const std::int64_t share = (most - workDone()) / kComposed;
      // Low enough for each goal that comes: none is lower.
      Composites composites(part_, tolerance, std::max(capacity_, part_.mostLive()), share, stop_);
      composing_ += composites.workDone();
      if (composites.instance().count() == count) continue;
      count = composites.instance().count();
      joined_.emplace_back(std::move(composites), work_, stop_);
    }
  }

  SearchEnd tryRounds(std::int64_t goal, std::int64_t most) {
    for (int round = 0; !over(most); ++round) {
      const SearchEnd end = own_->round(round, goal, most - workDone());
      if (end == SearchEnd::Found) keep(own_->offsets());
      if (end != SearchEnd::Stopped) return end;
      if (!composed_ && !over(most)) joinBuffers(most);
      for (Joined& joined : joined_) {
        if (over(most)) break;
        if (joined.attempts.round(round, goal, most - workDone()) != SearchEnd::Found) continue;
        keep(joined.composites.offsetsOfBuffers(joined.attempts.offsets()));
        return SearchEnd::Found;
      }
    }
    return SearchEnd::Stopped;
  }

  // What does not fit is packed as low as the rest of the work allows.
  void lower(std::int64_t low) {
    while (height_ - low > 1 && !over(work_)) {  // nothing is expected at `low`
      const std::int64_t goal = low + (height_ - low) / 2;
      const std::int64_t done = workDone();
      const std::int64_t share = done + (work_ - done) / kLowered;
      if (tryRounds(goal, std::max(share, done + 1)) != SearchEnd::Found) low = goal;
    }
  }

  const Instance& part_;
  std::int64_t capacity_, work_;
  const std::function<bool()>& stop_;
  std::optional<Attempts> own_;
  std::deque<Joined> joined_;
  bool composed_ = false;
  std::int64_t composing_ = 0;  // work
  Offsets offsets_;
  std::int64_t height_ = 0, firstFit_ = 0;
  PackOutcome outcome_ = PackOutcome::NotFound;
};

// The worse of two parts' outcomes.
PackOutcome both(PackOutcome a, PackOutcome b) {
  for (const PackOutcome worse : {PackOutcome::Impossible, PackOutcome::NotFound})
    if (a == worse || b == worse) return worse;
  return PackOutcome::Found;
}

}  // namespace

Packing pack(const std::vector<LiveBuffer>& buffers, std::int64_t capacity,
             const PackLimits& limits) {
  Packing packing;
  packing.outcome = PackOutcome::Found;
  packing.offsets.resize(buffers.size());
  std::vector<LiveBuffer> withBytes;
  Order origin;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const LiveBuffer& buffer = buffers[i];
    HEDDLE_CHECK(buffer.lower < buffer.upper && buffer.size >= 0) << "buffer " << i;
    HEDDLE_CHECK(buffer.size <= kMostPackedBytes - total) << "too many bytes from buffer " << i;
    total += buffer.size;
    if (buffer.size == 0) continue;
    withBytes.push_back(buffer);
    origin.push_back(static_cast<std::int32_t>(i));
  }
  HEDDLE_CHECK(capacity >= 0) << capacity;
  const Instance instance = describe(withBytes);
  const bool pairsKnown = instance.pairs() <= kMostPairs;
  packing.mostLive = instance.mostLive();
  for (const Order& members : independentParts(instance)) {
    const Instance part = partOf(instance, members);
    const PartPacker packed(part, pairsKnown, std::min(capacity, total),
                            std::max<std::int64_t>(limits.work - packing.work, 0), limits);
    for (std::size_t k = 0; k < members.size(); ++k)
      packing.offsets[origin[members[k]]] = packed.offsets()[k];
    packing.height = std::max(packing.height, packed.height());
    packing.firstFit = std::max(packing.firstFit, packed.firstFitHeight());
    packing.work += packed.workDone();
    packing.outcome = both(packing.outcome, packed.outcome());
  }
  return packing;
}

}  // namespace heddle
