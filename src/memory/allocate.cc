#include "heddle/memory/allocate.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "heddle/support/check.h"
#include "heddle/tiling/geometry.h"

namespace heddle {
namespace {

constexpr std::int64_t kDdrAlignment = 64;

bool isWhole(const AxisMap& map, std::int64_t size) {
  return map.size() == 1 && map[0] == AxisRun{0, 1, 0, 1, size};
}

// One run of channels, all rows and columns, values unchanged: the part is a stretch of channels of
// the other tensor.
const AxisRun* channelStretch(const AssemblePart& part, const Shape& shape) {
  const bool plain = !part.table && isWhole(part.mapY, shape.height) &&
                     isWhole(part.mapX, shape.width) && part.mapC.size() == 1 &&
                     part.mapC[0].toStep == 1 && part.mapC[0].fromStep == 1;
  return plain ? &part.mapC[0] : nullptr;
}

// Finds Concat and Split operators that need no instruction because their tensors can share memory
// block by block.
class Views {
 public:
  Views(const CanonicalGraph& graph)
      : graph_(graph), parent_(graph.tensors.size()), block_(graph.tensors.size(), 0) {
    pinned_.resize(graph.tensors.size(), false);
    for (std::size_t t = 0; t < graph.tensors.size(); ++t)
      pinned_[t] = !graph.tensors[t].constant.empty();
    for (const Port& p : graph.inputs) pinned_[p.tensor.at()] = true;
    for (const Port& p : graph.outputs) pinned_[p.tensor.at()] = true;
    for (const CanonicalOp& op : graph.ops)
      inPlace_.push_back(op.kind() == OpKind::Assemble && (tryConcat(op) || trySplit(op)));
  }

  bool inPlace(std::size_t op) const { return inPlace_[op]; }

  TensorId root(TensorId t) const { return parent_[t.at()].valid() ? root(parent_[t.at()]) : t; }
  std::int64_t block(TensorId t) const {
    return parent_[t.at()].valid() ? block_[t.at()] + block(parent_[t.at()]) : 0;
  }

 private:
  bool isFree(TensorId t) const { return !pinned_[t.at()] && !parent_[t.at()].valid(); }

  bool tryConcat(const CanonicalOp& op) {
    const Assemble& assemble = std::get<Assemble>(op.attributes);
    const Shape& out = graph_.tensors[op.output.at()].shape;
    std::int64_t covered = 0;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const Shape& in = graph_.tensors[op.inputs[i].at()].shape;
      if (in.height != out.height || in.width != out.width) return false;
      const AxisRun* run = channelStretch(assemble.parts[i], out);
      if (!run || run->from != 0 || run->count != in.channels || run->to % kBlock != 0)
        return false;
      if (run->count % kBlock != 0 && run->to + run->count != out.channels) return false;
      if (!isFree(op.inputs[i]) || std::count(op.inputs.begin(), op.inputs.end(), op.inputs[i]) > 1)
        return false;
      covered += run->count;
    }
    if (covered != out.channels) return false;
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      link(op.inputs[i], op.output, assemble.parts[i].mapC[0].to);
    return true;
  }

  bool trySplit(const CanonicalOp& op) {
    const Assemble& assemble = std::get<Assemble>(op.attributes);
    if (op.inputs.size() != 1 || !isFree(op.output)) return false;
    const Shape& in = graph_.tensors[op.inputs[0].at()].shape;
    const Shape& out = graph_.tensors[op.output.at()].shape;
    if (in.height != out.height || in.width != out.width) return false;
    const AxisRun* run = channelStretch(assemble.parts[0], out);
    if (!run || run->to != 0 || run->count != out.channels || run->from % kBlock != 0) return false;
    if (run->count % kBlock != 0 && run->from + run->count != in.channels) return false;
    link(op.output, op.inputs[0], run->from);
    return true;
  }

  void link(TensorId child, TensorId parent, std::int64_t channel) {
    parent_[child.at()] = parent;
    block_[child.at()] = channel / kBlock;
  }

  const CanonicalGraph& graph_;
  std::vector<TensorId> parent_;
  std::vector<std::int64_t> block_;
  std::vector<bool> pinned_, inPlace_;
};

// A stretch of memtile memory that is needed over some layers.
struct Request {
  std::int64_t bytes = 0, first = 0, last = 0, address = -1;
  bool meets(const Request& o) const { return first <= o.last && o.first <= last; }
};

// Lowest address where `request` fits beside all placed ones that it meets in time, below
// `capacity`.
bool place(Request& request, std::vector<Request>& placed, std::int64_t capacity) {
  std::vector<const Request*> neighbours;
  for (const Request& p : placed)
    if (p.meets(request)) neighbours.push_back(&p);
  std::sort(neighbours.begin(), neighbours.end(),
            [](auto* a, auto* b) { return a->address < b->address; });
  std::int64_t address = 0;
  for (const Request* n : neighbours) {
    if (address + request.bytes <= n->address) break;
    address = std::max(address, n->address + n->bytes);
  }
  if (address + request.bytes > capacity) return false;
  request.address = address;
  placed.push_back(request);
  return true;
}

class Allocator {
 public:
  Allocator(const CanonicalGraph& graph, const LayerPlan& plan, const Device& device)
      : graph_(graph), plan_(plan), device_(device), views_(graph) {}

