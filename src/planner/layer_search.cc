#include "layer_search.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>
#include <tuple>

#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/limits.h"
#include "heddle/cost/cost.h"
#include "heddle/support/check.h"
#include "heddle/tiling/geometry.h"
#include "heddle/tiling/nest.h"

namespace heddle {
namespace {

constexpr std::int64_t kRingAlignment = 8;

// Cycles for which one more kernel call is worth saving, so that of two tilings of nearly the same
// estimate the one with fewer, larger steps wins: it has fewer descriptors, and a real call has
// overheads that paper.yaml leaves out.
constexpr std::int64_t kStepPenalty = 16;

constexpr std::size_t kKept = 2;  // mappings of each way of the streams

constexpr std::int64_t kOutputSlots = 2;  // one is written while the other leaves

constexpr std::int64_t kFewestRounds = 4;  // of the places of records that take turns

struct Candidate {
  std::int64_t blocksPerPass = 1, chunks = 1, bands = 1, channelParts = 1, kernelParts = 1;
  std::int64_t weightSlots = 2;
  bool resident = false;
  std::int64_t callRows = 1;
};

// Rows that a window, and a window with its successor, span: the shortest rings that work and that
// overlap transfers.
struct RingLengths {
  std::int64_t single = 1, doubled = 1, whole = 1, firstWindow = 1;
  // Rows that one sweep over a part of the pixels brings in, and the box for whose columns.
  struct Stretch {
    std::int64_t rows = 0;
    const PixelBox* box = nullptr;
  };
  std::vector<Stretch> loaded;  // of the part that brings most
};

// 1, 2, 3, 4, 6, 8, 12, ... up to and including n.
std::vector<std::int64_t> steps(std::int64_t n) {
  std::vector<std::int64_t> out;
  for (std::int64_t k = 1; k < n; k *= 2) {
    out.push_back(k);
    if (k >= 2 && k / 2 * 3 < n) out.push_back(k / 2 * 3);
  }
  out.push_back(n);
  return out;
}

struct Score {
  std::int64_t cycles = 0;
  const char* boundBy = "";
};

class LayerSearch {
 public:
  LayerSearch(const CanonicalGraph& graph, const CanonicalOp& op, const Device& device,
              const BlockCounts& kept, const MeshCut& cut, std::span<const Streams> menu,
              const SearchLimits& limits)
      : op_(op),
        device_(device),
        limits_(limits),
        cut_(cut),
        rows_(cut.rows()),
        columns_(cut.columns()),
        numbered_(cut.isNumbered()),
        menu_(menu),
        mostWaiting_(device.limits.lockMaximum.value_or(INT64_MAX)),
        counts_(kept),
        recordLengths_(op),
        output_(graph.tensors[op.output.at()].shape),
        input_(graph.tensors[op.inputs[0].at()].shape),
        pooled_(graph, op),
        capacity_(device.core.operandMemory().raw()),
        wire_(wireRate(device), device.clock),
        out_(coreWriteRate(device), device.clock),
        ddr_(ddrReadRate(device), device.clock) {
    if (const auto window = windowOf(op)) window_ = *window;
    if (const FusedWindow* end = fusedWindowOf(op)) pool_ = end->window();
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      operands_.emplace_back(graph, op, i);
      isOnePixel_.push_back(isBroadcast(graph, op, i));
    }
    everyRow_.resize(static_cast<std::size_t>(output_.height));
    std::iota(everyRow_.begin(), everyRow_.end(), 0);
    if (pool_) kernelOperand_ = OperandGeometry::ofKernel(graph, op, 0);
    mostBlocks_ = cut.blocks[0].count;
    pixelsOf_.assign(cut.blocks.size(), 0);
    for (const MeshCut::Share& share : cut.shares)
      pixelsOf_[share.blocks] =
          std::max(pixelsOf_[share.blocks], pixelsOf(cut.pixels[share.pixels]));
    for (const Streams& streams : menu) {
      ways_.push_back({turnsOfRecords(streams), {}});
      const std::int64_t routes = std::max<std::int64_t>(1, streams.routesOfAMemtile);
      for (const std::int64_t staging : limits.stagings)
        ways_.back().rooms.push_back(staging / routes / kBlock * kBlock);
    }
    chunks_ = steps(columns_);
    bands_ = steps(rows_);
    listCallRows();
    best_.assign(limits.stagings.size(), std::vector<BestOfWay>(menu.size()));
    open_.assign(limits.stagings.size(), true);
    found_.assign(limits.stagings.size(), false);
    hopeless_.assign(limits.stagings.size(), std::vector<bool>(menu.size()));
  }

  // `worthless`: per staging, a score with which nobody wants a mapping.
  std::vector<std::vector<FoundMapping>> best(const std::vector<std::int64_t>& worthless) {
    findLeast();
    for (std::size_t s = 0; s < worthless.size(); ++s)
      for (std::size_t i = 0; i < menu_.size(); ++i)
        hopeless_[s][i] = leastOfWay_[i] >= worthless[s];
    const bool hasHope = std::ranges::any_of(hopeless_, [](const std::vector<bool>& ofWays) {
      return std::ranges::find(ofWays, false) != ofWays.end();
    });
    if (hasHope) {
      search();
      searched_ = true;
    }
    std::vector<std::vector<FoundMapping>> all;
    for (auto& ofStaging : best_) all.push_back(inOrder(ofStaging));
    return all;
  }

  Mapping whole(const FoundMapping& found) const {
    Mapping mapping = found.mapping;
    setCores(mapping, menu_[found.streams]);
    return mapping;
  }

  // What the smallest tiling needs and there is not; nothing where nobody looked for one.
  std::string shortage() const {
    if (!searched_) return {};
    std::ostringstream out;
    if (smallest_ == INT64_MAX && smallestRecord_ == INT64_MAX)
      out << "more rows of its smallest subvolume wait than a core can count";
    else if (smallest_ == INT64_MAX)
      out << "two of its smallest weight records need " << 2 * smallestRecord_ << " B of the "
          << limits_.stagings[0] << " B that a memtile sets aside for weights";
    else
      out << "the smallest subvolume needs " << smallest_ << " B of a core's " << capacity_
          << " B for operands";
    if (tooManyWait_)
      out << ", with rings that let no more calls wait than 'limits.lockMaximum' of "
          << mostWaiting_;
    return out.str();
  }

