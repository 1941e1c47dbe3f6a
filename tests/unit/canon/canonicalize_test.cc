#include "heddle/canon/canonicalize.h"

#include <gtest/gtest.h>

#include <array>

#include "../onnx/model_builder.h"
#include "heddle/interp/interpret.h"

namespace heddle {
namespace {

Canonicalized lowered(const ModelBuilder& m) {
  const Result<Graph> graph = m.import();
  EXPECT_TRUE(graph) << graph.diagnostics();
  Result<Canonicalized> canonical = canonicalize(*graph);
  EXPECT_TRUE(canonical) << canonical.diagnostics();
  return canonical ? std::move(*canonical) : Canonicalized{};
}

Diagnostic refusal(const ModelBuilder& m) {
  const Result<Graph> graph = m.import();
  EXPECT_TRUE(graph) << graph.diagnostics();
  const Result<Canonicalized> canonical = canonicalize(*graph);
  EXPECT_FALSE(canonical);
  return canonical ? Diagnostic{} : canonical.diagnostics().front();
}

TEST(Canonicalize, ReluBecomesTheClampOfItsConvolution) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 2, 4, 4}), 0.5F);
  const std::string y = m.op("Conv", {x, m.weights({1, 2, 1, 1}, {3, -4}, 0.25F)});
  m.output(m.requantized(m.op("Relu", {y}), 1.F, -10));
  const Canonicalized network = lowered(m);
  ASSERT_EQ(network.graph.ops.size(), 1U);
  const auto& conv = std::get<Conv>(network.graph.ops[0].attributes);
  EXPECT_EQ(conv.weights, (std::vector<std::int8_t>{3, -4}));
  EXPECT_EQ(conv.requantize[0], makeMultiplier(0.125));
  EXPECT_EQ(conv.clamp, (Clamp{-10, 127}));
}

TEST(Canonicalize, LeakyReluBecomesASecondMultiplier) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 1, 4, 4}), 0.5F);
  auto& leaky = m.node("LeakyRelu", {m.op("Conv", {x, m.weights({1, 1, 1, 1}, {3}, 0.5F)})});
  ModelBuilder::set(leaky, "alpha", 0.25F);
  m.output(m.requantized(leaky.output(0), 1.F));
  const Canonicalized network = lowered(m);
  const auto& conv = std::get<Conv>(network.graph.ops.at(0).attributes);
  EXPECT_EQ(conv.requantize[0], makeMultiplier(0.25));
  EXPECT_EQ(conv.requantizeNegative.at(0), makeMultiplier(0.0625));
}

// [C, Y, X] as the row of a Gemm is [Y, X, C] as the kernel of a convolution.
TEST(Canonicalize, AGemmOfAFlattenedImageIsAConvolutionOfTheWholeImage) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 2, 1, 2}), 1.F);
  const std::string pooled = m.requantized(m.op("MaxPool", {x}, "kernel_shape", Dims{1, 1}), 1.F);
  const std::string flat = m.op("Flatten", {pooled});
  m.output(m.requantized(m.op("MatMul", {flat, m.weights({4, 1}, {1, 2, 3, 4}, 1.F)}), 1.F));
  const Canonicalized network = lowered(m);
  const auto& conv = std::get<Conv>(network.graph.ops.at(1).attributes);
  EXPECT_EQ(conv.window.kernelX, 2);
  EXPECT_EQ(conv.weights, (std::vector<std::int8_t>{1, 3, 2, 4}));
}

TEST(Canonicalize, OneBiasForAllColumnsCountsInUnitsOfEach) {
  ModelBuilder m;
  const std::string s = m.scalar(1.F), z = m.zero();
  const std::string x = m.input("x", {1, 2}, onnx::TensorProto::INT8);
  const std::string w = m.constant({2, 3}, std::vector<std::int8_t>{1, 2, 3, 4, 5, 6});
  const std::string scales = m.floats({3}, {0.25F, 0.5F, 4.F});
  const std::string zeros = m.constant({3}, std::vector<std::int8_t>{0, 0, 0});
  const std::string c = m.constant({1}, std::vector<std::int32_t>{7});
  m.output(m.microsoft("QGemm", {x, s, z, w, scales, zeros, c, s, z}));
  const Canonicalized network = lowered(m);
  const auto& conv = std::get<Conv>(network.graph.ops.at(0).attributes);
  EXPECT_EQ(conv.bias, (std::vector<std::int32_t>{7, 7, 7}));
}

