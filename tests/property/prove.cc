#include "prove.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "heddle/canon/batch.h"
#include "heddle/canon/canonicalize.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/join_siblings.h"
#include "heddle/canon/planned_values.h"
#include "heddle/canon/table_lines.h"
#include "heddle/emit/asm.h"
#include "heddle/interp/interpret.h"
#include "heddle/machine/machine.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/count_work.h"
#include "heddle/planner/make_plan.h"
#include "heddle/planner/order_blocks.h"
#include "heddle/program/generate.h"
#include "heddle/program/verify.h"
#include "heddle/support/check.h"
#include "random.h"
#include "random_graph.h"

namespace heddle::property {
namespace {

constexpr const char* kOddWires = "odd-wires";  // name of a device whose wires are drawn by chance

// The first difference between the interpreter's value (Y, X, C) and what the cores wrote (Y, C/8,
// X, 8 of the root).
std::optional<std::string> difference(const Program& program, TensorId id,
                                      const TensorValue& expected,
                                      const std::vector<std::int8_t>& written) {
  const ProgramTensor& tensor = program.tensors[id.at()];
  const Shape& root = program.tensors[tensor.root.at()].shape;
  const std::int64_t blocks = blocksOf(root), images = program.batch,
                     height = tensor.shape.height / images;
  const Sampling taken = tensor.sampling.value_or(Sampling());
  std::size_t i = 0;
  for (std::int64_t y = 0; y < tensor.shape.height; ++y)
    for (std::int64_t x = 0; x < tensor.shape.width; ++x)
      for (std::int64_t c = 0; c < tensor.shape.channels; ++c, ++i) {
        const std::int64_t row = y / height * (root.height / images) + taken.rows.first +
                                 y % height * taken.rows.step,
                           column = taken.columns.first + x * taken.columns.step,
                           cell =
                               (row * blocks + tensor.rootBlock + c / kBlock) * root.width + column;
        const std::int8_t got = written[static_cast<std::size_t>(cell * kBlock + c % kBlock)];
        if (got == expected[i]) continue;
        std::ostringstream out;
        out << "tensor " << id.index << " '" << tensor.name << "' at y " << y << " x " << x << " c "
            << c << ": expected " << int{expected[i]} << ", the machine has " << int{got};
        return out.str();
      }
  return std::nullopt;
}

// What the counts of a plan's steps have else than the program that ran.
std::optional<std::string> otherCounts(const std::vector<StepWork>& steps,
                                       const SimulateResult& run, std::int64_t frames) {
  Traffic traffic;
  std::int64_t macs = 0;
  const auto sum = [](Bytes& to, const Transfers& transfers, std::int64_t times) {
    for (const TransferCount& t : transfers) to += t.size * (t.times * times);
  };
  for (const StepWork& step : steps) {
    for (const ChannelWork& wire : step.wires)
      for (const Transfers* t : {&wire.weights, &wire.activations})
        sum(traffic.memtileToCore, *t, 1);
    for (const ChannelWork& channel : step.ddrRead)
      for (const Transfers* t : {&channel.weights, &channel.activations})
        sum(traffic.ddrRead, *t, 1);
    for (const ChannelWork& channel : step.ddrWrite) sum(traffic.ddrWrite, channel.activations, 1);
    for (const StepPlace::Whole& whole : step.reads) sum(traffic.ddrRead, {whole.rows}, 1);
    for (const StepPlace::Whole& whole : step.writes) sum(traffic.ddrWrite, {whole.rows}, 1);
    for (const CoreWork& core : step.cores)
      for (const CallWork& call : core.calls) {
        sum(traffic.coreToMemtile, call.out, call.times * core.cores);
        macs += (kernelMacs(call.kernel) + call.kernel.endMacs) * call.times * core.cores;
      }
  }
  std::ostringstream out;
  const auto differs = [&](const char* what, std::int64_t counted, std::int64_t ran) {
    counted *= frames;
    if (counted != ran) out << what << ": counted " << counted << ", ran " << ran << "\n";
  };
  differs("bytes out of DDR", traffic.ddrRead.raw(), run.traffic.ddrRead.raw());
  differs("bytes to DDR", traffic.ddrWrite.raw(), run.traffic.ddrWrite.raw());
  differs("bytes to cores", traffic.memtileToCore.raw(), run.traffic.memtileToCore.raw());
  differs("bytes from cores", traffic.coreToMemtile.raw(), run.traffic.coreToMemtile.raw());
  differs("multiply-accumulates", macs, run.macs);
  if (out.str().empty()) return std::nullopt;
  return out.str();
}

std::vector<TensorValue> shifted(std::vector<TensorValue> inputs, std::int64_t by) {
  for (TensorValue& input : inputs)
    for (std::int8_t& value : input) value = static_cast<std::int8_t>(value + by);
  return inputs;
}
std::vector<TensorValue> inputsOfFrame(std::vector<TensorValue> inputs, std::int64_t frame) {
  return shifted(std::move(inputs), 37 * frame);
}

void append(std::vector<TensorValue>& all, const std::vector<TensorValue>& more) {
  all.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i)
    all[i].insert(all[i].end(), more[i].begin(), more[i].end());
}

// The graph of which `graph` is withBatch, made from its first image alone.
CanonicalGraph firstImage(CanonicalGraph graph) {
  for (CanonicalTensor& tensor : graph.tensors) {
    tensor.shape.height /= graph.batch;
    if (!tensor.constant.empty())
      tensor.constant.resize(static_cast<std::size_t>(tensor.shape.elements()));
  }
  for (CanonicalOp& op : graph.ops) {
    auto* assemble = std::get_if<Assemble>(&op.attributes);
    if (!assemble) continue;
    const std::int64_t height = graph.tensors[op.output.at()].shape.height;
    for (AssemblePart& part : assemble->parts) {
      std::erase_if(part.mapY, [&](const AxisRun& run) { return run.to >= height; });
      for (AxisRun& run : part.mapY)
        run.count = std::min(run.count, divideRoundUp(height - run.to, run.toStep));
    }
  }
  graph.batch = 1;
  return graph;
}

// A tensor that the cores of the frame wrote otherwise than the interpreter.
std::optional<std::string> wrongTensor(const CanonicalGraph& graph, const Program& program,
                                       const SimulateResult& run, std::int64_t frame,
                                       const std::vector<TensorValue>& expected) {
  std::vector<bool> given(graph.tensors.size(), false);
  for (const Port& port : graph.inputs) given[port.tensor.at()] = true;
  for (const CanonicalOp& op : graph.ops) {
    const TensorId root = program.tensors[op.output.at()].root;
    // Channels of an input or a constant lie where those do: no core writes them.
    if (given[root.at()] || !graph.tensors[root.at()].constant.empty()) continue;
    const std::vector<std::int8_t>& written =
        run.tensors[static_cast<std::size_t>(frame) * graph.tensors.size() + root.at()];
    if (written.empty())
      return "tensor '" + graph.tensors[op.output.at()].name + "' was never written";
    if (auto d = difference(program, op.output, expected[op.output.at()], written)) return d;
  }
  return std::nullopt;
}

// Memory of full size, all wires of the paper, and no limits.
bool suffices(const Device& device) {
  return device.core.memory >= 64_KiB && device.memtile.memory >= 512_KiB &&
         device.limits == Limits{} && device.name != kOddWires;
}

// Those that balance the plan; where that needs none, all blocks that may trade places backwards.
BlockOrders otherOrders(const CanonicalGraph& graph, const Plan& plan) {
  BlockOrders orders = balancedOrders(graph, plan);
  if (!orders.empty()) return orders;
  const SharedBlocks shared = sharedBlocks(graph);
  if (shared.exchangeable.empty()) return {};
  std::vector<std::size_t> content(shared.count);
  std::iota(content.begin(), content.end(), 0);
  for (const std::vector<std::size_t>& numbers : shared.exchangeable)
    for (std::size_t i = 0; i < numbers.size(); ++i)
      content[numbers[i]] = numbers[numbers.size() - 1 - i];
  return ordersOf(shared, content);
}

// Where the device suffices, no graph may be refused.
std::optional<std::string> refusal(const Diagnostics& why, const Device& device) {
  const bool doesNotFit = std::all_of(why.begin(), why.end(), [](const Diagnostic& d) {
    return d.severity == Severity::DoesNotFit;
  });
  if (doesNotFit && !suffices(device)) return std::nullopt;
  return toText(why);
}

}  // namespace

