#include "alike.h"

#include <cstdint>
#include <map>
#include <optional>

#include "heddle/canon/fuse_operators.h"
#include "heddle/tiling/geometry.h"

namespace heddle {
namespace {

// None: it is not like any other.
std::optional<std::vector<std::int64_t>> keyOf(const CanonicalGraph& graph, const CanonicalOp& op) {
  if (op.kind() == OpKind::Assemble || leavesBlocksOut(op)) return std::nullopt;
  std::vector<std::int64_t> key{static_cast<std::int64_t>(op.kind())};
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
  // Of the last part and of one before: what a depth-wise end reads is in the last alone.
  const RecordLengths lengths(op);
  for (const bool last : {true, false}) key.push_back(lengths.bytes(1, whole, last, 1));
  for (const TensorId tensor : op.inputs) {
    const Shape& s = graph.tensors[tensor.at()].shape;
    key.insert(key.end(), {s.height, s.width, s.channels});
  }
  const Shape& s = graph.tensors[op.output.at()].shape;
  key.insert(key.end(), {s.height, s.width, s.channels});
  return key;
}

}  // namespace

std::vector<std::size_t> firstAlike(const CanonicalGraph& graph) {
  std::map<std::vector<std::int64_t>, std::size_t> firsts;
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const auto key = keyOf(graph, graph.ops[i]);
    first.push_back(key ? firsts.try_emplace(*key, i).first->second : i);
  }
  return first;
}

}  // namespace heddle
