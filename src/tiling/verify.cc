#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <tuple>

#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/limits.h"
#include "heddle/tiling/nest.h"
#include "heddle/tiling/views.h"

namespace heddle {
namespace {

std::string text(const Interval& i) {
  return std::to_string(i.first) + ".." + std::to_string(i.end());
}
std::string text(const CoreAt& core) {
  return "core(" + std::to_string(core.row) + ", " + std::to_string(core.column) + ")";
}

constexpr std::int64_t kMostIterations = std::int64_t{1} << 22;  // of one layer on one core

bool within(std::int64_t n, std::int64_t low, std::int64_t high) { return n >= low && n <= high; }
bool inside(const Interval& i, std::int64_t size) {
  return i.count >= 1 && i.first >= 0 && i.first <= size - i.count;
}

// Boxes of up to three intervals that must be a whole, each cell once: all inside, no two that
// meet, as many cells together as the whole.
struct Cuboid {
  Interval y, x, blocks;
  std::int64_t cells() const { return y.count * x.count * blocks.count; }
  bool meets(const Cuboid& o) const {
    return !common(y, o.y).empty() && !common(x, o.x).empty() && !common(blocks, o.blocks).empty();
  }
};
std::string text(const Cuboid& c) {
  return "y " + text(c.y) + " x " + text(c.x) + " blocks " + text(c.blocks);
}

// What is wrong with boxes that should cover `shape` exactly once; nothing where they do.
std::optional<std::string> coverFault(const std::vector<Cuboid>& boxes, const Shape& shape) {
  std::int64_t cells = 0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Cuboid& c = boxes[i];
    if (!inside(c.y, shape.height) || !inside(c.x, shape.width) ||
        !inside(c.blocks, blocksOf(shape)))
      return text(c) + " lies outside";
    for (std::size_t j = 0; j < i; ++j)
      if (c.meets(boxes[j])) return text(c) + " and " + text(boxes[j]) + " meet";
    cells += c.cells();
  }
  const std::int64_t whole = shape.height * shape.width * blocksOf(shape);
  if (cells == whole) return std::nullopt;
  return std::to_string(cells) + " cells of " + std::to_string(whole) + " are named";
}

class PlanCheck {
 public:
  PlanCheck(const Plan& plan, const CanonicalGraph& graph, const Device& device)
      : plan_(plan), graph_(graph), device_(device) {}

  Diagnostics run() {
    sizes();
    if (faults_.empty()) views();
    if (faults_.empty()) homes();
    if (!faults_.empty()) return std::move(faults_);
    for (layer_ = 0; layer_ < plan_.layers.size(); ++layer_) {
      if (mapping().inPlace())
        recordsAtHome(0);
      else
        mappingOf();
    }
    if (faults_.empty()) schedule();
    return std::move(faults_);
  }

 private:
  const Mapping& mapping() const { return plan_.layers[layer_]; }
  const CanonicalOp& op() const { return graph_.ops[layer_]; }
  const Shape& shapeOf(TensorId t) const { return graph_.tensors[t.at()].shape; }
  const Shape& output() const { return shapeOf(op().output); }

  std::string here() const {
    return graph_.name + ", node '" + op().name + "' (" + op().onnxOp + ")";
  }
  void fault(const std::string& code, const std::string& where, const std::string& summary,
             const std::string& what, const std::string& mend) {
    faults_.push_back({code, where, summary, what, mend});
  }
  void faultHere(const std::string& code, const std::string& summary, const std::string& what,
                 const std::string& mend) {
    fault(code, here(), summary, what, mend);
  }

  // ---- the whole --------------------------------------------------------------------------------

  void sizes() {
    if (plan_.layers.size() != graph_.ops.size() || plan_.views.size() != graph_.tensors.size() ||
        plan_.homes.size() != graph_.tensors.size())
      fault("PLAN003", graph_.name, "the plan is of another network",
            std::to_string(plan_.layers.size()) + " layers and " +
                std::to_string(plan_.views.size()) + " tensors; the network has " +
                std::to_string(graph_.ops.size()) + " and " + std::to_string(graph_.tensors.size()),
            "give the plan that was made for this network");
    if (!within(plan_.frames, 1, kMaxFrames))
      fault("PLAN008", graph_.name, "a run of so many frames cannot be",
            std::to_string(plan_.frames) + " frames", "give 1 to " + std::to_string(kMaxFrames));
    if (!within(plan_.weightStaging, 0, device_.memtile.memory.raw()))
      fault("PLAN005", graph_.name, "the memory set aside for weights is not in a memtile",
            std::to_string(plan_.weightStaging) + " B, a memtile has " +
                std::to_string(device_.memtile.memory.raw()) + " B",
            "set aside less");
  }

  // ---- views ------------------------------------------------------------------------------------

