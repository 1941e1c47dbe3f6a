#include "heddle/canon/fuse_operators.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "heddle/canon/fold_columns.h"
#include "heddle/canon/requantize_early.h"
#include "heddle/canon/slice_strides.h"
#include "without_tensors.h"

namespace heddle {
namespace {

// Rows or columns of a window. A pool of more leaves too few outputs to cut over the cores.
constexpr std::int64_t kMostPooled = 4;
// Of a depth-wise convolution, whose rows a core keeps all.
constexpr std::int64_t kMostDepthwise = 5;
// A record has all of a table, whatever it computes with it. Beside so few bytes of weights of
// eight channels, and for kFewPixels, a layer of its own takes less time.
constexpr std::int64_t kFewWeights = 4096;

// Who writes a tensor and how many read it.
struct Uses {
  explicit Uses(const CanonicalGraph& graph)
      : writer(graph.tensors.size()), readers(graph.tensors.size()) {
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      writer[graph.ops[i].output.at()] = i;
      for (const TensorId input : graph.ops[i].inputs) ++readers[input.at()];
    }
    for (const Port& port : graph.outputs) ++readers[port.tensor.at()];
  }
  // Of a tensor that is read once.
  std::optional<std::size_t> writerForOne(TensorId tensor) const {
    return readers[tensor.at()] == 1 ? writer[tensor.at()] : std::nullopt;
  }

  std::vector<std::optional<std::size_t>> writer;
  std::vector<std::int64_t> readers;  // operands and ports
};

// Where a convolution has room for a table behind all that it does; null where it has none.
std::optional<FusedTable>* roomForTable(CanonicalOp& op) {
  if (fusedTableOf(op) || fusedAddOf(op) || fusedWindowOf(op)) return nullptr;
  if (Conv* conv = std::get_if<Conv>(&op.attributes)) return &conv->fusedTable;
  DepthwiseConv* depthwise = std::get_if<DepthwiseConv>(&op.attributes);
  return depthwise ? &depthwise->fusedTable : nullptr;
}

bool isWorthLookingUp(const CanonicalGraph& graph, const CanonicalOp& conv) {
  const Shape& shape = graph.tensors[conv.output.at()].shape;
  std::int64_t weights = 0;
  std::visit(
      [&](const auto& a) {
        if constexpr (requires { a.weights; }) weights = std::ssize(a.weights);
      },
      conv.attributes);
  return shape.height * shape.width >= kFewPixels ||
         weights * kBlock >= kFewWeights * shape.channels;
}

// Each Table, but for those named, at the end of the convolution that alone it reads. Null where
// there is none.
std::shared_ptr<CanonicalGraph> fuseTables(const CanonicalGraph& graph,
                                           const std::set<std::string>& apart) {
  const Uses uses(graph);
  std::vector<bool> gone(graph.tensors.size()), isFused(graph.ops.size());
  std::vector<CanonicalOp> ops = graph.ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Table* table = std::get_if<Table>(&ops[i].attributes);
    if (!table || table->tables.size() != 1 || apart.contains(ops[i].name)) continue;
    const std::optional<std::size_t> writer = uses.writerForOne(ops[i].inputs[0]);
    std::optional<FusedTable>* const fused = writer ? roomForTable(ops[*writer]) : nullptr;
    if (!fused || !isWorthLookingUp(graph, ops[*writer])) continue;
    CanonicalOp& conv = ops[*writer];
    *fused = FusedTable{ops[i].name, table->tables[0], graph.tensors[conv.output.at()].zeroPoint};
    gone[conv.output.at()] = isFused[i] = true;
    conv.output = ops[i].output;
    conv.onnxOp += " + " + ops[i].onnxOp;
  }
  if (std::ranges::find(gone, true) == gone.end()) return nullptr;
  std::size_t next = 0;
  std::erase_if(ops, [&](const CanonicalOp&) { return isFused[next++]; });
  return std::make_shared<CanonicalGraph>(withoutTensors(graph, gone, std::move(ops)));
}

class Fusion {
 public:
  Fusion(const CanonicalGraph& graph, const std::set<std::string>& apart)
      : graph_(graph), apart_(apart), uses_(graph) {}

