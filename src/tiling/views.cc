#include "heddle/tiling/views.h"

#include <algorithm>

#include "heddle/canon/whole_blocks.h"

namespace heddle {
namespace {

bool isWhole(const AxisMap& map, std::int64_t size) {
  return map.size() == 1 && map[0] == AxisRun{0, 1, 0, 1, size};
}

// Of `outputs` indices in each of `images`, where each comes from: at equal distances, the same in
// each image of `inputs`.
std::optional<Steps> stepsOf(const AxisMap& map, std::int64_t inputs, std::int64_t outputs,
                             std::int64_t images) {
  if (map.empty() || map[0].to != 0) return std::nullopt;
  const Steps steps{map[0].from, outputs > 1 ? map[0].fromStep : 1};
  if (steps.step < 1) return std::nullopt;
  std::int64_t next = 0;
  for (const AxisRun& run : map) {
    if (run.to != next || (run.toStep != 1 && run.count > 1)) return std::nullopt;
    for (std::int64_t i = 0; i < run.count; ++i, ++next)
      if (run.from + i * run.fromStep != next / outputs * inputs + steps.at(next % outputs))
        return std::nullopt;
  }
  return next == images * outputs ? std::optional(steps) : std::nullopt;
}

// Finds Concat, Split and Slice operators that need no instruction because their tensors can share
// memory block by block.
class ViewFinder {
 public:
  explicit ViewFinder(const CanonicalGraph& graph)
      : graph_(graph),
        parent_(graph.tensors.size()),
        block_(graph.tensors.size(), 0),
        sampling_(graph.tensors.size()) {
    pinned_.resize(graph.tensors.size(), false);
    for (std::size_t t = 0; t < graph.tensors.size(); ++t)
      pinned_[t] = !graph.tensors[t].constant.empty();
    for (const Port& p : graph.inputs) pinned_[p.tensor.at()] = true;
    for (const Port& p : graph.outputs) pinned_[p.tensor.at()] = true;
    // Concats first: one that copies copies all of its operands, a Slice only what it takes.
    for (const CanonicalOp& op : graph.ops)
      inPlace_.push_back(op.kind() == OpKind::Assemble && tryConcat(op));
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
      if (graph.ops[i].kind() == OpKind::Assemble && !inPlace_[i])
        inPlace_[i] = trySlice(graph.ops[i]);
  }

  bool inPlace(std::size_t op) const { return inPlace_[op]; }

  View view(TensorId t) const {
    if (!parent_[t.at()].valid()) return {.root = t, .block = 0, .sampling = {}};
    View view = this->view(parent_[t.at()]);
    view.block += block_[t.at()];
    view.sampling = composed(sampling_[t.at()], view.sampling);
    return view;
  }

 private:
  bool isFree(TensorId t) const { return !pinned_[t.at()] && !parent_[t.at()].valid(); }

  bool tryConcat(const CanonicalOp& op) {
    const Assemble& assemble = std::get<Assemble>(op.attributes);
    const Shape& out = graph_.tensors[op.output.at()].shape;
    std::int64_t covered = 0;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (assemble.parts[i].table || !fillsWholeBlocks(graph_, op, i)) return false;
      if (!isFree(op.inputs[i]) || std::count(op.inputs.begin(), op.inputs.end(), op.inputs[i]) > 1)
        return false;
      covered += assemble.parts[i].mapC[0].count;
    }
    if (covered != out.channels) return false;
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      link(op.inputs[i], op.output, assemble.parts[i].mapC[0].to);
    return true;
  }

  bool trySlice(const CanonicalOp& op) {
    const Assemble& assemble = std::get<Assemble>(op.attributes);
    if (op.inputs.size() != 1 || !isFree(op.output)) return false;
    const Shape& in = graph_.tensors[op.inputs[0].at()].shape;
    const Shape& out = graph_.tensors[op.output.at()].shape;
    const auto copied = copiedStretch(assemble.parts[0], in, out, graph_.batch);
    if (!copied) return false;
    const AxisRun& run = copied->channels;
    if (run.to != 0 || run.count != out.channels || run.from % kBlock != 0) return false;
    if (run.count % kBlock != 0 && run.from + run.count != in.channels) return false;
    link(op.output, op.inputs[0], run.from);
    sampling_[op.output.at()] = copied->sampling;
    return true;
  }

  void link(TensorId child, TensorId parent, std::int64_t channel) {
    parent_[child.at()] = parent;
    block_[child.at()] = channel / kBlock;
  }

  const CanonicalGraph& graph_;
  std::vector<TensorId> parent_;
  std::vector<std::int64_t> block_;
  std::vector<std::optional<Sampling>> sampling_;  // of the parent's pixels
  std::vector<bool> pinned_, inPlace_;
};

}  // namespace

std::optional<CopiedStretch> copiedStretch(const AssemblePart& part, const Shape& from,
                                           const Shape& to, std::int64_t batch) {
  if (part.table || part.mapC.size() != 1 || part.mapC[0].toStep != 1 || part.mapC[0].fromStep != 1)
    return std::nullopt;
  CopiedStretch copied{.channels = part.mapC[0], .sampling = {}};
  if (from.height == to.height && from.width == to.width && isWhole(part.mapY, to.height) &&
      isWhole(part.mapX, to.width))
    return copied;
  const auto rows = stepsOf(part.mapY, from.height / batch, to.height / batch, batch),
             columns = stepsOf(part.mapX, from.width, to.width, 1);
  if (!rows || !columns) return std::nullopt;
  copied.sampling = Sampling{*rows, *columns};
  return copied;
}

std::optional<Sampling> composed(const std::optional<Sampling>& own,
                                 const std::optional<Sampling>& ofRoot) {
  if (!own || !ofRoot) return own ? own : ofRoot;
  const auto axis = [](const Steps& inner, const Steps& outer) {
    return Steps{outer.at(inner.first), inner.step * outer.step};
  };
  return Sampling{axis(own->rows, ofRoot->rows), axis(own->columns, ofRoot->columns)};
}

PixelMap pixelMapOf(const CanonicalGraph& graph, const Plan& plan, TensorId tensor) {
  const View& view = plan.views[tensor.at()];
  return {view.sampling, graph.tensors[tensor.at()].shape, graph.tensors[view.root.at()].shape,
          graph.batch};
}

Home homeOf(const CanonicalGraph& graph, const Plan& plan, TensorId tensor) {
  const View& view = plan.views[tensor.at()];
  const Home& whole = plan.homes[view.root.at()];
  if (view.root == tensor) return whole;
  const PixelMap pixels = pixelMapOf(graph, plan, tensor);
  const Interval own{view.block, blocksOf(graph.tensors[tensor.at()].shape)};
  Home home;
  for (const HomeBox& box : whole) {
    HomeBox part{box.memtile, pixels.rowsIn(box.y), pixels.columnsIn(box.x),
                 common(box.blocks, own)};
    part.blocks.first -= view.block;
    if (!part.y.empty() && !part.x.empty() && !part.blocks.empty()) home.push_back(part);
  }
  return home;
}

Views findViews(const CanonicalGraph& graph) {
  const ViewFinder finder(graph);
  Views views;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    views.tensors.push_back(finder.view(TensorId(t)));
  for (std::size_t i = 0; i < graph.ops.size(); ++i) views.inPlace.push_back(finder.inPlace(i));
  return views;
}

Views noViews(const CanonicalGraph& graph) {
  Views views;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    views.tensors.push_back({.root = TensorId(t), .block = 0, .sampling = {}});
  views.inPlace.resize(graph.ops.size(), false);
  return views;
}

}  // namespace heddle