  // What a window at an end reads is neither a part of another tensor nor the whole of one,
  // and has no home.
  void livesInCores(TensorId tensor) {
    for (std::size_t t = 0; t < plan_.views.size(); ++t)
      if ((plan_.views[t].root == tensor) != (TensorId(t) == tensor))
        viewFault(TensorId(t), "only cores hold '" + graph_.tensors[tensor.at()].name + "'");
    if (!plan_.homes[tensor.at()].empty())
      fault("PLAN007", "tensor '" + graph_.tensors[tensor.at()].name + "'",
            "a tensor that only cores hold has a home", "", "leave it out");
  }

  void views() {
    for (std::size_t t = 0; t < plan_.views.size(); ++t)
      if (!viewFits(TensorId(t))) return;
    std::set<std::size_t> pinned;
    for (const Port& p : graph_.inputs) pinned.insert(p.tensor.at());
    for (const Port& p : graph_.outputs) pinned.insert(p.tensor.at());
    for (std::size_t t = 0; t < plan_.views.size(); ++t)
      if (!graph_.tensors[t].constant.empty()) pinned.insert(t);
    for (const CanonicalOp& op : graph_.ops)
      if (fusedWindowOf(op)) livesInCores(computedTensor(op));
    for (const std::size_t t : pinned)
      if (plan_.views[t].root.at() != t)
        viewFault(TensorId(t), "the host reads or writes it whole");
    std::set<std::size_t> justified;
    for (layer_ = 0; layer_ < plan_.layers.size(); ++layer_) {
      if (!mapping().inPlace()) continue;
      if (!copiesInPlace()) {
        faultHere("PLAN009", "an operator that computes has no core to do it",
                  "its tensors do not share memory as it would copy them",
                  "give the layer cores, or its tensors the views that it copies");
        continue;
      }
      for (const TensorId t : op().inputs) justified.insert(t.at());
      justified.insert(op().output.at());
    }
    writersAreApart(justified);
  }

  void viewFault(TensorId t, const std::string& what) {
    fault("PLAN009", graph_.name + ", tensor '" + graph_.tensors[t.at()].name + "'",
          "the tensor cannot be a part of another", what, "make it its own root");
  }

  bool viewFits(TensorId t) {
    const View& view = plan_.views[t.at()];
    const bool root = view.root.valid() && view.root.at() < plan_.views.size() &&
                      plan_.views[view.root.at()].root == view.root;
    if (root && view == View{.root = t, .block = 0, .sampling = {}}) return true;
    if (root && view.root != t &&
        pixelsFit(view.sampling, shapeOf(t), shapeOf(view.root), graph_.batch) &&
        within(view.block, 0, blocksOf(shapeOf(view.root)) - blocksOf(shapeOf(t))))
      return true;
    std::string what =
        "root " + std::to_string(view.root.index) + ", block " + std::to_string(view.block);
    if (view.sampling) what += ", " + toText(*view.sampling);
    if (root) what += "; " + sizeText(shapeOf(t)) + " pixels of " + sizeText(shapeOf(view.root));
    viewFault(t, what);
    return false;
  }

  static std::string sizeText(const Shape& shape) {
    return std::to_string(shape.height) + "x" + std::to_string(shape.width);
  }

  // Every operand lies in the output's root where the operator would copy it.
  bool copiesInPlace() const {
    const auto* assemble = std::get_if<Assemble>(&op().attributes);
    if (!assemble) return false;
    const View& to = plan_.views[op().output.at()];
    std::int64_t covered = 0;
    for (std::size_t i = 0; i < op().inputs.size(); ++i) {
      const View& from = plan_.views[op().inputs[i].at()];
      const Shape& in = shapeOf(op().inputs[i]);
      const auto copied = copiedStretch(assemble->parts[i], in, output(), graph_.batch);
      if (!copied || (copied->sampling && op().inputs.size() > 1)) return false;
      const AxisRun& run = copied->channels;
      if (from.root != to.root || composed(copied->sampling, from.sampling) != to.sampling ||
          from.block * kBlock + run.from != to.block * kBlock + run.to)
        return false;
      if (run.count % kBlock != 0 && run.to + run.count != output().channels) return false;
      if (run.count % kBlock != 0 && run.from + run.count != in.channels) return false;
      covered += run.count;
    }
    return covered == output().channels;
  }

  // What is written in a root is written by one operator.
  void writersAreApart(const std::set<std::size_t>& justified) {
    std::map<std::size_t, std::vector<std::pair<Interval, TensorId>>> written;
    for (layer_ = 0; layer_ < plan_.layers.size(); ++layer_) {
      if (mapping().inPlace()) continue;
      const TensorId t = op().output;
      const View& view = plan_.views[t.at()];
      if (view.root != t && !justified.contains(t.at()))
        viewFault(t, "no operator copies it there");
      if (view.sampling) viewFault(t, "a layer writes it, and writes no pixels between others");
      const Interval blocks{view.block, blocksOf(shapeOf(t))};
      std::vector<std::pair<Interval, TensorId>>& others = written[view.root.at()];
      for (const auto& [other, id] : others)
        if (!common(blocks, other).empty())
          viewFault(t, "tensor '" + graph_.tensors[id.at()].name + "' is written there, too");
      others.push_back({blocks, t});
    }
  }

