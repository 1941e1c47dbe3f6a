// Parts of time that share no buffer are packed alone. Each is tried by first fit in some orders,
// and then by many short searches, each taught by the failures of those before it.
#include "heddle/packing/pack.h"

#include <algorithm>

#include "first_fit.h"
#include "heddle/support/check.h"
#include "instance.h"
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
    Search search(part, neighbours_,
                  std::min<std::size_t>(kMostRemembered, static_cast<std::size_t>(work / node)));
    // No packing is lower than what lives at one time.
    const std::int64_t goal = std::max(capacity, part.mostLive());
    const SearchEnd end = find(search, goal);
    if (outcome_ == PackOutcome::NotFound && end == SearchEnd::Found) outcome_ = PackOutcome::Found;
    if (outcome_ == PackOutcome::NotFound && end == SearchEnd::Nothing)
      outcome_ = PackOutcome::Impossible;
    if (end != SearchEnd::Found && limits.lower) lower(search, goal);
    workDone_ = search.workDone();
  }

  const Offsets& offsets() const { return offsets_; }
  std::int64_t height() const { return height_; }
  std::int64_t firstFitHeight() const { return firstFit_; }
  std::int64_t workDone() const { return workDone_; }
  PackOutcome outcome() const { return outcome_; }

 private:
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

  // Attempt `k` of a series, below `goal`.
  SearchEnd attempt(Search& search, int k, std::int64_t goal, std::int64_t most) {
    // Enough to place every buffer, for a node costs less the fewer are left, and to turn back.
    const std::int64_t nodes = std::max(kLeastNodes, static_cast<std::int64_t>(part_.count()));
    const std::int64_t first = nodes * search.workOfANode();
    const int round = std::min(k / kAttempts, 20);
    SearchStyle style = k % kAttempts < kFirstAttempts ? kFirstStyle : kOtherStyles[round % 3];
    style.order = k % kOrders;
    const std::int64_t left = most - search.workDone();
    const SearchEnd end = search.run(goal, style, std::min(first << round, left), stop_);
    if (end == SearchEnd::Found) keep(search.offsets());
    return end;
  }

  bool over(const Search& search, std::int64_t work) const {
    return search.workDone() >= work || (stop_ && stop_());
  }

  // The other styles ask now and then for less than `goal`: where little may stay empty, a wrong
  // placement fails sooner.
  SearchEnd find(Search& search, std::int64_t goal) {
    const std::int64_t share = work_ - work_ / 4;
    const std::int64_t slack = goal - part_.mostLive();
    for (int k = 0; !over(search, share); ++k) {
      const int round = k / kAttempts;
      const bool less = k % kAttempts >= kFirstAttempts && round % 2 == 1;
      const std::int64_t below = less ? part_.mostLive() + slack / 4 * (round / 2 % 3) : goal;
      const SearchEnd end = attempt(search, k, below, share);
      if (end == SearchEnd::Found || (end == SearchEnd::Nothing && below == goal)) return end;
    }
    return SearchEnd::Stopped;
  }

  // What does not fit is packed as low as the rest of the work allows.
  void lower(Search& search, std::int64_t low) {
    while (height_ - low > 1 && !over(search, work_)) {  // nothing is expected at `low`
      const std::int64_t goal = low + (height_ - low) / 2;
      SearchEnd end = SearchEnd::Stopped;
      for (int k = 0; k < kAttempts && end == SearchEnd::Stopped && !over(search, work_); ++k)
        end = attempt(search, k, goal, work_);
      if (end != SearchEnd::Found) low = goal;
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