  std::shared_ptr<CanonicalGraph> run() {
    fusedInto_.resize(graph_.ops.size());
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      if (const std::optional<std::size_t> conv = convBefore(graph_.ops[i])) fusedInto_[*conv] = i;
    if (std::ranges::none_of(fusedInto_, [](const auto& end) { return end.has_value(); }))
      return nullptr;
    return std::make_shared<CanonicalGraph>(fused());
  }

 private:
  // The later of the convolutions that an Add, a MaxPool or a DepthwiseConv can be fused into.
  std::optional<std::size_t> convBefore(const CanonicalOp& op) const {
    if ((op.kind() != OpKind::Add && !isPoolOfRows(op) && !isDepthwiseOfRows(op)) ||
        apart_.contains(op.name))
      return std::nullopt;
    std::optional<std::size_t> latest;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const std::optional<std::size_t> writer = uses_.writerForOne(op.inputs[i]);
      if (!writer || isBroadcast(graph_, op, i)) continue;
      const CanonicalOp& before = graph_.ops[*writer];
      const bool isPlain = before.kind() == OpKind::Conv && !fusedAddOf(before) &&
                           !fusedWindowOf(before) && !fusedInto_[*writer];
      if (isPlain && (!latest || *writer > *latest)) latest = writer;
    }
    return latest;
  }

  // Each of its windows has rows and columns of the tensor, next to each other, and few of them are
  // its neighbour's: those are computed again where the output is cut.
  bool isPoolOfRows(const CanonicalOp& op) const {
    const MaxPool* pool = std::get_if<MaxPool>(&op.attributes);
    if (!pool) return false;
    const Window& w = pool->window;
    return w.dilationY == 1 && w.dilationX == 1 && w.padTop < w.kernelY && w.padLeft < w.kernelX &&
           w.kernelY <= 2 * w.strideY && w.kernelX <= 2 * w.strideX && w.kernelY <= kMostPooled &&
           w.kernelX <= kMostPooled;
  }

  // Each of its windows has rows and columns of the tensor, next to each other. Many may be its
  // neighbour's: cut by channels, nothing is computed again.
  bool isDepthwiseOfRows(const CanonicalOp& op) const {
    const DepthwiseConv* conv = std::get_if<DepthwiseConv>(&op.attributes);
    if (!conv) return false;
    const Window& w = conv->window;
    return w.dilationY == 1 && w.dilationX == 1 && w.padTop < w.kernelY && w.padLeft < w.kernelX &&
           w.kernelY <= kMostDepthwise && w.kernelX <= kMostDepthwise;
  }

  CanonicalGraph fused() const {
    std::vector<CanonicalOp> ops;
    std::vector<bool> gone(graph_.tensors.size());
    std::vector<std::optional<std::size_t>> conv(graph_.ops.size());  // of what ends it
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      if (fusedInto_[i]) {
        conv[*fusedInto_[i]] = i;
        gone[graph_.ops[i].output.at()] = graph_.ops[*fusedInto_[i]].kind() == OpKind::Add;
      } else {
        ops.push_back(conv[i] ? together(graph_.ops[*conv[i]], graph_.ops[i]) : graph_.ops[i]);
      }
    }
    return withoutTensors(graph_, gone, std::move(ops));
  }

  CanonicalOp together(const CanonicalOp& conv, const CanonicalOp& end) const {
    CanonicalOp op = conv;
    op.output = end.output;
    std::optional<FusedWindow>& window = std::get<Conv>(op.attributes).fusedWindow;
    if (const MaxPool* pool = std::get_if<MaxPool>(&end.attributes)) {
      window = FusedWindow{end.name, *pool, conv.output};
    } else if (const DepthwiseConv* depthwise = std::get_if<DepthwiseConv>(&end.attributes)) {
      op.onnxOp += " + depth-wise " + end.onnxOp;
      window = FusedWindow{end.name, *depthwise, conv.output};
      return op;
    } else {
      addAtItsEnd(op, conv, end);
    }
    op.onnxOp += " + " + end.onnxOp;
    return op;
  }

  void addAtItsEnd(CanonicalOp& op, const CanonicalOp& conv, const CanonicalOp& add) const {
    FusedAdd fused{add.name, std::get<Add>(add.attributes),
                   graph_.tensors[conv.output.at()].zeroPoint};
    const bool isSecond = add.inputs[1] == conv.output;
    if (isSecond) std::swap(fused.add.multiplierA, fused.add.multiplierB);
    op.inputs.push_back(add.inputs[isSecond ? 0 : 1]);
    std::get<Conv>(op.attributes).fusedAdd = fused;
  }

  const CanonicalGraph& graph_;
  const std::set<std::string>& apart_;
  const Uses uses_;
  std::vector<std::optional<std::size_t>> fusedInto_;  // per operator: what it does at its end
};

