#include "layer_search.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>

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

struct Candidate {
  std::int64_t blocksPerPass = 1, chunks = 1, bands = 1, channelParts = 1, kernelParts = 1;
  std::int64_t weightSlots = 2;
  bool resident = false;
};

// Rows that a window, and a window with its successor, span: the shortest rings that work and that
// overlap transfers.
struct RingLengths {
  std::int64_t single = 1, doubled = 1, whole = 1, firstWindow = 1;
  std::int64_t rowsLoaded = 0;  // rows that one sweep over the output box brings in
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

class LayerSearch {
 public:
  LayerSearch(const CanonicalGraph& graph, const CanonicalOp& op, const Device& device,
              const SearchLimits& limits)
      : op_(op),
        device_(device),
        limits_(limits),
        mostWaiting_(device.limits.lockMaximum.value_or(INT64_MAX)),
        counts_(op),
        output_(graph.tensors[op.output.at()].shape),
        input_(graph.tensors[op.inputs[0].at()].shape),
        capacity_(device.core.operandMemory().raw()) {
    if (const Window* window = windowOf(op)) window_ = *window;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) operands_.emplace_back(graph, op, i);
    cutSpace();
  }

  // The fastest tiling that fits, or the smallest one's need in bytes.
  std::optional<Tiling> best() {
    if (!search()) return std::nullopt;
    Tiling found = space_;
    found.mapping = std::move(*best_);
    return found;
  }
  // What the smallest tiling needs and there is not.
  std::string shortage() const {
    std::ostringstream out;
    if (smallest_ == INT64_MAX)
      out << "two of its smallest weight records need " << 2 * smallestRecord_ << " B of the "
          << limits_.staging << " B that a memtile sets aside for the weights of a row";
    else
      out << "the smallest subvolume needs " << smallest_ << " B of a core's " << capacity_
          << " B for operands";
    if (tooManyWait_)
      out << ", with rings that let no more calls wait than 'limits.lockMaximum' of "
          << mostWaiting_;
    return out.str();
  }

 private:
  bool search() {
    const std::int64_t inputBlocks = sharesInput(op_) ? blocksOf(input_) : 1;
    for (std::int64_t kernelParts : steps(window_.kernelY)) {
      lengths_.clear();
      waiting_.clear();
      for (std::int64_t channelParts : steps(inputBlocks)) {
        for (std::int64_t blocks : steps(rowBlocks_)) tryShapes(blocks, channelParts, kernelParts);
      }
      if (best_) return true;
    }
    return false;
  }

  std::int64_t mostAhead() const { return limits_.ahead ? mostWaiting_ : 1; }

  Interval passBlocks(const Mapping& t, std::int64_t row, std::int64_t pass) const {
    return t.passBlocks({.blocks = space_.rowBlocks[static_cast<std::size_t>(row)]}, pass);
  }

  void cutSpace() {
    space_.columns = evenBoxes(output_, device_);
    for (std::int64_t r = 0; r < device_.rows; ++r)
      space_.rowBlocks.push_back(evenPart(blocksOf(output_), device_.rows, r));
    rowBlocks_ = space_.rowBlocks[0].count;
  }

  void tryShapes(std::int64_t blocks, std::int64_t channelParts, std::int64_t kernelParts) {
    const bool reduced = channelParts > 1 || kernelParts > 1;
    for (bool resident : {true, false}) {
      if (resident && !sharesInput(op_)) continue;
      for (std::int64_t slots : {2, 1}) {
        if (slots > mostAhead()) continue;
        for (std::int64_t chunks : steps(space_.columns[0].x.count)) {
          if (resident && chunks > 1) break;
          bool fits = false;
          for (std::int64_t bands : steps(reduced ? space_.columns[0].y.count : 1)) {
            if (resident && bands > 1) break;
            if (consider({blocks, chunks, bands, channelParts, kernelParts, slots, resident})) {
              fits = true;
              break;
            }
          }
          if (fits) break;
        }
      }
    }
  }