 private:
  struct Scored {
    std::int64_t score = 0;
    FoundMapping found;
  };
  // Best first, of calls of one row and of longer ones: these gain less than their score says where
  // layers wait for each other's rows.
  using BestOfWay = std::array<std::vector<Scored>, 2>;
  struct Way {                        // of the streams
    std::int64_t turns = 1;           // that records take over several lanes
    std::vector<std::int64_t> rooms;  // per staging: bytes for the records of a route
  };

  static std::vector<FoundMapping> inOrder(std::vector<BestOfWay>& best) {
    std::vector<Scored> all;
    for (BestOfWay& ofStreams : best)
      for (std::vector<Scored>& ofCalls : ofStreams)
        std::ranges::move(ofCalls, std::back_inserter(all));
    std::ranges::stable_sort(all, {}, &Scored::score);
    std::vector<FoundMapping> found;
    for (Scored& scored : all) found.push_back(std::move(scored.found));
    return found;
  }

  void search() {
    const std::int64_t inputBlocks = reducesChannels(op_) ? blocksOf(input_) : 1;
    for (std::int64_t kernelParts : steps(pool_ ? 1 : window_.kernelY)) {
      lengths_.clear();
      waiting_.clear();
      amounts_.clear();
      mostPixels_.clear();
      for (std::int64_t channelParts : steps(inputBlocks)) {
        for (std::int64_t blocks : steps(mostBlocks_)) tryShapes(blocks, channelParts, kernelParts);
      }
      for (std::size_t s = 0; s < best_.size(); ++s) open_[s] = !found_[s];
      if (std::ranges::none_of(open_, std::identity())) return;
    }
  }

  // The least that a way of the streams can take, whatever is cut over time: that moves and
  // computes no less than the whole of a core's work in one call.
  void findLeast() {
    takeShape(mostBlocks_, 1, 1);
    Mapping& t = tried_;
    t.chunks = t.bands = 1;
    t.callRows = callRows_.empty() ? 1 : callRows_.back();
    t.resident = true;
    t.weightSlots = t.outputSlots = t.outputRowBytes = t.accumulatorBytes = 0;
    t.pooled = {};
    t.rings.assign(operands_.size(), RingPlan());
    Amounts amounts = countAmounts(
        t, {.blocksPerPass = mostBlocks_, .weightSlots = 0, .resident = true}, columns_);
    // A chunk may ask for fewer columns of an operand than the stretch around all.
    if (op_.kind() == OpKind::Assemble) amounts.inputs.assign(operands_.size(), 0);
    for (const Streams& streams : menu_)
      leastOfWay_.push_back(score(t, streams, amounts, true).cycles);
  }

  std::int64_t mostAhead() const { return limits_.ahead ? mostWaiting_ : 1; }

  Interval passBlocks(const Mapping& t, std::size_t channelPart, std::int64_t pass) const {
    return t.passBlocks({.blocks = cut_.blocks[channelPart]}, pass);
  }

  void tryShapes(std::int64_t blocks, std::int64_t channelParts, std::int64_t kernelParts) {
    const bool reduced = channelParts > 1 || kernelParts > 1;
    if (!takeShape(blocks, channelParts, kernelParts)) return;
    for (bool resident : {true, false}) {
      if (resident && !reducesChannels(op_)) continue;
      for (std::int64_t slots : {4, 3, 2, 1}) {
        const auto turnsFit = [&](const Way& way) { return way.turns == slots - 1; };
        if (slots > 2 && std::ranges::none_of(ways_, turnsFit)) continue;
        if (slots > mostAhead()) continue;
        for (const std::int64_t chunks : chunks_) {
          if (resident && chunks > 1) break;
          bool fits = false;
          for (const std::int64_t bands : bands_) {
            if (bands > 1 && (resident || !reduced)) break;
            Candidate c{blocks, chunks, bands, channelParts, kernelParts, slots, resident};
            if (consider(c)) {
              fits = true;
              considerLongerCalls(c);
              break;
            }
          }
          if (fits) break;
        }
      }
    }
  }

  // Longer calls pay where calls cost anything beside what they compute. Of about as many rows
  // those are tried that leave the last call fewest short.
  void listCallRows() {
    if (!limits_.longCalls || op_.kind() == OpKind::Assemble || callCost() == 0) return;
    const std::int64_t all = pool_ ? pool_->kernelY : rows_, most = std::min(kMaxCallRows, all);
    for (std::int64_t from = 2; from <= most; from *= 2) {
      std::int64_t best = from;
      for (std::int64_t rows = from; rows < std::min(2 * from, most + 1); ++rows)
        if (roundUpTo(all, rows) < roundUpTo(all, best)) best = rows;
      callRows_.push_back(best);
    }
  }
  std::int64_t callCost() const {
    return device_.core.callOverhead.raw() + device_.lockAcquire.raw();
  }

  void considerLongerCalls(Candidate c) {
    const std::int64_t rows = divideRoundUp(rows_, c.bands);
    for (const std::int64_t callRows : callRows_) {
      if (!pool_ && c.callRows >= rows) return;
      c.callRows = callRows;
      if (std::max(outputPlaces(callRows), rowsOfACall(c)) > mostWaiting_ || !consider(c)) return;
    }
  }

  // Most rows of an operand: a call takes a token of a lock for each.
  std::int64_t rowsOfACall(const Candidate& c) {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < operands_.size(); ++i)
      most = std::max(most, lengths(i, c.kernelParts, c.callRows).single);
    return most;
  }

  std::int64_t outputPlaces(std::int64_t callRows) const {
    return std::min(kOutputSlots, mostAhead()) * (pool_ ? 1 : callRows);
  }

  // Calls of a core over all bands of one chunk, pass and part; pooled rows.
  std::int64_t callsOf(const Mapping& t) const {
    if (pool_ || t.callRows == 1) return rows_;
    const std::int64_t each = rows_ / t.bands, longer = rows_ % t.bands;
    return longer * divideRoundUp(each + 1, t.callRows) +
           (t.bands - longer) * divideRoundUp(each, t.callRows);
  }

