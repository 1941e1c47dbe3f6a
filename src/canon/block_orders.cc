#include "heddle/canon/block_orders.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "heddle/support/check.h"

namespace heddle {
namespace {

std::int64_t blockAt(const BlockOrder& order, std::int64_t block) {
  return order.empty() ? block : order[static_cast<std::size_t>(block)];
}

// How a part of an Assemble moves the blocks of its operand.
struct BlockMoves {
  struct Move {
    std::int64_t from = 0, to = 0;
  };
  std::vector<Move> whole;
  std::vector<std::int64_t> fromInPart, toInPart;  // blocks of which it moves some channels
};

BlockMoves movesOf(const AssemblePart& part) {
  BlockMoves moves;
  for (const AxisRun& run : part.mapC) {
    std::int64_t i = 0;
    if (run.toStep == 1 && run.fromStep == 1 && run.to % kBlock == 0 && run.from % kBlock == 0)
      for (; i + kBlock <= run.count; i += kBlock)
        moves.whole.push_back({(run.from + i) / kBlock, (run.to + i) / kBlock});
    for (; i < run.count; ++i) {
      moves.fromInPart.push_back((run.from + i * run.fromStep) / kBlock);
      moves.toInPart.push_back((run.to + i * run.toStep) / kBlock);
    }
  }
  return moves;
}

// Two tensors whose channels go together through an operator.
struct InStep {
  TensorId tensor, of;
};

// Through one other than an Assemble, each with its output, or a gate with what it multiplies.
std::vector<InStep> inStep(const CanonicalOp& op) {
  std::vector<InStep> all;
  if (op.kind() == OpKind::Assemble) return all;
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  for (std::size_t i = conv ? 1 : 0; i < op.inputs.size(); ++i) {
    const bool isGate = conv && conv->fusedMul && i == 1;
    all.push_back({op.inputs[i], isGate ? op.inputs[0] : op.output});
  }
  if (conv && conv->fusedWindow) all.push_back({conv->fusedWindow->before, op.output});
  return all;
}

// ---- which blocks are shared ----------------------------------------------------------------

class Sharing {
 public:
  explicit Sharing(const CanonicalGraph& graph) : graph_(graph) {
    for (const CanonicalTensor& tensor : graph.tensors) {
      first_.push_back(same_.size());
      for (std::int64_t b = 0; b < blocksOf(tensor.shape); ++b) same_.push_back(same_.size());
    }
    pinned_.resize(same_.size());
  }

  SharedBlocks run() {
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      if (const Shape& s = graph_.tensors[t].shape; s.channels % kBlock != 0)
        pinned_[place(TensorId(t), blocksOf(s) - 1)] = true;
    for (const std::vector<Port>* ports : {&graph_.inputs, &graph_.outputs})
      for (const Port& port : *ports)
        for (std::int64_t b = 0; b < blocks(port.tensor); ++b)
          pinned_[place(port.tensor, b)] = true;
    for (const CanonicalOp& op : graph_.ops) {
      for (const auto& [tensor, of] : inStep(op))
        for (std::int64_t b = 0; b < blocks(tensor); ++b) unite(place(tensor, b), place(of, b));
      if (const Assemble* assemble = std::get_if<Assemble>(&op.attributes)) moved(op, *assemble);
    }
    return shared();
  }

 private:
  std::int64_t blocks(TensorId tensor) const { return blocksOf(graph_.tensors[tensor.at()].shape); }
  std::size_t place(TensorId tensor, std::int64_t block) const {
    return first_[tensor.at()] + static_cast<std::size_t>(block);
  }
  std::size_t find(std::size_t place) {
    while (same_[place] != place) place = same_[place] = same_[same_[place]];
    return place;
  }
  void unite(std::size_t a, std::size_t b) {
    a = find(a);
    b = find(b);
    same_[std::max(a, b)] = std::min(a, b);
  }

  void moved(const CanonicalOp& op, const Assemble& assemble) {
    for (std::size_t p = 0; p < assemble.parts.size(); ++p) {
      const BlockMoves moves = movesOf(assemble.parts[p]);
      for (const BlockMoves::Move& move : moves.whole) {
        const std::size_t to = place(op.output, move.to);
        unite(place(op.inputs[p], move.from), to);
        treated_.emplace_back(to, treatments_);
      }
      for (const std::int64_t from : moves.fromInPart) pinned_[place(op.inputs[p], from)] = true;
      for (const std::int64_t to : moves.toInPart) pinned_[place(op.output, to)] = true;
      ++treatments_;
    }
  }