  const RingLengths& lengths(std::size_t operand, std::int64_t kernelParts) {
    if (lengths_.empty()) lengths_.resize(op_.inputs.size());
    std::optional<RingLengths>& entry = lengths_[operand];
    if (entry) return *entry;
    RingLengths n;
    const PixelBox& box = space_.columns[0];
    for (std::int64_t k = 0; k < kernelParts; ++k) {
      const Interval kernelRows = evenPart(window_.kernelY, kernelParts, k);
      Interval previous;
      for (std::int64_t y = 0; y < output_.height; ++y) {
        const Interval rows = operands_[operand].rows(y, kernelRows);
        if (rows.empty()) continue;
        n.single = std::max(n.single, rows.count);
        if (previous.empty())
          n.firstWindow = std::max(n.firstWindow, rows.count);
        else
          n.doubled = std::max(n.doubled, rows.end() - previous.first);
        previous = rows;
      }
    }
    n.doubled = std::max(n.doubled, n.single);
    const Interval all{0, window_.kernelY};
    std::int64_t loaded = 0, next = 0;
    for (std::int64_t y = box.y.first; y < box.y.end(); ++y) {
      const Interval rows = operands_[operand].rows(y, all);
      if (rows.empty()) continue;
      loaded += std::max<std::int64_t>(rows.end() - std::max(next, rows.first), 0);
      next = std::max(next, rows.end());
    }
    const std::int64_t extent = (window_.kernelY - 1) * window_.dilationY + 1;
    n.whole = std::min(input_.height, (box.y.count - 1) * window_.strideY + extent);
    n.rowsLoaded = loaded;
    entry = n;
    return *entry;
  }

  ReductionPart part(const Candidate& c, std::int64_t index) const {
    ReductionPart p;
    if (sharesInput(op_))
      p.inputBlocks = evenPart(blocksOf(input_), c.channelParts, index % c.channelParts);
    p.kernelRows = evenPart(window_.kernelY, c.kernelParts, index / c.channelParts);
    return p;
  }

  bool consider(const Candidate& c) {
    Mapping t;
    t.blocksPerPass = c.blocksPerPass;
    t.passes = divideRoundUp(rowBlocks_, c.blocksPerPass);
    t.chunks = c.chunks;
    t.bands = c.bands;
    t.resident = c.resident;
    for (std::int64_t i = 0; i < c.channelParts * c.kernelParts; ++i) t.parts.push_back(part(c, i));
    t.weightBytes = largestRecord(t);
    t.equalRecords = device_.limits.recordLengths.has_value() && t.weightBytes > 0;
    t.weightSlots = t.weightBytes == 0 ? 0 : c.weightSlots;
    t.outputSlots = std::min(t.outputSlots, mostAhead());
    if (t.weightBytes * 2 > limits_.staging && t.weightBytes > 0) {
      smallestRecord_ = std::min(smallestRecord_, t.weightBytes);
      return false;
    }
    const std::int64_t columns = evenPart(space_.columns[0].x.count, c.chunks, 0).count;
    t.outputRowBytes = c.blocksPerPass * columns * kBlock;
    if (t.parts.size() > 1)
      t.accumulatorBytes =
          4 * t.outputRowBytes * evenPart(space_.columns[0].y.count, c.bands, 0).count;
    const std::optional<bool> doubled = planRings(t, c, columns);
    if (!doubled) return false;
    const std::int64_t bytes = t.coreBytes();
    smallest_ = std::min(smallest_, bytes);
    if (bytes > capacity_) return false;
    estimate(t, c, columns, *doubled);
    const std::int64_t steps =
        t.passes * t.chunks * std::ssize(t.parts) * space_.columns[0].y.count;
    const std::int64_t score = t.score.raw() + kStepPenalty * steps;
    if (!best_ || score < bestScore_) {
      best_ = std::move(t);
      bestScore_ = score;
    }
    return true;
  }

  // Blocks that mesh row `row` computes in a pass and part, of one tap.
  std::int64_t computed(const Mapping& t, std::int64_t row, std::int64_t pass,
                        std::size_t part) const {
    const Interval blocks = passBlocks(t, row, pass);
    return sharesInput(op_) ? counts_.count(blocks, t.parts[part].inputBlocks) : blocks.count;
  }

  // How many of the mesh rows need be looked at: of dense weights the first has most.
  std::int64_t differentRows() const { return counts_.whole() ? 1 : space_.activeRows(); }

  // Room for the longest record; for all of a dense one's parts that of the first with an epilogue.
  std::int64_t largestRecord(const Mapping& t) const {
    if (counts_.whole())
      return roundUpTo(recordBytes(op_, t.blocksPerPass, t.parts[0], true,
                                   t.blocksPerPass * t.parts[0].inputBlocks.count),
                       kBlock);
    std::int64_t most = 0;
    for (std::int64_t r = 0; r < differentRows(); ++r)
      for (std::int64_t k = 0; k < t.passes; ++k)
        for (std::size_t i = 0; i < t.parts.size(); ++i)
          if (const Interval blocks = passBlocks(t, r, k); !blocks.empty())
            most = std::max(most, recordBytes(op_, blocks.count, t.parts[i],
                                              i + 1 == t.parts.size(), computed(t, r, k, i)));
    return roundUpTo(most, kBlock);
  }

