#include "heddle/planner/order_blocks.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "heddle/memory/allocate.h"
#include "heddle/planner/count_work.h"
#include "heddle/support/check.h"
#include "known_layers.h"

namespace heddle {
namespace {

using N = std::int64_t;

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
// Trades that are tried in a round, for each block; rounds at most. More rounds gain little:
// ResNet-50, half of its blocks empty, 1.179 of the mean at first, 1.071 after 8 rounds, 1.067
// after 32, 1.067 after 64.
constexpr int kTriesPerBlock = 4, kMostRounds = 32;
// What the heaviest core does more counts for so many times the variance of all: where no single
// trade makes the heaviest lighter, what makes the others more alike leads there.
constexpr N kHeaviestCounts = 20;
constexpr N kFine = 16;  // parts of one in which a variance is counted
// Thousandths of a plan's time that orders beyond those of the first plan have to gain, as the
// closed form errs.
constexpr N kOrderWorthwhile = 3;
// By how many a plan may end after the best for the orders that balance it to be tried.
constexpr N kOrderHopeful = 20;
constexpr N kMostWeight = N{1} << 15;  // of one block of a layer: products stay in 64 bits

// Disjoint intervals of output blocks that different cores compute at a time.
using Family = std::vector<Interval>;

std::vector<Family> familiesOf(const Mapping& mapping) {
  std::vector<Interval> intervals;
  for (const CoreShare& share : mapping.shares)
    if (!share.blocks.empty() && std::ranges::find(intervals, share.blocks) == intervals.end())
      intervals.push_back(share.blocks);
  std::ranges::sort(intervals, {}, [](const Interval& i) { return std::pair(i.first, i.count); });
  std::vector<Family> families;
  for (const Interval& interval : intervals) {
    const auto free = std::ranges::find_if(
        families, [&](const Family& f) { return f.back().end() <= interval.first; });
    if (free == families.end())
      families.push_back({interval});
    else
      free->push_back(interval);
  }
  std::erase_if(families, [](const Family& f) { return f.size() < 2; });
  return families;
}

// The kept blocks of one convolution, as one family of its cores takes them: rows of weights in
// tiles (a core's of one pass), columns in parts of the reduction.
class Dealing {
 public:
  // Needs: `conv` outlives it.
  Dealing(const Conv& conv, const Mapping& mapping, const Family& family, std::size_t rows,
          std::size_t columns)
      : kept_(conv.kept),
        cores_(family.size()),
        parts_(mapping.parts.size()),
        columns_(columns),
        tileOf_(rows, kNowhere),
        partOf_(columns, kNowhere) {
    for (std::size_t core = 0; core < cores_; ++core)
      for (N b = 0; b < family[core].count; ++b)
        tileOf_[static_cast<std::size_t>(family[core].first + b)] =
            static_cast<std::size_t>(b / mapping.blocksPerPass) * cores_ + core;
    for (std::size_t p = 0; p < parts_; ++p)
      for (N b = 0; b < mapping.parts[p].inputBlocks.count; ++b)
        partOf_[static_cast<std::size_t>(mapping.parts[p].inputBlocks.first + b)] = p;
    const auto passes = static_cast<std::size_t>(mapping.passes);
    inPart_.resize(rows * parts_);
    inTile_.resize(passes * cores_ * columns);
    sums_.resize(passes * cores_ * parts_);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c)
        if (isKept(r, c) && tileOf_[r] != kNowhere && partOf_[c] != kNowhere) {
          ++inPart_[r * parts_ + partOf_[c]];
          ++inTile_[tileOf_[r] * columns + c];
          ++sums_[tileOf_[r] * parts_ + partOf_[c]];
        }
    for (std::size_t r = 0; r < rows; ++r) rowAt_.push_back(r);
    for (std::size_t c = 0; c < columns; ++c) columnAt_.push_back(c);
  }

  void weigh(N weight) { weight_ = weight; }

