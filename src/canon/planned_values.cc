#include "heddle/canon/planned_values.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "heddle/canon/fold_columns.h"

namespace heddle {
namespace {

// Of what takes the rows and columns that a stride leaves (slice_strides.h); else null.
const Assemble* ofStride(const CanonicalOp& op) {
  const Assemble* assemble = std::get_if<Assemble>(&op.attributes);
  return assemble && assemble->isOfStride ? assemble : nullptr;
}

// Per tensor of the planned graph: which of `graph` it is, or of which, one behind the other, it
// has the channels; none where it has pixels of another.
std::vector<std::vector<TensorId>> tensorsBefore(const CanonicalGraph& planned,
                                                 const CanonicalGraph& graph) {
  std::unordered_map<std::string_view, TensorId> named;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    named.emplace(graph.tensors[t].name, TensorId(t));
  std::vector<std::vector<TensorId>> before(planned.tensors.size());
  for (std::size_t t = 0; t < before.size(); ++t)
    if (const auto same = named.find(planned.tensors[t].name); same != named.end())
      before[t] = {same->second};
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

std::vector<std::int8_t> oneBehindTheOther(const std::vector<TensorId>& parts,
                                           const CanonicalGraph& graph,
                                           const std::vector<std::vector<std::int8_t>>& values) {
  const Shape& pixels = graph.tensors[parts[0].at()].shape;
  std::vector<std::int8_t> whole;
  for (std::int64_t i = 0; i < pixels.height * pixels.width; ++i)
    for (const TensorId part : parts) {
      const std::int64_t channels = graph.tensors[part.at()].shape.channels;
      const auto first = values[part.at()].begin() + i * channels;
      whole.insert(whole.end(), first, first + channels);
    }
  return whole;
}

}  // namespace

std::vector<std::vector<std::int8_t>> valuesAsPlanned(
    const CanonicalGraph& planned, const CanonicalGraph& graph,
    std::vector<std::vector<std::int8_t>> values) {
  const std::vector<std::vector<TensorId>> before = tensorsBefore(planned, graph);
  std::vector<std::vector<std::int8_t>> all(before.size());
  for (std::size_t t = 0; t < before.size(); ++t)
    if (before[t].size() > 1) all[t] = oneBehindTheOther(before[t], graph, values);
  for (std::size_t t = 0; t < before.size(); ++t)
    if (before[t].size() == 1) all[t] = std::move(values[before[t][0].at()]);
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