  SharedBlocks shared() {
    SharedBlocks found;
    std::map<std::size_t, std::size_t> number;  // of the place that stands for it
    // What distinguishes a block: the tensors that have it, and what is done to it.
    std::vector<std::vector<std::size_t>> marks;
    std::vector<bool> pinned;
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      found.of.emplace_back();
      std::set<std::size_t> met;
      for (std::int64_t b = 0; b < blocks(TensorId(t)); ++b) {
        const std::size_t at = place(TensorId(t), b);
        const std::size_t n = number.try_emplace(find(at), number.size()).first->second;
        found.of.back().push_back(n);
        marks.resize(number.size());
        pinned.resize(number.size());
        marks[n].push_back(treatments_ + t);
        const bool isSecond = !met.insert(n).second;  // of this tensor, made by an Assemble
        if (pinned_[at] || isSecond) pinned[n] = true;
      }
    }
    for (const auto& [at, treatment] : treated_) marks[number.at(find(at))].push_back(treatment);
    std::map<std::vector<std::size_t>, std::vector<std::size_t>> alike;
    for (std::size_t n = 0; n < marks.size(); ++n) {
      std::ranges::sort(marks[n]);
      if (!pinned[n]) alike[marks[n]].push_back(n);
    }
    for (auto& [mark, numbers] : alike)
      if (numbers.size() > 1) found.exchangeable.push_back(std::move(numbers));
    found.count = marks.size();
    return found;
  }

  const CanonicalGraph& graph_;
  std::vector<std::size_t> first_, same_;  // of a tensor's places; a forest over all places
  std::vector<bool> pinned_;               // by place
  std::vector<std::pair<std::size_t, std::size_t>>
      treated_;  // a place, by what part of an Assemble
  std::size_t treatments_ = 0;
};

// ---- what may not be ------------------------------------------------------------------------

class OrderChecker {
 public:
  OrderChecker(const BlockOrders& orders, const CanonicalGraph& graph)
      : orders_(orders), graph_(graph) {}

  Diagnostics run() {
    if (orders_.empty()) return {};
    if (orders_.size() != graph_.tensors.size()) {
      fault(graph_.name, "there is not one order for each of its tensors");
      return std::move(faults_);
    }
    for (std::size_t t = 0; t < orders_.size(); ++t) checkTensor(TensorId(t));
    if (!faults_.empty()) return std::move(faults_);
    for (const std::vector<Port>* ports : {&graph_.inputs, &graph_.outputs})
      for (const Port& port : *ports)
        for (std::int64_t b = 0; b < std::ssize(order(port.tensor)); ++b)
          stays(port.tensor, b, "which the host sees");
    for (const CanonicalOp& op : graph_.ops) {
      for (const InStep& two : inStep(op)) goTogether(op, two);
      if (const Assemble* assemble = std::get_if<Assemble>(&op.attributes))
        for (std::size_t p = 0; p < assemble->parts.size(); ++p)
          checkPart(op, p, assemble->parts[p]);
    }
    return std::move(faults_);
  }

 private:
  const BlockOrder& order(TensorId tensor) const { return orders_[tensor.at()]; }
  const std::string& name(TensorId tensor) const { return graph_.tensors[tensor.at()].name; }
  void fault(const std::string& where, std::string cause) {
    faults_.push_back({"CANON011", where,
                       "the order of its channel blocks changes what is computed", std::move(cause),
                       "leave out the order of this tensor, and of those that go with it"});
  }