std::vector<TensorValue> inputsOfBatch(const std::vector<TensorValue>& first, std::int64_t batch) {
  std::vector<TensorValue> all;
  for (std::int64_t image = 0; image < batch; ++image) append(all, shifted(first, 101 * image));
  return all;
}

std::vector<TensorValue> interpretImages(const CanonicalGraph& graph,
                                         const std::vector<TensorValue>& inputs) {
  if (graph.batch == 1) return interpret(graph, inputs);
  const CanonicalGraph one = firstImage(graph);
  std::vector<TensorValue> all;
  for (std::int64_t image = 0; image < graph.batch; ++image) {
    std::vector<TensorValue> ofImage;
    for (const TensorValue& input : inputs) {
      const auto size = std::ssize(input) / graph.batch;
      ofImage.emplace_back(input.begin() + image * size, input.begin() + (image + 1) * size);
    }
    append(all, interpret(one, ofImage));
  }
  return all;
}

std::optional<std::string> disprove(const CanonicalGraph& graph, const Device& device,
                                    std::uint64_t seed) {
  const std::vector<TensorValue> inputs = randomInputs(graph, seed);
  return disprove(graph, device, inputs, interpret(graph, inputs), nullptr,
                  {.effort = effortOfSeed(seed), .frames = framesOfSeed(seed)}, batchOfSeed(seed));
}

