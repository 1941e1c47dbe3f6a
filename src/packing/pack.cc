// Parts of time that share no buffer are packed alone. Each is tried by first fit in some orders,
// and then by many short searches, each taught by the failures of those before it, and by repair of
// what first fit leaves, by turns.
#include "heddle/packing/pack.h"

#include <algorithm>

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
constexpr std::size_t kMostRemembered = std::size_t{1} << 20;  // nodes

class PartPacker {
 public:
  PartPacker(const Instance& part, bool pairsKnown, std::int64_t capacity, std::int64_t work,
             const PackLimits& limits)
      : part_(part), capacity_(capacity), work_(work), stop_(limits.stop) {
    if (pairsKnown) neighbours_ = neighboursOf(part);
    placeInOrders(pairsKnown);
    firstFit_ = height_;
    outcome_ = height_ <= capacity          ? PackOutcome::Found
               : part.mostLive() > capacity ? PackOutcome::Impossible
                                            : PackOutcome::NotFound;
    if (outcome_ == PackOutcome::Found || !pairsKnown || part.count() > kMostSearched) return;
    const std::int64_t node = 4 * static_cast<std::int64_t>(part.count());
    Solvers solvers{
        Search(part, neighbours_,
               std::min<std::size_t>(kMostRemembered, static_cast<std::size_t>(work / node))),
        Repair(part, neighbours_)};
    // No packing is lower than what lives at one time.
    const std::int64_t goal = std::max(capacity, part.mostLive());
    const SearchEnd end = tryRounds(solvers, goal, work_ - work_ / 4);
    if (outcome_ == PackOutcome::NotFound && end == SearchEnd::Found) outcome_ = PackOutcome::Found;
    if (outcome_ == PackOutcome::NotFound && end == SearchEnd::Nothing)
      outcome_ = PackOutcome::Impossible;
    if (end != SearchEnd::Found && limits.lower) lower(solvers, goal);
    workDone_ = solvers.workDone();
  }

  const Offsets& offsets() const { return offsets_; }
  std::int64_t height() const { return height_; }
  std::int64_t firstFitHeight() const { return firstFit_; }
  std::int64_t workDone() const { return workDone_; }
  PackOutcome outcome() const { return outcome_; }

 private:
  struct Solvers {
    Search search;
    Repair repair;
    std::int64_t workDone() const { return search.workDone() + repair.workDone(); }
  };

  void placeInOrders(bool pairsKnown) {
    for (int kind = 0; kind < kOrders; ++kind) {
      const Order order = orderBy(part_, kind);
      keep(pairsKnown ? firstFit(part_, neighbours_, order) : stack(part_, order));
      if (height_ <= capacity_) return;
    }
  }

  void keep(Offsets offsets) {
    const std::int64_t height = heightOf(part_, offsets);
    if (!offsets_.empty() && height >= height_) return;
    offsets_ = std::move(offsets);
    height_ = height;
  }

  bool over(const Solvers& solvers, std::int64_t work) const {
    return solvers.workDone() >= work || (stop_ && stop_());
  }

  // Each attempt of a round is twice as long as one of the round before.
  SearchEnd attempt(Solvers& solvers, int round, SearchStyle style, int order, std::int64_t goal,
                    std::int64_t most) {
    // Enough to place every buffer, for a node costs less the fewer are left, and to turn back.
    const std::int64_t nodes = std::max(kLeastNodes, static_cast<std::int64_t>(part_.count()));
    const std::int64_t first = nodes * solvers.search.workOfANode();
    const std::int64_t left = most - solvers.workDone();
    style.order = order % kOrders;
    const SearchEnd end =
        solvers.search.run(goal, style, std::min(first << std::min(round, 20), left), stop_);
    if (end == SearchEnd::Found) keep(solvers.search.offsets());
    return end;
  }

  // Attempts of the search, and then repair. The other styles ask now and then for less
  // than `goal`: where little may stay empty, a wrong placement fails sooner.
  SearchEnd tryRound(Solvers& solvers, int round, std::int64_t goal, std::int64_t most) {
    const std::int64_t before = solvers.workDone();
    const std::int64_t slack = goal - part_.mostLive();
    for (int k = 0; k < kAttempts && !over(solvers, most); ++k) {
      const bool other = k >= kFirstAttempts;
      const bool less = other && round % 2 == 1;
      const std::int64_t below = less ? part_.mostLive() + slack / 4 * (round / 2 % 3) : goal;
      const SearchEnd end =
          attempt(solvers, round, other ? kOtherStyles[round % 3] : kFirstStyle, k, below, most);
      if (end == SearchEnd::Found || (end == SearchEnd::Nothing && below == goal)) return end;
    }
    if (slack == 0) return SearchEnd::Stopped;
    for (int k = 0; k < kPerfectAttempts && round > 0 && !over(solvers, most); ++k)
      if (attempt(solvers, round, kFirstStyle, k, part_.mostLive(), most) == SearchEnd::Found)
        return SearchEnd::Found;
    const std::int64_t work = (solvers.workDone() - before) / 2;
    for (int k = 0; k < kRepairs && !over(solvers, most); ++k)
      if (repair(solvers, kRepairs * round + k, goal, std::min(work, most - solvers.workDone())))
        return SearchEnd::Found;
    return SearchEnd::Stopped;
  }

  bool repair(Solvers& solvers, int seed, std::int64_t goal, std::int64_t work) {
    const Offsets start = firstFit(part_, neighbours_, orderBy(part_, seed % kOrders));
    const bool found = solvers.repair.run(goal, start, seed, work, stop_);
    if (found) keep(solvers.repair.offsets());
    return found;
  }

  SearchEnd tryRounds(Solvers& solvers, std::int64_t goal, std::int64_t most) {
    SearchEnd end = SearchEnd::Stopped;
    for (int round = 0; end == SearchEnd::Stopped && !over(solvers, most); ++round)
      end = tryRound(solvers, round, goal, most);
    return end;
  }

  // What does not fit is packed as low as the rest of the work allows.
  void lower(Solvers& solvers, std::int64_t low) {
    while (height_ - low > 1 && !over(solvers, work_)) {  // nothing is expected at `low`
      const std::int64_t goal = low + (height_ - low) / 2;
      const std::int64_t done = solvers.workDone();
      const std::int64_t share = done + (work_ - done) / kLowered;
      if (tryRounds(solvers, goal, std::max(share, done + 1)) != SearchEnd::Found) low = goal;
    }
  }

  const Instance& part_;
  std::vector<Order> neighbours_;
  std::int64_t capacity_, work_;
  const std::function<bool()>& stop_;
  Offsets offsets_;
  std::int64_t height_ = 0, firstFit_ = 0, workDone_ = 0;
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
    const PartPacker packed(part, pairsKnown, std::min(capacity, total), limits.work - packing.work,
                            limits);
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
