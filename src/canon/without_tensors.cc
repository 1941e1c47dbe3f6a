#include "without_tensors.h"

#include <utility>

namespace heddle {

CanonicalGraph withoutTensors(const CanonicalGraph& graph, const std::vector<bool>& gone,
                              std::vector<CanonicalOp> ops) {
  CanonicalGraph out{graph.name, {}, {}, graph.inputs, graph.outputs};
  std::vector<TensorId> newId;
  for (std::size_t t = 0; t < gone.size(); ++t) {
    newId.push_back(gone[t] ? TensorId() : TensorId(out.tensors.size()));
    if (!gone[t]) out.tensors.push_back(graph.tensors[t]);
  }
  out.ops = std::move(ops);
  for (CanonicalOp& op : out.ops) {
    for (TensorId& input : op.inputs) input = newId[input.at()];
    op.output = newId[op.output.at()];
    if (Conv* product = std::get_if<Conv>(&op.attributes); product && product->fusedWindow)
      product->fusedWindow->before = newId[product->fusedWindow->before.at()];
  }
  for (std::vector<Port>* ports : {&out.inputs, &out.outputs})
    for (Port& port : *ports) port.tensor = newId[port.tensor.at()];
  return out;
}

}  // namespace heddle