// In ONNX Runtime's QGemm the scales are of B's columns as it multiplies, transposed or not.
TEST(Canonicalize, ScalesOfATransposedQGemmBelongToItsOutputs) {
  for (const bool transposed : {false, true}) {
    ModelBuilder m;
    const std::string s = m.scalar(1.F), z = m.zero();
    const std::string x = m.input("x", {1, 2}, onnx::TensorProto::INT8);
    const std::string w = m.constant(transposed ? Dims{3, 2} : Dims{2, 3},
                                     transposed ? std::vector<std::int8_t>{1, 4, 2, 5, 3, 6}
                                                : std::vector<std::int8_t>{1, 2, 3, 4, 5, 6});
    const std::string scales = m.floats({3}, {0.25F, 0.5F, 4.F});
    const std::string zeros = m.constant({3}, std::vector<std::int8_t>{0, 1, 2});
    auto& node = m.node("QGemm", {x, s, z, w, scales, zeros, "", s, z});
    node.set_domain("com.microsoft");
    ModelBuilder::set(node, "transB", std::int64_t{transposed});
    m.output(node.output(0));
    const Canonicalized network = lowered(m);
    const std::vector<TensorValue> inputs{{8, 8}};
    EXPECT_EQ(interpret(network.graph, inputs).back(),
              (TensorValue{10, 20, 127}))  // 0.25 (1 + 4) 8, 0.5 (1 + 4) 8, 4 (1 + 4) 8
        << transposed;
  }
}

TEST(Canonicalize, UnsignedTensorsAreStoredMinus128) {
  ModelBuilder m;
  const std::string zero = m.constant({}, std::vector<std::uint8_t>{130});
  const std::string scale = m.scalar(0.5F);
  const std::string q = m.op("QuantizeLinear", {m.input("x", {1, 3}), scale, zero});
  m.output(m.op("DequantizeLinear", {q, scale, zero}));
  const Canonicalized network = lowered(m);
  EXPECT_EQ(network.graph.tensors.at(0).zeroPoint, 2);
  EXPECT_TRUE(network.graph.tensors[0].fromUint8);
}

TEST(Canonicalize, ConcatRequantizesEachOperandByATable) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 1, 2, 2}), 1.F);
  const std::string halved = m.requantized(m.op("Mul", {x, m.scalar(0.5F)}), 0.5F);
  m.output(m.requantized(m.op("Concat", {x, halved}, "axis", std::int64_t{1}), 1.F));
  const Canonicalized network = lowered(m);
  const auto& assemble = std::get<Assemble>(network.graph.ops.back().attributes);
  ASSERT_EQ(assemble.parts.size(), 2U);
  EXPECT_FALSE(assemble.parts[0].table);
  ASSERT_TRUE(assemble.parts[1].table);
  EXPECT_EQ((*assemble.parts[1].table)[3 + 128], 2);  // 1.5 rounds to even
}

TEST(Canonicalize, PaddingOfZeroFoldsIntoTheConvolution) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 1, 4, 4}), 1.F);
  const std::string wide =
      m.requantized(m.op("Pad", {x, m.integers({0, 0, 1, 0, 0, 0, 0, 1})}), 1.F);
  m.output(m.requantized(m.op("Conv", {wide, m.weights({1, 1, 2, 2}, {1, 1, 1, 1}, 1.F)}), 1.F));
  const Canonicalized network = lowered(m);
  ASSERT_EQ(network.graph.ops.size(), 1U);
  const Window& window = std::get<Conv>(network.graph.ops[0].attributes).window;
  EXPECT_EQ(window.padTop, 1);
  EXPECT_EQ(window.padRight, 1);
}

struct Transposition {
  Dims image;        // C, H, W
  Dims permutation;  // of N, C, H, W
  friend void PrintTo(const Transposition& t, std::ostream* out) {
    *out << ::testing::PrintToString(t.image) << " by " << ::testing::PrintToString(t.permutation);
  }
};
class LargeTranspositions : public ::testing::TestWithParam<Transposition> {};

