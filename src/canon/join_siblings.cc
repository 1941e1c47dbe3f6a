#include "heddle/canon/join_siblings.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/requantize_early.h"
#include "heddle/support/unique_names.h"

namespace heddle {
namespace {

template <class T, class More>
void append(std::vector<T>& to, const More& more) {
  to.insert(to.end(), more.begin(), more.end());
}

Bits oneBehindTheOther(const std::vector<const Bits*>& all) {
  std::int64_t size = 0, at = 0;
  for (const Bits* bits : all) size += bits->size();
  Bits whole(size);
  for (const Bits* bits : all)
    for (std::int64_t i = 0; i < bits->size(); ++i, ++at)
      if ((*bits)[i]) whole.set(at);
  return whole;
}

// All rows and columns of a tensor, and its channels, which are those from `from` on of another and
// stand from `to` on in it.
AssemblePart channelsOf(const Shape& shape, std::int64_t to, std::int64_t from) {
  return {{{0, 1, 0, 1, shape.height}},
          {{0, 1, 0, 1, shape.width}},
          {{to, 1, from, 1, shape.channels}},
          {}};
}

// Whether a part copies all of an operand of this shape to channels from `to` on.
bool isWhole(const AssemblePart& part, const Shape& shape, std::int64_t to) {
  return part == channelsOf(shape, to, 0);
}

class Joining {
 public:
  explicit Joining(const CanonicalGraph& graph)
      : graph_(graph),
        readers_(graph.tensors.size()),
        isOutput_(graph.tensors.size()),
        isJoined_(graph.ops.size()),
        joinedTo_(graph.tensors.size()) {
    for (const Port& port : graph.outputs) isOutput_[port.tensor.at()] = true;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      opNames_.takeExactly(graph.ops[i].name);
      for (const TensorId input : graph.ops[i].inputs) readers_[input.at()].push_back(i);
    }
    for (const CanonicalTensor& tensor : graph.tensors) tensorNames_.takeExactly(tensor.name);
  }

  std::shared_ptr<const CanonicalGraph> run() {
    out_ = {graph_.name, graph_.tensors, {}, graph_.inputs, graph_.outputs};
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      if (isJoined_[i]) continue;
      const CanonicalOp& op = graph_.ops[i];
      const std::vector<std::size_t> siblings = siblingsOf(i);
      if (siblings.size() > 1)
        join(siblings);
      else if (isConcat(i) && joinedTo_[op.inputs[0].at()])
        concatBehind(*joinedTo_[op.inputs[0].at()], op);
      else
        out_.ops.push_back(op);
    }
    if (out_.tensors.size() == graph_.tensors.size()) return nullptr;
    return std::make_shared<const CanonicalGraph>(std::move(out_));
  }

 private:
  const CanonicalTensor& outputOf(std::size_t op) const {
    return graph_.tensors[graph_.ops[op].output.at()];
  }
  const Conv& convOf(std::size_t op) const { return std::get<Conv>(graph_.ops[op].attributes); }

  // Of whole tensors, in order, that can become the end of another: it is no output, and no part of
  // another Concat.
  bool isConcat(std::size_t op) const {
    const Assemble* assemble = std::get_if<Assemble>(&graph_.ops[op].attributes);
    const TensorId output = graph_.ops[op].output;
    if (!assemble || isOutput_[output.at()] || !movedBy(output).empty()) return false;
    std::int64_t channel = 0;
    for (std::size_t i = 0; i < assemble->parts.size(); ++i) {
      const Shape& shape = graph_.tensors[graph_.ops[op].inputs[i].at()].shape;
      if (!isWhole(assemble->parts[i], shape, channel)) return false;
      channel += shape.channels;
    }
    return channel == outputOf(op).shape.channels;
  }

  // The Concats, Splits and the like that read a tensor; what a stride leaves of it can be pixels
  // of a part as well.
  std::vector<std::size_t> movedBy(TensorId tensor) const {
    std::vector<std::size_t> all;
    for (const std::size_t reader : readers_[tensor.at()])
      if (const Assemble* assemble = std::get_if<Assemble>(&graph_.ops[reader].attributes);
          assemble && !assemble->isOfStride)
        all.push_back(reader);
    return all;
  }

  bool isJoinable(std::size_t op) const {
    const Conv* conv = std::get_if<Conv>(&graph_.ops[op].attributes);
    const TensorId output = graph_.ops[op].output;
    if (!conv || conv->fusedMul || conv->fusedLines || conv->fusedTable || conv->fusedAdd ||
        conv->fusedWindow || !conv->requantizeNegative.empty() || isOutput_[output.at()] ||
        outputOf(op).shape.channels % kBlock != 0)
      return false;
    const std::vector<std::size_t> moves = movedBy(output);
    return moves.empty() ||
           (moves.size() == 1 && isConcat(moves[0]) && graph_.ops[moves[0]].inputs[0] == output);
  }

  // It and those behind it that can be joined with it; one that a Concat reads last.
  std::vector<std::size_t> siblingsOf(std::size_t first) const {
    if (!isJoinable(first)) return {first};
    std::vector<std::size_t> all;
    std::optional<std::size_t> concatenated;
    for (const std::size_t i : readers_[graph_.ops[first].inputs[0].at()]) {
      if (i < first || isJoined_[i] || !isJoinable(i) || !areAlike(first, i)) continue;
      if (movedBy(graph_.ops[i].output).empty())
        all.push_back(i);
      else if (!concatenated)
        concatenated = i;
    }
    if (concatenated) all.push_back(*concatenated);
    if (std::ranges::find(all, first) == all.end()) return {first};
    return all;
  }

