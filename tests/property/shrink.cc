// Greedy reduction: try the boldest smaller graph first, keep the first one that still fails, begin
// again.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "heddle/sparsity/kept_blocks.h"
#include "random_graph.h"
#include "random_movement.h"

namespace heddle::property {
namespace {

using Candidates = std::vector<CanonicalGraph>;

Port inputPort(const CanonicalGraph& graph, TensorId id) {
  const CanonicalTensor& tensor = graph.tensors[id.at()];
  const std::vector<std::int64_t> shape{1, tensor.shape.channels, tensor.shape.height,
                                        tensor.shape.width};
  return {tensor.name, id,    tensor.fromUint8 ? ElementType::Uint8 : ElementType::Int8,
          shape,       shape, "NCHW"};
}

// The operators [first, last) alone: what they read and do not make becomes an input.
CanonicalGraph keepOps(const CanonicalGraph& graph, std::size_t first, std::size_t last) {
  CanonicalGraph kept{.name = graph.name};
  std::map<TensorId, TensorId> renamed;
  std::set<TensorId> made, read;
  const auto rename = [&](TensorId id) {
    if (!renamed.contains(id)) {
      renamed[id] = TensorId(kept.tensors.size());
      kept.tensors.push_back(graph.tensors[id.at()]);
    }
    return renamed[id];
  };
  for (std::size_t i = first; i < last; ++i) {
    CanonicalOp op = graph.ops[i];
    for (TensorId& id : op.inputs) {
      id = rename(id);
      const bool isNew = read.insert(id).second;
      if (isNew && !made.contains(id) && kept.tensors[id.at()].constant.empty())
        kept.inputs.push_back(inputPort(kept, id));
    }
    op.output = rename(op.output);
    made.insert(op.output);
    kept.ops.push_back(std::move(op));
  }
  for (const TensorId id : made)
    if (!read.contains(id)) kept.outputs.push_back(inputPort(kept, id));
  return kept;
}

void addFewerOps(const CanonicalGraph& graph, Candidates& candidates) {
  const std::size_t count = graph.ops.size();
  if (count < 2) return;
  for (std::size_t i = count; i-- > 0;) candidates.push_back(keepOps(graph, i, i + 1));
  candidates.push_back(keepOps(graph, 0, count / 2));
  candidates.push_back(keepOps(graph, count / 2, count));
  candidates.push_back(keepOps(graph, 1, count));
  candidates.push_back(keepOps(graph, 0, count - 1));
}

// --- smaller tensors of a graph of one operator

std::int64_t& extentOf(Shape& shape, char axis) {
  return axis == 'Y' ? shape.height : axis == 'X' ? shape.width : shape.channels;
}

void crop(CanonicalTensor& tensor, char axis, std::int64_t extent) {
  const Shape old = tensor.shape;
  extentOf(tensor.shape, axis) = extent;
  if (tensor.constant.empty()) return;
  std::vector<std::int8_t> values;
  for (std::int64_t y = 0; y < tensor.shape.height; ++y)
    for (std::int64_t x = 0; x < tensor.shape.width; ++x)
      for (std::int64_t c = 0; c < tensor.shape.channels; ++c)
        values.push_back(
            tensor.constant[static_cast<std::size_t>((y * old.width + x) * old.channels + c)]);
  tensor.constant = std::move(values);
}

// The first `extent` outputs of a windowed operator need so much input; false where that does not
// come out even.
bool cropWindow(Window& window, char axis, std::int64_t output, std::int64_t& input) {
  const bool rows = axis == 'Y';
  const std::int64_t kernel = rows ? window.kernelY : window.kernelX;
  const std::int64_t stride = rows ? window.strideY : window.strideX;
  const std::int64_t span = (rows ? window.dilationY : window.dilationX) * (kernel - 1) + 1;
  const std::int64_t before = rows ? window.padTop : window.padLeft;
  std::int64_t& after = rows ? window.padBottom : window.padRight;
  const std::int64_t needed = (output - 1) * stride + span - before;
  input = std::clamp<std::int64_t>(needed, 1, input);
  after = std::max<std::int64_t>(0, needed - input);
  return (input + before + after - span) / stride + 1 == output;
}

template <class T>
void keepRows(std::vector<T>& rows, std::int64_t from, std::int64_t to) {
  if (std::ssize(rows) >= from && from > 0)
    rows.resize(rows.size() / static_cast<std::size_t>(from) * static_cast<std::size_t>(to));
}

// Per-channel attributes of `from` output channels, cut to `to`.
void cropChannels(OpAttributes& attributes, std::int64_t from, std::int64_t to) {
  std::visit(
      [&](auto& op) {
        if constexpr (requires { op.weights; }) {
          keepRows(op.weights.own(), from, to);
          keepRows(op.weightZero, from, to);
          keepRows(op.bias, from, to);
          keepRows(op.requantize, from, to);
          keepRows(op.requantizeNegative, from, to);
        }
        if constexpr (requires { op.tables; })
          if (std::ssize(op.tables) == from) keepRows(op.tables, from, to);
      },
      attributes);
}

std::optional<CanonicalGraph> cropped(CanonicalGraph graph, char axis, std::int64_t extent) {
  CanonicalOp& op = graph.ops[0];
  if (op.kind() == OpKind::Assemble) return {};
  const bool broadcasts = isBroadcast(graph, op, op.inputs.size() - 1);
  CanonicalTensor& output = graph.tensors[op.output.at()];
  const std::int64_t before = extentOf(output.shape, axis);
  crop(output, axis, extent);
  if (axis == 'C') cropChannels(op.attributes, before, extent);
  const bool channelsAreApart = axis == 'C' && op.kind() == OpKind::Conv;
  bool even = true;
  for (const TensorId id : std::set<TensorId>(op.inputs.begin(), op.inputs.end())) {
    if (channelsAreApart || (broadcasts && axis != 'C' && id == op.inputs[1])) continue;
    std::int64_t needed = extent;
    std::visit(
        [&](auto& attributes) {
          if constexpr (requires { attributes.window; })
            if (axis != 'C') {
              needed = extentOf(graph.tensors[id.at()].shape, axis);
              even = cropWindow(attributes.window, axis, extent, needed);
            }
        },
        op.attributes);
    crop(graph.tensors[id.at()], axis, needed);
  }
  if (!even) return {};
  return keepOps(graph, 0, 1);
}

// Half of the input channels of a Conv.
std::optional<CanonicalGraph> fewerInputChannels(CanonicalGraph graph) {
  auto* conv = std::get_if<Conv>(&graph.ops[0].attributes);
  if (conv == nullptr) return {};
  CanonicalTensor& input = graph.tensors[graph.ops[0].inputs[0].at()];
  const std::int64_t old = input.shape.channels, kept = old / 2;
  if (kept < 1) return {};
  std::vector<std::int8_t> weights;
  for (std::size_t i = 0; i < conv->weights.size(); ++i)
    if (static_cast<std::int64_t>(i) % old < kept) weights.push_back(conv->weights[i]);
  conv->weights = std::move(weights);
  crop(input, 'C', kept);
  return keepOps(graph, 0, 1);
}

void addSmallerTensors(const CanonicalGraph& graph, Candidates& candidates) {
  if (graph.ops.size() != 1) return;
  Shape shape = graph.tensors[graph.ops[0].output.at()].shape;
  for (const char axis : {'C', 'Y', 'X'}) {
    const std::int64_t now = extentOf(shape, axis);
    for (const std::int64_t extent : {now / 2, now - 8, now - 1})
      if (extent >= 1 && extent < now)
        if (auto smaller = cropped(graph, axis, extent)) candidates.push_back(std::move(*smaller));
  }
  if (auto smaller = fewerInputChannels(graph)) candidates.push_back(std::move(*smaller));
}

// --- plainer numbers

template <class Change>
void addChanged(const CanonicalGraph& graph, Candidates& candidates, Change change) {
  CanonicalGraph changed = graph;
  for (CanonicalOp& op : changed.ops)
    std::visit([&](auto& attributes) { change(attributes); }, op.attributes);
  if (changed != graph) candidates.push_back(std::move(changed));
}

void addPlainerNumbers(const CanonicalGraph& graph, Candidates& candidates) {
  addChanged(graph, candidates, [](auto& op) {
    if constexpr (requires { op.clamp; }) op.clamp = {};
  });
  addChanged(graph, candidates, [](auto& op) {
    if constexpr (requires { op.requantizeNegative; }) op.requantizeNegative.clear();
  });
  addChanged(graph, candidates, [](auto& op) {
    if constexpr (requires { op.bias; }) std::fill(op.bias.begin(), op.bias.end(), 0);
  });
  addChanged(graph, candidates, [](auto& op) {
    if constexpr (requires { op.weightZero; })
      std::fill(op.weightZero.begin(), op.weightZero.end(), std::int8_t{0});
  });
  addChanged(graph, candidates, [](auto& op) {
    if constexpr (requires { op.weights; })
      std::fill(op.weights.own().begin(), op.weights.own().end(), std::int8_t{1});
  });
  CanonicalGraph centred = graph;
  for (CanonicalTensor& tensor : centred.tensors) tensor.zeroPoint = 0;
  if (centred != graph) candidates.push_back(std::move(centred));
}

}  // namespace

CanonicalGraph shrink(CanonicalGraph graph, const Fails& fails, int maxTries) {
  int tries = 0;
  for (bool smaller = true; smaller;) {
    smaller = false;
    Candidates candidates;
    addFewerOps(graph, candidates);
    addSmallerTensors(graph, candidates);
    addPlainerNumbers(graph, candidates);
    for (CanonicalGraph& candidate : candidates) {
      if (++tries > maxTries) return graph;
      findKeptBlocks(candidate);
      if (!fails(candidate)) continue;
      graph = std::move(candidate);
      smaller = true;
      break;
    }
  }
  return graph;
}

}  // namespace heddle::property