  // ---- homes ------------------------------------------------------------------------------------

  void homes() {
    for (std::size_t t = 0; t < plan_.homes.size(); ++t) {
      if (plan_.homes[t].empty()) continue;
      const std::string where = graph_.name + ", tensor '" + graph_.tensors[t].name + "'";
      if (plan_.views[t].root.at() != t)
        fault("PLAN007", where, "a tensor that is channels of another has a home of its own",
              "its root is tensor " + std::to_string(plan_.views[t].root.index),
              "leave its home out of the plan");
      std::vector<Cuboid> boxes;
      for (const HomeBox& box : plan_.homes[t]) {
        boxes.push_back({box.y, box.x, box.blocks});
        if (!within(box.memtile, 0, device_.memtiles() - 1))
          fault("PLAN007", where, "a part of the tensor is at home in a memtile that is not there",
                "memtile " + std::to_string(box.memtile) + " of " +
                    std::to_string(device_.memtiles()),
                "name a memtile of the device");
      }
      if (const auto what = coverFault(boxes, graph_.tensors[t].shape))
        fault("PLAN007", where, "the parts of the tensor's home are not the whole of it, each once",
              *what, "cut the tensor into boxes that do not meet");
    }
  }

  // ---- mappings ---------------------------------------------------------------------------------

  void mappingOf() {
    const std::size_t before = faults_.size();
    loops();
    if (faults_.size() == before) shares();
    if (faults_.size() == before) reduction();
    if (faults_.size() > before) return;
    const LayerNest nest(graph_, OpId(layer_), mapping());
    buffers(nest);
    routes(nest);
  }

  void loops() {
    const Mapping& m = mapping();
    const std::string mend = "name loops that the layer has room for";
    std::array<NestLoop, 4> order = m.order;
    std::sort(order.begin(), order.end());
    if (order != std::array{NestLoop::Pass, NestLoop::Chunk, NestLoop::Band, NestLoop::Part})
      faultHere("PLAN004", "the order of the loops does not name each once", "", mend);
    const auto extent = [&](const std::string& name, std::int64_t n, std::int64_t most) {
      if (!within(n, 1, most))
        faultHere(
            "PLAN004", "a loop over time runs too often or never",
            name + " " + std::to_string(n) + ", at least 1 and at most " + std::to_string(most),
            mend);
    };
    extent("passes", m.passes, blocksOf(output()));
    extent("blocks of a pass", m.blocksPerPass, blocksOf(output()));
    extent("chunks", m.chunks, output().width);
    extent("bands", m.bands, output().height);
    for (const std::int64_t rows : {m.callRows, m.innerCallRows})
      extent("rows of a call", rows, op().kind() == OpKind::Assemble ? 1 : kMaxCallRows);
    if (std::min({m.passes, m.chunks, m.bands}) >= 1 &&
        std::max({m.passes, m.chunks, m.bands}) <= kMostIterations &&
        m.passes * m.chunks >
            kMostIterations / m.bands / std::max<std::int64_t>(1, std::ssize(m.parts)))
      faultHere("PLAN004", "a loop over time runs too often or never",
                "all together more than " + std::to_string(kMostIterations) + " times", mend);
    if (m.rings.size() != op().inputs.size() || m.inputs.size() != op().inputs.size() ||
        m.parts.empty())
      faultHere("PLAN004", "the mapping is of another operator",
                std::to_string(m.rings.size()) + " rings, " + std::to_string(m.inputs.size()) +
                    " operands, " + std::to_string(m.parts.size()) + " parts of the reduction",
                "give a ring and routes for each operand, and at least one part");
    if (m.resident && !reducesChannels(op()))
      faultHere("PLAN004", "only the input of a convolution can stay over passes", "",
                "stream the input");
  }

  void shares() {
    const Mapping& m = mapping();
    std::set<CoreAt> named;
    std::vector<Cuboid> boxes;
    for (const CoreShare& share : m.shares) {
      if (!within(share.core.row, 0, device_.rows - 1) ||
          !within(share.core.column, 0, device_.columns - 1) || !named.insert(share.core).second)
        faultHere("PLAN003", "a core is not in the array, or is named twice", text(share.core),
                  "name each core of the device at most once");
      if (share.boxes.empty() || share.boxes.size() > kMaxBoxes)
        faultHere("PLAN003", "a core has no box of pixels, or too many",
                  text(share.core) + " has " + std::to_string(share.boxes.size()) + ", at most " +
                      std::to_string(kMaxBoxes),
                  "cut its pixels into 1 to 3 rectangles");
      for (const PixelBox& box : share.boxes) boxes.push_back({box.y, box.x, share.blocks});
      if (m.passes * m.blocksPerPass < share.blocks.count)
        faultHere("PLAN003", "a core's passes do not reach all of its blocks",
                  text(share.core) + " has " + std::to_string(share.blocks.count) + " blocks, " +
                      std::to_string(m.passes) + " passes of " + std::to_string(m.blocksPerPass),
                  "make more or larger passes");
      outputRoute(share);
    }
    if (const auto what = coverFault(boxes, output()))
      faultHere("PLAN003", "the cores do not compute every output exactly once", *what,
                "give each pixel of each block of channels to one core");
  }

