#include "heddle/canon/requantize_early.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/whole_blocks.h"
#include "heddle/support/unique_names.h"
#include "without_tensors.h"

namespace heddle {
namespace {

// Bytes that are not copied for each operand that still is: fewer are lost again where the layer
// behind begins with nothing to wait for.
constexpr std::int64_t kWorthALayer = 8 << 10;

class EarlyTables {
 public:
  explicit EarlyTables(const CanonicalGraph& graph)
      : graph_(graph),
        out_(graph),
        gone_(graph.tensors.size()),
        writer_(graph.tensors.size()),
        readers_(graph.tensors.size()),
        moves_(graph.tensors.size()),
        isPort_(graph.tensors.size()) {
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      writer_[graph.ops[i].output.at()] = i;
      for (const TensorId input : graph.ops[i].inputs) {
        ++readers_[input.at()];
        moves_[input.at()] += graph.ops[i].kind() == OpKind::Assemble ? 1 : 0;
      }
    }
    for (const std::vector<Port>* ports : {&graph.inputs, &graph.outputs})
      for (const Port& port : *ports) isPort_[port.tensor.at()] = true;
    for (const CanonicalTensor& tensor : graph.tensors) tensorNames_.takeExactly(tensor.name);
    for (const CanonicalOp& op : graph.ops) opNames_.takeExactly(op.name);
  }

  std::shared_ptr<CanonicalGraph> run() {
    std::vector<CanonicalOp> ops;
    bool found = false;
    place_.resize(graph_.ops.size());
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      CanonicalOp op = graph_.ops[i];
      if (pays(op)) {
        found = true;
        requantizeOperands(op, ops);
      }
      place_[i] = ops.size();
      ops.push_back(std::move(op));
    }
    if (!found) return nullptr;
    return std::make_shared<CanonicalGraph>(withoutTensors(out_, gone_, std::move(ops)));
  }

 private:
  // Whether it is written for one operator, and by one that can requantize it.
  bool isRequantizedThere(TensorId tensor) const {
    if (readers_[tensor.at()] != 1 || isPort_[tensor.at()] || !writer_[tensor.at()]) return false;
    const CanonicalOp& op = graph_.ops[*writer_[tensor.at()]];
    const Table* table = std::get_if<Table>(&op.attributes);
    return op.kind() == OpKind::Conv || op.kind() == OpKind::DepthwiseConv ||
           (table && table->tables.size() == 1) || (op.kind() == OpKind::Assemble && enlarges(op));
  }

  // Whether what it moves becomes more rows or columns: as by Resize, of which nothing lies there
  // already.
  bool enlarges(const CanonicalOp& op) const {
    const Shape& out = graph_.tensors[op.output.at()].shape;
    return std::ranges::all_of(op.inputs, [&](TensorId input) {
      const Shape& in = graph_.tensors[input.at()].shape;
      return in.height < out.height || in.width < out.width;
    });
  }

  // Whether it is, or may be, some of another tensor: it would be copied to lie in two.
  bool isShown(TensorId tensor) const {
    const std::optional<std::size_t> writer = writer_[tensor.at()];
    return writer && graph_.ops[*writer].kind() == OpKind::Assemble &&
           graph_.ops[*writer].inputs.size() == 1 && !enlarges(graph_.ops[*writer]);
  }

  bool pays(const CanonicalOp& op) const {
    const Assemble* concat = std::get_if<Assemble>(&op.attributes);
    const Shape& out = graph_.tensors[op.output.at()].shape;
    if (!concat || op.inputs.size() < 2 || out.height * out.width < kFewPixels) return false;
    std::int64_t covered = 0, layers = 0, there = 0, saved = 0;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const AssemblePart& part = concat->parts[i];
      if (!fillsWholeBlocks(graph_, op, i) || std::ranges::count(op.inputs, op.inputs[i]) > 1)
        return false;
      covered += part.mapC[0].count;
      const bool isLayer = part.table ? !isRequantizedThere(op.inputs[i]) : isShown(op.inputs[i]);
      if (!isLayer) saved += graph_.tensors[op.inputs[i].at()].shape.elements();
      // In a memtile for others, it would go to the host at the end; of its own it lives in DDR and
      // goes as it is computed.
      if (isPort_[op.output.at()] && readers_[op.inputs[i].at()] > 1) return false;
      layers += isLayer ? 1 : 0;
      there += part.table && !isLayer ? 1 : 0;
      if (part.table) continue;
      if (isPort_[op.inputs[i].at()] || !writer_[op.inputs[i].at()] ||
          moves_[op.inputs[i].at()] > 1)
        return false;  // it has another place already
    }
    return covered == out.channels && there > 0 && saved >= layers * kWorthALayer;
  }

  void requantizeOperands(CanonicalOp& op, std::vector<CanonicalOp>& ops) {
    Assemble& concat = std::get<Assemble>(op.attributes);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const TensorId operand = op.inputs[i];
      std::optional<Table256> table = std::exchange(concat.parts[i].table, std::nullopt);
      if (!table) continue;
      op.inputs[i] = requantizedAs(operand, op);
      CanonicalOp* const writer =
          isRequantizedThere(operand) ? &ops[place_[*writer_[operand.at()]]] : nullptr;
      if (writer && lookUpThere(*writer, *table)) {
        writer->output = op.inputs[i];
        gone_[operand.at()] = true;
      } else {
        ops.push_back({.name = opNames_.take(op.name + "_requantize"),
                       .onnxOp = "QuantizeLinear",
                       .inputs = {operand},
                       .output = op.inputs[i],
                       .attributes = Table{.tables = {*table}, .lines = {}}});
      }
    }
  }

  // Whether the operator has tables: then those are `outer` of what they were.
  static bool lookUpThere(CanonicalOp& op, const Table256& outer) {
    const auto lookUp = [&](std::int8_t& value) {
      value = outer[static_cast<std::size_t>(value + 128)];
    };
    if (Table* const table = std::get_if<Table>(&op.attributes)) {
      std::ranges::for_each(table->tables[0], lookUp);
      return true;
    }
    Assemble* const assemble = std::get_if<Assemble>(&op.attributes);
    if (!assemble) return false;
    for (AssemblePart& part : assemble->parts)
      if (part.table)
        std::ranges::for_each(*part.table, lookUp);
      else
        part.table = outer;
    lookUp(assemble->fill);
    return true;
  }

  // A tensor for what an operand is in the scale of the Concat.
  TensorId requantizedAs(TensorId operand, const CanonicalOp& op) {
    CanonicalTensor tensor = graph_.tensors[op.output.at()];
    tensor.name = tensorNames_.take(graph_.tensors[operand.at()].name + "_requantized");
    tensor.shape = graph_.tensors[operand.at()].shape;
    out_.tensors.push_back(std::move(tensor));
    gone_.push_back(false);
    return TensorId(out_.tensors.size() - 1);
  }

  const CanonicalGraph& graph_;
  CanonicalGraph out_;  // its tensors, and the new ones
  std::vector<bool> gone_;
  std::vector<std::optional<std::size_t>> writer_;
  std::vector<std::int64_t> readers_, moves_;  // operands; of these, of Assembles
  std::vector<bool> isPort_;
  UniqueNames tensorNames_, opNames_;
  std::vector<std::size_t> place_;  // of each operator in the new list
};

}  // namespace

std::shared_ptr<CanonicalGraph> requantizeEarly(const CanonicalGraph& graph) {
  return EarlyTables(graph).run();
}

}  // namespace heddle