  // By how much the cost rises where the rows at two places trade them.
  N ofRows(std::size_t a, std::size_t b) {
    const std::size_t from = tileOf_[a], to = tileOf_[b];
    if (from == to || from == kNowhere || to == kNowhere) return 0;
    const N* const atA = &inPart_[rowAt_[a] * parts_];
    const N* const atB = &inPart_[rowAt_[b] * parts_];
    N rise = 0;
    for (std::size_t p = 0; p < parts_; ++p)
      if (const N more = atB[p] - atA[p]; more != 0) {
        const std::size_t passA = from / cores_, passB = to / cores_;
        rise -= cost(passA, p) + (passA == passB ? 0 : cost(passB, p));
        sums_[from * parts_ + p] += more;
        sums_[to * parts_ + p] -= more;
        rise += cost(passA, p) + (passA == passB ? 0 : cost(passB, p));
        sums_[from * parts_ + p] -= more;
        sums_[to * parts_ + p] += more;
      }
    return rise;
  }
  N ofColumns(std::size_t a, std::size_t b) {
    const std::size_t from = partOf_[a], to = partOf_[b];
    if (from == to || from == kNowhere || to == kNowhere) return 0;
    N rise = 0;
    for (std::size_t pass = 0; pass * cores_ * parts_ < sums_.size(); ++pass) {
      rise -= cost(pass, from) + cost(pass, to);
      moveColumns(pass, a, b, 1);
      rise += cost(pass, from) + cost(pass, to);
      moveColumns(pass, a, b, -1);
    }
    return rise;
  }

  void tradeRows(std::size_t a, std::size_t b) {
    const std::size_t from = tileOf_[a], to = tileOf_[b];
    for (std::size_t p = 0; p < parts_; ++p) {
      const N more = inPart_[rowAt_[b] * parts_ + p] - inPart_[rowAt_[a] * parts_ + p];
      if (from != kNowhere) sums_[from * parts_ + p] += more;
      if (to != kNowhere) sums_[to * parts_ + p] -= more;
    }
    for (std::size_t c = 0; c < columns_; ++c) {
      const N more = N{isKept(rowAt_[b], c)} - N{isKept(rowAt_[a], c)};
      if (from != kNowhere) inTile_[from * columns_ + c] += more;
      if (to != kNowhere) inTile_[to * columns_ + c] -= more;
    }
    std::swap(rowAt_[a], rowAt_[b]);
  }
  void tradeColumns(std::size_t a, std::size_t b) {
    const std::size_t from = partOf_[a], to = partOf_[b];
    for (std::size_t pass = 0; pass * cores_ * parts_ < sums_.size(); ++pass)
      moveColumns(pass, a, b, 1);
    for (std::size_t r = 0; r < rowAt_.size(); ++r) {
      const N more = N{isKept(r, columnAt_[b])} - N{isKept(r, columnAt_[a])};
      if (from != kNowhere) inPart_[r * parts_ + from] += more;
      if (to != kNowhere) inPart_[r * parts_ + to] -= more;
    }
    std::swap(columnAt_[a], columnAt_[b]);
  }

 private:
  bool isKept(std::size_t row, std::size_t column) const {
    return kept_[static_cast<N>(row * columns_ + column)];
  }

  void moveColumns(std::size_t pass, std::size_t a, std::size_t b, N sign) {
    for (std::size_t tile = pass * cores_; tile < (pass + 1) * cores_; ++tile) {
      const N more = sign * (inTile_[tile * columns_ + columnAt_[b]] -
                             inTile_[tile * columns_ + columnAt_[a]]);
      if (partOf_[a] != kNowhere) sums_[tile * parts_ + partOf_[a]] += more;
      if (partOf_[b] != kNowhere) sums_[tile * parts_ + partOf_[b]] -= more;
    }
  }