  void outputRoute(const CoreShare& share) {
    const OutputRoute& o = share.output;
    if (within(o.channel, 0, device_.core.channelsOut - 1) &&
        within(o.memtile, 0, device_.memtiles() - 1) &&
        within(o.ddrChannel, 0, device_.memtile.ddrChannelsOut - 1))
      return;
    faultHere("PLAN006", "an output leaves through a channel or memtile that is not there",
              text(share.core) + ": channel " + std::to_string(o.channel) + ", memtile " +
                  std::to_string(o.memtile) + ", DDR channel " + std::to_string(o.ddrChannel),
              "name channels and memtiles of the device");
  }

  void reduction() {
    const auto window = windowOf(op());
    const bool shared = reducesChannels(op());
    const std::int64_t rows = window ? window->kernelY : 1;
    const std::int64_t blocks = shared ? blocksOf(shapeOf(op().inputs[0])) : 1;
    std::vector<Cuboid> boxes;
    for (const ReductionPart& part : mapping().parts)
      boxes.push_back({part.kernelRows, {0, 1}, shared ? part.inputBlocks : Interval{0, 1}});
    const Shape whole{rows, 1, blocks * kBlock};
    if (const auto what = coverFault(boxes, whole))
      faultHere("PLAN004", "the parts of the reduction are not the whole of it, each once",
                *what + " (kernel rows as y, blocks of input channels)",
                "give each pair of kernel row and input block to one part");
    // A pool or a depth-wise convolution writes one row of sums; only a convolution over channels
    // and windows cut by kernel rows keep them.
    if (mapping().parts.size() > 1 && !window)
      faultHere("PLAN004", "an operator without a reduction is cut over it", "", "keep one part");
    // Its windows are those of both kernels together.
    if (fusedWindowOf(op()))
      for (const ReductionPart& part : mapping().parts)
        if (part.kernelRows != Interval{0, rows})
          faultHere("PLAN004", "a layer with a window at its end is cut by kernel rows",
                    "rows " + std::to_string(part.kernelRows.first) + " + " +
                        std::to_string(part.kernelRows.count) + " of " + std::to_string(rows),
                    "cut the input's channels");
  }

  // ---- buffers ----------------------------------------------------------------------------------

  // `operand`, where given, is named behind the thing.
  void tooSmall(std::string_view thing, std::int64_t needed, std::int64_t there,
                std::optional<std::size_t> operand = std::nullopt) {
    if (needed <= there) return;
    faultHere("PLAN005", "a buffer is too small for what passes through it",
              std::string(thing) + (operand ? " " + std::to_string(*operand) : "") + ": " +
                  std::to_string(needed) + " needed, " + std::to_string(there) + " planned",
              "make it larger, or the pieces smaller");
  }

  // Of pieces that may wait in a buffer for the one engine that takes them; a lock counts them, or
  // their rows where it can.
  void countable(const std::string& thing, std::int64_t waiting) {
    const std::int64_t most = device_.limits.lockMaximum.value_or(waiting);
    if (waiting <= most) return;
    faultHere("PLAN005", "more waits in a buffer than a lock can count",
              thing + ": " + std::to_string(waiting) + " may wait, 'limits.lockMaximum' is " +
                  std::to_string(most),
              "plan fewer places, or choose a device with 'limits.lockMaximum' of " +
                  std::to_string(waiting) + " or more");
    faults_.back().severity = Severity::DoesNotFit;
  }

  void recordsAtHome(std::int64_t most) {
    const Mapping& m = mapping();
    if (m.recordsAtHome < 0 || m.recordsAtHome > most)
      faultHere("PLAN005", "more weight records are to stay in the memtiles than there are",
                std::to_string(m.recordsAtHome) + " of " + std::to_string(most),
                most > 0 ? "name at most one for each pass and part behind 'at-home'"
                         : "leave 'at-home' out");
  }

