#include "heddle/sparsity/propagate.h"

#include <algorithm>

#include "channels.h"
#include "heddle/sparsity/kept_blocks.h"

namespace heddle {
namespace sparsity {

bool ignoresOperands(const CanonicalOp& op) {
  return std::visit(
      [](const auto& attributes) {
        if constexpr (requires { attributes.clamp; })
          return attributes.clamp.low == attributes.clamp.high;
        else
          return false;
      },
      op.attributes);
}

WeightRows weightRows(const Conv& conv) {
  const std::int64_t taps = conv.window.kernelY * conv.window.kernelX;
  return {.taps = taps, .columns = std::ssize(conv.weights) / (std::ssize(conv.bias) * taps)};
}

WeightRows weightRows(const DepthwiseConv& conv) {
  return {.taps = conv.window.kernelY * conv.window.kernelX, .columns = 1, .depthwise = true};
}

}  // namespace sparsity

namespace {

template <class Count>
std::int64_t sumOver(const std::vector<ChannelFacts>& tensors, Count count) {
  std::int64_t sum = 0;
  for (const ChannelFacts& facts : tensors) sum += count(facts);
  return sum;
}

bool hasTooManyChannels(const CanonicalGraph& graph) {
  std::int64_t channels = 0;
  for (const CanonicalTensor& tensor : graph.tensors) channels += tensor.shape.channels;
  return channels > kMostPropagatedChannels;
}

}  // namespace

std::int64_t Propagated::constantChannels() const {
  return sumOver(tensors, [](const ChannelFacts& f) {
    return std::ranges::count_if(f.constant, [](const auto& value) { return value.has_value(); });
  });
}
std::int64_t Propagated::unneededChannels() const {
  return sumOver(tensors,
                 [](const ChannelFacts& f) { return std::ranges::count(f.needed, false); });
}
std::int64_t Propagated::removedChannels() const {
  return sumOver(tensors,
                 [](const ChannelFacts& f) { return std::ranges::count(f.removed, true); });
}
bool Propagated::changed() const {
  return removedChannels() > 0 || std::ranges::any_of(weightsZeroed, [](auto n) { return n > 0; });
}

bool nothingFollows(const CanonicalGraph& graph) {
  if (hasTooManyChannels(graph)) return true;
  if (sparsity::hasConstants(graph)) return false;
  sparsity::Constants none;
  for (const CanonicalTensor& tensor : graph.tensors)
    none.emplace_back(static_cast<std::size_t>(tensor.shape.channels));
  return std::ranges::all_of(sparsity::neededChannels(graph, none), [](const auto& channels) {
    return std::ranges::all_of(channels, [](bool needed) { return needed; });
  });
}

Propagated propagate(CanonicalGraph graph) {
  Propagated result;
  result.weightsZeroed.assign(graph.ops.size(), 0);
  if (hasTooManyChannels(graph)) {
    result.tensors.resize(graph.tensors.size());
    result.graph = std::move(graph);
    return result;
  }
  sparsity::Constants constants = sparsity::foldConstants(graph, result.weightsZeroed);
  sparsity::ChannelSets needed = sparsity::dropUnneeded(graph, constants, result.weightsZeroed);
  sparsity::ChannelSets removed = sparsity::removeChannels(graph, needed);
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    result.tensors.push_back(
        {std::move(constants[t]), std::move(needed[t]), std::move(removed[t])});
  result.graph = std::move(graph);
  if (result.changed()) findKeptBlocks(result.graph);
  return result;
}

}  // namespace heddle
