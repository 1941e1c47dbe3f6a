#include "masked_conv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "heddle/interp/interpret.h"
#include "heddle/machine/machine.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/make_plan.h"
#include "heddle/program/generate.h"
#include "heddle/sparsity/kept_blocks.h"
#include "heddle/support/check.h"
#include "prove.h"
#include "random.h"
#include "random_graph.h"

namespace heddle::property {
namespace {

CanonicalTensor tensorOf(const char* name, const Shape& shape, std::int8_t zero) {
  CanonicalTensor tensor;
  tensor.name = name;
  tensor.shape = shape;
  tensor.scale = 0.05;
  tensor.zeroPoint = zero;
  return tensor;
}

Port portOf(const CanonicalGraph& graph, TensorId id) {
  const CanonicalTensor& t = graph.tensors[id.at()];
  const std::vector<std::int64_t> shape{1, t.shape.channels, t.shape.height, t.shape.width};
  return {.name = t.name,
          .tensor = id,
          .type = ElementType::Int8,
          .shape = shape,
          .view = shape,
          .axes = "NCHW"};
}

std::int8_t weightUnlike(std::int8_t zero, Random& random) {
  const std::int8_t weight = random.int8();
  return weight != zero ? weight : static_cast<std::int8_t>(zero == 127 ? -128 : zero + 1);
}

using Kept = std::function<bool(std::int64_t output, std::int64_t input)>;

Bits maskOf(std::int64_t outputs, std::int64_t inputs, const Kept& kept) {
  Bits mask(outputs * inputs);
  for (std::int64_t b = 0; b < outputs; ++b)
    for (std::int64_t a = 0; a < inputs; ++a)
      if (kept(b, a)) mask.set(b * inputs + a);
  return mask;
}

Cycles cyclesOf(const CanonicalGraph& graph, const Device& device) {
  const Result<Plan> plan = makePlan(graph, device);
  HEDDLE_CHECK(plan) << toText(plan.diagnostics());
  const Result<MemoryPlan> memory = allocateMemory(graph, *plan, device);
  HEDDLE_CHECK(memory) << toText(memory.diagnostics());
  const Result<GeneratedProgram> made = generateProgram(graph, *plan, *memory, device);
  HEDDLE_CHECK(made) << toText(made.diagnostics());
  const Result<SimulateResult> run =
      simulateTime(*verified(made->program, device), {.recordTimeline = false});
  HEDDLE_CHECK(run) << toText(run.diagnostics());
  return run->timeline.makespan;
}

// The densities of one order in which blocks go.
MaskChain byDensity(std::int64_t blocks, Random& random) {
  static constexpr std::array kPercent = {100, 99, 90, 75, 50, 25, 10, 5, 1, 0};
  std::vector<std::int64_t> order(static_cast<std::size_t>(blocks));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = blocks - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)],
              order[static_cast<std::size_t>(random.between(0, i))]);
  MaskChain chain{"densities", {}};
  for (const int percent : kPercent) {
    Bits mask(blocks);
    for (std::int64_t i = 0; i < divideRoundUp(blocks * percent, 100); ++i)
      mask.set(order[static_cast<std::size_t>(i)]);
    if (chain.masks.empty() || mask != chain.masks.back()) chain.masks.push_back(std::move(mask));
  }
  return chain;
}

}  // namespace

MaskedConv::MaskedConv(const ConvShape& shape, std::uint64_t seed) : shape_(shape) {
  Random random(seed);
  const std::int64_t pad = shape.kernel / 2;
  const Shape input{shape.height, shape.width, shape.inputs};
  const Shape output{(shape.height + 2 * pad - shape.kernel) / shape.stride + 1,
                     (shape.width + 2 * pad - shape.kernel) / shape.stride + 1, shape.outputs};
  dense_.name = "masked";
  dense_.tensors = {tensorOf("x", input, random.int8(-9, 9)),
                    tensorOf("y", output, random.int8(-40, 40))};
  Conv conv;
  conv.window = {shape.kernel, shape.kernel, shape.stride, shape.stride, 1, 1, pad, pad, pad, pad};
  const std::int64_t taps = shape.kernel * shape.kernel * shape.inputs;
  // Sums of so many products of two uniform int8, their zero points small, have about this
  // deviation; outputs then have 45, so that few saturate.
  const double spread = std::sqrt(static_cast<double>(taps)) * 74 * 74;
  for (std::int64_t c = 0; c < shape.outputs; ++c) {
    conv.weightZero.push_back(shape.weightZeros ? random.int8(-9, 9) : std::int8_t{0});
    conv.bias.push_back(static_cast<std::int32_t>(random.real(-spread / 2, spread / 2)));
    conv.requantize.push_back(makeMultiplier(45 / spread));
    for (std::int64_t i = 0; i < taps; ++i)
      conv.weights.own().push_back(weightUnlike(conv.weightZero.back(), random));
  }
  dense_.ops.push_back({"conv", "Conv", {TensorId(0)}, TensorId(1), std::move(conv)});
  dense_.inputs = {portOf(dense_, TensorId(0))};
  dense_.outputs = {portOf(dense_, TensorId(1))};
}

