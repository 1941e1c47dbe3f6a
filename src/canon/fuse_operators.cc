#include "heddle/canon/fuse_operators.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "heddle/canon/fold_columns.h"

namespace heddle {
namespace {

// Rows or columns of a window. A pool of more leaves too few outputs to cut over the cores.
constexpr std::int64_t kMostPooled = 4;

class Fusion {
 public:
  Fusion(const CanonicalGraph& graph, bool pools)
      : graph_(graph),
        pools_(pools),
        writer_(graph.tensors.size()),
        readers_(graph.tensors.size()) {
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      writer_[graph.ops[i].output.at()] = i;
      for (const TensorId input : graph.ops[i].inputs) ++readers_[input.at()];
    }
    for (const Port& port : graph.outputs) ++readers_[port.tensor.at()];
  }

  std::shared_ptr<CanonicalGraph> run() {
    fusedInto_.resize(graph_.ops.size());
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      if (const std::optional<std::size_t> conv = convBefore(graph_.ops[i])) fusedInto_[*conv] = i;
    if (std::ranges::none_of(fusedInto_, [](const auto& end) { return end.has_value(); }))
      return nullptr;
    renumber();
    return std::make_shared<CanonicalGraph>(fused());
  }

 private:
  // The later of the convolutions that an Add or a MaxPool can be fused into.
  std::optional<std::size_t> convBefore(const CanonicalOp& op) const {
    if (op.kind() != OpKind::Add && !isPoolOfRows(op)) return std::nullopt;
    std::optional<std::size_t> latest;
    for (const TensorId input : op.inputs) {
      const std::optional<std::size_t>& writer = writer_[input.at()];
      if (!writer || readers_[input.at()] != 1) continue;
      const CanonicalOp& before = graph_.ops[*writer];
      const bool isPlain = before.kind() == OpKind::Conv && !fusedAddOf(before) &&
                           !fusedPoolOf(before) && !fusedInto_[*writer];
      if (isPlain && (!latest || *writer > *latest)) latest = writer;
    }
    return latest;
  }

  // Each of its windows has rows and columns of the tensor, next to each other, and few of them are
  // its neighbour's: those are computed again where the output is cut.
  bool isPoolOfRows(const CanonicalOp& op) const {
    const MaxPool* pool = std::get_if<MaxPool>(&op.attributes);
    if (!pool || !pools_) return false;
    const Window& w = pool->window;
    return w.dilationY == 1 && w.dilationX == 1 && w.padTop < w.kernelY && w.padLeft < w.kernelX &&
           w.kernelY <= 2 * w.strideY && w.kernelX <= 2 * w.strideX && w.kernelY <= kMostPooled &&
           w.kernelX <= kMostPooled;
  }

  void renumber() {
    std::vector<bool> gone(graph_.tensors.size());
    for (std::size_t i = 0; i < fusedInto_.size(); ++i)
      if (fusedInto_[i] && graph_.ops[*fusedInto_[i]].kind() == OpKind::Add)
        gone[graph_.ops[i].output.at()] = true;
    for (std::size_t t = 0; t < gone.size(); ++t) {
      newId_.push_back(gone[t] ? TensorId() : TensorId(kept_.size()));
      if (!gone[t]) kept_.push_back(t);
    }
  }

  CanonicalGraph fused() const {
    CanonicalGraph out{graph_.name, {}, {}, graph_.inputs, graph_.outputs};
    for (const std::size_t t : kept_) out.tensors.push_back(graph_.tensors[t]);
    std::vector<std::optional<std::size_t>> conv(graph_.ops.size());  // of what ends it
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      if (fusedInto_[i])
        conv[*fusedInto_[i]] = i;
      else
        out.ops.push_back(conv[i] ? together(graph_.ops[*conv[i]], graph_.ops[i]) : graph_.ops[i]);
    }
    for (CanonicalOp& op : out.ops) {
      for (TensorId& input : op.inputs) input = newId_[input.at()];
      op.output = newId_[op.output.at()];
      if (Conv* product = std::get_if<Conv>(&op.attributes); product && product->fusedPool)
        product->fusedPool->before = newId_[product->fusedPool->before.at()];
    }
    for (std::vector<Port>* ports : {&out.inputs, &out.outputs})
      for (Port& port : *ports) port.tensor = newId_[port.tensor.at()];
    return out;
  }

  CanonicalOp together(const CanonicalOp& conv, const CanonicalOp& end) const {
    CanonicalOp op = conv;
    op.onnxOp += " + " + end.onnxOp;
    op.output = end.output;
    if (const MaxPool* pool = std::get_if<MaxPool>(&end.attributes))
      std::get<Conv>(op.attributes).fusedPool = FusedPool{end.name, pool->window, conv.output};
    else
      addAtItsEnd(op, conv, end);
    return op;
  }

  void addAtItsEnd(CanonicalOp& op, const CanonicalOp& conv, const CanonicalOp& add) const {
    FusedAdd fused{std::get<Add>(add.attributes), graph_.tensors[conv.output.at()].zeroPoint};
    const bool isSecond = add.inputs[1] == conv.output;
    if (isSecond) std::swap(fused.add.multiplierA, fused.add.multiplierB);
    op.inputs.push_back(add.inputs[isSecond ? 0 : 1]);
    std::get<Conv>(op.attributes).fusedAdd = fused;
  }

  const CanonicalGraph& graph_;
  bool pools_;
  std::vector<std::optional<std::size_t>> writer_;     // per tensor
  std::vector<std::int64_t> readers_;                  // operands and ports
  std::vector<std::optional<std::size_t>> fusedInto_;  // per operator: what it does at its end
  std::vector<std::size_t> kept_;                      // tensors that stay
  std::vector<TensorId> newId_;                        // per tensor
};

}  // namespace

const FusedAdd* fusedAddOf(const CanonicalOp& op) {
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  return conv && conv->fusedAdd ? &*conv->fusedAdd : nullptr;
}

bool isAddend(const CanonicalOp& op, std::size_t operand) {
  return operand == 1 && fusedAddOf(op) != nullptr;
}

const FusedPool* fusedPoolOf(const CanonicalOp& op) {
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  return conv && conv->fusedPool ? &*conv->fusedPool : nullptr;
}

TensorId computedTensor(const CanonicalOp& op) {
  const FusedPool* pool = fusedPoolOf(op);
  return pool ? pool->before : op.output;
}

std::shared_ptr<const CanonicalGraph> fuseOperators(const CanonicalGraph& graph, bool pools) {
  std::shared_ptr<CanonicalGraph> fused = Fusion(graph, pools).run();
  const std::vector<ColumnFold> folds = findColumnFolds(fused ? *fused : graph);
  if (!fused && !folds.empty()) fused = std::make_shared<CanonicalGraph>(graph);
  for (const ColumnFold& fold : folds) foldColumns(*fused, fold);
  return fused;
}

}  // namespace heddle