  const RingLengths& lengths(std::size_t operand, std::int64_t kernelParts,
                             std::int64_t callRows = 1) {
    if (pool_) callRows = 1;
    const auto [known, fresh] = lengths_.try_emplace({operand, callRows});
    RingLengths& n = known->second;
    if (!fresh) return n;
    // Calls of one row ask for none but where the operand gives some.
    const std::vector<std::int64_t> some =
        callRows == 1 ? operands_[operand].outputRows() : std::vector<std::int64_t>();
    for (std::int64_t k = 0; k < kernelParts; ++k) {
      const Interval kernelRows = evenPart(window_.kernelY, kernelParts, k);
      struct Call {
        std::int64_t y = 0;
        Interval rows;
      };
      std::vector<Call> calls;   // that begin at some row and ask for any
      std::size_t previous = 0;  // behind the last of these that ends before the call
      for (const std::int64_t y : callRows == 1 ? some : everyRow_) {
        const Interval rows =
            operands_[operand].rowsOf({y, std::min(callRows, output_.height - y)}, kernelRows);
        if (rows.empty()) continue;
        calls.push_back({y, rows});
        n.single = std::max(n.single, rows.count);
        while (calls[previous].y <= y - callRows) ++previous;
        if (previous > 0)
          n.doubled = std::max(n.doubled, rows.end() - calls[previous - 1].rows.first);
        if (calls.size() == 1) n.firstWindow = std::max(n.firstWindow, rows.count);
      }
    }
    n.doubled = std::max(n.doubled, n.single);
    const std::int64_t extent = (window_.kernelY - 1) * window_.dilationY + 1;
    std::int64_t most = 0;
    for (const std::vector<PixelBox>& part : cut_.pixels) {
      std::vector<RingLengths::Stretch> loaded;
      std::int64_t pixels = 0, whole = 0;
      for (const PixelBox& box : part) {
        loaded.push_back({rowsLoaded(operand, box.y), &box});
        pixels += loaded.back().rows * (numbered_ ? box.x.count : 1);
        const std::int64_t spanned = rowsSpanned(operand, box.y);
        whole +=
            isOnePixel_[operand]
                ? spanned
                : std::max(std::min(input_.height, (box.y.count - 1) * window_.strideY + extent),
                           spanned);
      }
      n.whole = std::max(n.whole, whole);
      if (pixels <= most) continue;
      most = pixels;
      n.loaded = std::move(loaded);
    }
    return n;
  }

  // From the first row of an operand that output rows see to the last: of several images, whose
  // first rows may lie further apart than the others, too.
  std::int64_t rowsSpanned(std::size_t operand, const Interval& due) const {
    std::int64_t first = INT64_MAX, end = 0;
    for (std::int64_t y = due.first; y < due.end(); ++y) {
      const Interval rows = operands_[operand].rows(y, {0, window_.kernelY});
      if (rows.empty()) continue;
      first = std::min(first, rows.first);
      end = std::max(end, rows.end());
    }
    return std::max<std::int64_t>(end - first, 0);
  }

  // Rows of an operand that one sweep over output rows brings in.
  std::int64_t rowsLoaded(std::size_t operand, const Interval& due) const {
    std::int64_t loaded = 0, next = 0;
    for (std::int64_t y = due.first; y < due.end(); ++y) {
      const Interval rows = operands_[operand].rows(y, {0, window_.kernelY});
      if (rows.empty()) continue;
      loaded += std::max<std::int64_t>(rows.end() - std::max(next, rows.first), 0);
      next = std::max(next, rows.end());
    }
    return loaded;
  }

  ReductionPart part(std::int64_t channelParts, std::int64_t kernelParts,
                     std::int64_t index) const {
    ReductionPart p;
    if (reducesChannels(op_))
      p.inputBlocks = evenPart(blocksOf(input_), channelParts, index % channelParts);
    p.kernelRows = evenPart(window_.kernelY, kernelParts, index / channelParts);
    return p;
  }

  // What all candidates of these blocks and parts have in common. False: none can be staged.
  bool takeShape(std::int64_t blocks, std::int64_t channelParts, std::int64_t kernelParts) {
    Mapping& t = tried_;
    t.blocksPerPass = blocks;
    t.passes = divideRoundUp(mostBlocks_, blocks);
    t.parts.clear();
    for (std::int64_t i = 0; i < channelParts * kernelParts; ++i)
      t.parts.push_back(part(channelParts, kernelParts, i));
    t.equalRecords = device_.limits.recordLengths.has_value();
    t.weightBytes = largestRecord(t);
    t.equalRecords = t.equalRecords && t.weightBytes > 0;
    ownBlocks_.assign(operands_.size(), 0);
    for (std::size_t i = 0; i < operands_.size(); ++i)
      if (!sharesInput(op_, i)) ownBlocks_[i] = ownBlocks(t, i);
    if (std::ranges::any_of(ways_, [&](const Way& way) { return canStage(t, way, 0); }))
      return true;
    smallestRecord_ = std::min(smallestRecord_, t.weightBytes);
    return false;
  }

  bool consider(const Candidate& c) {
    Mapping& t = tried_;
    t.chunks = c.chunks;
    t.bands = c.bands;
    t.resident = c.resident;
    t.weightSlots = t.weightBytes == 0 ? 0 : c.weightSlots;
    t.callRows = c.callRows;
    t.outputSlots = outputPlaces(c.callRows);
    t.accumulatorBytes = 0;
    const std::int64_t columns = evenPart(columns_, c.chunks, 0).count;
    t.outputRowBytes = c.blocksPerPass * columns * kBlock;
    if (pool_)
      t.pooled = {pooled_.mostRows(), c.blocksPerPass * pooled_.mostColumns(columns) * kBlock};
    if (t.parts.size() > 1)
      t.accumulatorBytes = 4 * c.blocksPerPass * mostComputed(c.chunks, c.bands) * kBlock;
    const std::optional<bool> doubled = planRings(t, c, columns);
    if (!doubled) return false;
    const std::int64_t bytes = t.coreBytes();
    smallest_ = std::min(smallest_, bytes);
    if (bytes > capacity_) return false;
    const std::int64_t penalty = penaltyOf(t), beside = penalty + lastRows(t);
    const std::size_t longer = c.callRows > 1 ? 1 : 0;
    const Amounts* amounts = nullptr;  // of which few candidates need be counted
    for (std::size_t i = 0; i < menu_.size(); ++i) {
      if (!takesPlaces(ways_[i], t)) continue;
      std::optional<Score> reached;
      const auto isHopeful = [&](std::size_t s) {
        const std::int64_t least = std::max(leastOfWay_[i], amounts ? amounts->compute : 0);
        return isWanted(best_[s][i][longer], beside + least);
      };
      for (std::size_t s = 0; s < best_.size(); ++s) {
        if (!open_[s] || !isHopeful(s) || !canStage(t, ways_[i], s)) continue;
        found_[s] = true;
        if (hopeless_[s][i]) continue;
        if (!amounts) {
          amounts = &amountsOf(t, c, columns);
          if (!isHopeful(s)) continue;
        }
        if (!reached) reached = score(t, menu_[i], *amounts, *doubled);
        offer(best_[s][i][longer], i, t, *reached, penalty);
      }
    }
    return true;
  }