  // Of one part in one pass, in which all cores wait for the heaviest.
  N cost(std::size_t pass, std::size_t part) const {
    N most = 0, sum = 0, squares = 0;
    for (std::size_t tile = pass * cores_; tile < (pass + 1) * cores_; ++tile) {
      const N blocks = sums_[tile * parts_ + part];
      most = std::max(most, blocks);
      sum += blocks;
      squares += blocks * blocks;
    }
    const auto cores = static_cast<N>(cores_);
    const N variance = kFine * (cores * squares - sum * sum) / (cores * cores);
    return weight_ * (kHeaviestCounts * kFine * most + variance);
  }

  const Bits& kept_;
  std::size_t cores_, parts_, columns_;
  N weight_ = 1;
  std::vector<std::size_t> tileOf_, partOf_;   // by place of a row, of a column
  std::vector<std::size_t> rowAt_, columnAt_;  // by place: which of the network's stands there
  std::vector<N> inPart_;                      // of a row of the network, in each part
  std::vector<N> inTile_;                      // of a tile, in each column of the network
  std::vector<N> sums_;                        // of a tile, in each part
};

class Balancing {
 public:
  Balancing(const CanonicalGraph& graph, const Plan& plan)
      : shared_(sharedBlocks(graph)), uses_(shared_.count) {
    std::vector<double> weights;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      const Conv* conv = std::get_if<Conv>(&graph.ops[i].attributes);
      if (!conv || conv->kept.size() == 0 || plan.layers[i].inPlace()) continue;
      for (const Family& family : familiesOf(plan.layers[i])) {
        weights.push_back(blockWork(*conv, plan.layers[i]));
        add(graph.ops[i], *conv, plan.layers[i], family);
      }
    }
    if (weights.empty()) return;
    const double most = std::ranges::max(weights);
    for (std::size_t d = 0; d < dealings_.size(); ++d)
      dealings_[d].weigh(
          std::max<N>(1, static_cast<N>(weights[d] / most * static_cast<double>(kMostWeight))));
  }

  BlockOrders run() {
    std::vector<std::size_t> content(shared_.count);
    std::iota(content.begin(), content.end(), 0);
    std::mt19937 random(1);  // its sequence is the standard's, the same everywhere
    bool any = false;
    for (int round = 0; round < kMostRounds; ++round) {
      bool traded = false;
      for (const std::vector<std::size_t>& numbers : shared_.exchangeable) {
        if (uses_[numbers[0]].empty()) continue;
        for (std::size_t t = 0; t < kTriesPerBlock * numbers.size(); ++t) {
          const std::size_t i = random() % numbers.size();
          const std::size_t j = (i + 1 + random() % (numbers.size() - 1)) % numbers.size();
          if (!improves(numbers[i], numbers[j])) continue;
          trade(numbers[i], numbers[j]);
          std::swap(content[numbers[i]], content[numbers[j]]);
          traded = true;
        }
      }
      if (!traded) break;
      any = true;
    }
    // Where a block is a row and a column of the same weights, trades may undo one another.
    BlockOrders orders = any ? ordersOf(shared_, content) : BlockOrders{};
    const bool none = std::ranges::all_of(orders, [](const BlockOrder& o) { return o.empty(); });
    return none ? BlockOrders{} : orders;
  }

 private:
  struct Use {  // of a block, by a dealing: as a row or a column of its weights
    std::size_t dealing = 0, place = 0;
    bool isRow = false;
  };

  // Cycles that a kept block takes its cores, but for a factor that all layers have.
  static double blockWork(const Conv& conv, const Mapping& mapping) {
    N pixels = 0;
    for (const CoreShare& share : mapping.shares) pixels = std::max(pixels, pixelsOf(share.boxes));
    return static_cast<double>(pixels) *
           static_cast<double>(conv.window.kernelY * conv.window.kernelX);
  }

  void add(const CanonicalOp& op, const Conv& conv, const Mapping& mapping, const Family& family) {
    const std::vector<std::size_t>& rows = shared_.of[op.output.at()];
    const std::vector<std::size_t>& columns = shared_.of[op.inputs[0].at()];
    for (std::size_t r = 0; r < rows.size(); ++r)
      uses_[rows[r]].push_back({dealings_.size(), r, true});
    for (std::size_t c = 0; c < columns.size(); ++c)
      uses_[columns[c]].push_back({dealings_.size(), c, false});
    dealings_.emplace_back(conv, mapping, family, rows.size(), columns.size());
  }

