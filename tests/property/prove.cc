#include "prove.h"

#include <sstream>

#include "heddle/interp/interpret.h"
#include "heddle/machine/machine.h"
#include "heddle/memory/allocate.h"
#include "heddle/program/generate.h"
#include "heddle/support/check.h"
#include "heddle/tiling/layer_plan.h"
#include "random_graph.h"

namespace heddle::property {
namespace {

// The first difference between the interpreter's value (Y, X, C) and what the cores wrote (Y, C/8, X, 8 of the root).
std::optional<std::string> difference(const Program& program, TensorId id, const TensorValue& expected,
                                      const std::vector<std::int8_t>& written) {
  const ProgramTensor& tensor = program.tensors[id.at()];
  const Shape& root = program.tensors[tensor.root.at()].shape;
  const std::int64_t blocks = divideRoundUp(root.channels, 8);
  std::size_t i = 0;
  for (std::int64_t y = 0; y < tensor.shape.height; ++y)
    for (std::int64_t x = 0; x < tensor.shape.width; ++x)
      for (std::int64_t c = 0; c < tensor.shape.channels; ++c, ++i) {
        const std::int64_t cell = (y * blocks + tensor.rootBlock + c / 8) * root.width + x;
        const std::int8_t got = written[static_cast<std::size_t>(cell * 8 + c % 8)];
        if (got == expected[i]) continue;
        std::ostringstream out;
        out << "tensor " << id.index << " '" << tensor.name << "' at y " << y << " x " << x << " c " << c << ": expected "
            << int{expected[i]} << ", the machine has " << int{got};
        return out.str();
      }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> disprove(const CanonicalGraph& graph, const Device& device, std::uint64_t seed) try {
  const Result<LayerPlan> plan = makeLayerPlan(graph, device);
  if (!plan) return toText(plan.diagnostics());
  const Result<MemoryPlan> memory = allocateMemory(graph, *plan, device);
  if (!memory) return toText(memory.diagnostics());
  const Result<GeneratedProgram> generated = generateProgram(graph, *plan, *memory, device);
  if (!generated) return toText(generated.diagnostics());
  const std::vector<TensorValue> inputs = randomInputs(graph, seed);
  const Program& program = generated->program;
  const Result<SimulateResult> run = simulateWithData(program, device, generated->weights, inputs);
  if (!run) return toText(run.diagnostics());
  const std::vector<TensorValue> expected = interpret(graph, inputs);
  std::vector<bool> given(graph.tensors.size(), false);
  for (const Port& port : graph.inputs) given[port.tensor.at()] = true;
  for (const CanonicalOp& op : graph.ops) {
    const TensorId root = program.tensors[op.output.at()].root;
    // Channels of an input or a constant lie where those do: no core writes them.
    if (given[root.at()] || !graph.tensors[root.at()].constant.empty()) continue;
    const std::vector<std::int8_t>& written = run->tensors[root.at()];
    if (written.empty()) return "tensor '" + graph.tensors[op.output.at()].name + "' was never written";
    if (auto d = difference(program, op.output, expected[op.output.at()], written)) return d;
  }
  return std::nullopt;
} catch (const InternalError& error) {
  return error.what();
}

Device deviceOf(const std::string& name, std::int64_t rows, std::int64_t columns) {
  const Result<Device> device = readDevice(HEDDLE_SOURCE_DIR "/hw_configs/" + name + ".yaml", {.mesh = {{rows, columns}}});
  HEDDLE_CHECK(device) << toText(device.diagnostics());
  return *device;
}

}  // namespace heddle::property
