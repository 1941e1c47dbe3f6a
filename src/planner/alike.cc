#include "alike.h"

#include "heddle/canon/fuse_operators.h"
#include "heddle/tiling/geometry.h"

namespace heddle {

LayerKinds::Key LayerKinds::keyOf(const CanonicalGraph& graph, const CanonicalOp& op) {
  std::vector<std::int64_t> key{static_cast<std::int64_t>(op.kind()), graph.batch};
  ReductionPart whole;
  if (const auto w = windowOf(op)) {
    key.insert(key.end(), {w->kernelY, w->kernelX, w->strideY, w->strideX, w->dilationY,
                           w->dilationX, w->padTop, w->padLeft, w->padBottom, w->padRight});
    whole.kernelRows = {0, w->kernelY};
  }
  if (const FusedWindow* end = fusedWindowOf(op)) {
    const Window &own = *kernelWindowOf(op), &w = end->window();
    key.insert(key.end(), {own.kernelY, own.kernelX, own.strideY, own.strideX, own.dilationY,
                           own.dilationX, own.padTop, own.padLeft, w.kernelY, w.kernelX, w.strideY,
                           w.strideX, w.padTop, w.padLeft, end->depthwise() != nullptr});
    const Shape& computed = graph.tensors[end->before.at()].shape;
    key.insert(key.end(), {computed.height, computed.width});
  }
  key.insert(key.end(), {operandsAtEnd(op), tableOfEnd(op) != nullptr, operandsAtStart(op)});
  // Of the last part and of one before: what a depth-wise end reads is in the last alone.
  const RecordLengths lengths(op);
  for (const bool last : {true, false}) key.push_back(lengths.bytes(1, whole, last, 1));
  for (const TensorId tensor : op.inputs) {
    const Shape& s = graph.tensors[tensor.at()].shape;
    key.insert(key.end(), {s.height, s.width, s.channels});
  }
  const Shape& s = graph.tensors[op.output.at()].shape;
  key.insert(key.end(), {s.height, s.width, s.channels});
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  return {std::move(key), conv ? conv->kept : Bits()};
}

std::vector<std::size_t> LayerKinds::of(const CanonicalGraph& graph) {
  std::vector<std::size_t> kinds;
  for (const CanonicalOp& op : graph.ops) {
    std::size_t kind = count_;
    if (op.kind() != OpKind::Assemble)
      kind = known_.try_emplace(keyOf(graph, op), kind).first->second;
    if (kind == count_) ++count_;
    kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace heddle
