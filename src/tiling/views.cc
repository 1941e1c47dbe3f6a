#include "heddle/tiling/views.h"

#include <algorithm>

namespace heddle {
namespace {

bool isWhole(const AxisMap& map, std::int64_t size) {
  return map.size() == 1 && map[0] == AxisRun{0, 1, 0, 1, size};
}

// Finds Concat and Split operators that need no instruction because their tensors can share memory
// block by block.
class ViewFinder {
 public:
  explicit ViewFinder(const CanonicalGraph& graph)
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

}  // namespace

const AxisRun* channelStretch(const AssemblePart& part, const Shape& shape) {
  const bool plain = !part.table && isWhole(part.mapY, shape.height) &&
                     isWhole(part.mapX, shape.width) && part.mapC.size() == 1 &&
                     part.mapC[0].toStep == 1 && part.mapC[0].fromStep == 1;
  return plain ? &part.mapC[0] : nullptr;
}

Views findViews(const CanonicalGraph& graph) {
  const ViewFinder finder(graph);
  Views views;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    views.tensors.push_back({finder.root(TensorId(t)), finder.block(TensorId(t))});
  for (std::size_t i = 0; i < graph.ops.size(); ++i) views.inPlace.push_back(finder.inPlace(i));
  return views;
}

Views noViews(const CanonicalGraph& graph) {
  Views views;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) views.tensors.push_back({TensorId(t), 0});
  views.inPlace.resize(graph.ops.size(), false);
  return views;
}

}  // namespace heddle
