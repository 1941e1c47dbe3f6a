// Backward: from the outputs to the inputs, operator by operator.
//
// If every channel that is needed keeps its values, so do all outputs: the rule of an operator asks
// for all that one needed channel of its output follows from.
#include <algorithm>

#include "channels.h"

namespace heddle::sparsity {
namespace {

class BackwardRules {
 public:
  BackwardRules(const CanonicalGraph& graph, const Constants& constants, const CanonicalOp& op,
                ChannelSets& needed)
      : graph_(graph),
        constants_(constants),
        op_(op),
        needed_(needed),
        wanted_(needed[op.output.at()]) {}

  void operator()(const Conv& conv) {
    std::vector<std::uint8_t> reads(static_cast<std::size_t>(weightRows(conv).columns), 0);
    for (std::int64_t row = 0; row < std::ssize(conv.bias); ++row) {
      if (!wanted_[static_cast<std::size_t>(row)]) continue;
      addReads(conv, row, reads);
      if (std::ranges::all_of(reads, [](std::uint8_t r) { return r != 0; })) break;
    }
    for (std::size_t c = 0; c < reads.size(); ++c)
      if (reads[c] != 0) need(0, c);
  }

  void operator()(const DepthwiseConv& conv) {
    for (std::size_t c = 0; c < wanted_.size(); ++c)
      if (wanted_[c] && !rowIsZero(conv, static_cast<std::int64_t>(c))) need(0, c);
  }

  void operator()(const MaxPool&) { needAlike(); }
  void operator()(const AveragePool&) { needAlike(); }
  void operator()(const Add&) { needAlike(); }

  // Every entry of a table may be the same.
  void operator()(const Table& table) {
    for (std::size_t c = 0; c < wanted_.size(); ++c) {
      const Table256& t = table.tables[table.tables.size() == 1 ? 0 : c];
      if (wanted_[c] && std::ranges::any_of(t, [&](std::int8_t v) { return v != t[0]; }))
        need(0, c);
    }
  }

  // An operand that is always zero decides alone.
  void operator()(const Mul&) {
    for (std::size_t c = 0; c < wanted_.size(); ++c) {
      if (!wanted_[c]) continue;
      const bool zeroA = isZero(0, c), zeroB = isZero(1, c);
      if (zeroA || !zeroB) need(0, c);
      if (!zeroA) need(1, c);
    }
  }

  void operator()(const Assemble& assemble) {
    for (std::size_t i = 0; i < op_.inputs.size(); ++i)
      forEachChannel(assemble.parts[i], [&](std::int64_t to, std::int64_t from) {
        if (wanted_[static_cast<std::size_t>(to)]) need(i, static_cast<std::size_t>(from));
      });
  }

 private:
  void need(std::size_t operand, std::size_t channel) {
    needed_[op_.inputs[operand].at()][channel] = true;
  }
  void needAlike() {
    for (std::size_t i = 0; i < op_.inputs.size(); ++i)
      for (std::size_t c = 0; c < wanted_.size(); ++c)
        if (wanted_[c]) need(i, c);
  }
  bool isZero(std::size_t operand, std::size_t channel) const {
    const TensorId id = op_.inputs[operand];
    return constants_[id.at()][channel] == graph_.tensors[id.at()].zeroPoint;
  }

  // Marks the columns in which a row is not at its zero point.
  static void addReads(const Conv& conv, std::int64_t row, std::vector<std::uint8_t>& reads) {
    const WeightRows rows = weightRows(conv);
    const std::int8_t zero = conv.weightZero[static_cast<std::size_t>(row)];
    const std::int8_t* weights = conv.weights.data() + row * rows.length();
    for (std::int64_t tap = 0; tap < rows.taps; ++tap, weights += rows.columns)
      for (std::size_t c = 0; c < reads.size(); ++c)
        reads[c] = static_cast<std::uint8_t>(reads[c] | (weights[c] != zero ? 1 : 0));
  }

  const CanonicalGraph& graph_;
  const Constants& constants_;
  const CanonicalOp& op_;
  ChannelSets& needed_;
  const std::vector<bool>& wanted_;
};

template <class Convolution>
std::int64_t zeroRowsBut(const std::vector<bool>& wanted, Convolution& conv) {
  std::int64_t zeroed = 0;
  for (std::size_t row = 0; row < wanted.size(); ++row)
    if (!wanted[row]) zeroed += zeroRow(conv, static_cast<std::int64_t>(row));
  return zeroed;
}

}  // namespace

ChannelSets neededChannels(const CanonicalGraph& graph, const Constants& constants) {
  ChannelSets needed;
  for (const CanonicalTensor& tensor : graph.tensors)
    needed.emplace_back(static_cast<std::size_t>(tensor.shape.channels), false);
  for (const Port& port : graph.outputs) {
    std::vector<bool>& channels = needed[port.tensor.at()];
    channels.assign(channels.size(), true);
  }
  for (std::size_t i = graph.ops.size(); i-- > 0;) {
    const CanonicalOp& op = graph.ops[i];
    if (!ignoresOperands(op))
      std::visit(BackwardRules(graph, constants, op, needed), op.attributes);
  }
  return needed;
}

ChannelSets dropUnneeded(CanonicalGraph& graph, const Constants& constants,
                         std::vector<std::int64_t>& zeroed) {
  ChannelSets needed = neededChannels(graph, constants);
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    CanonicalOp& op = graph.ops[i];
    const std::vector<bool>& wanted = needed[op.output.at()];
    if (auto* conv = std::get_if<Conv>(&op.attributes))
      zeroed[i] += zeroRowsBut(wanted, *conv);
    else if (auto* depthwise = std::get_if<DepthwiseConv>(&op.attributes))
      zeroed[i] += zeroRowsBut(wanted, *depthwise);
  }
  return needed;
}

}  // namespace heddle::sparsity