// By one Assemble it would take a part for each pair of a row and a column.
TEST_P(LargeTranspositions, GoTwoStepsOfFewParts) {
  const auto& [image, permutation] = GetParam();
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, image[0], image[1], image[2]}), 1.F);
  const std::string before = m.requantized(m.op("MaxPool", {x}, "kernel_shape", Dims{1, 1}), 1.F);
  const std::string turned = m.requantized(m.op("Transpose", {before}, "perm", permutation), 1.F);
  m.output(m.requantized(m.op("MaxPool", {turned}, "kernel_shape", Dims{1, 1}), 1.F));
  const CanonicalGraph graph = lowered(m).graph;

  std::size_t parts = 0;
  for (const CanonicalOp& op : graph.ops)
    if (const auto* assemble = std::get_if<Assemble>(&op.attributes))
      parts += assemble->parts.size();
  EXPECT_GT(parts, 0U);
  EXPECT_LE(parts, 400U);

  const Shape& from = graph.tensors[graph.inputs[0].tensor.at()].shape;
  const Shape& to = graph.tensors[graph.outputs[0].tensor.at()].shape;
  TensorValue input;
  for (std::int64_t i = 0; i < from.elements(); ++i)
    input.push_back(static_cast<std::int8_t>(i * 7 + i / 251));
  const TensorValue output =
      interpret(graph, std::vector<TensorValue>{input})[graph.outputs[0].tensor.at()];
  for (std::int64_t y = 0; y < to.height; ++y)
    for (std::int64_t x1 = 0; x1 < to.width; ++x1)
      for (std::int64_t c = 0; c < to.channels; ++c) {
        const std::array<std::int64_t, 4> at{0, c, y, x1};
        std::array<std::int64_t, 4> source{};
        for (std::size_t i = 0; i < 4; ++i)
          source[static_cast<std::size_t>(permutation[i])] = at[i];
        ASSERT_EQ(output[static_cast<std::size_t>((y * to.width + x1) * to.channels + c)],
                  input[static_cast<std::size_t>(
                      (source[2] * from.width + source[3]) * from.channels + source[1])])
            << "row " << y << ", column " << x1 << ", channel " << c;
      }
}

INSTANTIATE_TEST_SUITE_P(
    Canonicalize, LargeTranspositions,
    ::testing::Values(Transposition{{3, 48, 64}, {0, 1, 3, 2}},   // rows and columns
                      Transposition{{3, 37, 41}, {0, 1, 3, 2}},   // of prime extents
                      Transposition{{40, 2, 33}, {0, 3, 2, 1}},   // columns and channels
                      Transposition{{36, 64, 2}, {0, 2, 1, 3}},   // rows and channels
                      Transposition{{12, 12, 12}, {0, 2, 3, 1}},  // all three around
                      Transposition{{2, 200, 200}, {0, 1, 3, 2}}));

TEST(Canonicalize, FunctionsOfOneTensorAreOneTable) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 3}), 0.25F);
  m.output(m.requantized(m.op("Mul", {x, m.op("Sigmoid", {x})}), 0.25F));
  const Canonicalized network = lowered(m);
  ASSERT_EQ(network.graph.ops.size(), 1U);
  // 1 * sigmoid(1) = 0.731 is 3 quarters.
  EXPECT_EQ(std::get<Table>(network.graph.ops[0].attributes).tables.at(0)[4 + 128], 3);
}

// As quantizers write SiLU: the gate is rounded, too.
TEST(Canonicalize, ATensorAndATableOfItAreOneTable) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 3}), 0.25F);
  const std::string gate = m.requantized(m.op("Sigmoid", {x}), 0.5F);
  m.output(m.requantized(m.op("Mul", {gate, x}), 0.25F));
  const Canonicalized network = lowered(m);
  ASSERT_EQ(network.graph.ops.size(), 1U);
  // sigmoid(1) = 0.731 is 1 half, which times 1 is 2 quarters: both roundings are in it.
  EXPECT_EQ(std::get<Table>(network.graph.ops[0].attributes).tables.at(0)[4 + 128], 2);
}