  // The same tensors have both, so that their uses are of the same dealings in the same order.
  bool improves(std::size_t a, std::size_t b) {
    N rise = 0;
    for (std::size_t u = 0; u < uses_[a].size(); ++u) {
      const Use &at = uses_[a][u], &other = uses_[b][u];
      HEDDLE_CHECK(at.dealing == other.dealing && at.isRow == other.isRow) << a << " " << b;
      Dealing& dealing = dealings_[at.dealing];
      rise += at.isRow ? dealing.ofRows(at.place, other.place)
                       : dealing.ofColumns(at.place, other.place);
    }
    return rise < 0;
  }
  void trade(std::size_t a, std::size_t b) {
    for (std::size_t u = 0; u < uses_[a].size(); ++u) {
      const Use &at = uses_[a][u], &other = uses_[b][u];
      if (at.isRow)
        dealings_[at.dealing].tradeRows(at.place, other.place);
      else
        dealings_[at.dealing].tradeColumns(at.place, other.place);
    }
  }

  SharedBlocks shared_;
  std::vector<std::vector<Use>> uses_;  // by number of a block
  std::vector<Dealing> dealings_;
};

bool leavesBlocksOut(const CanonicalGraph& graph) {
  return std::ranges::any_of(graph.ops, [](const CanonicalOp& op) {
    const Conv* conv = std::get_if<Conv>(&op.attributes);
    return conv && conv->kept.size() > 0;
  });
}

// The plan that is taken, of this network; `asked`: with its choices.
OrderedPlan taken(ChosenPlan chosen, const CanonicalGraph& graph, KnownLayers& known, bool asked) {
  OrderedPlan plan;
  if (asked) {
    weighLayers(graph, known, chosen);
    plan.choices = std::move(chosen.choices);
  }
  plan.plan = std::move(chosen.plan);
  return plan;
}

std::int64_t reorderedTensors(const CanonicalGraph& graph) {
  return std::ranges::count_if(graph.tensors,
                               [](const CanonicalTensor& t) { return !t.blockOrder.empty(); });
}

// The network as if its empty blocks were spread evenly, so that every core had equal work however
// the channels are cut: as many in each row of blocks, each row shifted against the one before.
CanonicalGraph evened(const CanonicalGraph& graph) {
  constexpr std::uint64_t kOne = std::uint64_t{1} << 32;
  constexpr std::uint64_t kGoldenRatio = 0x9e3779b9;  // of which no multiples are near each other
  CanonicalGraph even = graph;
  for (CanonicalOp& op : even.ops) {
    Conv* conv = std::get_if<Conv>(&op.attributes);
    if (!conv || conv->kept.size() == 0) continue;
    const N columns = conv->kept.size() / blocksOf(graph.tensors[op.output.at()].shape);
    const std::uint64_t density = static_cast<std::uint64_t>(conv->kept.count()) * kOne /
                                  static_cast<std::uint64_t>(conv->kept.size());
    Bits kept(conv->kept.size());
    for (N block = 0; block < kept.size(); ++block)
      if ((static_cast<std::uint64_t>(block / columns) * kGoldenRatio +
           static_cast<std::uint64_t>(block % columns) * density) %
              kOne <
          density)
        kept.set(block);
    conv->kept = std::move(kept);
  }
  return even;
}

}  // namespace

BlockOrders balancedOrders(const CanonicalGraph& graph, const Plan& plan) {
  return Balancing(graph, plan).run();
}