  // Of a chunk and band of a core.
  std::int64_t mostPixels(std::int64_t chunks, std::int64_t bands) {
    if (!numbered_) return evenPart(columns_, chunks, 0).count * evenPart(rows_, bands, 0).count;
    const auto [known, fresh] = mostPixels_.try_emplace({chunks, bands}, 0);
    if (!fresh) return known->second;
    for (const std::vector<PixelBox>& part : cut_.pixels) {
      std::vector<std::int64_t> columnsOfRow;
      for (const PixelBox& box : part)
        columnsOfRow.insert(columnsOfRow.end(), static_cast<std::size_t>(box.y.count),
                            evenPart(box.x.count, chunks, 0).count);
      for (std::int64_t b = 0; b < bands; ++b) {
        const Interval due = evenPart(std::ssize(columnsOfRow), bands, b);
        std::int64_t pixels = 0;
        for (std::int64_t row = due.first; row < due.end(); ++row)
          pixels += columnsOfRow[static_cast<std::size_t>(row)];
        known->second = std::max(known->second, pixels);
      }
    }
    return known->second;
  }

  // Pixels that its kernel writes for these, which a layer with a window at its end has more of.
  std::int64_t mostComputed(std::int64_t chunks, std::int64_t bands) {
    if (!pool_) return mostPixels(chunks, bands);
    if (!numbered_)
      return pooled_.mostColumns(evenPart(columns_, chunks, 0).count) *
             pooled_.mostRows(evenPart(rows_, bands, 0).count);
    std::int64_t most = 0;  // however the bands cut the boxes
    for (const std::vector<PixelBox>& part : cut_.pixels) {
      std::int64_t pixels = 0;
      for (const PixelBox& box : part)
        pixels += pooled_.mostColumns(evenPart(box.x.count, chunks, 0).count) *
                  pooled_.mostRows(std::min(box.y.count, evenPart(rows_, bands, 0).count));
      most = std::max(most, pixels);
    }
    return most;
  }

  // For steps: of two tilings of nearly the same estimate the one with fewer wins.
  std::int64_t penaltyOf(const Mapping& t) const {
    return kStepPenalty * t.passes * t.chunks * std::ssize(t.parts) * callsOf(t);
  }

  // Cycles in which the last call's rows leave.
  std::int64_t lastRows(const Mapping& t) const {
    return (pool_ ? 1 : t.callRows) * out_.time(Bytes(t.outputRowBytes)).raw();
  }

  static bool isWanted(const std::vector<Scored>& best, std::int64_t cycles) {
    return best.size() < kKept || cycles < best.back().score;
  }

  static std::int64_t turnsOfRecords(const Streams& streams) {
    if (streams.weights->empty()) return 1;
    const std::vector<Lane>& lanes = (*streams.weights)[0].lanes;
    const bool oneChannel = std::ranges::all_of(
        lanes, [&](const Lane& lane) { return lane.channel == lanes[0].channel; });
    return oneChannel ? 1 : std::ssize(lanes);
  }

  // Records that take turns need a place in the core for each turn and one to compute from, and pay
  // where they go round a few times; others overlap with two, and do with one.
  static bool takesPlaces(const Way& way, const Mapping& t) {
    const std::int64_t records = t.passes * std::ssize(t.parts);
    return way.turns == 1
               ? t.weightSlots <= 2
               : t.weightSlots == way.turns + 1 && records >= kFewestRounds * t.weightSlots;
  }

  static bool canStage(const Mapping& t, const Way& way, std::size_t staging) {
    return t.weightBytes * 2 <= way.rooms[staging];
  }

  // Keeps the best of a way of the streams.
  static void offer(std::vector<Scored>& best, std::size_t streams, const Mapping& t,
                    const Score& score, std::int64_t penalty) {
    const std::int64_t cycles = score.cycles + penalty;
    if (!isWanted(best, cycles)) return;
    const auto at = std::ranges::upper_bound(best, cycles, {}, &Scored::score);
    const auto kept = best.insert(at, {cycles, {t, streams}});
    kept->found.mapping.score = Cycles(score.cycles);
    kept->found.mapping.boundBy = score.boundBy;
    if (best.size() > kKept) best.pop_back();
  }

  void setCores(Mapping& m, const Streams& streams) const {
    for (const MeshCut::Share& share : cut_.shares)
      m.shares.push_back({share.core,
                          cut_.pixels[share.pixels],
                          cut_.blocks[share.blocks],
                          {0, share.core.column, share.core.row % device_.memtile.ddrChannelsOut}});
    for (const Routes& routes : streams.inputs) m.inputs.push_back(*routes);
    if (m.weightSlots == 0) return;
    m.weights = *streams.weights;
    if (std::ranges::any_of(streams.wires, &WireLoad::carriesBoth)) interleave(m);
    if (fusedAddOf(op_)) makeRoomForAddends(m);
  }