  // The largest of each thing that a core must hold at once, over all shares and iterations.
  void buffers(const LayerNest& nest) {
    const Mapping& m = mapping();
    if ((m.weightSlots > 0) != (m.weightBytes > 0) || (m.weightSlots > 0) == m.weights.empty())
      faultHere("PLAN005", "weights have places but no routes, or routes but no places",
                std::to_string(m.weightSlots) + " places of " + std::to_string(m.weightBytes) +
                    " B, " + std::to_string(m.weights.size()) + " routes",
                "plan both, or neither where the operator has no weights");
    recordsAtHome(m.weights.empty() ? 0 : differentRecords(m));
    if (device_.limits.recordLengths && m.weightSlots > 0 && !m.equalRecords)
      faultHere("PLAN005", "weight records differ in length",
                "the device has 'limits.recordLengths' of " +
                    std::to_string(*device_.limits.recordLengths),
                "say 'equal' behind the places of the weights");
    if (m.outputSlots < 1 || m.weightSlots < 0 || m.weightBytes % kBlock != 0 ||
        m.outputRowBytes % kBlock != 0 ||
        m.accumulatorBytes % (kBlock * nest.accumulatorBands()) != 0)
      faultHere("PLAN005", "the places of a buffer are none, or no multiples of 8 bytes",
                std::to_string(m.outputSlots) + " output rows of " +
                    std::to_string(m.outputRowBytes) + " B, records of " +
                    std::to_string(m.weightBytes) + " B, " + std::to_string(m.accumulatorBytes) +
                    " B of sums for " + std::to_string(nest.accumulatorBands()) + " at once",
                "plan whole places");
    if (!fusedWindowOf(op()) && m.pooled != RingPlan())
      faultHere(
          "PLAN005", "rows have places for a window at the end, and there is none",
          std::to_string(m.pooled.length) + " rows of " + std::to_string(m.pooled.rowBytes) + " B",
          "leave 'pooled' out");
    std::vector<RingPlan> rings = m.rings;
    rings.push_back(m.pooled);
    for (const RingPlan& ring : rings)
      if (ring.length < 0 || ring.rowBytes < 0 || ring.rowBytes % kBlock != 0)
        faultHere("PLAN005", "a ring's rows are no multiples of 8 bytes",
                  std::to_string(ring.length) + " rows of " + std::to_string(ring.rowBytes) + " B",
                  "plan whole rows");
      else if (!within(ring.together, 1, std::max<std::int64_t>(1, ring.length)))
        faultHere("PLAN005", "more rows of a ring come together than it holds, or none",
                  std::to_string(ring.together) + " of " + std::to_string(ring.length),
                  "leave 'together' out: then each comes by itself");
      else if (ring.onlyBetween && ring.together == 1)
        faultHere("PLAN005", "rows that come one by one are to come together in some iterations",
                  "together 1 between", "leave 'between' out, or say how many come together");
    std::vector<std::int64_t> sizes{m.weightSlots, m.weightBytes, m.outputSlots, m.outputRowBytes,
                                    m.accumulatorBytes};
    for (const RingPlan& ring : rings) sizes.insert(sizes.end(), {ring.length, ring.rowBytes});
    const std::int64_t largest = *std::max_element(sizes.begin(), sizes.end());
    if (largest > device_.core.memory.raw()) {
      tooSmall("a core", largest, device_.core.memory.raw());
      return;
    }
    std::vector<const CoreShare*> different;  // in what they must hold
    for (const CoreShare& share : m.shares)
      if (std::none_of(different.begin(), different.end(), [&](const CoreShare* other) {
            return other->boxes == share.boxes && other->blocks == share.blocks;
          }))
        different.push_back(&share);
    // Of those with equal boxes the one that computes in most passes asks for most.
    std::ranges::stable_sort(different, std::ranges::greater(),
                             [](const CoreShare* share) { return share->blocks.count; });
    std::vector<std::vector<PixelBox>> seen;
    longestRecord_ = 0;
    for (const CoreShare* share : different) {
      wide(nest, *share);
      if (std::find(seen.begin(), seen.end(), share->boxes) != seen.end()) continue;
      seen.push_back(share->boxes);
      for (const ScheduleStep& step : plan_.schedule)
        if (step.layer.at() == layer_) tall(nest, *share, step.rows);
    }
    if (m.equalRecords && m.weightBytes > longestRecord_)
      faultHere("PLAN005", "records are padded to more than the longest of them",
                std::to_string(m.weightBytes) + " B; the longest has " +
                    std::to_string(longestRecord_) + " B",
                "make their places as long as it");
    countable("weight records", m.weightSlots);
    countable("weight records at home", m.recordsAtHome);
    countable("output rows", m.outputSlots);
    const std::int64_t bytes = m.coreBytes(), there = device_.core.operandMemory().raw();
    if (bytes > there)
      faultHere("PLAN005", "the buffers do not fit a core",
                std::to_string(bytes) + " B of " + std::to_string(there) + " B for operands",
                "cut the layer over more cores or more time");
  }

  // Bytes of a row of each operand and of the output, and of weight records.
  void wide(const LayerNest& nest, const CoreShare& share) {
    const Mapping& m = mapping();
    Iteration at;
    for (at.pass = 0; at.pass < m.passes; ++at.pass) {
      const Interval blocks = m.passBlocks(share, at.pass);
      if (blocks.empty()) continue;
      for (at.part = 0; at.part < std::ssize(m.parts); ++at.part) {
        const std::int64_t used = nest.usedBytes(share, at);
        longestRecord_ = std::max(longestRecord_, used);
        tooSmall("bytes of a weight record", used, m.weightSlots > 0 ? m.weightBytes : 0);
      }
      for (at.chunk = 0; at.chunk < m.chunks; ++at.chunk)
        for (const PixelBox& box : share.boxes) {
          Interval x = evenPart(box.x.count, m.chunks, at.chunk);
          if (x.empty()) continue;
          x.first += box.x.first;
          tooSmall("bytes of an output row", blocks.count * x.count * kBlock, m.outputRowBytes);
          if (fusedWindowOf(op()))
            tooSmall("bytes of a row for the window at the end",
                     blocks.count * nest.pooled().columns(x).count * kBlock, m.pooled.rowBytes);
          for (std::size_t i = 0; i < op().inputs.size(); ++i)
            for (at.part = 0; at.part < std::ssize(m.parts); ++at.part) {
              const Held h = nest.held(share, i, at, x);
              if (h.blocks.empty()) continue;
              tooSmall("bytes of a row of operand", h.blocks.count * h.columns.count * kBlock,
                       m.rings[i].rowBytes, i);
            }
        }
      at.part = 0;
    }
  }