  // Of two that read the same.
  bool areAlike(std::size_t a, std::size_t b) const {
    return convOf(a).window == convOf(b).window && convOf(a).clamp == convOf(b).clamp &&
           (convOf(a).kept.size() == 0) == (convOf(b).kept.size() == 0) &&
           outputOf(a).zeroPoint == outputOf(b).zeroPoint;
  }

  void join(const std::vector<std::size_t>& siblings) {
    CanonicalOp op = graph_.ops[siblings[0]];
    Conv& conv = std::get<Conv>(op.attributes);
    CanonicalTensor tensor = outputOf(siblings[0]);
    std::vector<const Bits*> kept;
    for (const std::size_t sibling : siblings) {
      isJoined_[sibling] = true;
      kept.push_back(&convOf(sibling).kept);
      if (sibling == siblings[0]) continue;
      op.name += " + " + graph_.ops[sibling].name;
      tensor.name += " + " + outputOf(sibling).name;
      tensor.shape.channels += outputOf(sibling).shape.channels;
      append(conv.weights.own(), convOf(sibling).weights);
      append(conv.weightZero, convOf(sibling).weightZero);
      append(conv.bias, convOf(sibling).bias);
      append(conv.requantize, convOf(sibling).requantize);
    }
    conv.kept = oneBehindTheOther(kept);
    op.name = opNames_.take(op.name);
    op.output = add(std::move(tensor));
    out_.ops.push_back(op);
    std::int64_t channel = 0;
    for (const std::size_t sibling : siblings) {
      split(graph_.ops[sibling], op.output, channel);
      joinedTo_[graph_.ops[sibling].output.at()] = {op.output, channel};
      channel += outputOf(sibling).shape.channels;
    }
  }

  struct Place {
    TensorId joined;
    std::int64_t channel = 0;
  };

  // A Concat whose first operand is the end of a joined tensor: all of that, and the others behind
  // it.
  void concatBehind(const Place& first, const CanonicalOp& concat) {
    CanonicalOp op = concat;
    CanonicalTensor tensor = graph_.tensors[concat.output.at()];
    tensor.name = out_.tensors[first.joined.at()].name + " + " + tensor.name;
    tensor.shape.channels += first.channel;
    op.inputs[0] = first.joined;
    Assemble& all = std::get<Assemble>(op.attributes);
    all.parts[0] = channelsOf(out_.tensors[first.joined.at()].shape, 0, 0);
    for (std::size_t i = 1; i < all.parts.size(); ++i) all.parts[i].mapC[0].to += first.channel;
    op.output = add(std::move(tensor));
    out_.ops.push_back(op);
    split(concat, op.output, first.channel);
  }

  TensorId add(CanonicalTensor tensor) {
    tensor.name = tensorNames_.take(tensor.name);
    out_.tensors.push_back(std::move(tensor));
    return TensorId(out_.tensors.size() - 1);
  }

  // What an operator wrote is a part of `from` now.
  void split(const CanonicalOp& of, TensorId from, std::int64_t channel) {
    const CanonicalTensor& tensor = graph_.tensors[of.output.at()];
    const Assemble channels{{channelsOf(tensor.shape, 0, channel)}, tensor.zeroPoint};
    out_.ops.push_back({opNames_.take(of.name + " part"), "Split", {from}, of.output, channels});
  }

  const CanonicalGraph& graph_;
  std::vector<std::vector<std::size_t>> readers_;  // per tensor
  std::vector<bool> isOutput_;                     // likewise
  std::vector<bool> isJoined_;                     // per operator
  std::vector<std::optional<Place>> joinedTo_;     // per tensor
  UniqueNames opNames_, tensorNames_;
  CanonicalGraph out_;
};

// The Tables that read what convolutions of the graph write which others are joined with.
std::set<std::string> tablesOfSiblings(const CanonicalGraph& graph, const CanonicalGraph& joined) {
  std::set<TensorId> parts;
  for (const CanonicalOp& op : joined.ops)
    if (op.kind() == OpKind::Assemble) parts.insert(op.output);
  for (const CanonicalOp& op : graph.ops)
    if (op.kind() == OpKind::Assemble) parts.erase(op.output);
  std::set<std::string> names;
  for (const CanonicalOp& op : graph.ops)
    if (op.kind() == OpKind::Table && parts.contains(op.inputs[0])) names.insert(op.name);
  return names;
}

}  // namespace

std::shared_ptr<const CanonicalGraph> fuseAndJoin(const CanonicalGraph& graph,
                                                  std::set<std::string> apart) {
  const auto fused = [&](const std::set<std::string>& names) {
    std::shared_ptr<const CanonicalGraph> made = fuseOperators(graph, names);
    return made ? made : std::make_shared<const CanonicalGraph>(graph);
  };
  std::set<std::string> tables;
  const std::shared_ptr<const CanonicalGraph> early = requantizeEarly(graph);
  for (const CanonicalOp& op : (early ? *early : graph).ops)
    if (const Table* table = std::get_if<Table>(&op.attributes); table && table->tables.size() == 1)
      tables.insert(op.name);
  if (!tables.empty()) {
    tables.insert(apart.begin(), apart.end());
    const std::shared_ptr<const CanonicalGraph> without = fused(tables);
    if (const auto joined = joinSiblings(*without))
      apart.merge(tablesOfSiblings(*without, *joined));
  }
  return joinSiblings(*fused(apart));
}

std::shared_ptr<const CanonicalGraph> joinSiblings(const CanonicalGraph& graph) {
  return Joining(graph).run();
}

}  // namespace heddle