  // Rows that a sweep adds find a place each where there is memory: those that wait for one would
  // keep the next record on their wire waiting.
  void makeRoomForAddends(Mapping& m) const {
    RingPlan& ring = m.rings.back();
    if (mostWaiting_ < INT64_MAX || ring.rowBytes == 0) return;
    const std::int64_t rows = isOnePixel_.back() ? 1 : divideRoundUp(rows_, m.bands),
                       room = (capacity_ - m.coreBytes()) / ring.rowBytes;
    ring.length += std::max<std::int64_t>(0, std::min(rows + 1 - ring.length, room));
    // Where nothing else comes for each pass, what it adds goes ahead of the next record.
    if (m.resident && m.passes > 1 && m.weights[0].lead > 0)
      for (Route& route : m.inputs.back())
        route.lead = std::min(rows, ring.length - 1) / (pool_ ? 1 : m.callRows);
  }

  // Where records share a wire with rows, the next record goes among the rows of the sweep that
  // runs: else it would wait until the last of these has found its place. While it is on the wire
  // the core computes from rows that came before, for which its memory may have room.
  void interleave(Mapping& m) const {
    const std::int64_t callRows = pool_ ? 1 : m.callRows,
                       calls = divideRoundUp(divideRoundUp(rows_, m.bands), callRows);
    std::map<std::int64_t, std::int64_t> rank, routes;
    for (const Route& route : m.weights) ++routes[route.lanes[0].wire];
    for (Route& route : m.weights) {
      const std::int64_t wire = route.lanes[0].wire;
      route.lead = std::max<std::int64_t>(1, calls * (routes[wire] - rank[wire]++) / routes[wire]);
    }
    const std::int64_t columns = evenPart(columns_, m.chunks, 0).count;
    const RecordTime time = recordTime(m, 0, 0, 0, columns);
    const std::int64_t call = std::max<std::int64_t>(1, callRows * time.row + time.overhead);
    const std::int64_t ahead = m.resident ? 0 : std::min(calls, divideRoundUp(time.transfer, call));
    for (std::size_t i = 0; i < m.rings.size(); ++i) {
      RingPlan& ring = m.rings[i];
      if (ring.rowBytes == 0) continue;
      // Rings that a lock of few values counts stay as they were checked, as do those of one row.
      const bool grows = mostWaiting_ == INT64_MAX && !isOnePixel_[i];
      const std::int64_t room = grows ? (capacity_ - m.coreBytes()) / ring.rowBytes : 0;
      ring.length += std::clamp<std::int64_t>(ahead * callRows * window_.strideY, 0, room);
      for (Route& route : m.inputs[i]) route.lead = ahead;
    }
  }

  // Blocks that a part of the channels computes in a pass and part of the reduction, of one tap.
  std::int64_t computed(const Mapping& t, std::size_t channelPart, std::int64_t pass,
                        std::size_t part) const {
    const Interval blocks = passBlocks(t, channelPart, pass);
    return reducesChannels(op_) ? counts_.count(blocks, t.parts[part].inputBlocks) : blocks.count;
  }

  // How many parts of the channels need be looked at: of dense weights the first has most.
  std::size_t differentParts() const {
    const bool alike = counts_.whole() && cut_.family != MeshCut::Family::Bands;
    return alike ? 1 : cut_.blocks.size();
  }

  // Room for the longest record; for all of a dense one's parts that of the first with an epilogue,
  // or of the last where more follows on the weights.
  std::int64_t largestRecord(const Mapping& t) const {
    const bool hasEnd = fusedWindowOf(op_) && fusedWindowOf(op_)->depthwise();
    if (counts_.whole() && !t.equalRecords && !hasEnd)
      return roundUpTo(recordLengths_.bytes(t.blocksPerPass, t.parts[0], true,
                                            t.blocksPerPass * t.parts[0].inputBlocks.count),
                       kBlock);
    std::int64_t most = 0;
    for (std::size_t r = 0; r < differentParts(); ++r)
      for (std::int64_t k = 0; k < t.passes; ++k)
        for (std::size_t i = 0; i < t.parts.size(); ++i)
          if (const Interval blocks = passBlocks(t, r, k); !blocks.empty())
            most =
                std::max(most, recordLengths_.bytes(blocks.count, t.parts[i],
                                                    i + 1 == t.parts.size(), computed(t, r, k, i)));
    return roundUpTo(most, kBlock);
  }

  // Rings of two windows where they fit, else of one. Returns whether they hold two; nothing where
  // even one lets more calls wait than a lock can count.
  std::optional<bool> planRings(Mapping& t, const Candidate& c, std::int64_t columns) {
    bool found = false;
    for (bool doubled : {true, false}) {
      if (doubled && !limits_.ahead && !c.resident) continue;
      std::vector<RingPlan>& rings = triedRings_;
      rings.clear();
      std::int64_t waiting = 0, bytes = t.weightSlots * t.weightBytes +
                                        t.outputSlots * t.outputRowBytes + t.accumulatorBytes +
                                        t.pooled.length * t.pooled.rowBytes;
      for (std::size_t i = 0; i < operands_.size(); ++i) {
        const RingLengths& n = lengths(i, c.kernelParts, c.callRows);
        RingPlan ring;
        const bool two = doubled && (limits_.ahead || !isAddend(op_, i));
        ring.length = c.resident && !isAddend(op_, i) ? n.whole : two ? n.doubled : n.single;
        // The next sweep's pixel comes while this one's is read.
        if (isOnePixel_[i] && sharesInput(op_, i) && two && !c.resident && isCutOverTime(t))
          ring.length = std::max<std::int64_t>(ring.length, 2);
        ring.rowBytes =
            roundUpTo(inputBlocks(t, i) * inputColumns(i, c, columns) * kBlock, kRingAlignment);
        bytes += ring.length * ring.rowBytes;
        waiting = std::max(waiting, callsWaiting(i, c, ring.length));
        rings.push_back(ring);
      }
      const bool counted = waiting <= mostWaiting_;
      tooManyWait_ = tooManyWait_ || !counted;
      if (counted) {
        found = true;
        t.rings = rings;
      }
      if (c.resident || (counted && bytes <= capacity_))
        return counted ? std::optional(doubled) : std::nullopt;
    }
    return found ? std::optional(false) : std::nullopt;
  }

  static bool isCutOverTime(const Mapping& t) {
    return t.passes * t.chunks * t.bands * std::ssize(t.parts) > 1;
  }