// x times, plus or less what its channels are on average, which squeeze-and-excitation does: the
// one pixel is operand b and is not copied to all others.
TEST(Canonicalize, OnePixelOfAnOperatorWithTwoOperandsIsTheSecond) {
  for (const char* kind : {"Mul", "Add", "Sub"})
    for (const bool first : {false, true}) {
      ModelBuilder m;
      const std::string x = m.requantized(m.input("x", {1, 3, 4, 5}), 0.25F);
      const std::string pixel = m.requantized(m.op("GlobalAveragePool", {x}), 0.25F);
      const ModelBuilder::Names operands =
          first ? ModelBuilder::Names{pixel, x} : ModelBuilder::Names{x, pixel};
      m.output(m.requantized(m.op(kind, operands), 0.5F));
      const CanonicalGraph graph = lowered(m).graph;
      const CanonicalOp& op = graph.ops.back();
      const bool isCopied = first && std::string(kind) == "Sub";  // a difference is of its second
      EXPECT_EQ(graph.ops.size(), isCopied ? 3U : 2U) << kind;
      EXPECT_EQ(isBroadcast(graph, op, 1), !isCopied) << kind;
      EXPECT_FALSE(isBroadcast(graph, op, 0));
      EXPECT_EQ(graph.tensors[op.inputs[0].at()].shape, (Shape{4, 5, 3}));
      EXPECT_EQ(graph.tensors[op.inputs[1].at()].shape,
                isCopied ? (Shape{4, 5, 3}) : (Shape{1, 1, 3}));
    }
}

// One value for each pixel, or one for each row: copied as before.
TEST(Canonicalize, WhatIsNotOnePixelOfAllChannelsIsCopied) {
  for (const Dims& shape : {Dims{1, 1, 4, 5}, Dims{1, 3, 4, 1}, Dims{1, 1, 1, 1}}) {
    ModelBuilder m;
    const std::string x = m.requantized(m.input("x", {1, 3, 4, 5}), 0.25F);
    const std::string other = m.requantized(m.input("other", shape), 0.25F);
    m.output(m.requantized(m.op("Mul", {x, other}), 0.5F));
    const CanonicalGraph graph = lowered(m).graph;
    ASSERT_EQ(graph.ops.size(), 2U);
    EXPECT_EQ(graph.ops[0].kind(), OpKind::Assemble);
    EXPECT_FALSE(isBroadcast(graph, graph.ops[1], 1));
  }
}

TEST(Canonicalize, ATableOfATableIsOneWhereNobodyElseReadsThat) {
  for (const bool isRead : {false, true}) {
    ModelBuilder m;
    const std::string x = m.requantized(m.input("x", {1, 3}), 0.25F);
    const std::string first = m.requantized(m.op("Tanh", {x}), 0.5F);
    m.output(m.requantized(m.op("HardSigmoid", {first}), 0.125F));
    if (isRead) m.output(first);
    const Canonicalized network = lowered(m);
    ASSERT_EQ(network.graph.ops.size(), isRead ? 2U : 1U);
    for (const CanonicalOp& op : network.graph.ops)
      EXPECT_EQ(op.inputs.at(0), network.graph.inputs.at(0).tensor);
    // tanh(1) = 0.762 is 2 halves; 0.2 * 1 + 0.5 = 0.7 is 5.6 eighths.
    EXPECT_EQ(std::get<Table>(network.graph.ops.back().attributes).tables.at(0)[4 + 128], 6);
  }
}

// 256 bytes, where one for each channel would be as many times that.
TEST(Canonicalize, OneTableReadsWhatTablesForEachChannelWrite) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 3}), 0.25F);
  const std::string sloped = m.requantized(
      m.op("PRelu", {x, m.constant({3}, std::vector<float>{0.5F, 0.25F, 0.F})}), 0.5F);
  m.output(m.requantized(m.op("HardSigmoid", {sloped}), 0.125F));
  const Canonicalized network = lowered(m);
  ASSERT_EQ(network.graph.ops.size(), 2U);
  EXPECT_EQ(std::get<Table>(network.graph.ops[0].attributes).tables.size(), 3U);
  EXPECT_EQ(std::get<Table>(network.graph.ops[1].attributes).tables.size(), 1U);
  EXPECT_EQ(network.graph.ops[1].inputs.at(0), network.graph.ops[0].output);
}

TEST(Canonicalize, FloatOperatorsAtTheEndsStayOnTheHost) {
  ModelBuilder m;
  const std::string x = m.op("Sub", {m.input("image", {1, 4}), m.scalar(0.5F)});
  const std::string y = m.requantized(m.op("Relu", {m.requantized(x, 0.25F)}), 0.25F);
  m.output(m.op("Softmax", {y}));
  const Canonicalized network = lowered(m);
  ASSERT_EQ(network.hostBefore.nodes.size(), 1U);
  EXPECT_EQ(network.hostBefore.nodes[0].opType, "Sub");
  ASSERT_EQ(network.hostAfter.nodes.size(), 1U);
  EXPECT_EQ(network.hostAfter.nodes[0].opType, "Softmax");
  EXPECT_EQ(network.graph.inputs.at(0).name, x);
  EXPECT_EQ(network.graph.outputs.at(0).name, y);
}

