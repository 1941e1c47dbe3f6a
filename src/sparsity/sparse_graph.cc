#include "heddle/sparsity/sparse_graph.h"

#include "heddle/support/check.h"

namespace heddle {
namespace {

struct Weights {
  const SharedArray<std::int8_t>* values;
  const std::vector<std::int8_t>* zero;  // by row
};

Weights weightsOf(const CanonicalOp& op) {
  if (const auto* conv = std::get_if<Conv>(&op.attributes))
    return {&conv->weights, &conv->weightZero};
  const auto* depthwise = std::get_if<DepthwiseConv>(&op.attributes);
  HEDDLE_CHECK(depthwise != nullptr) << op.name << " has no weights";
  return {&depthwise->weights, &depthwise->weightZero};
}

WeightExtents activationExtents(const Shape& shape) {
  return {.rows = 1, .taps = shape.height * shape.width, .columns = shape.channels};
}

SparsityAttribute attributeOf(const CanonicalTensor& tensor) {
  const WeightExtents extents = activationExtents(tensor.shape);
  SparsityAttribute attribute{.nonZero = {extents, Everything{}},
                              .needed = {extents, Everything{}}};
  if (tensor.constant.empty()) return attribute;
  Bits nonZero(extents.elements());
  for (std::int64_t i = 0; i < extents.elements(); ++i)
    if (tensor.constant[static_cast<std::size_t>(i)] != tensor.zeroPoint) nonZero.set(i);
  attribute.nonZero = patternOf(extents, nonZero);
  return attribute;
}

template <class Visit>
void forElements(const WeightExtents& extents, Visit visit) {
  std::int64_t i = 0;
  for (std::int64_t r = 0; r < extents.rows; ++r)
    for (std::int64_t t = 0; t < extents.taps; ++t)
      for (std::int64_t c = 0; c < extents.columns; ++c, ++i) visit(i, r, t, c);
}

}  // namespace

std::optional<WeightExtents> weightExtents(const CanonicalGraph& graph, const CanonicalOp& op) {
  if (const auto* conv = std::get_if<Conv>(&op.attributes))
    return WeightExtents{.rows = std::ssize(conv->bias),
                         .taps = conv->window.kernelY * conv->window.kernelX,
                         .columns = graph.tensors[op.inputs[0].at()].shape.channels};
  if (const auto* conv = std::get_if<DepthwiseConv>(&op.attributes))
    return WeightExtents{.rows = std::ssize(conv->bias),
                         .taps = conv->window.kernelY * conv->window.kernelX,
                         .columns = 1};
  return std::nullopt;
}

Bits nonZeroWeights(const CanonicalGraph& graph, const CanonicalOp& op) {
  const Weights weights = weightsOf(op);
  const WeightExtents extents = *weightExtents(graph, op);
  Bits nonZero(extents.elements());
  std::int64_t i = 0;
  for (std::int64_t r = 0; r < extents.rows; ++r) {
    const std::int8_t zero = (*weights.zero)[static_cast<std::size_t>(r)];
    for (const std::int64_t end = i + extents.taps * extents.columns; i < end; ++i)
      if ((*weights.values)[static_cast<std::size_t>(i)] != zero) nonZero.set(i);
  }
  return nonZero;
}

SparseGraph applySparsity(CanonicalGraph graph, std::span<const WeightMask> masks) {
  SparseGraph sparse{.graph = std::move(graph), .tensors = {}, .weights = {}};
  for (const CanonicalTensor& tensor : sparse.graph.tensors)
    sparse.tensors.push_back(attributeOf(tensor));
  for (const CanonicalOp& op : sparse.graph.ops) {
    std::optional<SparsityAttribute>& attribute = sparse.weights.emplace_back();
    const std::optional<WeightExtents> extents = weightExtents(sparse.graph, op);
    if (extents)
      attribute = {.nonZero = patternOf(*extents, nonZeroWeights(sparse.graph, op)),
                   .needed = {*extents, Everything{}}};
  }
  for (const WeightMask& mask : masks) {
    const CanonicalOp& op = sparse.graph.ops[mask.op.at()];
    const Bits nonZero = nonZeroWeights(sparse.graph, op);
    for (std::int64_t i = 0; i < nonZero.size(); ++i)
      HEDDLE_CHECK(mask.kept[i] || !nonZero[i]) << op.name << ": the mask drops weight " << i;
    SparsityAttribute& attribute = *sparse.weights[mask.op.at()];
    attribute.needed = patternOf(attribute.nonZero.extents, mask.kept, Drops::Declared);
  }
  return sparse;
}

CanonicalGraph masked(CanonicalGraph graph, std::span<const WeightMask> masks) {
  const auto apply = [](auto& conv, const Bits& kept) {
    const std::int64_t row = kept.size() / std::ssize(conv.weightZero);
    std::vector<std::int8_t>& weights = conv.weights.own();
    for (std::int64_t i = 0; i < kept.size(); ++i)
      if (!kept[i])
        weights[static_cast<std::size_t>(i)] = conv.weightZero[static_cast<std::size_t>(i / row)];
  };
  for (const WeightMask& mask : masks) {
    OpAttributes& attributes = graph.ops[mask.op.at()].attributes;
    if (auto* conv = std::get_if<Conv>(&attributes))
      apply(*conv, mask.kept);
    else
      apply(std::get<DepthwiseConv>(attributes), mask.kept);
  }
  return graph;
}

Diagnostics verify(const SparseGraph& sparse) {
  Diagnostics faults;
  const auto fault = [&](const std::string& where, const std::string& what) {
    faults.push_back({.code = "SPARSE010",
                      .where = where,
                      .summary = "the sparsity attribute does not describe the tensor",
                      .what = what,
                      .mend = "report this as a bug",
                      .severity = Severity::Bug});
  };
  const CanonicalGraph& graph = sparse.graph;
  if (sparse.tensors.size() != graph.tensors.size() || sparse.weights.size() != graph.ops.size()) {
    fault(graph.name, "the attributes are not one for each tensor and operator");
    return faults;
  }
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const CanonicalTensor& tensor = graph.tensors[i];
    const SparsityPattern& nonZero = sparse.tensors[i].nonZero;
    if (nonZero.extents != activationExtents(tensor.shape) ||
        sparse.tensors[i].needed.extents != nonZero.extents) {
      fault(tensor.name, "its extents are others");
      continue;
    }
    if (tensor.constant.empty()) continue;
    std::int64_t dropped = 0;
    forElements(nonZero.extents, [&](auto at, auto r, auto t, auto c) {
      if (!nonZero.keeps(r, t, c) &&
          tensor.constant[static_cast<std::size_t>(at)] != tensor.zeroPoint)
        ++dropped;
    });
    if (dropped > 0) fault(tensor.name, std::to_string(dropped) + " elements are not zero");
  }
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const CanonicalOp& op = graph.ops[i];
    const std::optional<WeightExtents> extents = weightExtents(graph, op);
    const std::optional<SparsityAttribute>& attribute = sparse.weights[i];
    if (attribute.has_value() != extents.has_value() ||
        (extents &&
         (attribute->nonZero.extents != *extents || attribute->needed.extents != *extents))) {
      fault(op.name, "its extents are others");
      continue;
    }
    if (!extents) continue;
    const Bits nonZero = nonZeroWeights(graph, op);
    std::int64_t dropped = 0;
    forElements(*extents, [&](auto at, auto r, auto t, auto c) {
      if (nonZero[at] && !attribute->nonZero.keeps(r, t, c)) ++dropped;
    });
    if (dropped > 0) fault(op.name, std::to_string(dropped) + " weights are not zero");
  }
  return faults;
}

}  // namespace heddle