std::optional<std::string> disprove(const CanonicalGraph& graph, const Device& device,
                                    const std::vector<TensorValue>& inputs,
                                    const std::vector<TensorValue>& expected, Cycles* makespan,
                                    const PlanOptions& options, std::int64_t batch) try {
  if (const auto lines = findTableLines(graph))
    return disprove(*lines, device, inputs, expected, makespan, options, batch);
  if (fusesOperators(options) && graph.batch == 1) {
    auto planned = fuseOperators(graph);
    if (!planned) planned = joinSiblings(graph);
    if (planned) {
      if (const Diagnostics faults = verify(*planned); !faults.empty()) return toText(faults);
      return disprove(*planned, device, inputs, valuesAsPlanned(*planned, graph, expected),
                      makespan, options, batch);
    }
  }
  if (batch > 1) {
    const CanonicalGraph together = withBatch(graph, batch);
    if (const Diagnostics faults = verify(together); !faults.empty()) return toText(faults);
    if (firstImage(together) != graph) return "the first image of the batch is another network";
    const std::vector<TensorValue> all = inputsOfBatch(inputs, batch);
    return disprove(together, device, all, interpretImages(together, all), makespan, options);
  }
  Result<Plan> plan = makePlan(graph, device, options);
  if (!plan) return refusal(plan.diagnostics(), device);
  plan->frames = options.frames;
  if (const BlockOrders orders = otherOrders(graph, *plan);
      options.reorder && options.effort > 0 && !orders.empty()) {
    if (const Diagnostics faults = verify(orders, graph); !faults.empty()) return toText(faults);
    std::vector<TensorValue> inThatOrder;
    for (std::size_t t = 0; t < expected.size(); ++t)
      inThatOrder.push_back(inOrder(expected[t], graph.tensors[t].shape, orders[t]));
    PlanOptions again = options;
    again.reorder = false;
    return disprove(inOrder(graph, orders), device, inputs, inThatOrder, makespan, again);
  }
  const Result<MemoryPlan> memory = allocateMemory(graph, *plan, device);
  if (!memory) return toText(memory.diagnostics());  // what is planned has its place
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
  if (!generated) return refusal(generated.diagnostics(), device);
  const Program& program = generated->program;
  const Result<VerifiedProgram> runnable = verified(program, device);
  if (!runnable) return refusal(runnable.diagnostics(), device);
  const Result<Program> back = parseAsm(printAsm(program), "program.asm");
  if (!back) return toText(back.diagnostics());
  if (*back != program) return "the program is another once printed and parsed";
  std::vector<TensorValue> all = inputs;
  for (std::int64_t frame = 1; frame < plan.frames; ++frame) {
    const std::vector<TensorValue> more = inputsOfFrame(inputs, frame);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i].insert(all[i].end(), more[i].begin(), more[i].end());
  }
  const Result<SimulateResult> run = simulateWithData(*runnable, generated->weights, all);
  if (!run) return refusal(run.diagnostics(), device);
  if (makespan) *makespan = run->timeline.makespan;
  if (auto d = otherCounts(countWork(graph, plan, memory, device), *run, plan.frames)) return d;
  for (std::int64_t frame = 0; frame < plan.frames; ++frame) {
    const auto wrong =
        wrongTensor(graph, program, *run, frame,
                    frame == 0 ? expected : interpretImages(graph, inputsOfFrame(inputs, frame)));
    if (wrong) return "frame " + std::to_string(frame) + ": " + *wrong;
  }
  return std::nullopt;
} catch (const InternalError& error) {
  return error.what();
}

namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