TEST(Canonicalize, AllThatLacksAQuantizationIsNamedAtOnce) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 4}), 0.25F);
  const std::string a =
      m.op("MatMul", {x, m.weights({4, 4}, std::vector<std::int8_t>(16, 1), 1.F)});
  const std::string b =
      m.op("MatMul", {m.op("Tanh", {a}), m.weights({4, 4}, std::vector<std::int8_t>(16, 1), 1.F)});
  m.output(b);
  const Diagnostic refused = refusal(m);
  EXPECT_EQ(refused.code, "CANON001");
  EXPECT_NE(refused.what.find("'MatMul_4' (MatMul): no QuantizeLinear rounds its result"),
            std::string::npos)
      << refused.what;
  EXPECT_NE(refused.what.find("'Tanh_5' (Tanh)"), std::string::npos) << refused.what;
}

TEST(Canonicalize, ABatchOfImagesIsRefused) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {2, 1, 4, 4}), 1.F);
  m.output(m.requantized(m.op("Conv", {x, m.weights({1, 1, 1, 1}, {1}, 1.F)}), 1.F));
  const Diagnostic refused = refusal(m);
  EXPECT_EQ(refused.code, "CANON002");
  EXPECT_EQ(refused.mend,
            "compile it for one image, and run as many frames: --shape x=1x1x4x4 --frames 2");
  const Result<Graph> graph = m.import({.shapes = {{"x", {1, 1, 4, 4}}}});
  ASSERT_TRUE(graph) << graph.diagnostics();
  EXPECT_TRUE(canonicalize(*graph));
}

TEST(Canonicalize, ABatchIsTheReasonEvenWhereOnlyPoolsAreLeft) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {2, 1, 4, 4}), 1.F);
  m.output(m.requantized(m.op("MaxPool", {x}, "kernel_shape", Dims{2, 2}), 1.F));
  const Diagnostic refused = refusal(m);
  EXPECT_EQ(refused.code, "CANON002");
  EXPECT_EQ(refused.mend,
            "compile it for one image, and run as many frames: --shape x=1x1x4x4 --frames 2");
}

TEST(Canonicalize, WeightsThatAreAnInputAreNoBatch) {
  ModelBuilder m;
  const std::string s = m.scalar(1.F), z = m.zero();
  const std::string x = m.input("x", {1, 1, 4, 4}, onnx::TensorProto::INT8);
  const std::string w = m.input("w", {2, 1, 1, 1}, onnx::TensorProto::INT8);
  m.output(m.op("QLinearConv", {x, s, z, w, s, z, s, z}));
  EXPECT_EQ(refusal(m).mend, "quantize around these nodes, or cut the model there");
}

TEST(Canonicalize, AnInputThatTheArrayCannotTakeIsNamed) {
  ModelBuilder m;
  const std::string s = m.scalar(1.F), z = m.zero();
  const std::string x = m.input("x", {1, 2}, onnx::TensorProto::INT8);
  const std::string b = m.input("b", {1}, onnx::TensorProto::INT32);
  const std::string w = m.constant({2, 1}, std::vector<std::int8_t>{1, 2});
  m.output(m.microsoft("QGemm", {x, s, z, w, s, z, b, s, z}));
  const std::string what = refusal(m).what;
  EXPECT_NE(what.find("it reads the input 'b' of type int32"), std::string::npos) << what;
}

TEST(Canonicalize, AModelWithoutOperatorsSaysSo) {
  ModelBuilder m;
  m.output(m.input("x", {1, 4}));
  const Diagnostic refused = refusal(m);
  EXPECT_EQ(refused.code, "CANON003");
  EXPECT_EQ(refused.what, "no operator of the file depends on an input");
}