  Result<MemoryPlan> run() {
    describeTensors();
    const std::int64_t sharing = divideRoundUp(device_.rows, device_.columns);
    memory_.weightStaging = device_.memtile.memory.raw() - plan_.weightStagingPerRow * sharing;
    memory_.weightStaging = memory_.weightStaging / kBlock * kBlock;
    for (;;) {
      HEDDLE_TRY(const bool settled, placeAll());
      if (settled) break;
    }
    placeDdr();
    placeCores();
    return memory_;
  }

 private:
  std::size_t rootIndex(TensorId t) const { return memory_.tensors[t.at()].root.at(); }

  void describeTensors() {
    memory_.tensors.resize(graph_.tensors.size());
    memory_.layers.resize(graph_.ops.size());
    inDdr_.assign(graph_.tensors.size(), false);
    atHome_.assign(graph_.tensors.size(), true);
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      TensorPlan& plan = memory_.tensors[t];
      plan.root = views_.root(TensorId(t));
      plan.rootBlock = views_.block(TensorId(t));
      plan.first = std::ssize(graph_.ops);
      plan.last = -1;
      if (!graph_.tensors[t].constant.empty()) inDdr_[t] = true;
    }
    for (const Port& p : graph_.inputs) inDdr_[rootIndex(p.tensor)] = true;
    for (const Port& p : graph_.outputs) inDdr_[rootIndex(p.tensor)] = true;
    reads_.assign(graph_.tensors.size(), 0);
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      const CanonicalOp& op = graph_.ops[i];
      if (views_.inPlace(i)) continue;
      for (TensorId t : op.inputs) {
        live(rootIndex(t), static_cast<std::int64_t>(i));
        ++reads_[rootIndex(t)];
      }
      live(rootIndex(op.output), static_cast<std::int64_t>(i));
    }
  }

  void live(std::size_t root, std::int64_t layer) {
    TensorPlan& plan = memory_.tensors[root];
    plan.first = std::min(plan.first, layer);
    plan.last = std::max(plan.last, layer);
  }

  // One try with the tensors still at home; false where some had to move to DDR, true when all is
  // placed.
  Result<bool> placeAll() {
    std::vector<Request> placed;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      if (!views_.inPlace(i)) {
        HEDDLE_TRY(const bool done, placeStreams(i, placed));
        (void)done;
      }
    std::vector<std::size_t> order;
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      if (memory_.tensors[t].root.at() == t && atHome_[t] && memory_.tensors[t].last >= 0 &&
          reads_[t] > 0)
        order.push_back(t);
    // Short lives first: a byte kept for one layer saves as much traffic as a byte kept for ten.
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const TensorPlan &x = memory_.tensors[a], &y = memory_.tensors[b];
      return x.last - x.first < y.last - y.first;
    });
    bool settled = true;
    for (std::size_t t : order) {
      TensorPlan& plan = memory_.tensors[t];
      const Shape& shape = graph_.tensors[t].shape;
      const std::vector<OutputBox> boxes = evenBoxes(shape, device_);
      Request request{.bytes = boxes[0].y.count * boxes[0].x.count * blocksOf(shape) * kBlock,
                      .first = plan.first,
                      .last = plan.last,
                      .address = -1};
      plan.slices.clear();
      if (!place(request, placed, memory_.weightStaging)) {
        atHome_[t] = false;
        inDdr_[t] = true;
        settled = false;
        continue;
      }
      for (std::size_t c = 0; c < boxes.size(); ++c)
        if (!boxes[c].empty())
          plan.slices.push_back({static_cast<std::int64_t>(c), request.address, boxes[c].y.first,
                                 boxes[c].y.count, boxes[c].x.first, boxes[c].x.count});
    }
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      if (reads_[t] == 0) inDdr_[t] = inDdr_[t] || memory_.tensors[t].last >= 0;
    memory_.memtilePeak = device_.memtile.memory.raw() - memory_.weightStaging;
    std::int64_t peak = 0;
    for (const Request& p : placed) peak = std::max(peak, p.address + p.bytes);
    memory_.memtilePeak += peak;
    return settled;
  }

  // Nothing reads it from a memtile: it passes through on its way to DDR.
  bool streamsOut(std::size_t root) const { return !atHome_[root] || reads_[root] == 0; }

  Result<bool> placeStreams(std::size_t layer, std::vector<Request>& placed) {
    const CanonicalOp& op = graph_.ops[layer];
    const LayerTiling& tiling = plan_.layers[layer];
    LayerMemory& memory = memory_.layers[layer];
    memory = {};
    const auto step = static_cast<std::int64_t>(layer);
    std::int64_t needed = 0;
    auto stream = [&](std::int64_t slotBytes, std::int64_t slots, std::int64_t copies) {
      Request request{
          .bytes = slotBytes * slots * copies, .first = step, .last = step, .address = -1};
      needed += request.bytes;
      return place(request, placed, memory_.weightStaging)
                 ? StreamPlan{request.address, slotBytes, slots}
                 : StreamPlan{-1, slotBytes, slots};
    };
    bool fits = true;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      memory.inputs.emplace_back();
      if (atHome_[rootIndex(op.inputs[i])] || tiling.rings[i].rowBytes == 0) continue;
      const std::int64_t slots =
          sharesInput(op) ? 3 : std::max<std::int64_t>(3, tiling.activeRows() + 1);
      memory.inputs[i] = stream(tiling.rings[i].rowBytes, slots, 1);
      if (memory.inputs[i].address < 0) memory.inputs[i] = stream(tiling.rings[i].rowBytes, 1, 1);
      fits = fits && memory.inputs[i].address >= 0;
    }
    if (streamsOut(rootIndex(op.output))) {
      memory.output = stream(tiling.outputRowBytes, 2, tiling.activeRows());
      fits = fits && memory.output->address >= 0;
    }
    if (fits) return true;
    return Diagnostic{"MEM001",
                      graph_.name + ", node '" + op.name + "' (" + op.onnxOp + ")",
                      "the rows on their way from and to DDR do not fit a memtile",
                      "they need " + std::to_string(needed) + " B of the " +
                          std::to_string(memory_.weightStaging) +
                          " B that a memtile has beside its weights",
                      "give the memtiles more memory (--set memtile.memory=...)",
                      Severity::DoesNotFit};
  }

  void placeDdr() {
    std::int64_t next = 0;
    auto reserve = [&](std::size_t t, std::int64_t base) {
      const Shape& shape = graph_.tensors[t].shape;
      memory_.tensors[t].ddr = base + next;
      next += roundUpTo(shape.height * shape.width * blocksOf(shape) * kBlock, kDdrAlignment);
    };
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      if (memory_.tensors[t].root.at() == t && inDdr_[t] && graph_.tensors[t].constant.empty())
        reserve(t, 0);
    memory_.weightsAddress = next;
    next = 0;
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      if (memory_.tensors[t].root.at() == t && !graph_.tensors[t].constant.empty())
        reserve(t, memory_.weightsAddress);
  }

  // A layer's buffers follow those of the layer before, around the circle, so that its first
  // transfers overlap the end of that one.
  void placeCores() {
    std::int64_t next = 0;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      memory_.layers[i].inPlace = views_.inPlace(i);
      if (views_.inPlace(i)) continue;
      if (next + plan_.layers[i].coreBytes > device_.core.operandMemory().raw()) next = 0;
      memory_.layers[i].coreBase = next;
      next += plan_.layers[i].coreBytes;
    }
  }

  const CanonicalGraph& graph_;
  const LayerPlan& plan_;
  const Device& device_;
  Views views_;
  MemoryPlan memory_;
  std::vector<bool> inDdr_, atHome_;  // per root tensor
  std::vector<std::int64_t> reads_;
};

}  // namespace