  // Most calls whose rows of an operand a ring holds at once; of calls of one row each, which are
  // no fewer.
  std::int64_t callsWaiting(std::size_t operand, const Candidate& c, std::int64_t length) {
    if (mostWaiting_ == INT64_MAX) return 0;
    const auto [known, fresh] = waiting_.try_emplace({operand, length, c.resident}, 0);
    if (!fresh) return known->second;
    for (std::int64_t k = 0; k < (c.resident ? 1 : c.kernelParts); ++k) {
      const Interval kernelRows = evenPart(window_.kernelY, c.resident ? 1 : c.kernelParts, k);
      std::vector<Interval> rows;
      for (std::int64_t y = 0; y < output_.height; ++y) {
        if (!pool_) rows.push_back(operands_[operand].rows(y, kernelRows));
        // A pool waits for no row, and lets its kernel's runs wait for fewer each.
        const Interval computed = pool_ ? pooled_.freshRows(y, y > 0) : Interval();
        for (std::int64_t row = computed.first; row < computed.end(); ++row)
          rows.push_back(kernelOperand_->rows(row, {0, kernelWindowOf(op_)->kernelY}));
      }
      known->second = std::max(known->second, mostCallsAhead(rows, length));
    }
    return known->second;
  }

  // Most columns of an operand that a core holds, for chunks of at most `columns` output columns.
  std::int64_t inputColumns(std::size_t operand, const Candidate& c, std::int64_t columns) {
    if (operands_[operand].hasWindow())
      return std::min(input_.width, (columns - 1) * window_.strideX +
                                        (window_.kernelX - 1) * window_.dilationX + 1);
    const auto [known, fresh] = widest_.try_emplace({operand, c.chunks}, 0);
    if (!fresh) return known->second;
    for (const std::vector<PixelBox>& part : cut_.pixels)
      for (const PixelBox& box : part)
        for (std::int64_t j = 0; j < c.chunks; ++j) {
          Interval x = evenPart(box.x.count, c.chunks, j);
          x.first += box.x.first;
          known->second = std::max(known->second, operands_[operand].columns(x).count);
        }
    return known->second;
  }

  // Columns of an operand for a box of a part, all chunks together.
  std::int64_t inputColumns(std::size_t operand, const Candidate& c, const PixelBox& box) const {
    std::int64_t all = 0;
    for (std::int64_t j = 0; j < c.chunks; ++j) {
      Interval x = evenPart(box.x.count, c.chunks, j);
      x.first += box.x.first;
      if (!x.empty()) all += operands_[operand].columns(x).count;
    }
    return all;
  }

  // Most blocks of an operand that a core holds in a row.
  std::int64_t inputBlocks(const Mapping& t, std::size_t operand) const {
    if (sharesInput(op_, operand))
      return t.resident ? blocksOf(input_) : t.parts[0].inputBlocks.count;
    return ownBlocks_[operand];
  }
  std::int64_t ownBlocks(const Mapping& t, std::size_t operand) const {
    std::int64_t most = 0;
    for (std::size_t r = 0; r < cut_.blocks.size(); ++r)
      for (std::int64_t k = 0; k < t.passes; ++k)
        if (const Interval b = passBlocks(t, r, k); !b.empty())
          most = std::max(most, operands_[operand].blocks(b, t.parts[0]).count);
    return most;
  }

  // Passes, or parts, whose records are alike; of sparse weights each may differ.
  struct Alike {
    std::int64_t first = 0, times = 1;
  };
  void findAlikePasses(const Mapping& t) {
    if (counts_.whole() && t.passes > 1)
      alikePasses_.assign({{0, t.passes - 1}, {t.passes - 1, 1}});
    else
      takeEach(alikePasses_, t.passes);
  }
  void findAlikeParts(const Mapping& t) {
    std::vector<Alike>& alike = alikeParts_;
    if (!counts_.whole()) return takeEach(alike, std::ssize(t.parts));
    alike.clear();
    for (std::int64_t i = 0; i < std::ssize(t.parts); ++i) {
      const ReductionPart& part = t.parts[static_cast<std::size_t>(i)];
      const auto same = std::ranges::find_if(alike, [&](const Alike& other) {
        const ReductionPart& first = t.parts[static_cast<std::size_t>(other.first)];
        return first.inputBlocks.count == part.inputBlocks.count &&
               first.kernelRows.count == part.kernelRows.count && i + 1 < std::ssize(t.parts);
      });
      if (same == alike.end())
        alike.push_back({i, 1});
      else
        ++same->times;
    }
  }
  static void takeEach(std::vector<Alike>& all, std::int64_t count) {
    all.clear();
    for (std::int64_t i = 0; i < count; ++i) all.push_back({i, 1});
  }

  // Cycles of the busiest core, and of each stream over one wire of its own.
  struct Amounts {
    std::int64_t compute = 0, weights = 0, fetched = 0, out = 0;  // fetched: weights out of DDR
    std::int64_t calls = 0, records = 0;
    std::vector<std::int64_t> inputs, first;  // first: rows of the first call
  };

  // The same for any number of places for records.
  const Amounts& amountsOf(const Mapping& t, const Candidate& c, std::int64_t columns) {
    const auto [known, fresh] =
        amounts_.try_emplace({c.blocksPerPass, c.chunks, c.bands, c.channelParts, c.resident,
                              c.callRows, t.rings[0].length});
    if (fresh) known->second = countAmounts(t, c, columns);
    return known->second;
  }