  // Rows of each operand that a call, or all calls of a chunk and band where the input stays, need
  // at once; bytes of sums.
  void tall(const LayerNest& nest, const CoreShare& share, const Interval& rows) {
    const Mapping& m = mapping();
    // In passes for which it has no blocks a core is told rows only where they stay.
    const std::int64_t lastPass =
        m.resident
            ? m.passes - 1
            : std::max<std::int64_t>(divideRoundUp(share.blocks.count, m.blocksPerPass), 1) - 1;
    Iteration at;
    for (at.chunk = 0; at.chunk < m.chunks; ++at.chunk)
      for (at.band = 0; at.band < m.bands; ++at.band) {
        const std::vector<RowCall> calls = nest.calls(share, rows, at);
        if (m.parts.size() > 1)
          tooSmall("bytes of sums",
                   nest.cellsComputed(calls) * std::min(m.blocksPerPass, share.blocks.count) *
                       kBlock * 4,
                   m.accumulatorBytes / nest.accumulatorBands());
        if (fusedWindowOf(op()))
          for (const RowCall& call : calls)
            tooSmall("rows for the window at the end", nest.pooled().rows(call.y).count,
                     m.pooled.length);
        std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>>
            seen;  // that are alike
        for (const std::int64_t pass :
             std::set<std::int64_t>{0, std::min<std::int64_t>(1, lastPass), lastPass})
          for (std::int64_t part = 0; part < std::ssize(m.parts); ++part) {
            at.pass = pass;
            at.part = part;
            const Interval loaded = nest.loadedKernelRows(at);
            if (!seen.insert({loaded.first, loaded.count, nest.callRows(at), nest.last(at)}).second)
              continue;
            const std::vector<RowCall> due = nest.calls(share, rows, at);
            if (nest.last(at) && !callsOneRow(op()))
              for (const RowCall& call : due) tooSmall("output rows", call.rows, m.outputSlots);
            for (std::size_t i = 0; i < op().inputs.size(); ++i)
              if (!isAddend(op(), i) || nest.last(at)) ring(nest, i, at, due);
          }
        at.pass = at.part = 0;
      }
  }

  void ring(const LayerNest& nest, std::size_t operand, const Iteration& at,
            const std::vector<RowCall>& calls) {
    const Mapping& m = mapping();
    std::int64_t most = calls.empty() ? 0 : 1, all = 0;
    Interval ofBox;  // rows of the calls of one box, which follow each other
    std::size_t box = 0;
    for (const RowCall& call : calls) {
      const Interval rows = nest.rowsOf(operand, call, nest.loadedKernelRows(at));
      if (rows.empty()) continue;
      most = std::max(most, rows.count);
      if (ofBox.empty() || box != call.box) {
        all += ofBox.count;
        ofBox = rows;
        box = call.box;
      }
      ofBox.count = std::max(ofBox.end(), rows.end()) - ofBox.first;
    }
    if (nest.stays(operand)) most = std::max(most, all + ofBox.count);
    tooSmall("rows of the ring of operand", most, m.rings[operand].length, operand);
    if (!device_.limits.lockMaximum) return;
    countable("calls of operand " + std::to_string(operand),
              mostCallsAhead(nest.rowsOfKernel(operand, calls, at), m.rings[operand].length));
  }

  // ---- routes -----------------------------------------------------------------------------------

  void routes(const LayerNest& nest) {
    const Mapping& m = mapping();
    std::map<std::pair<CoreAt, std::int64_t>, std::int64_t> channel;  // of a core, for a wire
    for (std::size_t i = 0; i < m.inputs.size(); ++i) {
      const std::string stream = "operand " + std::to_string(i);
      served(m.inputs[i], stream);
      for (const Route& route : m.inputs[i]) {
        if (!plausible(route, stream)) continue;
        const CoreShare& first = *m.shareOf(route.cores[0]);
        for (const CoreAt& core : route.cores)
          if (core != route.cores[0] &&
              (!sharesInput(op(), i) || m.shareOf(core)->boxes != first.boxes))
            routeFault("cores of one route need different rows",
                       stream + ", " + text(route.cores[0]) + " and " + text(core),
                       "give each a route of its own");
        for (const std::int64_t memtile : sources(nest, route, i)) fed(route, memtile, stream);
        lanes(route, stream, channel);
      }
    }
    served(m.weights, "weights");
    for (std::size_t r = 0; r < m.weights.size(); ++r) {
      const Route& route = m.weights[r];
      if (!plausible(route, "weights")) continue;
      for (const CoreAt& core : route.cores)
        if (m.shareOf(core)->blocks != m.shareOf(route.cores[0])->blocks)
          routeFault("cores of one route need different weights",
                     text(route.cores[0]) + " and " + text(core), "give each a route of its own");
      fed(route, route.memtile, "weights");
      lanes(route, "weights", channel);
    }
  }