  // Rings of two windows where they fit, else of one. Returns whether they hold two; nothing where
  // even one lets more calls wait than a lock can count.
  std::optional<bool> planRings(Mapping& t, const Candidate& c, std::int64_t columns) {
    bool found = false;
    for (bool doubled : {true, false}) {
      if (doubled && !limits_.ahead && !c.resident) continue;
      std::vector<RingPlan> rings;
      std::int64_t waiting = 0, bytes = t.weightSlots * t.weightBytes +
                                        t.outputSlots * t.outputRowBytes + t.accumulatorBytes;
      for (std::size_t i = 0; i < operands_.size(); ++i) {
        const RingLengths& n = lengths(i, c.kernelParts);
        RingPlan ring;
        ring.length = c.resident ? n.whole : doubled ? n.doubled : n.single;
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
        t.rings = std::move(rings);
      }
      if (c.resident || (counted && bytes <= capacity_))
        return counted ? std::optional(doubled) : std::nullopt;
    }
    return found ? std::optional(false) : std::nullopt;
  }

  // Most calls whose rows of an operand a ring holds at once.
  std::int64_t callsWaiting(std::size_t operand, const Candidate& c, std::int64_t length) {
    if (mostWaiting_ == INT64_MAX) return 0;
    const auto [known, fresh] = waiting_.try_emplace({operand, length, c.resident}, 0);
    if (!fresh) return known->second;
    for (std::int64_t k = 0; k < (c.resident ? 1 : c.kernelParts); ++k) {
      const Interval kernelRows = evenPart(window_.kernelY, c.resident ? 1 : c.kernelParts, k);
      std::vector<Interval> rows;
      for (std::int64_t y = 0; y < output_.height; ++y)
        rows.push_back(operands_[operand].rows(y, kernelRows));
      known->second = std::max(known->second, mostCallsAhead(rows, length));
    }
    return known->second;
  }

  // Most columns of an operand that a core holds, for chunks of at most `columns` output columns.
  std::int64_t inputColumns(std::size_t operand, const Candidate& c, std::int64_t columns) const {
    if (windowOf(op_))
      return std::min(input_.width, (columns - 1) * window_.strideX +
                                        (window_.kernelX - 1) * window_.dilationX + 1);
    std::int64_t most = 0;
    for (const PixelBox& box : space_.columns) {
      for (std::int64_t j = 0; j < c.chunks; ++j) {
        Interval x = evenPart(box.x.count, c.chunks, j);
        x.first += box.x.first;
        most = std::max(most, operands_[operand].columns(x).count);
      }
    }
    return most;
  }

  // Most blocks of an operand that a core holds in a row.
  std::int64_t inputBlocks(const Mapping& t, std::size_t operand) const {
    if (sharesInput(op_)) return t.resident ? blocksOf(input_) : t.parts[0].inputBlocks.count;
    std::int64_t most = 0;
    for (std::int64_t r = 0; r < device_.rows; ++r)
      for (std::int64_t k = 0; k < t.passes; ++k)
        if (const Interval b = passBlocks(t, r, k); !b.empty())
          most = std::max(most, operands_[operand].blocks(b, t.parts[0]).count);
    return most;
  }

