#include "heddle/canon/planned_values.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "heddle/canon/fold_columns.h"

namespace heddle {
namespace {

using Names = std::unordered_map<std::string_view, TensorId>;

// Of what takes the rows and columns that a stride leaves (slice_strides.h); else null.
const Assemble* ofStride(const CanonicalOp& op) {
  const Assemble* assemble = std::get_if<Assemble>(&op.attributes);
  return assemble && assemble->isOfStride ? assemble : nullptr;
}

// Channels of a tensor of the graph that was planned.
struct Channels {
  TensorId of;
  std::int64_t first = 0, count = 0;
};

// For operands of Concats that are requantized early (requantize_early.h), which no tensor of
// `graph` is: where the Concat has their values. One that is joined is the Slice of another, in
// which its other operands lie behind what is joined.
std::unordered_map<std::size_t, Channels> requantizedOperands(const CanonicalGraph& planned,
                                                              const Names& named) {
  std::unordered_map<std::size_t, std::size_t> concats;  // by output
  std::unordered_map<std::size_t, Channels> found;
  const auto addOperands = [&](const CanonicalOp& op, TensorId whole, std::int64_t first) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const CanonicalTensor& operand = planned.tensors[op.inputs[i].at()];
      const std::int64_t at = std::get<Assemble>(op.attributes).parts[i].mapC[0].to - first;
      if (at >= 0 && !named.contains(operand.name))
        found.emplace(op.inputs[i].at(), Channels{whole, at, operand.shape.channels});
    }
  };
  for (std::size_t i = 0; i < planned.ops.size(); ++i) {
    const CanonicalOp& op = planned.ops[i];
    if (op.kind() != OpKind::Assemble || ofStride(op)) continue;
    const auto output = named.find(planned.tensors[op.output.at()].name);
    if (op.inputs.size() > 1 && output == named.end()) concats.emplace(op.output.at(), i);
    if (output == named.end()) continue;
    if (op.inputs.size() > 1) addOperands(op, output->second, 0);
    const auto sliced = concats.find(op.inputs[0].at());
    const std::int64_t first = std::get<Assemble>(op.attributes).parts[0].mapC[0].from;
    if (op.inputs.size() == 1 && sliced != concats.end() && first > 0)
      addOperands(planned.ops[sliced->second], output->second, first);
  }
  return found;
}

// Per tensor of the planned graph: which of `graph` it is, or of which, one behind the other, it
// has the channels; none where it has pixels of another.
std::vector<std::vector<Channels>> channelsBefore(const CanonicalGraph& planned,
                                                  const CanonicalGraph& graph) {
  Names named;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    named.emplace(graph.tensors[t].name, TensorId(t));
  const auto requantized = requantizedOperands(planned, named);
  std::vector<std::vector<Channels>> before(planned.tensors.size());
  for (std::size_t t = 0; t < before.size(); ++t)
    if (const auto same = named.find(planned.tensors[t].name); same != named.end())
      before[t] = {{same->second, 0, graph.tensors[same->second.at()].shape.channels}};
  for (const auto& [t, channels] : requantized) before[t] = {channels};
  // Of joined tensors a Concat has its operands' channels, and a convolution its parts', which
  // follow it in their order.
  std::vector<bool> isConcat(planned.tensors.size());
  for (const CanonicalOp& op : planned.ops) {
    if (op.kind() != OpKind::Assemble) continue;
    const std::size_t from = op.inputs[0].at(), to = op.output.at();
    if (ofStride(op)) {  // whatever the network calls so
      before[to].clear();
      continue;
    }
    if (requantized.contains(to) || requantized.contains(from)) continue;
    const bool isPart = !named.contains(planned.tensors[from].name) && !isConcat[from];
    isConcat[to] = !named.contains(planned.tensors[to].name);
    for (const TensorId input : op.inputs)
      if (isConcat[to]) std::ranges::copy(before[input.at()], std::back_inserter(before[to]));
    if (isPart && !isConcat[to]) before[from].push_back(before[to].at(0));
  }
  return before;
}

std::vector<std::int8_t> pixelsOf(const std::vector<std::int8_t>& values, const Shape& shape,
                                  const AxisRun& rows, const AxisRun& columns) {
  std::vector<std::int8_t> taken;
  for (std::int64_t y = 0; y < rows.count; ++y)
    for (std::int64_t x = 0; x < columns.count; ++x) {
      const auto pixel = values.begin() + ((rows.from + y * rows.fromStep) * shape.width +
                                           columns.from + x * columns.fromStep) *
                                              shape.channels;
      taken.insert(taken.end(), pixel, pixel + shape.channels);
    }
  return taken;
}

std::vector<std::int8_t> oneBehindTheOther(const std::vector<Channels>& parts,
                                           const CanonicalGraph& graph,
                                           const std::vector<std::vector<std::int8_t>>& values) {
  const Shape& pixels = graph.tensors[parts[0].of.at()].shape;
  std::vector<std::int8_t> whole;
  for (std::int64_t i = 0; i < pixels.height * pixels.width; ++i)
    for (const Channels& part : parts) {
      const std::int64_t channels = graph.tensors[part.of.at()].shape.channels;
      const auto first = values[part.of.at()].begin() + i * channels + part.first;
      whole.insert(whole.end(), first, first + part.count);
    }
  return whole;
}

}  // namespace

std::vector<std::vector<std::int8_t>> valuesAsPlanned(
    const CanonicalGraph& planned, const CanonicalGraph& graph,
    std::vector<std::vector<std::int8_t>> values) {
  const std::vector<std::vector<Channels>> before = channelsBefore(planned, graph);
  std::vector<std::vector<std::int8_t>> all(before.size());
  const auto isWhole = [&](const std::vector<Channels>& parts) {
    return parts.size() == 1 && parts[0].count == graph.tensors[parts[0].of.at()].shape.channels;
  };
  for (std::size_t t = 0; t < before.size(); ++t)
    if (!before[t].empty() && !isWhole(before[t]))
      all[t] = oneBehindTheOther(before[t], graph, values);
  for (std::size_t t = 0; t < before.size(); ++t)
    if (isWhole(before[t])) all[t] = std::move(values[before[t][0].of.at()]);
  for (const Port& port : planned.inputs) {
    const CanonicalTensor& tensor = planned.tensors[port.tensor.at()];
    std::vector<std::int8_t>& image = all[port.tensor.at()];
    const bool isHeld = std::ssize(image) * planned.batch == tensor.shape.elements();
    if (!isHeld) image = asHeld(image, portImage(port), tensor.shape, tensor.zeroPoint);
  }
  for (const CanonicalOp& op : planned.ops) {
    const Assemble* assemble = ofStride(op);
    if (!assemble) continue;
    const AssemblePart& part = assemble->parts[0];
    const std::size_t from = op.inputs[0].at();
    AxisRun rows = part.mapY[0];
    rows.count = planned.tensors[op.output.at()].shape.height / planned.batch;
    all[op.output.at()] = pixelsOf(all[from], planned.tensors[from].shape, rows, part.mapX[0]);
  }
  return all;
}

}  // namespace heddle
