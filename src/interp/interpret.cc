#include "heddle/interp/interpret.h"

#include "heddle/canon/fold_columns.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/support/check.h"
#include "kernels.h"

namespace heddle {
namespace {

using interp::evaluate;
using interp::Operand;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;  // clang 14 does not deduce it

// With what it does at its end.
TensorValue evaluateConv(const CanonicalGraph& graph, const Conv& conv, const Operand& input,
                         const Operand& addend, const CanonicalTensor& output) {
  if (conv.fusedWindow) {
    const CanonicalTensor& before = graph.tensors.at(conv.fusedWindow->before.at());
    const TensorValue value = evaluate(conv, input, before);
    return std::visit(
        [&](const auto& end) {
          return evaluate(end, Operand{before, value}, output);
        },
        conv.fusedWindow->op);
  }
  if (!conv.fusedAdd) return evaluate(conv, input, output);
  const CanonicalTensor before{
      .name = output.name, .shape = output.shape, .zeroPoint = conv.fusedAdd->zero, .constant = {}};
  const TensorValue value = evaluate(conv, input, before);
  return evaluate(conv.fusedAdd->add, {before, value}, addend, output);
}

}  // namespace

TensorValue interpretOp(const CanonicalGraph& graph, const CanonicalOp& op,
                        std::span<const TensorValue* const> operands) {
  HEDDLE_CHECK(operands.size() == op.inputs.size()) << op.name;
  std::vector<Operand> inputs;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const CanonicalTensor& tensor = graph.tensors.at(op.inputs[i].at());
    HEDDLE_CHECK(std::ssize(*operands[i]) == tensor.shape.elements())
        << tensor.name << " has " << operands[i]->size() << " values";
    inputs.push_back({tensor, *operands[i]});
  }
  const CanonicalTensor& output = graph.tensors.at(op.output.at());
  return std::visit(
      Overloaded{[&](const Conv& conv) {
                   if (operandsAtStart(op) == 0)
                     return evaluateConv(graph, conv, inputs.at(0), inputs.back(), output);
                   const CanonicalTensor start{.name = output.name,
                                               .shape = inputs.at(0).tensor.shape,
                                               .zeroPoint = zeroOfInput(graph, op),
                                               .constant = {}};
                   const TensorValue value =
                       conv.fusedMul
                           ? evaluate(conv.fusedMul->mul, inputs.at(0), inputs.at(1), start)
                           : evaluate(conv.fusedLines->table, inputs.at(0), start);
                   return evaluateConv(graph, conv, {start, value}, inputs.back(), output);
                 },
                 [&](const Add& add) { return evaluate(add, inputs.at(0), inputs.at(1), output); },
                 [&](const Mul& mul) { return evaluate(mul, inputs.at(0), inputs.at(1), output); },
                 [&](const Assemble& assemble) { return evaluate(assemble, inputs, output); },
                 [&](const auto& unary) { return evaluate(unary, inputs.at(0), output); }},
      op.attributes);
}

std::vector<TensorValue> interpret(const CanonicalGraph& graph,
                                   std::span<const TensorValue> inputs) {
  HEDDLE_CHECK(graph.batch == 1 && inputs.size() == graph.inputs.size()) << graph.name;
  std::vector<TensorValue> values(graph.tensors.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = graph.tensors[i].constant;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorId id = graph.inputs[i].tensor;
    const CanonicalTensor& tensor = graph.tensors.at(id.at());
    values[id.at()] = asHeld(inputs[i], portImage(graph.inputs[i]), tensor.shape, tensor.zeroPoint);
  }
  for (const CanonicalOp& op : graph.ops) {
    std::vector<const TensorValue*> operands;
    for (const TensorId id : op.inputs) operands.push_back(&values.at(id.at()));
    values.at(op.output.at()) = interpretOp(graph, op, operands);
  }
  return values;
}

}  // namespace heddle