// The constant was laid out like an input that has no layout yet.
TEST(Canonicalize, AFloatInputBesideAQuantizedConstantIsNamed) {
  ModelBuilder m;
  const std::string constant = m.weights({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}, 0.5F);
  const std::string sum = m.op("Add", {m.input("x", {1, 2, 2, 2}), constant});
  m.output(m.requantized(m.op("Conv", {sum, m.weights({1, 2, 1, 1}, {1, 1}, 1.F)}), 1.F));
  EXPECT_EQ(refusal(m).code, "CANON001");
}

// Inputs without a layout have no digits to lay blocks out by (the sanitizers saw it).
TEST(Canonicalize, FloatInputsAreConcatenatedOnTheHost) {
  ModelBuilder m;
  const std::string x = m.input("x", {1, 2, 4, 3}), y = m.input("y", {1, 4, 4, 3});
  const std::string both = m.op("Concat", {x, y}, "axis", std::int64_t{1});
  const std::string z =
      m.op("Conv", {m.requantized(both, 1.F), m.weights({1, 6, 1, 1}, {1, 1, 1, 1, 1, 1}, 1.F)});
  m.output(m.requantized(z, 1.F));
  EXPECT_EQ(lowered(m).hostBefore.nodes.size(), 1U);
}

TEST(Canonicalize, AFloatNetworkIsRefused) {
  ModelBuilder m;
  m.output(m.op("Relu", {m.input("x", {1, 4})}));
  EXPECT_EQ(refusal(m).code, "CANON003");
}

Diagnostic refusalOfMaxPool(const Dims& shape, const Dims& kernel, const Dims& strides,
                            const Dims& pads) {
  ModelBuilder m;
  auto& pool = m.node("MaxPool", {m.requantized(m.input("x", shape), 1.F)});
  ModelBuilder::set(pool, "kernel_shape", kernel);
  ModelBuilder::set(pool, "strides", strides);
  ModelBuilder::set(pool, "pads", pads);
  m.output(m.requantized(pool.output(0), 1.F));
  return refusal(m);
}

// What a Program cannot hold is known here; before, the planner worked for a minute first.
TEST(Canonicalize, WhatIsTooLargeIsSaidBeforeTheWork) {
  const Dims one{1, 1}, none{0, 0, 0, 0};
  Diagnostic found = refusalOfMaxPool({1, 8, 4194304, 1}, one, one, none);
  EXPECT_EQ(found.code, "CANON005");
  EXPECT_EQ(found.severity, Severity::DoesNotFit);
  EXPECT_EQ(found.what, "4194304x1x8; at most 1048576");

  found = refusalOfMaxPool({1, 8, 8, 8}, one, {1 << 21, 1}, none);
  EXPECT_EQ(found.code, "CANON005");
  EXPECT_EQ(found.what, "2097152; at most 1048576");

  // 2^29 elements, and few enough that 2^24 of one channel fill as much in blocks of 8.
  found = refusalOfMaxPool({1, 8, 8192, 8192}, one, one, none);
  EXPECT_EQ(found.summary, "its tensors and weights are too large");
  EXPECT_EQ(found.severity, Severity::DoesNotFit);
  found = refusalOfMaxPool({1, 8, 64, 64}, {1 << 20, 1 << 20}, one,
                           {1 << 19, 1 << 19, 1 << 19, 1 << 19});
  EXPECT_EQ(found.code, "CANON005");
  EXPECT_EQ(found.severity, Severity::DoesNotFit);
  EXPECT_EQ(found.what, "1099511627776; at most 1048576");
  EXPECT_EQ(refusalOfMaxPool({1, 1, 4097, 4096}, one, one, none).summary,
            "its tensors and weights are too large");

  found = refusalOfMaxPool({1, 8, 2048, 2048}, {512, 512}, one, none);
  EXPECT_EQ(found.summary, "its pools are too large");
}

TEST(Canonicalize, AConcatenationOfThousandsOfPartsIsTooLarge) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 1, 2, 2}), 1.F);
  ModelBuilder::Names parts(4097, m.requantized(m.op("Tanh", {x}), 0.5F));
  m.output(m.requantized(m.op("Concat", parts, "axis", std::int64_t{1}), 1.F));
  const Diagnostic found = refusal(m);
  EXPECT_EQ(found.code, "CANON005");
  EXPECT_EQ(found.what, "4097; at most 4096");
}