std::int64_t MaskedConv::outputBlocks() const { return divideRoundUp(shape_.outputs, kBlock); }
std::int64_t MaskedConv::inputBlocks() const { return divideRoundUp(shape_.inputs, kBlock); }

CanonicalGraph MaskedConv::under(const Bits& mask) const {
  CanonicalGraph graph = dense_;
  Conv& conv = std::get<Conv>(graph.ops[0].attributes);
  const std::int64_t taps = shape_.kernel * shape_.kernel * shape_.inputs;
  for (std::int64_t i = 0; i < std::ssize(conv.weights); ++i) {
    const std::int64_t output = i / taps, input = i % shape_.inputs;
    if (!mask[output / kBlock * inputBlocks() + input / kBlock])
      conv.weights.own()[static_cast<std::size_t>(i)] =
          conv.weightZero[static_cast<std::size_t>(output)];
  }
  findKeptBlocks(graph);
  const Bits& kept = std::get<Conv>(graph.ops[0].attributes).kept;
  HEDDLE_CHECK(kept == mask || (kept.size() == 0 && mask.count() == mask.size()))
      << "the blocks that are kept are not those of the mask";
  return graph;
}

std::vector<MaskChain> maskChains(std::int64_t outputs, std::int64_t inputs, std::int64_t cores,
                                  std::uint64_t seed) {
  Random random(seed);
  const std::int64_t row = random.between(0, outputs - 1), column = random.between(0, inputs - 1);
  const std::int64_t share = divideRoundUp(outputs, cores);
  const auto mask = [&](const Kept& kept) { return maskOf(outputs, inputs, kept); };
  const Bits all(outputs * inputs, true), none(outputs * inputs);
  const Bits single = mask([&](auto b, auto a) { return b == row && a == column; });
  const auto to = [&](const char* name, const Kept& kept) {
    return MaskChain{name, {all, mask(kept), single, none}};
  };
  return {byDensity(outputs * inputs, random),
          to("a block row", [&](auto b, auto) { return b == row; }),
          to("a block column", [&](auto, auto a) { return a == column; }),
          to("a core's", [&](auto b, auto) { return b / share == row / share; }),
          to("checkerboard", [&](auto b, auto a) { return (a + b) % 2 == (row + column) % 2; })};
}

std::optional<std::string> disprove(const MaskedConv& conv, const MaskChain& chain,
                                    const Device& device, std::uint64_t seed,
                                    std::vector<Cycles>& cycles, const PlanOptions& options) {
  cycles.clear();
  for (const Bits& mask : chain.masks) {
    const CanonicalGraph graph = conv.under(mask);
    const std::vector<TensorValue> inputs = randomInputs(graph, seed);
    Cycles& makespan = cycles.emplace_back();
    std::optional<std::string> fault =
        disprove(graph, device, inputs, interpret(graph, inputs), &makespan, options);
    if (!fault && makespan == Cycles(0)) fault = "the device does not suffice";
    if (fault)
      return chain.name + ", " + std::to_string(mask.count()) + " of " +
             std::to_string(mask.size()) + " blocks: " + *fault;
  }
  return std::nullopt;
}

std::vector<Cycles> cyclesOf(const MaskedConv& conv, const MaskChain& chain, const Device& device) {
  std::vector<Cycles> cycles;
  for (const Bits& mask : chain.masks) cycles.push_back(cyclesOf(conv.under(mask), device));
  return cycles;
}

Slowdown worstSlowdown(const MaskChain& chain, const std::vector<Cycles>& cycles) {
  Slowdown worst;
  for (std::size_t quickest = 0, i = 1; i < cycles.size(); ++i) {
    const std::int64_t permille = cycles[i].raw() * 1000 / cycles[quickest].raw();
    if (permille > worst.permille)
      worst = {permille, chain.name + ": " + std::to_string(chain.masks[i].count()) + " of " +
                             std::to_string(chain.masks[i].size()) + " blocks take " +
                             std::to_string(cycles[i].raw()) + " cycles, " +
                             std::to_string(chain.masks[quickest].count()) + " take " +
                             std::to_string(cycles[quickest].raw())};
    if (cycles[i] < cycles[quickest]) quickest = i;
  }
  return worst;
}

}  // namespace heddle::property
