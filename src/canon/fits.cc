#include "fits.h"

#include <algorithm>
#include <optional>

#include "heddle/canon/limits.h"

namespace heddle::canon {

namespace {

std::string textOf(const Shape& s) {
  return std::to_string(s.height) + "x" + std::to_string(s.width) + "x" +
         std::to_string(s.channels);
}

Diagnostic tooLarge(const CanonicalGraph& graph, const std::string& summary,
                    const std::string& what) {
  return {.code = "CANON005",
          .where = graph.name,
          .summary = summary,
          .what = what,
          .mend = "choose a smaller input with --shape, or cut the model before it",
          .severity = Severity::DoesNotFit};
}

const Window* windowOf(const CanonicalOp& op) {
  if (const auto* conv = std::get_if<Conv>(&op.attributes)) return &conv->window;
  if (const auto* conv = std::get_if<DepthwiseConv>(&op.attributes)) return &conv->window;
  if (const auto* pool = std::get_if<MaxPool>(&op.attributes)) return &pool->window;
  if (const auto* pool = std::get_if<AveragePool>(&op.attributes)) return &pool->window;
  return nullptr;
}

bool isPool(const CanonicalOp& op) {
  return op.kind() == OpKind::MaxPool || op.kind() == OpKind::AveragePool;
}

std::int64_t inBlocks(std::int64_t channels) { return (channels + 7) / 8 * 8; }

// Bytes of the weights as they are streamed: both kinds of channels in whole blocks of 8.
std::int64_t weightsOf(const CanonicalGraph& graph, const CanonicalOp& op) {
  const Window* w = windowOf(op);
  if (!w || isPool(op)) return 0;
  const std::int64_t taps = w->kernelY * w->kernelX,
                     outputs = inBlocks(graph.tensors[op.output.at()].shape.channels);
  if (op.kind() == OpKind::DepthwiseConv) return taps * outputs;
  return taps * outputs * inBlocks(graph.tensors[op.inputs[0].at()].shape.channels);
}

std::optional<Diagnostic> memory(const CanonicalGraph& graph) {
  std::int64_t weights = 0;
  for (const CanonicalOp& op : graph.ops)
    weights = std::min(weights + weightsOf(graph, op), kMaxDdrBytes);
  const std::int64_t most = maxMemoryBytes(weights);
  std::int64_t bytes = weights;
  for (const CanonicalTensor& tensor : graph.tensors) {
    const Shape& s = tensor.shape;
    if (std::max({s.height, s.width, s.channels}) > kMaxExtent)
      return tooLarge(graph, "an axis of the tensor '" + tensor.name + "' is too long",
                      textOf(s) + "; at most " + std::to_string(kMaxExtent));
    bytes += s.height * s.width * inBlocks(s.channels);
    if (bytes > most)
      return tooLarge(graph, "its tensors and weights are too large",
                      "up to '" + tensor.name + "' of " + textOf(s) + " they hold " +
                          std::to_string(bytes) + " B, channels in whole blocks of 8, " +
                          std::to_string(weights) + " B of them weights; at most " +
                          std::to_string(most) + " B beside so many weights");
  }
  return std::nullopt;
}

std::optional<Diagnostic> parts(const CanonicalGraph& graph) {
  for (const CanonicalOp& op : graph.ops) {
    const auto* assemble = std::get_if<Assemble>(&op.attributes);
    if (assemble && std::ssize(assemble->parts) > kMaxMovedParts)
      return tooLarge(
          graph, "'" + op.name + "' (" + op.onnxOp + ") moves too many parts",
          std::to_string(assemble->parts.size()) + "; at most " + std::to_string(kMaxMovedParts));
  }
  return std::nullopt;
}

std::optional<Diagnostic> windows(const CanonicalGraph& graph) {
  double taps = 0;
  for (const CanonicalOp& op : graph.ops) {
    const Window* w = windowOf(op);
    if (!w) continue;
    const std::int64_t largest =
        std::max({w->kernelY, w->kernelX, w->strideY, w->strideX, w->dilationY, w->dilationX,
                  w->padTop, w->padLeft, w->padBottom, w->padRight});
    if (largest > kMaxExtent)
      return tooLarge(graph, "a number of the window of '" + op.name + "' is too large",
                      std::to_string(largest) + "; at most " + std::to_string(kMaxExtent));
    if (w->kernelY * w->kernelX > kMaxTaps)
      return tooLarge(
          graph, "the window of '" + op.name + "' has too many taps",
          std::to_string(w->kernelY * w->kernelX) + "; at most " + std::to_string(kMaxTaps));
    if (!isPool(op)) continue;
    const Shape &in = graph.tensors[op.inputs[0].at()].shape,
                &out = graph.tensors[op.output.at()].shape;
    taps += static_cast<double>(out.elements()) *
            static_cast<double>(std::min(w->kernelY, in.height) * std::min(w->kernelX, in.width));
    if (taps > static_cast<double>(kMaxPoolTaps))
      return tooLarge(graph, "its pools are too large",
                      "up to '" + op.name + "' their windows read more than " +
                          std::to_string(kMaxPoolTaps) + " elements");
  }
  return std::nullopt;
}

}  // namespace

Diagnostics beyondLimits(const CanonicalGraph& graph) {
  Diagnostics found;
  for (const auto& fault : {memory(graph), parts(graph), windows(graph)})
    if (fault) found.push_back(*fault);
  return found;
}

}  // namespace heddle::canon