TEST(Canonicalize, APadOfThousandsOnAFewPixelsIsTooLarge) {
  ModelBuilder m;
  const std::string pads = m.integers({0, 0, 4000, 4000, 0, 0, 4000, 4000});
  const std::string x = m.op("Pad", {m.requantized(m.input("x", {1, 1, 8, 8}), 1.F), pads});
  m.output(m.requantized(m.op("Relu", {x}), 1.F));
  const Diagnostic found = refusal(m);
  EXPECT_EQ(found.code, "CANON005");
  EXPECT_EQ(found.severity, Severity::DoesNotFit);
}

TEST(Canonicalize, ConstantsOfTheHostsFirstOperatorsStandWithThem) {
  ModelBuilder m;
  const std::string x = m.input("x", {1, 2});
  const std::string sum = m.requantized(m.op("Add", {x, m.weights({1, 2}, {1, 2}, 1.F)}), 1.F);
  m.output(m.requantized(m.op("Relu", {sum}), 1.F));
  const Canonicalized network = lowered(m);
  EXPECT_EQ(network.hostBefore.nodes.size(), 2U);  // DequantizeLinear, Add
  EXPECT_EQ(network.hostBefore.inputs.size(), 1U);
  EXPECT_TRUE(network.hostAfter.nodes.empty());
}

TEST(Canonicalize, AnOutputThatTheHostAlsoReadsStaysAnOutput) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 2}), 1.F);
  const std::string y = m.requantized(m.op("Relu", {x}), 1.F);
  m.output(y);
  m.output(m.op("Softmax", {y}));
  EXPECT_EQ(lowered(m).hostAfter.outputs.size(), 2U);
}

TEST(Canonicalize, AFloatOfTheHostHasNoPlaceInATensor) {
  ModelBuilder m;
  const std::string x = m.input("x", {1, 16, 4, 4});
  const std::vector<std::int8_t> whole(256, 1);
  const std::string sum = m.op("Add", {x, m.weights({1, 16, 4, 4}, whole, 1.F)});
  const std::string joined = m.op("Concat", {sum, x}, "axis", std::int64_t{1});
  const std::string y = m.requantized(joined, 1.F);
  m.output(m.requantized(m.op("Relu", {y}), 1.F));
  EXPECT_EQ(lowered(m).hostBefore.nodes.size(), 3U);
}

// The layout of an input must not hang on which of its readers stands first in the file.
TEST(Canonicalize, AnInputIsLaidOutForItsWindowsInAnyOrder) {
  for (const bool matrixFirst : {false, true}) {
    ModelBuilder m;
    const std::string x = m.requantized(m.input("x", {1, 3, 4, 5}), 1.F);
    const auto pool = [&] {
      m.output(m.requantized(m.op("MaxPool", {x}, "kernel_shape", Dims{2, 2}), 1.F));
    };
    if (!matrixFirst) pool();
    const std::string flat = m.op("Flatten", {x});
    const std::vector<std::int8_t> ones(60, 1);
    m.output(m.requantized(m.op("MatMul", {flat, m.weights({60, 1}, ones, 1.F)}), 1.F));
    if (matrixFirst) pool();
    const Canonicalized network = lowered(m);
    EXPECT_EQ(network.graph.tensors.at(0).shape, (Shape{4, 5, 3})) << matrixFirst;
    EXPECT_EQ(network.graph.ops.size(), 2U) << matrixFirst;
  }
}

TEST(Canonicalize, ManyPiecesOfOneTensorShareItsTable) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 16, 9}), 1.F);
  const std::vector<std::int8_t> row(9, 1);
  const std::string rows = m.requantized(
      m.op("MatMul", {x, m.weights({9, 9}, std::vector<std::int8_t>(81, 1), 1.F)}), 1.F);
  m.output(m.requantized(m.op("GlobalMaxPool", {rows}), 0.5F));
  std::size_t pieces = 0;
  const Canonicalized network = lowered(m);
  for (const CanonicalOp& op : network.graph.ops) {
    const auto* assemble = std::get_if<Assemble>(&op.attributes);
    if (!assemble) continue;
    pieces += assemble->parts.size();
    for (const AssemblePart& part : assemble->parts) EXPECT_FALSE(part.table);
  }
  EXPECT_GT(pieces, 100U);
}