  Amounts countAmounts(const Mapping& t, const Candidate& c, std::int64_t columns) {
    Amounts a;
    const std::int64_t sweeps = t.parts.size() > 1 ? t.chunks * t.bands : 1;
    std::vector<std::int64_t>&computing = computing_, &moving = moving_, &fetching = fetching_;
    for (std::vector<std::int64_t>* ofParts : {&computing, &moving, &fetching})
      ofParts->assign(differentParts(), 0);
    a.calls = rows_ * t.chunks * t.passes * std::ssize(t.parts);
    a.records = sweeps * t.passes * std::ssize(t.parts);
    findAlikePasses(t);
    findAlikeParts(t);
    for (const Alike& k : alikePasses_)
      for (const Alike& i : alikeParts_) {
        const std::int64_t times = k.times * i.times;
        std::int64_t slowest = 0;
        for (std::size_t r = 0; r < computing.size(); ++r) {
          const RecordTime time =
              recordTime(t, r, k.first, static_cast<std::size_t>(i.first), columns);
          const std::int64_t sweep =
              numbered_
                  ? sweepTime(t, r, k.first, static_cast<std::size_t>(i.first))
                  : ofItsPixels(r, t.chunks * (rows_ * time.row + moreRows(t) * time.computed +
                                               callsOf(t) * time.overhead));
          computing[r] += times * sweep;
          moving[r] += times * sweeps * time.transfer;
          fetching[r] += times * sweeps * time.fetch;
          slowest = std::max(slowest, sweep);
        }
        a.compute += times * slowest;
      }
    // Rows go to cores of the same pixels together: these wait for the slowest, each time that
    // rows come.
    if (t.resident) a.compute = *std::ranges::max_element(computing);
    a.weights = *std::ranges::max_element(moving);
    a.fetched = *std::ranges::max_element(fetching);
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const RingLengths& n = lengths(i, c.kernelParts);
      const bool shared = sharesInput(op_, i);
      const std::int64_t blocks = shared ? blocksOf(input_) : mostBlocks_;
      const std::int64_t again = shared && !t.resident ? t.passes * c.kernelParts : 1;
      const std::int64_t overlap = (t.bands - 1) * (n.single - 1);
      std::int64_t inputs = 0;
      for (const RingLengths::Stretch& stretch : n.loaded) {
        const std::int64_t width =
            numbered_ ? inputColumns(i, c, *stretch.box) : inputColumns(i, c, columns) * t.chunks;
        const std::int64_t row = wire_.time(Bytes(blocks * width * kBlock)).raw();
        inputs += (stretch.rows + (&stretch == n.loaded.data() ? overlap : 0)) * row;
      }
      a.inputs.push_back(again * inputs *
                         (limits_.timesItsWire.empty() ? 1 : limits_.timesItsWire[i]));
      a.first.push_back(
          wire_
              .time(Bytes(
                  t.rings[i].rowBytes *
                  std::min(t.rings[i].length, lengths(i, c.kernelParts, c.callRows).firstWindow)))
              .raw());
    }
    a.out = numbered_
                ? out_.time(Bytes(mostBlocks_ * mostPixels(1, 1) * kBlock)).raw()
                : ofItsPixels(
                      0, rows_ * out_.time(Bytes(mostBlocks_ * columns * t.chunks * kBlock)).raw());
    return a;
  }

  // Of a time for as many pixels as the cut's largest part has, that for those of a part of the
  // channels.
  std::int64_t ofItsPixels(std::size_t channelPart, std::int64_t time) const {
    if (cut_.family != MeshCut::Family::Bands) return time;
    return time * pixelsOf_[channelPart] / pixelsOf(cut_.pixels[0]);
  }

  Score score(const Mapping& t, const Streams& streams, const Amounts& a, bool doubled) const {
    double inputs = 0, weights = 0, both = 0, fill = 0, stalls = 0;
    for (const WireLoad& wire : streams.wires) {
      double in = 0, first = 0;
      for (std::size_t i = 0; i < a.inputs.size(); ++i) {
        in += wire.inputs[i] * static_cast<double>(a.inputs[i]);
        first += wire.inputs[i] * static_cast<double>(a.first[i]);
      }
      const double records = wire.weights * static_cast<double>(a.weights);
      inputs = std::max(inputs, in);
      weights = std::max(weights, records);
      both = std::max(both, in + records);
      fill = std::max(fill, first);
      if (wire.carriesBoth()) stalls = std::max(stalls, wire.weights * stallsOf(t, a));
    }
    const auto whole = [](double cycles) { return static_cast<std::int64_t>(cycles); };
    const std::array<std::pair<std::int64_t, const char*>, 5> terms{
        {{a.compute, "compute"},
         {whole(inputs), "inputs"},
         {whole(weights), "weights"},
         {ddrTime(streams, a) * limits_.heldUpByDdr / 100, "ddr"},
         {a.out, "outputs"}}};
    const auto largest = std::ranges::max_element(terms, {}, [](auto& term) { return term.first; });
    std::int64_t total = std::max({largest->first, whole(both), a.compute + whole(stalls)});
    if (t.weightSlots == 1 && t.passes * std::ssize(t.parts) > 1)
      total = std::max(total, a.compute + whole(weights));
    if (!doubled && !t.resident) total = std::max(total, a.compute + whole(inputs));
    total += whole(fill);
    if (t.coreBytes() * 2 > capacity_) total += wire_.time(Bytes(t.weightBytes)).raw();
    return {total + lastRows(t), largest->second};
  }

  // Of a channel's records: those of a memtile's routes go over its channels by turns where they
  // are many (shareDdrChannels), else route by route.
  std::int64_t ddrTime(const Streams& streams, const Amounts& a) const {
    const std::int64_t channels = device_.memtile.ddrChannelsIn;
    if (a.records < kFewestRoundsOfDdr * channels) return a.fetched * streams.routesOfAChannel;
    return divideRoundUp(a.fetched * streams.routesOfAMemtile, channels);
  }

  // Cycles for which a core's rows wait behind records on their wire, beyond those that its ring
  // can hold: interleave() gives it what is left of the core's memory.
  double stallsOf(const Mapping& t, const Amounts& a) const {
    if (t.resident || a.records == 0 || t.rings[0].rowBytes == 0) return 0;
    const std::int64_t record = a.weights / a.records,
                       call = std::max<std::int64_t>(1, a.compute / a.calls);
    const std::int64_t rows =
        mostWaiting_ < INT64_MAX ? 0 : (capacity_ - t.coreBytes()) / t.rings[0].rowBytes;
    const std::int64_t stall = record - rows / window_.strideY * call;
    return static_cast<double>(a.records * std::max<std::int64_t>(0, stall));
  }

  struct RecordTime {
    // Cycles of an output row with the record; that it is on the wire; that its DDR channel takes.
    std::int64_t row = 0, transfer = 0, fetch = 0;
    std::int64_t overhead = 0;  // of a call; where rows are pooled it is in `row`
    std::int64_t computed = 0;  // of a row that is pooled
  };
  // Rows that a sweep over so many output rows computes beside those that `row` has for each: those
  // that the first one's window sees, less what lies outside of the tensor.
  std::int64_t moreRows(std::int64_t rows) const {
    return pool_ ? pooled_.mostRows(rows) - rows * std::min(pool_->kernelY, pool_->strideY) : 0;
  }
  // Of all bands together.
  std::int64_t moreRows(const Mapping& t) const {
    const std::int64_t each = rows_ / t.bands, longer = rows_ % t.bands;
    return longer * moreRows(each + 1) + (t.bands - longer) * moreRows(each);
  }
  // Cycles of the calls with a record, of the part with most pixels.
  std::int64_t sweepTime(const Mapping& t, std::size_t channelPart, std::int64_t pass,
                         std::size_t part) const {
    std::int64_t cycles = 0;
    for (const PixelBox& box : cut_.pixels[0])
      for (std::int64_t j = 0; j < t.chunks; ++j) {
        const RecordTime time =
            recordTime(t, channelPart, pass, part, evenPart(box.x.count, t.chunks, j).count);
        cycles += box.y.count * time.row + moreRows(box.y.count) * time.computed +
                  divideRoundUp(box.y.count, t.callRows) * time.overhead;
      }
    return cycles;
  }

  RecordTime recordTime(const Mapping& t, std::size_t channelPart, std::int64_t pass,
                        std::size_t part, std::int64_t columns) const {
    const std::int64_t blocks = passBlocks(t, channelPart, pass).count,
                       kept = computed(t, channelPart, pass, part);
    const bool ends = part + 1 == t.parts.size();
    KernelWork call =
        kernelWork(op_.kind(), kept, tapsOf(op_, t.parts[part]), pooled_.mostColumns(columns),
                   operandBlocks(op_, blocks, t.parts[part], ends));
    const Bytes bytes(t.equalRecords ? t.weightBytes
                                     : recordLengths_.bytes(blocks, t.parts[part], ends, kept));
    RecordTime time{0, wire_.time(bytes).raw(), ddr_.time(bytes).raw()};
    const auto took = [&] {
      return kernelTime(call, device_).raw() + call.calls() * device_.lockAcquire.raw();
    };
    const std::int64_t row = took();
    if (!pool_) {
      time.overhead = callCost();
      time.row = row - time.overhead;
      return time;
    }
    call.rows = std::min(pool_->kernelY, pool_->strideY);
    call.rowsOfACall = t.callRows;
    if (ends) addEnd(*fusedWindowOf(op_), blocks, columns, call);
    time.computed = row;
    time.row = took();
    return time;
  }

  const CanonicalOp& op_;
  const Device& device_;
  SearchLimits limits_;
  const MeshCut& cut_;
  std::int64_t rows_, columns_;  // most of a part, most of a box
  bool numbered_;                // parts of several boxes
  std::span<const Streams> menu_;
  std::vector<Way> ways_;                     // per entry of the menu
  std::vector<std::int64_t> chunks_, bands_;  // to try
  std::vector<std::int64_t> callRows_;        // beside 1
  std::int64_t mostWaiting_;  // calls whose rows may wait for their core: limits.lockMaximum
  const BlockCounts& counts_;
  RecordLengths recordLengths_;
  Shape output_, input_;
  PooledGeometry pooled_;
  std::int64_t capacity_;
  TransferRate wire_, out_, ddr_;
  Window window_;
  std::optional<Window> pool_;  // at its end
  std::vector<OperandGeometry> operands_;
  std::vector<bool> isOnePixel_;                  // per operand
  std::vector<std::int64_t> everyRow_;            // of the output
  std::optional<OperandGeometry> kernelOperand_;  // where that is
  std::int64_t mostBlocks_ = 1;                   // of output channels that a core computes
  std::vector<std::int64_t> pixelsOf_;            // most of a core, by interval of channels
  Mapping tried_;                                 // the candidate that is considered
  std::vector<RingPlan> triedRings_;
  // Of countAmounts, which is asked often: by part of the channels; passes and parts.
  std::vector<std::int64_t> computing_, moving_, fetching_;
  std::vector<Alike> alikePasses_, alikeParts_;
  std::vector<std::int64_t> ownBlocks_;  // of its blocks: most of each operand that is not reduced
  // For the current number of kernel parts: by operand, rows of a call.
  std::map<std::pair<std::size_t, std::int64_t>, RingLengths> lengths_;
  std::map<std::pair<std::size_t, std::int64_t>, std::int64_t> widest_;  // per operand and chunks
  std::map<std::tuple<std::size_t, std::int64_t, bool>, std::int64_t> waiting_;  // likewise
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> mostPixels_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool, std::int64_t,
                      std::int64_t>,
           Amounts>
      amounts_;                               // likewise
  std::vector<std::vector<BestOfWay>> best_;  // per staging and way of the streams
  std::vector<bool> open_, found_;  // per staging: none was found with fewer kernel parts; some was
  std::vector<std::vector<bool>> hopeless_;  // per staging and way: no mapping is wanted
  std::vector<std::int64_t> leastOfWay_;     // a score that none is below
  std::int64_t smallest_ = INT64_MAX, smallestRecord_ = INT64_MAX;
  bool tooManyWait_ = false;  // in the rings of some candidate
  bool searched_ = false;
};

}  // namespace

FoundMappings searchMappings(const CanonicalGraph& graph, const CanonicalOp& op,
                             const Device& device, const BlockCounts& kept, const MeshCut& cut,
                             std::span<const Streams> menu, const SearchLimits& limits,
                             const std::vector<std::int64_t>& worthless) {
  const auto search = std::make_shared<LayerSearch>(graph, op, device, kept, cut, menu, limits);
  std::vector<std::vector<FoundMapping>> best = search->best(worthless);
  const bool none = best[0].empty();
  return {std::move(best), [search](const FoundMapping& found) { return search->whole(found); },
          none ? search->shortage() : std::string()};
}

bool hasWeights(const CanonicalOp& op) {
  ReductionPart part;
  if (const auto window = windowOf(op)) part.kernelRows = {0, window->kernelY};
  return RecordLengths(op).bytes(1, part, true, 1) > 0;
}

}  // namespace heddle