  void checkTensor(TensorId tensor) {
    const BlockOrder& blocks = order(tensor);
    if (blocks.empty()) return;
    const Shape& shape = graph_.tensors[tensor.at()].shape;
    std::vector<bool> seen(static_cast<std::size_t>(blocksOf(shape)));
    bool permutes = std::ssize(blocks) == blocksOf(shape);
    for (std::size_t b = 0; permutes && b < blocks.size(); ++b) {
      permutes = blocks[b] >= 0 && blocks[b] < std::ssize(blocks) &&
                 !seen[static_cast<std::size_t>(blocks[b])];
      if (permutes) seen[static_cast<std::size_t>(blocks[b])] = true;
    }
    if (!permutes)
      fault(name(tensor),
            "it does not name each of the " + std::to_string(blocksOf(shape)) + " blocks once");
    else if (shape.channels % kBlock != 0)
      stays(tensor, blocksOf(shape) - 1, "which is not full");
  }
  void stays(TensorId tensor, std::int64_t block, const std::string& why) {
    if (const std::int64_t now = blockAt(order(tensor), block); now != block)
      fault(name(tensor), "where block " + std::to_string(block) + " was, " + why +
                              ", stands block " + std::to_string(now));
  }
  void goTogether(const CanonicalOp& op, const InStep& two) {
    for (std::int64_t b = 0; b < blocksOf(graph_.tensors[two.of.at()].shape); ++b) {
      const std::int64_t here = blockAt(order(two.tensor), b), there = blockAt(order(two.of), b);
      if (here == there) continue;
      fault(name(two.tensor), "block " + std::to_string(here) + " meets block " +
                                  std::to_string(there) + " of '" + name(two.of) + "' in '" +
                                  op.name + "'");
      return;
    }
  }
  void checkPart(const CanonicalOp& op, std::size_t operand, const AssemblePart& part) {
    const TensorId input = op.inputs[operand];
    const BlockMoves moves = movesOf(part);
    for (const std::int64_t block : moves.fromInPart)
      stays(input, block, "of which '" + op.name + "' moves some channels");
    for (const std::int64_t block : moves.toInPart)
      stays(op.output, block, "of which '" + op.name + "' writes some channels");
    constexpr std::int64_t kNone = -1;
    std::vector<std::int64_t> from(
        static_cast<std::size_t>(blocksOf(graph_.tensors[op.output.at()].shape)), kNone);
    for (const BlockMoves::Move& move : moves.whole)
      from[static_cast<std::size_t>(move.to)] = move.from;
    for (std::int64_t b = 0; b < std::ssize(from); ++b) {
      const std::int64_t source = from[static_cast<std::size_t>(b)],
                         wanted = from[static_cast<std::size_t>(blockAt(order(op.output), b))];
      if ((source == kNone ? kNone : blockAt(order(input), source)) == wanted) continue;
      fault(name(op.output), "'" + op.name + "' moves other blocks of '" + name(input) + "' there");
      return;
    }
  }

  const BlockOrders& orders_;
  const CanonicalGraph& graph_;
  Diagnostics faults_;
};

// ---- the network in another order -----------------------------------------------------------

// Of a list with `piece` things for each channel, in order, the same in the order of the blocks.
template <class T>
void reorder(std::vector<T>& list, const BlockOrder& order, std::size_t channels,
             std::size_t piece = 1) {
  if (order.empty() || list.empty()) return;
  const std::vector<T> old = list;
  constexpr auto kLength = static_cast<std::size_t>(kBlock);
  for (std::size_t row = 0; row < list.size(); row += channels * piece)
    for (std::size_t b = 0; b < order.size(); ++b) {
      const std::size_t from = static_cast<std::size_t>(order[b]) * kLength, to = b * kLength;
      std::copy_n(old.begin() + static_cast<std::ptrdiff_t>(row + from * piece),
                  std::min(kLength, channels - to) * piece,
                  list.begin() + static_cast<std::ptrdiff_t>(row + to * piece));
    }
}
template <class T>
void reorder(SharedArray<T>& list, const BlockOrder& order, std::size_t channels,
             std::size_t piece = 1) {
  if (!order.empty()) reorder(list.own(), order, channels, piece);
}

class Reordering {
 public:
  Reordering(CanonicalGraph& graph, const BlockOrders& orders) : graph_(graph), orders_(orders) {}

  void run() {
    for (CanonicalOp& op : graph_.ops) {
      op_ = &op;
      std::visit([&](auto& attributes) { reorderOperator(attributes); }, op.attributes);
    }
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      CanonicalTensor& tensor = graph_.tensors[t];
      reorder(tensor.constant, orders_[t], channels(TensorId(t)));
      BlockOrder now;
      for (const std::int64_t block : orders_[t]) now.push_back(blockAt(tensor.blockOrder, block));
      if (std::ranges::is_sorted(now) && !now.empty())
        tensor.blockOrder.clear();
      else if (!now.empty())
        tensor.blockOrder = std::move(now);
    }
  }

 private:
  std::size_t channels(TensorId tensor) const {
    return static_cast<std::size_t>(graph_.tensors[tensor.at()].shape.channels);
  }
  const BlockOrder& inputs() const { return orders_[op_->inputs[0].at()]; }
  const BlockOrder& outputs() const { return orders_[op_->output.at()]; }