OrderSearch::OrderSearch(const CanonicalGraph& graph, KnownLayers& known,
                         const PlanOptions& options, bool asked,
                         const std::function<void(double)>& progress)
    : graph_(graph),
      known_(known),
      options_(options),
      usual_(options),
      asked_(asked),
      reorders_(options.reorder && options.effort > 0 && leavesBlocksOut(graph)),
      progress_(progress) {
  usual_.effort = std::min(options.effort, kUsualPlanEffort);
}

// What the Machine would say of more plans costs much: it is asked once, of the network in the
// order that is best.
Result<Cycles> OrderSearch::begin() {
  HEDDLE_TRY(best_, choosePlan(graph_, known_, usual_, asked_ && !isPlannedAgain(), progress_));
  HEDDLE_TRY(end_, endInClosedForm(graph_, best_.plan, known_));
  known_.note(end_);
  asItIs_ = end_;
  if (reorders_) tryOrders(balancedOrders(graph_, best_.plan));
  return end_;
}

void OrderSearch::goOn() {
  // A core alone has all blocks.
  if (!reorders_ || known_.device.rows * known_.device.columns == 1) return;
  if (const auto even = choosePlan(evened(graph_), known_, usual_, false, progress_))
    tryOrders(balancedOrders(graph_, even->plan));
  const std::vector<Tried> tried = tried_;
  for (const Tried& before : tried)
    if (before.end && (*before.end - end_).raw() * 1000 <= end_.raw() * kOrderHopeful)
      tryOrders(balancedOrders(graph_, before.plan));
}

Result<OrderedPlan> OrderSearch::finish() {
  const CanonicalGraph& graph = orders_.empty() ? graph_ : reordered_;
  if (isPlannedAgain()) {
    HEDDLE_TRY(best_, choosePlan(graph, known_, options_, asked_, progress_));
  }
  OrderedPlan ordered = taken(std::move(best_), graph, known_, asked_);
  ordered.orders = std::move(orders_);
  if (ordered.choices) ordered.choices->order = choice_;
  return ordered;
}

bool OrderSearch::isPlannedAgain() const { return options_.effort > kUsualPlanEffort; }

// Takes these orders where a plan in them ends before the best so far, if that is in others by as
// much as the closed form errs.
void OrderSearch::tryOrders(BlockOrders orders) {
  if (orders.empty() || std::ranges::find(tried_, orders, &Tried::orders) != tried_.end()) return;
  tried_.push_back({orders, {}, std::nullopt});
  CanonicalGraph other = inOrder(graph_, orders);
  Result<ChosenPlan> plan =
      choosePlan(other, known_, usual_, asked_ && !isPlannedAgain(), progress_);
  if (!plan) return;
  const Result<Cycles> end = endInClosedForm(other, plan->plan, known_);
  if (!end) return;
  known_.note(*end);
  tried_.back().plan = plan->plan;
  tried_.back().end = *end;
  const N worthwhile = orders_.empty() ? 0 : kOrderWorthwhile;
  const bool isBetter = (end_ - *end).raw() * 1000 > end_.raw() * worthwhile;
  const bool isBestOfNone = orders_.empty() && (!choice_ || *end < choice_->reordered);
  if (isBetter || isBestOfNone)
    choice_ = OrderChoice{reorderedTensors(other), asItIs_, *end, isBetter};
  if (!isBetter) return;
  best_ = std::move(*plan);
  orders_ = std::move(orders);
  reordered_ = std::move(other);
  end_ = *end;
}

Result<OrderedPlan> planInOrder(const CanonicalGraph& graph, const Device& device,
                                const PlanOptions& options, bool asked,
                                const std::function<void(double)>& progress) {
  KnownLayers known(device);
  if (!options.reorder || options.effort == 0 || !leavesBlocksOut(graph)) {
    HEDDLE_TRY(ChosenPlan chosen, choosePlan(graph, known, options, asked, progress));
    return taken(std::move(chosen), graph, known, asked);
  }
  OrderSearch search(graph, known, options, asked, progress);
  if (const Result<Cycles> end = search.begin(); !end) return end.diagnostics();
  search.goOn();
  return search.finish();
}

}  // namespace heddle