// Of a convolution that alone reads a product with one pixel, or lines for each channel: the Mul or
// Table, which it can do with what it reads. No window overlaps another, so that it does so once
// for each pixel; the border of one would not be that of what it computes from.
const CanonicalOp* startBefore(const CanonicalGraph& graph, const Uses& uses, const CanonicalOp& op,
                               const std::set<std::string>& apart) {
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  if (!conv || conv->window != Window{} || conv->fusedWindow || operandsAtStart(op) > 0)
    return nullptr;
  const std::optional<std::size_t> writer = uses.writerForOne(op.inputs[0]);
  if (!writer) return nullptr;
  const CanonicalOp& start = graph.ops[*writer];
  const Table* table = std::get_if<Table>(&start.attributes);
  const bool isStart = (table && !table->lines.empty()) ||
                       (start.kind() == OpKind::Mul && isBroadcast(graph, start, 1));
  return isStart && !apart.contains(start.name) ? &start : nullptr;
}

// Each of these, but for those named, before the convolution behind it. Null where there is none.
std::shared_ptr<CanonicalGraph> fuseStarts(const CanonicalGraph& graph,
                                           const std::set<std::string>& apart) {
  const Uses uses(graph);
  std::vector<bool> gone(graph.tensors.size());
  std::vector<CanonicalOp> ops = graph.ops;
  for (CanonicalOp& op : ops) {
    const CanonicalOp* const start = startBefore(graph, uses, op, apart);
    if (!start) continue;
    Conv& conv = std::get<Conv>(op.attributes);
    const std::int8_t zero = graph.tensors[start->output.at()].zeroPoint;
    if (const Mul* mul = std::get_if<Mul>(&start->attributes)) {
      conv.fusedMul = FusedMul{start->name, *mul, zero};
      op.inputs.insert(op.inputs.begin() + 1, start->inputs[1]);
    } else {
      conv.fusedLines = FusedLines{start->name, std::get<Table>(start->attributes), zero};
    }
    op.onnxOp = start->onnxOp + " + " + op.onnxOp;
    op.inputs[0] = start->inputs[0];
    gone[start->output.at()] = true;
  }
  if (std::ranges::find(gone, true) == gone.end()) return nullptr;
  std::erase_if(ops, [&](const CanonicalOp& op) { return gone[op.output.at()]; });
  return std::make_shared<CanonicalGraph>(withoutTensors(graph, gone, std::move(ops)));
}

}  // namespace

const FusedTable* fusedTableOf(const CanonicalOp& op) {
  const FusedTable* table = nullptr;
  std::visit(
      [&](const auto& a) {
        if constexpr (requires { a.fusedTable; }) table = a.fusedTable ? &*a.fusedTable : nullptr;
      },
      op.attributes);
  return table;
}

const FusedTable* tableOfEnd(const CanonicalOp& op) {
  const FusedWindow* end = fusedWindowOf(op);
  const DepthwiseConv* depthwise = end ? end->depthwise() : nullptr;
  return depthwise && depthwise->fusedTable ? &*depthwise->fusedTable : nullptr;
}

std::int64_t operandsAtEnd(const CanonicalOp& op) {
  return (fusedAddOf(op) ? 1 : 0) + (fusedTableOf(op) ? 1 : 0);
}

const FusedAdd* fusedAddOf(const CanonicalOp& op) {
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  return conv && conv->fusedAdd ? &*conv->fusedAdd : nullptr;
}

