#include "subjects.h"

#include <algorithm>
#include <utility>

#include "graphs.h"
#include "heddle/canon/batch.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/make_plan.h"
#include "heddle/program/generate.h"
#include "heddle/support/check.h"
#include "masked_conv.h"
#include "program_builder.h"
#include "random_graph.h"

namespace heddle::mutation {
Subject compiled(CanonicalGraph graph, Device device, std::uint64_t seed, std::int64_t frames,
                 std::int64_t batch) {
  Subject s{{}, std::move(device), {}, property::randomInputs(graph, seed)};
  for (std::int64_t inference = 1; inference < frames * batch; ++inference) {
    const ProgramInputs more =
        property::randomInputs(graph, seed + static_cast<std::uint64_t>(inference));
    for (std::size_t i = 0; i < more.size(); ++i)
      s.inputs[i].insert(s.inputs[i].end(), more[i].begin(), more[i].end());
  }
  graph = withBatch(std::move(graph), batch);
  Result<Plan> plan = makePlan(graph, s.device);
  plan->frames = frames;
  Result<MemoryPlan> memory = allocateMemory(graph, *plan, s.device);
  Result<GeneratedProgram> made = generateProgram(graph, *plan, *memory, s.device);
  s.program = std::move(made->program);
  s.weights = std::move(made->weights);
  return s;
}

Result<SimulateResult> Subject::run() const {
  return simulateWithData(*verified(program, device), weights, inputs);
}

Subject generated(std::uint64_t seed, std::int64_t rows, std::int64_t columns, std::int64_t frames,
                  std::int64_t batch) {
  const CanonicalGraph graph =
      property::makeRandomGraph({.seed = seed, .ops = 3, .maxElements = 6000, .maxMacs = 500'000});
  return compiled(graph, testing::paperLike(rows, columns), seed, frames, batch);
}

Subject withAFusedSum(std::int64_t rows, std::int64_t columns) {
  testing::GraphBuilder b("sum");
  const TensorId x = b.input("x", {9, 10, 40}),
                 inner = b.conv("inner", x, 24, testing::square(3, 1, 1)),
                 outer = b.conv("outer", inner, 40, testing::square(1));
  const auto fused = fuseOperators(b.finish(b.add("sum", x, outer)));
  Device device = testing::paperLike(rows, columns);
  device.core.memory = 8_KiB;
  return compiled(*fused, device, 1);
}

Subject withADepthwiseEnd(std::int64_t rows, std::int64_t columns) {
  testing::GraphBuilder b("depthwise");
  const TensorId inner = b.conv("inner", b.input("x", {9, 10, 40}), 72, testing::square(1)),
                 outer = b.depthwise("outer", b.table("first", inner), testing::square(3, 1, 1));
  const auto fused = fuseOperators(b.finish(b.table("second", outer)));
  Device device = testing::paperLike(rows, columns);
  device.core.memory = 8_KiB;
  return compiled(*fused, device, 1);
}

Subject withSlices(std::int64_t rows, std::int64_t columns, Bytes memtile) {
  testing::GraphBuilder b("slices");
  const TensorId x = b.input("x", {10, 9, 24}),
                 inner = b.conv("inner", x, 40, testing::square(3, 1, 1)),
                 outer = b.conv("outer", inner, 24, testing::square(1, 2)),
                 beside = b.conv("beside", x, 24, testing::square(1, 2));
  const auto fused = fuseOperators(b.finish(b.add("sum", outer, beside)));
  Device device = testing::paperLike(rows, columns);
  device.memtile.memory = memtile;
  Subject subject = compiled(*fused, device, 1);
  HEDDLE_CHECK(std::ranges::count_if(subject.program.tensors, [](const ProgramTensor& t) {
                 return t.sampling.has_value();
               }) == 2);
  return subject;
}

std::vector<Subject> sparseSubjects(std::int64_t padding) {
  std::vector<Subject> subjects;
  Device small = testing::paperLike(3, 2);
  small.core.memory = 8_KiB;
  const property::MaskedConv one({.inputs = 64 - padding, .outputs = 80 - padding}, 1),
      three({.inputs = 40 - padding, .outputs = 56 - padding, .kernel = 3, .weightZeros = true}, 2),
      cut({.inputs = 304 - padding, .outputs = 48 - padding}, 3);
  const std::vector<std::pair<const property::MaskedConv*, Device>> convolutions{
      {&one, testing::paperLike(2, 2)}, {&three, testing::paperLike(3, 1)}, {&cut, small}};
  for (const auto& [conv, device] : convolutions) {
    const std::vector<property::MaskChain> chains =
        property::maskChains(conv->outputBlocks(), conv->inputBlocks(), device.rows, 1);
    const Bits &half = chains.front().masks.at(4), &quarter = chains.front().masks.at(5);
    for (const Bits* mask : {&half, &quarter, &chains.back().masks.at(1)})
      subjects.push_back(compiled(conv->under(*mask), device, 1));
  }
  return subjects;
}

}  // namespace heddle::mutation