  void reorderOperator(Conv& conv) {
    const std::size_t rows = channels(op_->output), columns = channels(op_->inputs[0]);
    reorder(conv.weights, inputs(), columns);
    reorder(conv.weights, outputs(), rows, conv.weights.size() / rows);
    if (conv.kept.size() > 0) {
      const std::int64_t outputBlocks = blocksOf(graph_.tensors[op_->output.at()].shape),
                         inputBlocks = blocksOf(graph_.tensors[op_->inputs[0].at()].shape);
      Bits kept(conv.kept.size());
      for (std::int64_t r = 0; r < outputBlocks; ++r)
        for (std::int64_t c = 0; c < inputBlocks; ++c)
          if (conv.kept[blockAt(outputs(), r) * inputBlocks + blockAt(inputs(), c)])
            kept.set(r * inputBlocks + c);
      conv.kept = std::move(kept);
    }
    reorderRows(conv);
    if (conv.fusedLines) {
      reorder(conv.fusedLines->table.tables, inputs(), columns);
      reorder(conv.fusedLines->table.lines, inputs(), columns);
    }
    if (conv.fusedWindow)
      std::visit([&](auto& end) { reorderOperator(end); }, conv.fusedWindow->op);
  }
  void reorderOperator(DepthwiseConv& conv) {
    const std::size_t rows = channels(op_->output);
    reorder(conv.weights, outputs(), rows, conv.weights.size() / rows);
    reorderRows(conv);
  }
  template <class Convolution>
  void reorderRows(Convolution& conv) {
    const std::size_t rows = channels(op_->output);
    reorder(conv.weightZero, outputs(), rows);
    reorder(conv.bias, outputs(), rows);
    reorder(conv.requantize, outputs(), rows);
    reorder(conv.requantizeNegative, outputs(), rows);
  }
  void reorderOperator(Table& table) {
    if (table.tables.size() > 1) reorder(table.tables, outputs(), channels(op_->output));
    reorder(table.lines, outputs(), channels(op_->output));
  }
  // Every channel like the others, or, of an Assemble, moved as before: verify has seen to it.
  void reorderOperator(const MaxPool&) {}
  void reorderOperator(const AveragePool&) {}
  void reorderOperator(const Add&) {}
  void reorderOperator(const Mul&) {}
  void reorderOperator(const Assemble&) {}

  CanonicalGraph& graph_;
  const BlockOrders& orders_;
  CanonicalOp* op_ = nullptr;
};

}  // namespace

SharedBlocks sharedBlocks(const CanonicalGraph& graph) { return Sharing(graph).run(); }

BlockOrders ordersOf(const SharedBlocks& shared, const std::vector<std::size_t>& content) {
  BlockOrders orders;
  for (const std::vector<std::size_t>& numbers : shared.of) {
    std::map<std::size_t, std::int64_t> place;
    for (std::size_t b = 0; b < numbers.size(); ++b)
      place[numbers[b]] = static_cast<std::int64_t>(b);
    BlockOrder order;
    for (std::size_t b = 0; b < numbers.size(); ++b)
      order.push_back(content[numbers[b]] == numbers[b] ? static_cast<std::int64_t>(b)
                                                        : place.at(content[numbers[b]]));
    if (std::ranges::is_sorted(order)) order.clear();
    orders.push_back(std::move(order));
  }
  return orders;
}

Diagnostics verify(const BlockOrders& orders, const CanonicalGraph& graph) {
  return OrderChecker(orders, graph).run();
}

CanonicalGraph inOrder(CanonicalGraph graph, const BlockOrders& orders) {
  HEDDLE_CHECK(orders.empty() || orders.size() == graph.tensors.size()) << orders.size();
  if (!orders.empty()) Reordering(graph, orders).run();
  return graph;
}

std::vector<std::int8_t> inOrder(const std::vector<std::int8_t>& values, const Shape& shape,
                                 const BlockOrder& order) {
  std::vector<std::int8_t> reordered = values;
  reorder(reordered, order, static_cast<std::size_t>(shape.channels));
  return reordered;
}

BlockOrders ordersOf(const CanonicalGraph& graph) {
  BlockOrders orders;
  for (const CanonicalTensor& tensor : graph.tensors) orders.push_back(tensor.blockOrder);
  const bool none = std::ranges::all_of(orders, [](const BlockOrder& o) { return o.empty(); });
  return none ? BlockOrders{} : orders;
}

}  // namespace heddle
