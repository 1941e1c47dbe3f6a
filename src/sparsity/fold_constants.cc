// Forward: from the inputs to the outputs, operator by operator.
//
//   Conv 1x1, zero(x) 0, row 3 4 | bias 10, and channel 1 of x is always 5:
//     3 4 | 10  ->  3 0 | 30
#include <algorithm>
#include <array>

#include "channels.h"
#include "heddle/interp/interpret.h"

namespace heddle::sparsity {
namespace {

using Constant = std::optional<std::int8_t>;

// What an operator computes in a channel all of whose operands are constants, or one that ignores
// them.
class ForwardRules {
 public:
  ForwardRules(const CanonicalGraph& graph, const Constants& known, const CanonicalOp& op)
      : graph_(graph), known_(known), op_(op) {}

  Constant operator()(const Conv& conv, std::int64_t channel) { return weighted(conv, channel); }
  Constant operator()(const DepthwiseConv& conv, std::int64_t channel) {
    return weighted(conv, channel);
  }
  Constant operator()(const MaxPool& pool, std::int64_t channel) { return pooled(pool, channel); }
  Constant operator()(const AveragePool& pool, std::int64_t channel) {
    return ignoresOperands(op_) ? pool.clamp.low : pooled(pool, channel);
  }

  Constant operator()(const Add& add, std::int64_t channel) const {
    if (ignoresOperands(op_)) return add.clamp.low;
    const Constant a = operand(0, channel), b = operand(1, channel);
    if (!a || !b) return std::nullopt;
    const std::int64_t sum =
        (*a - zero(op_.inputs[0])) * add.multiplierA + (*b - zero(op_.inputs[1])) * add.multiplierB;
    return saturate(zero(op_.output) + roundHalfEvenShift(sum, add.shift), add.clamp.low,
                    add.clamp.high);
  }

  Constant operator()(const Mul& mul, std::int64_t channel) const {
    if (ignoresOperands(op_)) return mul.clamp.low;
    const Constant a = operand(0, channel), b = operand(1, channel);
    const int zeroA = zero(op_.inputs[0]), zeroB = zero(op_.inputs[1]);
    const bool isZero = (a && *a == zeroA) || (b && *b == zeroB);
    if (!isZero && (!a || !b)) return std::nullopt;
    const std::int32_t product = isZero ? 0 : (*a - zeroA) * (*b - zeroB);
    return saturate(zero(op_.output) + applyMultiplier(product, mul.requantize), mul.clamp.low,
                    mul.clamp.high);
  }

