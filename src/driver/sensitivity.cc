#include "sensitivity.h"

#include <cmath>

#include "heddle/interp/interpret.h"
#include "road.h"

namespace heddle {
namespace {

// The values of a network of which one operator computes something else.
class Changed {
 public:
  Changed(const CanonicalGraph& graph, const std::vector<TensorValue>& before)
      : graph_(graph), before_(before), after_(graph.tensors.size()) {}

  // `op` takes the place of operator `id`.
  void run(OpId id, const CanonicalOp& op) {
    compute(op);
    for (std::size_t i = id.at() + 1; i < graph_.ops.size(); ++i) {
      const CanonicalOp& later = graph_.ops[i];
      bool differs = false;
      for (const TensorId input : later.inputs) differs |= after_[input.at()].has_value();
      if (differs) compute(later);
    }
  }

  std::optional<double> error() const {
    double changed = 0, all = 0;
    for (const Port& port : graph_.outputs) {
      const CanonicalTensor& tensor = graph_.tensors[port.tensor.at()];
      const TensorValue& old = before_[port.tensor.at()];
      const TensorValue& now = value(port.tensor);
      for (std::size_t i = 0; i < old.size(); ++i) {
        const double step = (now[i] - old[i]) * tensor.scale,
                     real = (old[i] - tensor.zeroPoint) * tensor.scale;
        changed += step * step;
        all += real * real;
      }
    }
    if (all == 0) return std::nullopt;
    return std::sqrt(changed / all);
  }

 private:
  const TensorValue& value(TensorId id) const {
    return after_[id.at()] ? *after_[id.at()] : before_[id.at()];
  }

  void compute(const CanonicalOp& op) {
    std::vector<const TensorValue*> operands;
    for (const TensorId input : op.inputs) operands.push_back(&value(input));
    TensorValue result = interpretOp(graph_, op, operands);
    if (result != before_[op.output.at()]) after_[op.output.at()] = std::move(result);
  }

  const CanonicalGraph& graph_;
  const std::vector<TensorValue>& before_;
  std::vector<std::optional<TensorValue>> after_;  // where they differ
};

CanonicalOp maskedOp(const CanonicalGraph& graph, const PrunedLayer& layer) {
  CanonicalGraph alone;
  alone.ops.push_back(graph.ops[layer.op.at()]);
  const std::array<WeightMask, 1> mask{{{OpId(0), layer.kept}}};
  return masked(std::move(alone), mask).ops.front();
}

}  // namespace

Result<std::vector<LayerSensitivity>> measureSensitivity(
    const Network& run, const PruneOptions& options,
    const std::vector<std::vector<std::int8_t>>& inputs, Progress& progress) {
  const CanonicalGraph& graph = run.canonical->graph;
  const std::vector<TensorValue> before = interpretAll(graph, inputs, progress);
  std::vector<LayerSensitivity> result;
  PruneOptions one = options;
  one.scope = PruneScope::Layer;
  const auto advance = progressOf(progress);
  for (std::size_t r = 0; r < kSensitivityMillionths.size(); ++r) {
    one.ratioMillionths = kSensitivityMillionths[r];
    HEDDLE_TRY(const Pruning pruning, choosePruning(*run.graph, *run.canonical, one));
    std::size_t next = 0;
    for (const PrunedLayer& layer : pruning.layers) {
      if (!layer.stays.empty()) continue;
      if (r == 0) result.push_back({.op = layer.op, .errors = {}});
      Changed changed(graph, before);
      changed.run(layer.op, maskedOp(graph, layer));
      result[next++].errors[r] = changed.error();
      advance((static_cast<double>(r) +
               static_cast<double>(layer.op.at()) / static_cast<double>(graph.ops.size())) /
              static_cast<double>(kSensitivityMillionths.size()));
    }
  }
  return result;
}

}  // namespace heddle
