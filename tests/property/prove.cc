#include "prove.h"

#include <algorithm>
#include <sstream>

#include "heddle/emit/asm.h"
#include "heddle/interp/interpret.h"
#include "heddle/machine/machine.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/make_plan.h"
#include "heddle/program/generate.h"
#include "heddle/program/verify.h"
#include "heddle/support/check.h"
#include "random.h"
#include "random_graph.h"

namespace heddle::property {
namespace {

// The first difference between the interpreter's value (Y, X, C) and what the cores wrote (Y, C/8,
// X, 8 of the root).
std::optional<std::string> difference(const Program& program, TensorId id,
                                      const TensorValue& expected,
                                      const std::vector<std::int8_t>& written) {
  const ProgramTensor& tensor = program.tensors[id.at()];
  const Shape& root = program.tensors[tensor.root.at()].shape;
  const std::int64_t blocks = blocksOf(root);
  std::size_t i = 0;
  for (std::int64_t y = 0; y < tensor.shape.height; ++y)
    for (std::int64_t x = 0; x < tensor.shape.width; ++x)
      for (std::int64_t c = 0; c < tensor.shape.channels; ++c, ++i) {
        const std::int64_t cell = (y * blocks + tensor.rootBlock + c / kBlock) * root.width + x;
        const std::int8_t got = written[static_cast<std::size_t>(cell * kBlock + c % kBlock)];
        if (got == expected[i]) continue;
        std::ostringstream out;
        out << "tensor " << id.index << " '" << tensor.name << "' at y " << y << " x " << x << " c "
            << c << ": expected " << int{expected[i]} << ", the machine has " << int{got};
        return out.str();
      }
  return std::nullopt;
}

// On a device of full size no graph may be refused.
std::optional<std::string> refusal(const Diagnostics& why, const Device& device) {
  const bool small = device.core.memory < 64_KiB;
  const bool doesNotFit = std::all_of(why.begin(), why.end(), [](const Diagnostic& d) {
    return d.severity == Severity::DoesNotFit;
  });
  if (small && doesNotFit) return std::nullopt;
  return toText(why);
}

}  // namespace

std::optional<std::string> disprove(const CanonicalGraph& graph, const Device& device,
                                    std::uint64_t seed) {
  const std::vector<TensorValue> inputs = randomInputs(graph, seed);
  return disprove(graph, device, inputs, interpret(graph, inputs));
}

std::optional<std::string> disprove(const CanonicalGraph& graph, const Device& device,
                                    const std::vector<TensorValue>& inputs,
                                    const std::vector<TensorValue>& expected,
                                    Cycles* makespan) try {
  const Result<Plan> plan = makePlan(graph, device);
  if (!plan) return refusal(plan.diagnostics(), device);
  const Result<MemoryPlan> memory = allocateMemory(graph, *plan, device);
  if (!memory) return refusal(memory.diagnostics(), device);
  return disprove(graph, *plan, *memory, device, inputs, expected, makespan);
} catch (const InternalError& error) {
  return error.what();
}

std::optional<std::string> disprove(const CanonicalGraph& graph, const Plan& plan,
                                    const MemoryPlan& memory, const Device& device,
                                    const std::vector<TensorValue>& inputs,
                                    const std::vector<TensorValue>& expected,
                                    Cycles* makespan) try {
  if (const Diagnostics faults = verify(plan, graph, device); !faults.empty())
    return toText(faults);
  if (const Diagnostics faults = verify(memory, graph, plan, device); !faults.empty())
    return toText(faults);
  const Result<PlanText> planAgain = parsePlan(print(plan, graph), "plan.txt", graph);
  if (!planAgain) return toText(planAgain.diagnostics());
  if (planAgain->plan != plan) return "the plan is another once printed and parsed";
  const Result<MemoryPlanText> memoryAgain =
      parseMemoryPlan(print(memory, graph), "memory-plan.txt");
  if (!memoryAgain) return toText(memoryAgain.diagnostics());
  if (memoryAgain->memory != memory) return "the memory plan is another once printed and parsed";
  const Result<GeneratedProgram> generated = generateProgram(graph, plan, memory, device);
  if (!generated) return toText(generated.diagnostics());
  const Program& program = generated->program;
  if (const Diagnostics faults = verify(program, device); !faults.empty()) return toText(faults);
  const Result<Program> back = parseAsm(printAsm(program), "program.asm");
  if (!back) return toText(back.diagnostics());
  if (*back != program) return "the program is another once printed and parsed";
  const Result<SimulateResult> run = simulateWithData(program, device, generated->weights, inputs);
  if (!run) return toText(run.diagnostics());
  if (makespan) *makespan = run->timeline.makespan;
  std::vector<bool> given(graph.tensors.size(), false);
  for (const Port& port : graph.inputs) given[port.tensor.at()] = true;
  for (const CanonicalOp& op : graph.ops) {
    const TensorId root = program.tensors[op.output.at()].root;
    // Channels of an input or a constant lie where those do: no core writes them.
    if (given[root.at()] || !graph.tensors[root.at()].constant.empty()) continue;
    const std::vector<std::int8_t>& written = run->tensors[root.at()];
    if (written.empty())
      return "tensor '" + graph.tensors[op.output.at()].name + "' was never written";
    if (auto d = difference(program, op.output, expected[op.output.at()], written)) return d;
  }
  return std::nullopt;
} catch (const InternalError& error) {
  return error.what();
}

Device randomDevice(std::uint64_t seed, std::int64_t mostPerSide) {
  Random random(seed ^ 0x6d657368);  // not the graph's numbers
  DeviceOverrides overrides{
      .mesh = {{random.between(1, mostPerSide), random.between(1, mostPerSide)}}};
  if (random.between(0, 4) < 2) {
    overrides.settings.emplace_back("core.memory",
                                    std::to_string(8 * random.between(1, 3)) + " KiB");
    overrides.settings.emplace_back("memtile.memory",
                                    std::to_string(8 * random.between(2, 8)) + " KiB");
  }
  const std::string name = random.between(0, 3) == 0 ? "switched" : "paper";
  const Result<Device> device =
      readDevice(HEDDLE_SOURCE_DIR "/hw_configs/" + name + ".yaml", overrides);
  HEDDLE_CHECK(device) << toText(device.diagnostics());
  return *device;
}

}  // namespace heddle::property
