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

// What an operator computes in a channel all of whose operands are constants, or one that ignores
// them.
class ForwardRules {
 public:
  ForwardRules(CanonicalGraph& graph, const Constants& known, const CanonicalOp& op,
               std::int64_t& zeroed)
      : graph_(graph), known_(known), op_(op), zeroed_(zeroed) {}

  Constant operator()(Conv& conv, std::int64_t channel) { return weighted(conv, channel); }
  Constant operator()(DepthwiseConv& conv, std::int64_t channel) { return weighted(conv, channel); }
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

  template <class Convolution>
  Constant weighted(Convolution& conv, std::int64_t row) {
    const auto at = static_cast<std::size_t>(row);
    if (ignoresOperands(op_)) {
      zeroed_ += zeroRow(conv, row);
      return conv.clamp.low;
    }
    foldRow(conv, row);
    if (!rowIsZero(conv, row)) return std::nullopt;
    const bool negative = conv.bias[at] < 0 && !conv.requantizeNegative.empty();
    const Multiplier scale = negative ? conv.requantizeNegative[at] : conv.requantize[at];
    return saturate(zero(op_.output) + applyMultiplier(conv.bias[at], scale), conv.clamp.low,
                    conv.clamp.high);
  }

  // Columns whose input is constant: 0 is one for a depth-wise row, whatever its channel.
  template <class Convolution>
  void foldRow(Convolution& conv, std::int64_t row) {
    const WeightRows rows = weightRows(conv);
    if (rows.depthwise) return foldColumn(conv, row, 0);
    if (!constantColumns_) {
      constantColumns_.emplace();
      for (std::int64_t c = 0; c < rows.columns; ++c)
        if (operand(0, c)) constantColumns_->push_back(c);
    }
    for (const std::int64_t c : *constantColumns_) foldColumn(conv, row, c);
  }

  // Where a tap reads the border the column gives another sum than elsewhere: then only an input at
  // its zero point, which is what the border is, can be folded.
  template <class Convolution>
  void foldColumn(Convolution& conv, std::int64_t row, std::int64_t column) {
    const WeightRows rows = weightRows(conv);
    const Constant value = operand(0, rows.inputOf(row, column));
    if (!value) return;
    if (inside_.empty())
      inside_ = neverOnBorder(conv.window, shape(op_.inputs[0]), shape(op_.output));
    const std::int64_t step = *value - zero(op_.inputs[0]);
    const std::int8_t weightZero = conv.weightZero[static_cast<std::size_t>(row)];
    const auto weight = [&](std::int64_t tap) -> std::int8_t& {
      return conv
          .weights[static_cast<std::size_t>(row * rows.length() + tap * rows.columns + column)];
    };
    std::int64_t sum = 0;
    for (std::int64_t tap = 0; tap < rows.taps; ++tap) {
      const std::int64_t w = weight(tap) - weightZero;
      if (w != 0 && step != 0 && !inside_[static_cast<std::size_t>(tap)]) return;
      sum += w * step;
    }
    for (std::int64_t tap = 0; tap < rows.taps; ++tap) {
      zeroed_ += weight(tap) != weightZero;
      weight(tap) = weightZero;
    }
    std::int32_t& bias = conv.bias[static_cast<std::size_t>(row)];
    bias = static_cast<std::int32_t>(static_cast<std::uint32_t>(bias) +
                                     static_cast<std::uint32_t>(sum));  // wraps as the sum does
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

  CanonicalGraph& graph_;
  const Constants& known_;
  const CanonicalOp& op_;
  std::int64_t& zeroed_;
  std::optional<std::vector<std::int64_t>> constantColumns_;
  std::vector<bool> inside_;
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

}  // namespace

Constants foldConstants(CanonicalGraph& graph, std::vector<std::int64_t>& zeroed) {
  Constants known;
  for (const CanonicalTensor& tensor : graph.tensors) known.push_back(constantsOf(tensor));
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    CanonicalOp& op = graph.ops[i];
    std::vector<Constant>& result = known[op.output.at()];
    if (const auto* assemble = std::get_if<Assemble>(&op.attributes)) {
      result = assembled(graph, op, *assemble, known);
      continue;
    }
    std::visit(
        [&](auto& attributes) {
          if constexpr (!std::is_same_v<std::remove_reference_t<decltype(attributes)>, Assemble>) {
            ForwardRules rules(graph, known, op, zeroed[i]);
            for (std::size_t c = 0; c < result.size(); ++c)
              result[c] = rules(attributes, static_cast<std::int64_t>(c));
          }
        },
        op.attributes);
  }
  return known;
}

}  // namespace heddle::sparsity