  void routeFault(const std::string& summary, const std::string& what, const std::string& mend) {
    faultHere("PLAN006", summary, what, mend);
  }

  // Every core is on exactly one of the routes of a stream that the layer has.
  void served(const std::vector<Route>& routes, const std::string& stream) {
    const Mapping& m = mapping();
    if (stream == "weights" && m.weightSlots == 0 && routes.empty()) return;
    std::map<CoreAt, int> times;
    for (const CoreShare& share : m.shares) times[share.core] = 0;
    for (const Route& route : routes)
      for (const CoreAt& core : route.cores) ++times[core];
    for (const auto& [core, n] : times)
      if (n != 1 || !m.shareOf(core))
        routeFault("a core is not on exactly one route of a stream",
                   text(core) + " is on " + std::to_string(n) + " routes of " + stream,
                   "name each core that computes once, and no other");
  }

  bool plausible(const Route& route, const std::string& stream) {
    const bool cores = !route.cores.empty() &&
                       std::all_of(route.cores.begin(), route.cores.end(), [&](const CoreAt& c) {
                         return mapping().shareOf(c) != nullptr;
                       });
    if (cores && !route.lanes.empty() && within(route.lead, 0, INT32_MAX) &&
        within(route.memtile, 0, device_.memtiles() - 1) &&
        within(route.ddrChannel, 0, device_.memtile.ddrChannelsIn - 1) &&
        within(route.ddrTurns, 1, device_.memtile.ddrChannelsIn))
      return true;
    routeFault("a route names no core that computes, no wire, or what is not there",
               stream + ": " + std::to_string(route.cores.size()) + " cores, " +
                   std::to_string(route.lanes.size()) + " lanes, memtile " +
                   std::to_string(route.memtile) + ", DDR channel " +
                   std::to_string(route.ddrChannel) + ", " + std::to_string(route.ddrTurns) +
                   " by turns, lead " + std::to_string(route.lead),
               "name cores of the mapping, wires, memtiles and channels of the device");
    return false;
  }

  // Memtiles from which pieces of an operand go over a route.
  std::set<std::int64_t> sources(const LayerNest& nest, const Route& route, std::size_t operand) {
    const Mapping& m = mapping();
    const TensorId tensor = op().inputs[operand];
    if (plan_.homes[plan_.views[tensor.at()].root.at()].empty()) return {route.memtile};
    const Home home = homeOf(graph_, plan_, tensor);
    const OperandGeometry& g = nest.operand(operand);
    const Interval kernelRows{0, windowOf(op()) ? windowOf(op())->kernelY : 1};
    const ReductionPart whole{{0, blocksOf(shapeOf(tensor))}, kernelRows};
    const CoreShare& share = *m.shareOf(route.cores[0]);
    std::set<std::int64_t> memtiles;
    for (const PixelBox& box : share.boxes)
      for (std::int64_t chunk = 0; chunk < m.chunks; ++chunk) {
        Interval x = evenPart(box.x.count, m.chunks, chunk);
        if (x.empty()) continue;
        x.first += box.x.first;
        Cuboid needed{{}, g.columns(x), g.blocks(share.blocks, whole)};
        if (needed.x.empty() || needed.blocks.empty()) continue;
        for (std::int64_t y = box.y.first; y < box.y.end(); ++y) {
          needed.y = g.rows(y, kernelRows);
          if (needed.y.empty()) continue;
          for (const HomeBox& part : home)
            if (needed.meets({part.y, part.x, part.blocks})) memtiles.insert(part.memtile);
        }
      }
    return memtiles;
  }

  void fed(const Route& route, std::int64_t memtile, const std::string& stream) {
    for (const Lane& lane : route.lanes) {
      if (!within(lane.wire, 0, std::ssize(device_.wires) - 1)) continue;
      const Wire& wire = device_.wires[static_cast<std::size_t>(lane.wire)];
      if (std::find(wire.feeders.begin(), wire.feeders.end(), memtile) != wire.feeders.end())
        continue;
      routeFault("a memtile cannot feed the wire of a route",
                 stream + ": memtile " + std::to_string(memtile) +
                     " is not among the feeders of wire '" + wire.name + "'",
                 "take another wire, or keep the tensor elsewhere");
    }
  }