  Constant operator()(const Table& table, std::int64_t channel) const {
    const Table256& t =
        table.tables[table.tables.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
    const Constant value = operand(0, channel);
    if (value) return t[static_cast<std::size_t>(*value + 128)];
    const bool same = std::ranges::all_of(t, [&](std::int8_t v) { return v == t[0]; });
    return same ? Constant(t[0]) : std::nullopt;
  }

 private:
  int zero(TensorId id) const { return graph_.tensors[id.at()].zeroPoint; }
  const Shape& shape(TensorId id) const { return graph_.tensors[id.at()].shape; }
  Constant operand(std::size_t number, std::int64_t channel) const {
    return known_[op_.inputs[number].at()][static_cast<std::size_t>(channel)];
  }

  // Constants having been folded, what is not zero reads something else.
  template <class Convolution>
  Constant weighted(const Convolution& conv, std::int64_t row) const {
    const auto at = static_cast<std::size_t>(row);
    if (ignoresOperands(op_)) return conv.clamp.low;
    if (!rowIsZero(conv, row)) return std::nullopt;
    const bool negative = conv.bias[at] < 0 && !conv.requantizeNegative.empty();
    const Multiplier scale = negative ? conv.requantizeNegative[at] : conv.requantize[at];
    return saturate(zero(op_.output) + applyMultiplier(conv.bias[at], scale), conv.clamp.low,
                    conv.clamp.high);
  }

  // What a pool makes of a constant depends on how much of each window is border: the reference
  // interpreter says it, once for each value.
  template <class Pool>
  Constant pooled(const Pool& pool, std::int64_t channel) {
    const Constant value = operand(0, channel);
    if (!value) return std::nullopt;
    std::optional<Constant>& result = pooled_[static_cast<std::size_t>(*value + 128)];
    if (!result) result = poolOf(pool, *value);
    return *result;
  }

  template <class Pool>
  Constant poolOf(const Pool& pool, std::int8_t value) const {
    CanonicalGraph one;
    one.tensors = {graph_.tensors[op_.inputs[0].at()], graph_.tensors[op_.output.at()]};
    for (CanonicalTensor& tensor : one.tensors) tensor.shape.channels = 1;
    const CanonicalOp op{op_.name, op_.onnxOp, {TensorId(0)}, TensorId(1), pool};
    const TensorValue plane(static_cast<std::size_t>(one.tensors[0].shape.elements()), value);
    const std::array<const TensorValue*, 1> operands{&plane};
    const TensorValue result = interpretOp(one, op, operands);
    const bool same =
        std::ranges::all_of(result, [&](std::int8_t v) { return v == result.front(); });
    return same ? Constant(result.front()) : std::nullopt;
  }

  const CanonicalGraph& graph_;
  const Constants& known_;
  const CanonicalOp& op_;
  std::array<std::optional<Constant>, 256> pooled_;
};

std::int64_t indices(const AxisMap& map) {
  std::int64_t count = 0;
  for (const AxisRun& run : map) count += run.count;
  return count;
}

// Each channel is made of what its parts bring, and of `fill` where they leave a gap.
std::vector<Constant> assembled(const CanonicalGraph& graph, const CanonicalOp& op,
                                const Assemble& assemble, const Constants& known) {
  const Shape& shape = graph.tensors[op.output.at()].shape;
  const auto channels = static_cast<std::size_t>(shape.channels);
  std::vector<std::int64_t> covered(channels, 0);
  std::vector<bool> varies(channels, false);
  std::vector<Constant> result(channels);
  const auto bring = [&](std::size_t c, Constant value) {
    if (!value || (result[c] && *result[c] != *value)) varies[c] = true;
    result[c] = value;
  };
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const AssemblePart& part = assemble.parts[i];
    const std::int64_t pixels = indices(part.mapY) * indices(part.mapX);
    if (pixels == 0) continue;
    forEachChannel(part, [&](std::int64_t to, std::int64_t from) {
      Constant value = known[op.inputs[i].at()][static_cast<std::size_t>(from)];
      if (value && part.table) value = (*part.table)[static_cast<std::size_t>(*value + 128)];
      covered[static_cast<std::size_t>(to)] += pixels;
      bring(static_cast<std::size_t>(to), value);
    });
  }
  for (std::size_t c = 0; c < channels; ++c) {
    if (covered[c] < shape.height * shape.width) bring(c, assemble.fill);
    if (varies[c]) result[c].reset();
  }
  return result;
}

// Channels of a constant activation that are one value.
std::vector<Constant> constantsOf(const CanonicalTensor& tensor) {
  const auto channels = static_cast<std::size_t>(tensor.shape.channels);
  std::vector<Constant> result(channels);
  if (tensor.constant.empty()) return result;
  for (std::size_t c = 0; c < channels; ++c) {
    std::size_t i = c;
    while (i < tensor.constant.size() && tensor.constant[i] == tensor.constant[c]) i += channels;
    if (i >= tensor.constant.size()) result[c] = tensor.constant[c];
  }
  return result;
}

// Whether kernel tap `k` along an axis reads inside the tensor for every output. The first and the
// last output reach farthest.
bool alwaysInside(std::int64_t k, std::int64_t stride, std::int64_t dilation, std::int64_t before,
                  std::int64_t outputs, std::int64_t inputs) {
  const std::int64_t first = k * dilation - before, last = (outputs - 1) * stride + first;
  return first >= 0 && last < inputs;
}

// By tap.
std::vector<bool> neverOnBorder(const Window& w, const Shape& in, const Shape& out) {
  std::vector<bool> inside;
  for (std::int64_t ky = 0; ky < w.kernelY; ++ky)
    for (std::int64_t kx = 0; kx < w.kernelX; ++kx)
      inside.push_back(alwaysInside(ky, w.strideY, w.dilationY, w.padTop, out.height, in.height) &&
                       alwaysInside(kx, w.strideX, w.dilationX, w.padLeft, out.width, in.width));
  return inside;
}

// Takes what constant channels of its input give a convolution into its biases.
class Folder {
 public:
  Folder(const CanonicalGraph& graph, const Constants& known, const CanonicalOp& op)
      : in_(graph.tensors[op.inputs[0].at()]),
        out_(graph.tensors[op.output.at()]),
        known_(known[op.inputs[0].at()]),
        ignored_(ignoresOperands(op)) {}