  void estimate(Mapping& t, const Candidate& c, std::int64_t columns, bool doubled) {
    const std::int64_t rows = space_.columns[0].y.count;
    std::int64_t compute = 0, weights = 0, wire = 0;
    const std::int64_t sweeps = t.parts.size() > 1 ? t.chunks * t.bands : 1;
    std::vector<std::int64_t> computing(static_cast<std::size_t>(differentRows())),
        moving(computing.size());
    for (std::int64_t k = 0; k < t.passes; ++k)
      for (std::size_t i = 0; i < t.parts.size(); ++i) {
        std::int64_t slowest = 0;
        for (std::size_t r = 0; r < computing.size(); ++r) {
          const RecordTime time = recordTime(t, static_cast<std::int64_t>(r), k, i, columns);
          computing[r] += rows * t.chunks * time.call;
          moving[r] += sweeps * time.transfer;
          slowest = std::max(slowest, time.call);
        }
        compute += rows * t.chunks * slowest;
      }
    // Rows go to the cores of a mesh column together: these wait for the slowest, each time that
    // rows come.
    if (t.resident) compute = *std::max_element(computing.begin(), computing.end());
    weights = *std::max_element(moving.begin(), moving.end());
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const std::int64_t width = inputColumns(i, c, columns) * t.chunks;
      const std::int64_t blocks =
          sharesInput(op_) ? blocksOf(input_) : rowBlocks_ * space_.activeRows();
      const std::int64_t again = sharesInput(op_) && !t.resident ? t.passes * c.kernelParts : 1;
      const std::int64_t row = wireTime(Bytes(blocks * width * kBlock), device_).raw();
      wire += again * lengths(i, c.kernelParts).rowsLoaded * row;
    }
    const std::int64_t out =
        rows * coreWriteTime(Bytes(rowBlocks_ * columns * t.chunks * kBlock), device_).raw();
    const std::int64_t sharing = divideRoundUp(device_.rows, device_.columns);
    const std::int64_t ddr = weights * sharing;
    const std::array<std::pair<std::int64_t, const char*>, 5> terms{{{compute, "compute"},
                                                                     {wire, "inputs"},
                                                                     {weights, "weights"},
                                                                     {ddr, "ddr"},
                                                                     {out, "outputs"}}};
    const auto largest = std::max_element(terms.begin(), terms.end(),
                                          [](auto& a, auto& b) { return a.first < b.first; });
    std::int64_t total = largest->first;
    t.boundBy = largest->second;
    if (t.weightSlots == 1 && t.passes * std::ssize(t.parts) > 1)
      total = std::max(total, compute + weights);
    if (!doubled && !t.resident) total = std::max(total, compute + wire);
    std::int64_t fill = 0;
    for (std::size_t i = 0; i < t.rings.size(); ++i)
      fill += wireTime(Bytes(t.rings[i].rowBytes *
                             std::min(t.rings[i].length, lengths(i, c.kernelParts).firstWindow)),
                       device_)
                  .raw();
    if (t.coreBytes() * 2 > capacity_) fill += wireTime(Bytes(t.weightBytes), device_).raw();
    t.score = Cycles(total + fill + coreWriteTime(Bytes(t.outputRowBytes), device_).raw());
  }

  struct RecordTime {
    std::int64_t call = 0,
                 transfer = 0;  // cycles of a call with the record; that it is on the wire
  };
  RecordTime recordTime(const Mapping& t, std::int64_t row, std::int64_t pass, std::size_t part,
                        std::int64_t columns) const {
    const std::int64_t blocks = passBlocks(t, row, pass).count, kept = computed(t, row, pass, part);
    const KernelWork call =
        kernelWork(op_.kind(), kept, t.parts[part].kernelRows.count * window_.kernelX, columns);
    const std::int64_t bytes =
        t.equalRecords ? t.weightBytes
                       : recordBytes(op_, blocks, t.parts[part], part + 1 == t.parts.size(), kept);
    return {kernelTime(call, device_).raw(), wireTime(Bytes(bytes), device_).raw()};
  }

  const CanonicalOp& op_;
  const Device& device_;
  SearchLimits limits_;
  std::int64_t mostWaiting_;  // calls whose rows may wait for their core: limits.lockMaximum
  BlockCounts counts_;
  Shape output_, input_;
  std::int64_t capacity_;
  Window window_;
  std::vector<OperandGeometry> operands_;
  Tiling space_;  // the cut over the mesh, the same for all candidates
  std::int64_t rowBlocks_ = 1;
  std::vector<std::optional<RingLengths>> lengths_;  // for the current number of kernel parts
  std::map<std::tuple<std::size_t, std::int64_t, bool>, std::int64_t> waiting_;  // likewise
  std::optional<Mapping> best_;
  std::int64_t bestScore_ = 0;
  std::int64_t smallest_ = INT64_MAX, smallestRecord_ = INT64_MAX;
  bool tooManyWait_ = false;  // in the rings of some candidate
};

}  // namespace

std::vector<PixelBox> evenBoxes(const Shape& shape, const Device& device) {
  const bool acrossWidth = shape.width >= device.columns || shape.width >= shape.height;
  std::vector<PixelBox> boxes;
  for (std::int64_t c = 0; c < device.columns; ++c) {
    PixelBox box{{0, shape.height}, {0, shape.width}};
    (acrossWidth ? box.x : box.y) =
        evenPart(acrossWidth ? shape.width : shape.height, device.columns, c);
    boxes.push_back(box);
  }
  return boxes;
}

std::int64_t Tiling::activeColumns() const {
  return std::count_if(columns.begin(), columns.end(),
                       [](const PixelBox& b) { return !b.empty(); });
}

std::int64_t Tiling::activeRows() const {
  return std::count_if(rowBlocks.begin(), rowBlocks.end(),
                       [](const Interval& b) { return !b.empty(); });
}

FoundTiling searchTiling(const CanonicalGraph& graph, const CanonicalOp& op, const Device& device,
                         const SearchLimits& limits) {
  LayerSearch search(graph, op, device, limits);
  std::optional<Tiling> best = search.best();
  return {best, best ? std::string() : search.shortage()};
}

}  // namespace heddle