Result<MemoryPlan> allocateMemory(const CanonicalGraph& graph, const LayerPlan& plan,
                                  const Device& device) {
  return Allocator(graph, plan, device).run();
}

std::string print(const MemoryPlan& memory, const CanonicalGraph& graph) {
  std::ostringstream out;
  out << "memory-plan peak " << memory.memtilePeak << " B of a memtile, weight staging at "
      << memory.weightStaging << ", weights in DDR at " << memory.weightsAddress << '\n';
  for (std::size_t t = 0; t < memory.tensors.size(); ++t) {
    const TensorPlan& p = memory.tensors[t];
    out << "tensor " << t << " '" << graph.tensors[t].name << "'";
    if (p.root.at() != t) out << " in tensor " << p.root.index << " from block " << p.rootBlock;
    if (!p.slices.empty())
      out << " memtiles at " << p.slices[0].address << " in " << p.slices.size() << " slices";
    if (p.ddr) out << " DDR at " << *p.ddr;
    out << " layers " << p.first << " to " << p.last << '\n';
  }
  for (std::size_t i = 0; i < memory.layers.size(); ++i) {
    const LayerMemory& layer = memory.layers[i];
    out << "layer " << i << " core base " << layer.coreBase;
    for (const StreamPlan& s : layer.inputs)
      if (s.slots > 0)
        out << " input stream " << s.slots << " x " << s.slotBytes << " at " << s.address;
    if (layer.output)
      out << " output stream " << layer.output->slots << " x " << layer.output->slotBytes << " at "
          << layer.output->address;
    out << '\n';
  }
  return out.str();
}

}  // namespace heddle