  // Gives back how many weights go to their zero point.
  template <class Convolution>
  std::int64_t fold(Convolution& conv) {
    const WeightRows rows = weightRows(conv);
    inside_ = neverOnBorder(conv.window, in_.shape, out_.shape);
    std::vector<std::int64_t> columns;  // that are constant: of a depth-wise row its only one
    for (std::int64_t c = 0; c < rows.columns; ++c)
      if (rows.depthwise || known_[static_cast<std::size_t>(c)]) columns.push_back(c);
    std::int64_t zeroed = 0;
    for (std::int64_t row = 0; row < std::ssize(conv.bias); ++row) {
      if (ignored_) zeroed += zeroRow(conv, row);
      for (const std::int64_t c : columns) zeroed += foldColumn(conv, row, c);
    }
    return zeroed;
  }

 private:
  // Where a tap reads the border the column gives another sum than elsewhere: then only an input at
  // its zero point, which is what the border is, can be folded.
  template <class Convolution>
  std::int64_t foldColumn(Convolution& conv, std::int64_t row, std::int64_t column) {
    const WeightRows rows = weightRows(conv);
    const Constant value = known_[static_cast<std::size_t>(rows.inputOf(row, column))];
    if (!value) return 0;
    const std::int64_t step = *value - in_.zeroPoint;
    const std::int8_t weightZero = conv.weightZero[static_cast<std::size_t>(row)];
    const auto place = [&](std::int64_t tap) {
      return static_cast<std::size_t>(row * rows.length() + tap * rows.columns + column);
    };
    std::int64_t sum = 0, zeroed = 0;
    for (std::int64_t tap = 0; tap < rows.taps; ++tap) {
      const std::int64_t w = conv.weights[place(tap)] - weightZero;
      if (w != 0 && step != 0 && !inside_[static_cast<std::size_t>(tap)]) return 0;
      sum += w * step;
      zeroed += w != 0;
    }
    if (zeroed > 0) {
      std::vector<std::int8_t>& weights = conv.weights.own();
      for (std::int64_t tap = 0; tap < rows.taps; ++tap) weights[place(tap)] = weightZero;
    }
    std::int32_t& bias = conv.bias[static_cast<std::size_t>(row)];
    bias = static_cast<std::int32_t>(static_cast<std::uint32_t>(bias) +
                                     static_cast<std::uint32_t>(sum));  // wraps as the sum does
    return zeroed;
  }

  const CanonicalTensor &in_, &out_;
  const std::vector<Constant>& known_;
  bool ignored_;
  std::vector<bool> inside_;
};

std::int64_t fold(CanonicalOp& op, const CanonicalGraph& graph, const Constants& known) {
  if (auto* conv = std::get_if<Conv>(&op.attributes)) return Folder(graph, known, op).fold(*conv);
  if (auto* conv = std::get_if<DepthwiseConv>(&op.attributes))
    return Folder(graph, known, op).fold(*conv);
  return 0;
}

std::vector<Constant> computed(const CanonicalGraph& graph, const CanonicalOp& op,
                               const Constants& known) {
  if (const auto* assemble = std::get_if<Assemble>(&op.attributes))
    return assembled(graph, op, *assemble, known);
  std::vector<Constant> result(known[op.output.at()].size());
  ForwardRules rules(graph, known, op);
  std::visit(
      [&](const auto& attributes) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(attributes)>, Assemble>)
          for (std::size_t c = 0; c < result.size(); ++c)
            result[c] = rules(attributes, static_cast<std::int64_t>(c));
      },
      op.attributes);
  return result;
}

Constants givenConstants(const CanonicalGraph& graph) {
  Constants known;
  for (const CanonicalTensor& tensor : graph.tensors) known.push_back(constantsOf(tensor));
  return known;
}

}  // namespace

Constants foldConstants(CanonicalGraph& graph, std::vector<std::int64_t>& zeroed) {
  Constants known = givenConstants(graph);
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    CanonicalOp& op = graph.ops[i];
    zeroed[i] += fold(op, graph, known);
    known[op.output.at()] = computed(graph, op, known);
  }
  return known;
}

bool hasConstants(const CanonicalGraph& graph) {
  const auto any = [](const std::vector<Constant>& channels) {
    return std::ranges::any_of(channels, [](const Constant& value) { return value.has_value(); });
  };
  const Constants known = givenConstants(graph);
  return std::ranges::any_of(known, any) ||
         std::ranges::any_of(
             graph.ops, [&](const CanonicalOp& op) { return any(computed(graph, op, known)); });
}

}  // namespace heddle::sparsity