TEST(Canonicalize, AveragesOfExtremeRatiosVanishOrSaturate) {
  for (const float scale : {1e-30F, 1e30F}) {
    ModelBuilder m;
    const std::string x = m.requantized(m.input("x", {1, 1, 2, 2}), 1.F);
    m.output(m.requantized(m.op("GlobalAveragePool", {x}), scale));
    const CanonicalGraph graph = lowered(m).graph;
    const std::vector<TensorValue> inputs{{1, 0, 0, 0}};
    EXPECT_EQ(interpret(graph, inputs).back(),
              TensorValue{scale < 1 ? std::int8_t{127} : std::int8_t{0}});
  }
}

TEST(Canonicalize, ABiasThatTheSumCannotHoldIsRefusedUnlessItDecidesAlone) {
  for (const float bias : {10.F, 10.5F}) {  // next to a tie the products decide
    ModelBuilder m;
    const std::string x = m.requantized(m.input("x", {1, 100}), 1.F);
    const std::string w = m.weights({100, 1}, std::vector<std::int8_t>(100, 127), 1e-12F);
    const std::string sum = m.op("Add", {m.op("MatMul", {x, w}), m.floats({1}, {bias})});
    m.output(m.requantized(sum, 1.F));
    if (bias != 10.F) {
      EXPECT_EQ(refusal(m).code, "CANON004");
      continue;
    }
    const std::vector<TensorValue> inputs{TensorValue(100, 5)};
    EXPECT_EQ(interpret(lowered(m).graph, inputs).back(), TensorValue{10});
  }
}

TEST(Canonicalize, AnOperandOfExtremeScaleLeavesTheOthersDigits) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 2}), 1.5e11F);
  const std::string y = m.requantized(m.input("y", {1, 2}), 0.0125F);
  m.output(m.requantized(m.op("Add", {x, y}), 0.0125F));
  const std::vector<TensorValue> inputs{{0, 1}, {63, -100}};
  EXPECT_EQ(interpret(lowered(m).graph, inputs).back(), (TensorValue{63, 127}));
}

TEST(Canonicalize, NoNumberUnderAReduceMaxStaysOnTheHost) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 4}), 1.F);
  const std::string y = m.requantized(m.op("Relu", {x}), 1.F);
  m.output(m.requantized(m.op("ReduceMax", {m.op("Log", {y})}), 1.F));
  EXPECT_EQ(lowered(m).hostAfter.nodes.size(), 4U);  // Log, ReduceMax and the two behind them
}

TEST(Canonicalize, IntegersStandBesideEachOtherAsTheyAre) {
  ModelBuilder m;
  const std::string a = m.input("a", {1, 1}, onnx::TensorProto::INT8);
  const std::string b = m.quantized(m.input("b", {1, 1}), 0.5F);
  m.output(m.op("Concat", {a, b}, "axis", std::int64_t{1}));
  const CanonicalGraph graph = lowered(m).graph;
  const std::vector<TensorValue> inputs{{3}, {4}};
  EXPECT_EQ(interpret(graph, inputs).at(graph.outputs.at(0).tensor.at()), (TensorValue{3, 4}));
}

TEST(Canonicalize, ArithmeticOfIntegersIsRefused) {
  ModelBuilder m(14);
  const std::string x = m.quantized(m.input("x", {1, 4}), 1.F);
  m.output(m.requantized(m.op("Relu", {m.dequantized(m.op("Add", {x, x}), 1.F)}), 1.F));
  EXPECT_NE(refusal(m).what.find("arithmetic of int8"), std::string::npos) << refusal(m).what;
}

TEST(Canonicalize, WhatIsNoNumberBecomesTheLowest) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 1}), 1.F);
  m.output(m.requantized(m.op("Log", {x}), 1.F, 5));
  const CanonicalGraph graph = lowered(m).graph;
  EXPECT_EQ(interpret(graph, std::vector<TensorValue>(1, TensorValue{-1})).back(),
            TensorValue{-128});
}

TEST(VerifyCanonical, FindsATensorWrittenTwice) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 3}), 0.25F);
  m.output(m.requantized(m.op("Relu", {x}), 0.25F));
  CanonicalGraph graph = lowered(m).graph;
  EXPECT_EQ(verify(graph), Diagnostics{});
  graph.ops.push_back(graph.ops[0]);
  graph.ops.back().name = "again";
  ASSERT_EQ(verify(graph).size(), 1U);
  EXPECT_EQ(verify(graph)[0].what, "its output is written twice");
}

}  // namespace
}  // namespace heddle
