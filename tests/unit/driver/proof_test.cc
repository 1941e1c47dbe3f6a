#include "heddle/driver/proof.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>

#include "../graphs.h"
#include "heddle/driver/port_values.h"
#include "heddle/interp/interpret.h"
#include "heddle/planner/make_plan.h"
#include "heddle/program/generate.h"

namespace heddle {
namespace {

// Two convolutions, 1x1 and 3x3, of 16x16x16 on 2x2 cores: column c owns 8 pixels of a row, row r 8
// of the 16 channels.
class ProofTest : public ::testing::Test {
 protected:
  ProofTest() {
    testing::GraphBuilder builder("two");
    const TensorId x = builder.input("x", {16, 16, 16});
    const TensorId y = builder.conv("first", x, 16, {});
    const Window window{
        .kernelY = 3, .kernelX = 3, .padTop = 1, .padLeft = 1, .padBottom = 1, .padRight = 1};
    graph = builder.finish(builder.conv("second", y, 16, window));
    for (CanonicalOp& op : graph.ops)  // so that sums of random numbers fill a byte
      std::get<Conv>(op.attributes).requantize.assign(16, makeMultiplier(1.0 / 16));
    const Plan plan = *makePlan(graph, device, {.effort = 0});
    const MemoryPlan memory = *allocateMemory(graph, plan, device);
    generated = *generateProgram(graph, plan, memory, device);
    const Shape shape = graph.tensors[0].shape;
    const ProgramInputs inputs{randomValues(shape, 1, 0)};
    expected = interpret(graph, inputs);
  }

  SimulateResult executed() const {
    const ProgramInputs inputs{expected[graph.inputs[0].tensor.at()]};
    Result<SimulateResult> result =
        simulateWithData(*verified(generated.program, device), generated.weights, inputs);
    EXPECT_TRUE(result) << result.diagnostics();
    return std::move(*result);
  }
  Proof proofOf(const SimulateResult& result) const {
    return proofOf(result, expected[graph.outputs[0].tensor.at()]);
  }
  Proof proofOf(const SimulateResult& result, const TensorValue& output) const {
    return compareWithInterpreter(graph, generated.program, result, expected,
                                  std::vector<TensorValue>{output});
  }

  Device device = *readDevice("paper", {.mesh = {{2, 2}}, .settings = {}});
  CanonicalGraph graph;
  GeneratedProgram generated;
  std::vector<std::vector<std::int8_t>> expected;  // of every tensor, in order Y, X, C
};

TEST_F(ProofTest, AProgramThatComputesWhatTheInterpreterDoesMatches) {
  const Proof proof = proofOf(executed());
  EXPECT_EQ(proof.faults, Diagnostics{});
  EXPECT_TRUE(proof.verification.ran && proof.verification.matches);
  EXPECT_EQ(proof.verification.tensorsCompared, 3);  // both layers, and the output in DDR
  EXPECT_EQ(proof.verification.bytesCompared, 3 * 16 * 16 * 16);
}

TEST_F(ProofTest, AByteThatDiffersIsTracedToItsLayerCoreAndAddress) {
  SimulateResult result = executed();
  const TensorId y = graph.ops[0].output;
  const std::size_t blocked = (((3 * 2) + 1) * 16 + 9) * 8 + 5, flat = (3 * 16 + 9) * 16 + 13;
  result.tensors[y.at()][blocked] ^= 1;
  const Proof proof = proofOf(result);
  EXPECT_FALSE(proof.verification.matches);
  EXPECT_EQ(proof.verification.mismatches, 1);
  ASSERT_EQ(proof.faults.size(), 1U);
  const Diagnostic& fault = proof.faults[0];
  EXPECT_EQ(fault.code, "VER001");
  EXPECT_EQ(static_cast<int>(fault.severity), 70);  // the exit status
  EXPECT_EQ(fault.where, "two, layer 'first' (Conv)");
  const int value = expected[y.at()][flat];
  const std::string begin = "tensor 'first_out', first at y 3, x 9, channel 13: expected " +
                            std::to_string(value) + ", got " + std::to_string(value ^ 1) +
                            "; core (1,1) address ";
  EXPECT_TRUE(fault.what.starts_with(begin)) << fault.what << "\nand not " << begin;
  // Column 1 holds x 8..15 of every row, and of a row both blocks of 8 channels.
  const Slice& slice = generated.program.tensors[y.at()].slices.at(1);
  const std::int64_t address = slice.address + ((3 * 2 + 1) * 8 + (9 - 8)) * 8 + 5;
  const std::string end =
      ", memtile 1 address " + std::to_string(address) + "; 1 of 4096 bytes differ";
  EXPECT_TRUE(fault.what.ends_with(end)) << fault.what << "\nand not " << end;
}

TEST_F(ProofTest, AnOutputIsHeldAgainstWhatItShallBe) {
  TensorValue output = expected[graph.outputs[0].tensor.at()];
  output[5] ^= 1;  // another network's
  const Proof proof = proofOf(executed(), output);
  EXPECT_EQ(proof.verification.mismatches, 1);
  ASSERT_EQ(proof.faults.size(), 1U);
  EXPECT_EQ(proof.faults[0].where, "two, output 'output' in DDR");
}

TEST_F(ProofTest, AWrongWeightIsFoundInItsLayerAndInWhatReadsIt) {
  constexpr std::size_t kFirstWeight = 8;  // behind gamma of the first record
  generated.weights.bytes[kFirstWeight] ^= 64;
  const Proof proof = proofOf(executed());
  ASSERT_EQ(proof.faults.size(), 3U);
  EXPECT_EQ(proof.faults[0].where, "two, layer 'first' (Conv)");
  EXPECT_EQ(proof.faults[1].where, "two, layer 'second' (Conv)");
  EXPECT_EQ(proof.faults[2].where, "two, output 'output' in DDR");
}

}  // namespace
}  // namespace heddle