  void lanes(const Route& route, const std::string& stream,
             std::map<std::pair<CoreAt, std::int64_t>, std::int64_t>& channel) {
    for (const Lane& lane : route.lanes) {
      if (!within(lane.wire, 0, std::ssize(device_.wires) - 1) ||
          !within(lane.channel, 0, device_.core.channelsIn - 1)) {
        routeFault("a route takes a wire or a channel that is not there",
                   stream + ": wire " + std::to_string(lane.wire) + ", channel " +
                       std::to_string(lane.channel),
                   "name wires and receiving channels of the device");
        continue;
      }
      const Wire& wire = device_.wires[static_cast<std::size_t>(lane.wire)];
      for (const CoreAt& core : route.cores) {
        if (!wire.reach.contains(core.row, core.column))
          routeFault("a wire does not reach a core of its route",
                     stream + ": wire '" + wire.name + "', " + text(core),
                     "take a wire that reaches all cores of the route");
        const auto [known, fresh] = channel.try_emplace({core, lane.wire}, lane.channel);
        if (known->second != lane.channel)
          routeFault("a wire leads to two receiving channels of a core",
                     "wire '" + wire.name + "', " + text(core) + ": channels " +
                         std::to_string(known->second) + " and " + std::to_string(lane.channel),
                     "keep a wire to one channel of each core");
      }
    }
  }

  // ---- schedule ---------------------------------------------------------------------------------

  void schedule() {
    StepsOfRows done;
    for (const CanonicalOp& op : graph_.ops)
      done.emplace_back(static_cast<std::size_t>(shapeOf(op.output).height), kNotYet);
    for (std::size_t s = 0; s < plan_.schedule.size(); ++s) {
      const ScheduleStep& step = plan_.schedule[s];
      const std::string where = graph_.name + ", step " + std::to_string(s);
      if (!step.layer.valid() || step.layer.at() >= plan_.layers.size() ||
          !inside(step.rows, std::ssize(done[step.layer.at()]))) {
        fault("PLAN008", where, "the step is of no layer, or of rows that it does not have",
              "layer " + std::to_string(step.layer.index) + ", rows " + text(step.rows),
              "name a layer and some of its output rows");
        return;
      }
      layer_ = step.layer.at();
      if (mapping().inPlace()) continue;
      operandsAreThere(step, where, done);
      for (std::int64_t y = step.rows.first; y < step.rows.end(); ++y) {
        if (done[layer_][static_cast<std::size_t>(y)] != kNotYet) {
          fault("PLAN008", where, "the step computes what an earlier one has computed",
                "row " + std::to_string(y) + " of '" + op().name + "'",
                "schedule each row of a layer once");
          return;
        }
        done[layer_][static_cast<std::size_t>(y)] = static_cast<std::int64_t>(s);
      }
    }
    for (layer_ = 0; layer_ < plan_.layers.size(); ++layer_)
      if (!mapping().inPlace() &&
          std::find(done[layer_].begin(), done[layer_].end(), kNotYet) != done[layer_].end())
        faultHere("PLAN008", "the schedule does not compute all of a layer", "",
                  "schedule each row of a layer once");
  }

  // Per layer and output row the step that computes it.
  using StepsOfRows = std::vector<std::vector<std::int64_t>>;
  static constexpr std::int64_t kNotYet = -1;

  void operandsAreThere(const ScheduleStep& step, const std::string& where,
                        const StepsOfRows& done) {
    const Interval kernelRows{0, windowOf(op()) ? windowOf(op())->kernelY : 1};
    for (std::size_t i = 0; i < op().inputs.size(); ++i) {
      const OperandGeometry g(graph_, op(), i);
      const View& view = plan_.views[op().inputs[i].at()];
      const PixelMap pixels = pixelMapOf(graph_, plan_, op().inputs[i]);
      const Interval blocks{view.block, blocksOf(shapeOf(op().inputs[i]))};
      for (std::size_t p = 0; p < graph_.ops.size(); ++p) {
        const View& written = plan_.views[graph_.ops[p].output.at()];
        if (plan_.layers[p].inPlace() || written.root != view.root ||
            common(blocks, {written.block, blocksOf(shapeOf(graph_.ops[p].output))}).empty())
          continue;
        for (std::int64_t y = step.rows.first; y < step.rows.end(); ++y) {
          const Interval rows = g.rows(y, kernelRows);
          for (std::int64_t a = rows.first; a < rows.end(); ++a) {
            const std::int64_t made = pixels.row(a);
            if (done[p][static_cast<std::size_t>(made)] != kNotYet) continue;
            fault("PLAN008", where, "the step reads what no earlier step has computed",
                  "row " + std::to_string(made) + " of '" + graph_.ops[p].name + "', for row " +
                      std::to_string(y) + " of '" + op().name + "'",
                  "schedule a layer after those that it reads");
            return;
          }
        }
      }
    }
  }

  const Plan& plan_;
  const CanonicalGraph& graph_;
  const Device& device_;
  std::size_t layer_ = 0;
  std::int64_t longestRecord_ = 0;  // bytes, of the layer
  Diagnostics faults_;
};

}  // namespace

Diagnostics verify(const Plan& plan, const CanonicalGraph& graph, const Device& device) {
  return PlanCheck(plan, graph, device).run();
}

}  // namespace heddle