bool isAddend(const CanonicalOp& op, std::size_t operand) {
  return operand > 0 && operand + 1 == op.inputs.size() && fusedAddOf(op) != nullptr;
}

const FusedMul* fusedMulOf(const CanonicalOp& op) {
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  return conv && conv->fusedMul ? &*conv->fusedMul : nullptr;
}

const FusedLines* fusedLinesOf(const CanonicalOp& op) {
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  return conv && conv->fusedLines ? &*conv->fusedLines : nullptr;
}

std::int64_t operandsAtStart(const CanonicalOp& op) {
  return fusedMulOf(op) ? 2 : fusedLinesOf(op) ? 1 : 0;
}

std::string nameAtStart(const CanonicalOp& op) {
  if (const FusedMul* mul = fusedMulOf(op)) return mul->name;
  const FusedLines* lines = fusedLinesOf(op);
  return lines ? lines->name : "";
}

std::int8_t zeroOfInput(const CanonicalGraph& graph, const CanonicalOp& op) {
  if (const FusedMul* mul = fusedMulOf(op)) return mul->zero;
  const FusedLines* lines = fusedLinesOf(op);
  return lines ? lines->zero : graph.tensors[op.inputs[0].at()].zeroPoint;
}

const FusedWindow* fusedWindowOf(const CanonicalOp& op) {
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  return conv && conv->fusedWindow ? &*conv->fusedWindow : nullptr;
}

std::string nameAtEnd(const CanonicalOp& op) {
  if (const FusedAdd* add = fusedAddOf(op)) return add->name;
  const FusedWindow* end = fusedWindowOf(op);
  return end ? end->name : "";
}

std::vector<std::string> tablesOf(const CanonicalOp& op) {
  std::vector<std::string> names;
  for (const FusedTable* table : {fusedTableOf(op), tableOfEnd(op)})
    if (table) names.push_back(table->name);
  return names;
}

TensorId computedTensor(const CanonicalOp& op) {
  const FusedWindow* pool = fusedWindowOf(op);
  return pool ? pool->before : op.output;
}

std::shared_ptr<const CanonicalGraph> fuseOperators(const CanonicalGraph& graph,
                                                    const std::set<std::string>& apart) {
  std::shared_ptr<CanonicalGraph> fused = requantizeEarly(graph);
  if (std::shared_ptr<CanonicalGraph> tables = fuseTables(fused ? *fused : graph, apart))
    fused = std::move(tables);
  if (std::shared_ptr<CanonicalGraph> ends = Fusion(fused ? *fused : graph, apart).run())
    fused = std::move(ends);
  if (std::shared_ptr<CanonicalGraph> starts = fuseStarts(fused ? *fused : graph, apart))
    fused = std::move(starts);
  const std::vector<ColumnFold> folds = findColumnFolds(fused ? *fused : graph);
  if (!fused && !folds.empty()) fused = std::make_shared<CanonicalGraph>(graph);
  for (const ColumnFold& fold : folds) foldColumns(*fused, fold);
  std::shared_ptr<const CanonicalGraph> sliced = sliceStrides(fused ? *fused : graph);
  return sliced ? sliced : fused;
}

std::set<std::string> namesAtStarts(const CanonicalGraph& fused) {
  std::set<std::string> names;
  for (const CanonicalOp& op : fused.ops)
    if (const std::string start = nameAtStart(op); !start.empty()) names.insert(start);
  return names;
}

std::set<std::string> optionallyApart(const CanonicalGraph& fused) {
  std::set<std::string> names = namesAtStarts(fused);
  for (const CanonicalOp& op : fused.ops) {
    if (const FusedWindow* end = fusedWindowOf(op)) names.insert(end->name);
    for (const std::string& name : tablesOf(op)) names.insert(name);
  }
  return names;
}

std::set<std::string> depthwiseAtEnds(const CanonicalGraph& fused) {
  std::set<std::string> names;
  for (const CanonicalOp& op : fused.ops)
    if (const FusedWindow* end = fusedWindowOf(op); end && end->depthwise())
      names.insert(end->name);
  return names;
}

}  // namespace heddle