void drawMemories(Random& random, Settings& settings) {
  settings.emplace_back("core.memory", std::to_string(8 * random.between(1, 3)) + " KiB");
  settings.emplace_back("memtile.memory", std::to_string(8 * random.between(2, 8)) + " KiB");
}

void drawChannels(Random& random, Settings& settings) {
  for (const char* key :
       {"core.channelsIn", "core.channelsOut", "memtile.ddrChannelsIn", "memtile.ddrChannelsOut"})
    settings.emplace_back(key, std::to_string(random.between(1, 3)));
  settings.emplace_back("core.writeMulticast", random.chance(50) ? "true" : "false");
}

void drawTimes(Random& random, Settings& settings) {
  for (const char* key :
       {"links.ddr.read", "links.ddr.write", "links.ddr.readTotal", "links.ddr.writeTotal",
        "links.wire", "links.core.write", "links.memtile.read", "links.memtile.write"})
    if (random.chance(50))
      settings.emplace_back(key, std::to_string(random.between(1, 64) * 250) + " MB/s");
  settings.emplace_back("core.pixelStep", std::to_string(random.between(1, 4)));
  settings.emplace_back("core.callOverhead", std::to_string(random.between(0, 50)) + " cycles");
  settings.emplace_back("locks.acquire", std::to_string(random.between(0, 5)) + " cycles");
}

// One or two of them, wide enough that many graphs fit.
void drawLimits(Random& random, Settings& settings) {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> kLimits = {
      {"granularity", {"2 B", "4 B", "8 B", "16 B"}},
      {"core.descriptors", {"16", "48", "200"}},
      {"core.dimensions", {"1", "2", "3"}},
      {"core.locks", {"4", "8", "16"}},
      {"memtile.descriptors", {"48", "200", "800"}},
      {"memtile.dimensions", {"1", "2", "4"}},
      {"memtile.locks", {"16", "64"}},
      {"shim.descriptors", {"16", "48"}},
      {"shim.dimensions", {"1", "3"}},
      {"lockMaximum", {"7", "63"}},
      {"recordLengths", {"1"}},
      {"locksPerDescriptor", {"1", "2", "4"}}};
  for (std::int64_t n = random.between(1, 2); n > 0; --n) {
    const auto& [limit, values] = random.pick(kLimits);
    const std::string key = "limits." + limit;
    std::erase_if(settings, [&](const auto& setting) { return setting.first == key; });
    settings.emplace_back(key, random.pick(values));
  }
}

// Some wires reach all cores instead of a column or row, some are fed by fewer memtiles, some are
// missing where another one reaches their cores.
void drawWires(Random& random, Device& device) {
  device.name = kOddWires;
  for (Wire& wire : device.wires) {
    if (random.chance(30)) wire.reach = {0, 0, device.rows, device.columns};
    while (wire.feeders.size() > 1 && random.chance(20))
      wire.feeders.erase(wire.feeders.begin() + random.between(0, std::ssize(wire.feeders) - 1));
  }
  if (device.wires.size() > 1 && random.chance(20))
    device.wires.erase(device.wires.begin() + random.between(0, std::ssize(device.wires) - 1));
}

}  // namespace

std::int64_t framesOfSeed(std::uint64_t seed) {
  return seed % 3 == 0 ? 2 + static_cast<std::int64_t>(seed / 3 % 2) : 1;
}

std::int64_t batchOfSeed(std::uint64_t seed) {
  return seed % 4 == 2 ? 2 + static_cast<std::int64_t>(seed / 4 % 4) : 1;
}

int effortOfSeed(std::uint64_t seed) {
  if (seed % 100 == 7) return 3;
  return seed % 10 == 7 ? 2 : kUsualPlanEffort;
}

Device randomDevice(std::uint64_t seed, std::int64_t mostPerSide) {
  Random random(seed ^ 0x6d657368);  // not the graph's numbers
  DeviceOverrides overrides{
      .mesh = {{random.between(1, mostPerSide), random.between(1, mostPerSide)}}};
  if (random.chance(40)) drawMemories(random, overrides.settings);
  if (random.chance(30)) drawChannels(random, overrides.settings);
  if (random.chance(30)) drawTimes(random, overrides.settings);
  if (random.chance(25)) drawLimits(random, overrides.settings);
  const std::string name = random.chance(25) ? "switched" : "paper";
  Result<Device> device = readDevice(HEDDLE_SOURCE_DIR "/hw_configs/" + name + ".yaml", overrides);
  HEDDLE_CHECK(device) << toText(device.diagnostics());
  if (random.chance(20)) drawWires(random, *device);
  return *device;
}

}  // namespace heddle::property
