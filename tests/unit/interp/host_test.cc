// Host operators by hand; tests/differential runs the ONNX standard's own vectors.
#include "heddle/interp/host.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

namespace heddle {
namespace {

using Values = std::vector<double>;

HostTensor hostTensor(Dims shape, Values values, DataType type = DataType::Float32) {
  return {type, std::move(shape), std::move(values)};
}

// The outputs of a graph of one node.
std::vector<HostTensor> runNode(NodeKind kind, const std::vector<HostTensor>& inputs,
                                const std::vector<HostTensor>& outputs,
                                NodeAttributes attributes = {}) {
  Graph graph{.name = "one"};
  Node node{
      .name = "node", .opType = toText(kind), .kind = kind, .attributes = std::move(attributes)};
  const auto add = [&](const HostTensor& t, std::vector<ValueId>& ids,
                       std::vector<ValueId>& ports) {
    graph.values.push_back({"v" + std::to_string(graph.values.size()), t.type, t.shape, {}});
    ids.push_back(ValueId(graph.values.size() - 1));
    ports.push_back(ids.back());
  };
  for (const HostTensor& t : inputs) add(t, node.inputs, graph.inputs);
  for (const HostTensor& t : outputs) add(t, node.outputs, graph.outputs);
  graph.nodes.push_back(std::move(node));
  const Result<std::vector<HostTensor>> result = runHost(graph, inputs);
  EXPECT_TRUE(result) << result.diagnostics();
  return *result;
}

Values valuesOf(NodeKind kind, const std::vector<HostTensor>& inputs, Dims shape,
                NodeAttributes attributes = {}, DataType type = DataType::Float32) {
  return runNode(kind, inputs, {hostTensor(std::move(shape), {}, type)}, std::move(attributes))[0]
      .values;
}

TEST(Host, SoftmaxAndArgMaxRunAlongTheirAxis) {
  const HostTensor x = hostTensor({2, 2}, {0, std::log(3.0), 1, 1});
  const Values y = valuesOf(NodeKind::Softmax, {x}, {2, 2}, AxisAttributes{.axis = 1});
  EXPECT_FLOAT_EQ(static_cast<float>(y[0]), 0.25F);
  EXPECT_FLOAT_EQ(static_cast<float>(y[1]), 0.75F);
  EXPECT_EQ(y[2], 0.5);
  EXPECT_EQ(valuesOf(NodeKind::ArgMax, {x}, {2, 1}, AxisAttributes{.axis = 1}, DataType::Int64),
            (Values{1, 0}));
  EXPECT_EQ(valuesOf(NodeKind::ArgMax, {x}, {2, 1}, AxisAttributes{.axis = 1, .selectLast = true},
                     DataType::Int64),
            (Values{1, 1}));
  EXPECT_EQ(valuesOf(NodeKind::ArgMin, {x}, {1, 2}, AxisAttributes{.axis = 0}, DataType::Int64),
            (Values{0, 1}));
}

TEST(Host, OldSoftmaxTakesAllAxesFromItsOwnOn) {
  const HostTensor x = hostTensor({1, 2, 2}, {0, 0, 0, 0});
  EXPECT_EQ(
      valuesOf(NodeKind::Softmax, {x}, {1, 2, 2}, AxisAttributes{.axis = 1, .flattened = true}),
      (Values{0.25, 0.25, 0.25, 0.25}));
}

TEST(Host, QuantizesHalfToEvenAndSaturates) {
  const HostTensor x = hostTensor({5}, {2.5, 3.5, -2.5, 1000, -1000}), one = hostTensor({}, {1});
  const HostTensor zero = hostTensor({}, {3}, DataType::Int8);
  EXPECT_EQ(valuesOf(NodeKind::QuantizeLinear, {x, one, zero}, {5}, {}, DataType::Int8),
            (Values{5, 7, 1, 127, -128}));
  const HostTensor byteZero = hostTensor({}, {3}, DataType::Uint8);
  EXPECT_EQ(valuesOf(NodeKind::QuantizeLinear, {x, one, byteZero}, {5}, {}, DataType::Uint8),
            (Values{5, 7, 1, 255, 0}));
}

TEST(Host, WhatIsNoNumberBecomesTheLowest) {
  const HostTensor x = hostTensor({1}, {std::nan("")}), one = hostTensor({}, {1});
  const HostTensor zero = hostTensor({}, {3}, DataType::Uint8);
  EXPECT_EQ(valuesOf(NodeKind::QuantizeLinear, {x, one, zero}, {1}, {}, DataType::Uint8),
            Values{0});
}

TEST(Host, WhatIsNoNumberReducesToNone) {
  const HostTensor x = hostTensor({3}, {1, std::nan(""), 3});
  for (const NodeKind kind : {NodeKind::ReduceMax, NodeKind::ReduceMin})
    EXPECT_TRUE(std::isnan(valuesOf(kind, {x}, {1}, ReduceAttributes{.axes = {0}}).at(0)));
}

TEST(Host, DequantizesEachChannelWithItsScale) {
  const HostTensor x = hostTensor({1, 2, 2}, {1, 2, 3, 4}, DataType::Int8);
  EXPECT_EQ(valuesOf(NodeKind::DequantizeLinear,
                     {x, hostTensor({2}, {0.5, 2}), hostTensor({2}, {1, -1}, DataType::Int8)},
                     {1, 2, 2}, AxisAttributes{.axis = 1}),
            (Values{0, 0.5, 8, 10}));
}

TEST(Host, BinaryOperatorsBroadcast) {
  const HostTensor column = hostTensor({2, 1}, {1, 2}), row = hostTensor({3}, {10, 20, 30});
  EXPECT_EQ(valuesOf(NodeKind::Add, {column, row}, {2, 3}), (Values{11, 21, 31, 12, 22, 32}));
  EXPECT_EQ(valuesOf(NodeKind::Sub, {row, column}, {2, 3}), (Values{9, 19, 29, 8, 18, 28}));
  EXPECT_EQ(valuesOf(NodeKind::Max, {row, hostTensor({1}, {25}), column}, {2, 3}),
            (Values{25, 25, 30, 25, 25, 30}));
  EXPECT_EQ(valuesOf(NodeKind::PRelu, {hostTensor({2}, {-2, 2}), hostTensor({1}, {0.5})}, {2}),
            (Values{-1, 2}));
}

TEST(Host, IntegersWrapInTheirType) {
  const HostTensor a = hostTensor({1}, {200}, DataType::Uint8),
                   b = hostTensor({1}, {100}, DataType::Uint8);
  EXPECT_EQ(valuesOf(NodeKind::Add, {a, b}, {1}, {}, DataType::Uint8), Values{44});
  EXPECT_EQ(valuesOf(NodeKind::Div, {a, b}, {1}, {}, DataType::Uint8), Values{2});
}

TEST(Host, BatchNormalizationFollowsItsChannel) {
  // (x - mean) / sqrt(variance + 0) * gamma + beta
  const BatchNormalizationAttributes exact{.epsilon = 0};
  EXPECT_EQ(valuesOf(NodeKind::BatchNormalization,
                     {hostTensor({1, 2, 2}, {1, 2, 3, 4}), hostTensor({2}, {1, 10}),
                      hostTensor({2}, {0, 5}), hostTensor({2}, {1, 3}), hostTensor({2}, {4, 1})},
                     {1, 2, 2}, exact),
            (Values{0, 0.5, 5, 15}));
}

TEST(Host, ConvolvesInGroups) {
  const ConvAttributes op{
      .kernel = {1, 2}, .strides = {1, 1}, .dilations = {1, 1}, .pads = {0, 1, 0, 0}, .group = 2};
  // rows (1 2) and (3 4), one column of padding on the left; kernels (1 10) and (2 -1), biases 0.5
  // and 0
  EXPECT_EQ(valuesOf(NodeKind::Conv,
                     {hostTensor({1, 2, 1, 2}, {1, 2, 3, 4}),
                      hostTensor({2, 1, 1, 2}, {1, 10, 2, -1}), hostTensor({2}, {0.5, 0})},
                     {1, 2, 1, 2}, op),
            (Values{10.5, 21.5, -3, 2}));
}

TEST(Host, MultipliesMatrices) {
  const HostTensor a = hostTensor({2, 3}, {1, 2, 3, 4, 5, 6}), b = hostTensor({3, 1}, {1, 10, 100});
  EXPECT_EQ(valuesOf(NodeKind::MatMul, {a, b}, {2, 1}), (Values{321, 654}));
  EXPECT_EQ(
      valuesOf(NodeKind::MatMul, {hostTensor({3}, {1, 10, 100}), hostTensor({3}, {1, 2, 3})}, {}),
      Values{321});
  const HostTensor two = hostTensor({2, 1, 1}, {2, 3});
  EXPECT_EQ(valuesOf(NodeKind::MatMul, {two, hostTensor({1, 2}, {1, 5})}, {2, 1, 2}),
            (Values{2, 10, 3, 15}));
  const GemmAttributes gemm{.alpha = 2, .beta = 3, .transA = true, .transB = true};
  // a' is 3x2, b' is 2x1
  EXPECT_EQ(valuesOf(NodeKind::Gemm, {a, hostTensor({1, 2}, {1, 10}), hostTensor({1}, {1})}, {3, 1},
                     gemm),
            (Values{85, 107, 129}));
}

TEST(Host, PoolsCountPaddingWhenTold) {
  PoolAttributes op{.kernel = {2}, .strides = {2}, .dilations = {1}, .pads = {1, 1}};
  const HostTensor x = hostTensor({1, 1, 2}, {-4, 8});
  EXPECT_EQ(valuesOf(NodeKind::MaxPool, {x}, {1, 1, 2}, op), (Values{-4, 8}));
  EXPECT_EQ(valuesOf(NodeKind::AveragePool, {x}, {1, 1, 2}, op), (Values{-4, 8}));
  op.countIncludePad = true;
  EXPECT_EQ(valuesOf(NodeKind::AveragePool, {x}, {1, 1, 2}, op), (Values{-2, 4}));
}

TEST(Host, ReducesOverItsAxes) {
  const HostTensor x = hostTensor({2, 3}, {1, 2, 3, 5, 7, 9});
  EXPECT_EQ(valuesOf(NodeKind::ReduceMean, {x}, {2, 1}, ReduceAttributes{.axes = {1}}),
            (Values{2, 7}));
  EXPECT_EQ(
      valuesOf(NodeKind::ReduceSum, {x}, {3}, ReduceAttributes{.axes = {0}, .keepDims = false}),
      (Values{6, 9, 12}));
  EXPECT_EQ(valuesOf(NodeKind::ReduceMax, {x}, {1, 1}, ReduceAttributes{.axes = {0, 1}}),
            Values{9});
  EXPECT_EQ(valuesOf(NodeKind::ReduceMin, {x}, {1, 1}, ReduceAttributes{.axes = {0, 1}}),
            Values{1});
}

TEST(Host, MovesElements) {
  const HostTensor x = hostTensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(valuesOf(NodeKind::Transpose, {x}, {3, 2}, TransposeAttributes{{1, 0}}),
            (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(valuesOf(NodeKind::Concat, {x, hostTensor({2, 1}, {7, 8})}, {2, 4},
                     AxisAttributes{.axis = 1}),
            (Values{1, 2, 3, 7, 4, 5, 6, 8}));
  EXPECT_EQ(valuesOf(NodeKind::Slice, {x}, {1, 2}, SliceAttributes{{1, 2}, {1, -2}}),
            (Values{6, 4}));
  EXPECT_EQ(valuesOf(NodeKind::Tile, {x}, {2, 6}), (Values{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
  EXPECT_EQ(valuesOf(NodeKind::Expand, {hostTensor({2, 1}, {1, 2})}, {2, 2}), (Values{1, 1, 2, 2}));
  EXPECT_EQ(valuesOf(NodeKind::Reshape, {x}, {3, 2}), x.values);
  EXPECT_EQ(valuesOf(NodeKind::Gather, {x, hostTensor({2}, {-1, 0}, DataType::Int64)}, {2, 2},
                     AxisAttributes{.axis = 1}),
            (Values{3, 1, 6, 4}));
  const auto parts = runNode(NodeKind::Split, {x}, {hostTensor({2, 1}, {}), hostTensor({2, 2}, {})},
                             SplitAttributes{.axis = 1, .sizes = {1, 2}});
  EXPECT_EQ(parts[0].values, (Values{1, 4}));
  EXPECT_EQ(parts[1].values, (Values{2, 3, 5, 6}));
}

TEST(Host, PadsInEveryMode) {
  const HostTensor x = hostTensor({3}, {1, 2, 3});
  const auto padded = [&](PadMode mode) {
    return valuesOf(NodeKind::Pad, {x}, {7},
                    PadAttributes{.begins = {2}, .ends = {2}, .mode = mode, .value = 9});
  };
  EXPECT_EQ(padded(PadMode::Constant), (Values{9, 9, 1, 2, 3, 9, 9}));
  EXPECT_EQ(padded(PadMode::Edge), (Values{1, 1, 1, 2, 3, 3, 3}));
  EXPECT_EQ(padded(PadMode::Reflect), (Values{3, 2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(padded(PadMode::Wrap), (Values{2, 3, 1, 2, 3, 1, 2}));
  EXPECT_EQ(valuesOf(NodeKind::Pad, {x}, {1}, PadAttributes{.begins = {-1}, .ends = {-1}}),
            Values{2});
}

TEST(Host, DepthAndSpaceAreInverse) {
  const HostTensor x = hostTensor({1, 4, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  const BlockAttributes block{.blockSize = 2};
  const Values space = valuesOf(NodeKind::DepthToSpace, {x}, {1, 1, 2, 4}, block);
  EXPECT_EQ(space, (Values{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(
      valuesOf(NodeKind::SpaceToDepth, {hostTensor({1, 1, 2, 4}, space)}, {1, 4, 1, 2}, block),
      x.values);
}

TEST(Host, ResizesLinearly) {
  const ResizeAttributes op{.mode = ResizeMode::Linear, .scales = {2}};
  EXPECT_EQ(valuesOf(NodeKind::Resize, {hostTensor({2}, {0, 4})}, {4}, op), (Values{0, 1, 3, 4}));
}

TEST(Host, TakesAndGivesArrays) {
  for (const HostTensor& t :
       {hostTensor({2}, {0.5, -1}), hostTensor({1, 1}, {-128}, DataType::Int8),
        hostTensor({2}, {0, 255}, DataType::Uint8), hostTensor({}, {-7}, DataType::Int64),
        hostTensor({2}, {1, 0}, DataType::Bool), hostTensor({0}, {}, DataType::Int32)}) {
    const NpyArray array = arrayFrom(t);
    EXPECT_EQ(array.data.size(), t.values.size() * elementSize(array.type));
    EXPECT_EQ(hostTensorFrom(array), t);
  }
  EXPECT_EQ(hostTensorFrom({NpyType::Uint64, {0}, {}}), std::nullopt);
}

TEST(Host, RunsQuantizedOperatorsOnRealNumbers) {
  const auto bytes = [](Values values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return hostTensor({count}, std::move(values), DataType::Int8);
  };
  const auto scale = [](double value) { return hostTensor({}, {value}); };
  // (3 - 1) * 0.5 + 4 * 2 - 1 = 8;  (5 - 1) * 0.5 - 1 * 2 - 1 = -1
  EXPECT_EQ(valuesOf(NodeKind::QLinearAdd,
                     {bytes({3, 5}), scale(0.5), bytes({1}), bytes({4, -1}), scale(2), bytes({0}),
                      scale(1), bytes({-1})},
                     {2}, {}, DataType::Int8),
            (Values{8, -1}));
  // A negative scale: 2 * -0.5 * 3 = -3
  EXPECT_EQ(valuesOf(NodeKind::QLinearMul,
                     {bytes({2}), scale(-0.5), bytes({0}), bytes({3}), scale(1), bytes({0}),
                      scale(1), bytes({0})},
                     {1}, {}, DataType::Int8),
            Values{-3});
}

// ONNX Runtime gives the same: ((x * w) + c) * alpha * scale of x * scale of the column.
TEST(Host, BiasOfAQGemmCountsInUnitsOfEachColumn) {
  const HostTensor x = hostTensor({2, 1}, {4, 6}, DataType::Int8),
                   w = hostTensor({1, 2}, {1, 2}, DataType::Int8);
  const auto result = [&](Dims shape, Values c, float alpha) {
    return valuesOf(NodeKind::QGemm,
                    {x, hostTensor({}, {0.5}), hostTensor({}, {0}, DataType::Int8), w,
                     hostTensor({2}, {1, 4}), hostTensor({2}, {0, 0}, DataType::Int8),
                     hostTensor(std::move(shape), std::move(c), DataType::Int32)},
                    {2, 2}, GemmAttributes{.alpha = alpha});
  };
  // (4 + 10) * 0.5 * 1, (8 + 10) * 0.5 * 4, (6 + 20) * 0.5 * 1, (12 + 20) * 0.5 * 4
  EXPECT_EQ(result({2, 1}, {10, 20}, 1), (Values{7, 36, 13, 64}));
  EXPECT_EQ(result({2, 1}, {10, 20}, 0.5F), (Values{3.5, 18, 6.5, 32}));
  EXPECT_EQ(result({}, {10}, 1), (Values{7, 36, 8, 44}));
  EXPECT_EQ(result({1, 2}, {10, 20}, 1), (Values{7, 56, 8, 64}));
}

TEST(Host, IntegerProductsAreSumsAboveTheZeroPoints) {
  const HostTensor a = hostTensor({1, 2}, {3, 4}, DataType::Uint8),
                   b = hostTensor({2, 2}, {1, 2, 3, 4}, DataType::Int8);
  // (3-1, 4-1) * ((1-1, 2-2), (3-1, 4-2)) = (6, 6)
  EXPECT_EQ(valuesOf(NodeKind::MatMulInteger,
                     {a, b, hostTensor({}, {1}, DataType::Uint8),
                      hostTensor({2}, {1, 2}, DataType::Int8)},
                     {1, 2}, {}, DataType::Int32),
            (Values{6, 6}));
}

TEST(Host, QuantizesDynamically) {
  // range -1 .. 254: step 1, zero point 1
  const auto outputs = runNode(NodeKind::DynamicQuantizeLinear, {hostTensor({3}, {-1, 254, 2.5})},
                               {hostTensor({3}, {}, DataType::Uint8), hostTensor({}, {}),
                                hostTensor({}, {}, DataType::Uint8)});
  EXPECT_EQ(outputs[0].values, (Values{0, 255, 3}));
  EXPECT_EQ(outputs[1].values, Values{1});
  EXPECT_EQ(outputs[2].values, Values{1});
}

TEST(Host, NamesEveryOperatorWithoutADefinition) {
  Graph graph{.name = "model"};
  graph.values = {{"x", DataType::Float32, {1, 1, 1}, {}}, {"y", DataType::Float32, {1, 1, 1}, {}}};
  const PoolAttributes last{
      .kernel = {1}, .strides = {1}, .dilations = {1}, .pads = {0, 0}, .channelsLast = true};
  graph.nodes = {
      {"a", "com.microsoft.NhwcMaxPool", NodeKind::MaxPool, {ValueId(0)}, {ValueId(1)}, last}};
  graph.inputs = {ValueId(0)};
  graph.outputs = {ValueId(1)};
  const auto result = runHost(graph, std::vector{hostTensor({1, 1, 1}, {0})});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.diagnostics().at(0).code, "HOST001");
  EXPECT_EQ(result.diagnostics().at(0).what, "a (com.microsoft.NhwcMaxPool)");
}

// A graph of one node whose outputs nobody has to name the values of.
Diagnostics faultsOf(NodeKind kind, const std::vector<HostTensor>& inputs, const HostTensor& output,
                     NodeAttributes attributes = {}, const HostLimits& limits = {}) {
  Graph graph{.name = "one"};
  Node node{
      .name = "node", .opType = toText(kind), .kind = kind, .attributes = std::move(attributes)};
  for (const HostTensor& t : inputs) {
    node.inputs.push_back(ValueId(graph.values.size()));
    graph.values.push_back({"x" + std::to_string(graph.values.size()), t.type, t.shape, {}});
  }
  graph.inputs = node.inputs;
  node.outputs = graph.outputs = {ValueId(graph.values.size())};
  graph.values.push_back({"y", output.type, output.shape, {}});
  graph.nodes.push_back(std::move(node));
  const Result<std::vector<HostTensor>> result = runHost(graph, inputs, limits);
  return result ? Diagnostics{} : result.diagnostics();
}

TEST(Host, IndicesOutOfRangeAreTheUsersFault) {
  const HostTensor x = hostTensor({3}, {1, 2, 3}), y = hostTensor({1}, {});
  const auto faults = [&](double index, const HostTensor& data) {
    return faultsOf(NodeKind::Gather, {data, hostTensor({1}, {index}, DataType::Int64)}, y,
                    AxisAttributes{.axis = 0});
  };
  EXPECT_TRUE(faults(-3, x).empty());
  for (const double index : {3.0, -4.0, 9e18, -9e18}) {
    const Diagnostics found = faults(index, x);
    ASSERT_EQ(found.size(), 1U) << index;
    EXPECT_EQ(found[0].code, "HOST002");
    EXPECT_EQ(found[0].severity, Severity::BadInput);
  }
  EXPECT_EQ(faults(3, x)[0].what, "index 3 of 3 along axis 0");
  EXPECT_EQ(faults(0, hostTensor({0}, {}))[0].what, "index 0 of 0 along axis 0");
}

TEST(Host, WhatIsTooLargeIsSaidBeforeTheWork) {
  const HostTensor x = hostTensor({1, 1, 4, 4}, Values(16, 1)), y = hostTensor({1, 1, 2, 2}, {});
  const PoolAttributes pool{
      .kernel = {3, 3}, .strides = {1, 1}, .dilations = {1, 1}, .pads = {0, 0, 0, 0}};
  EXPECT_TRUE(
      faultsOf(NodeKind::MaxPool, {x}, y, pool, {.elements = 20, .operations = 56}).empty());
  const Diagnostics large =
      faultsOf(NodeKind::MaxPool, {x}, y, pool, {.elements = 19, .operations = 56});
  ASSERT_EQ(large.size(), 1U);
  EXPECT_EQ(large[0].code, "HOST003");
  EXPECT_EQ(large[0].severity, Severity::DoesNotFit);
  EXPECT_EQ(large[0].what, "20 elements; at most 19");
  const Diagnostics slow =
      faultsOf(NodeKind::MaxPool, {x}, y, pool, {.elements = 20, .operations = 55});
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0].what, "56 operations; at most 55");
}

// One look for each of 2^31 rows of nothing, twenty times, took minutes.
TEST(Host, RowsWithoutElementsCostNothing) {
  constexpr std::int64_t kRows = std::int64_t{1} << 31;
  const HostTensor none = hostTensor({kRows, 0}, {});
  const std::vector<HostTensor> parts(20, none);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(faultsOf(NodeKind::Concat, parts, none, AxisAttributes{.axis = 1}).empty());
  EXPECT_TRUE(faultsOf(NodeKind::Softmax, {none}, none, AxisAttributes{.axis = 1}).empty());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(seconds.count(), 10);
}

TEST(Host, WindowsOfFourAxesHaveNoDefinition) {
  const HostTensor x = hostTensor({1, 1, 1, 1, 1, 1}, {1});
  const PoolAttributes pool{.kernel = {1, 1, 1, 1},
                            .strides = {1, 1, 1, 1},
                            .dilations = {1, 1, 1, 1},
                            .pads = Dims(8, 0)};
  const Diagnostics found = faultsOf(NodeKind::MaxPool, {x}, x, pool);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].code, "HOST001");
}

TEST(Host, IntegersHoldNeitherNanNorInfinity) {
  const double infinity = std::numeric_limits<double>::infinity();
  const HostTensor x = hostTensor({3}, {std::nan(""), infinity, -infinity});
  EXPECT_EQ(valuesOf(NodeKind::Cast, {x}, {3}, {}, DataType::Int8), (Values{0, 127, -128}));
  EXPECT_EQ(valuesOf(NodeKind::Cast, {x}, {3}, {}, DataType::Uint8), (Values{0, 255, 0}));
  const std::vector<HostTensor> quantized =
      runNode(NodeKind::DynamicQuantizeLinear, {x},
              {hostTensor({3}, {}, DataType::Uint8), hostTensor({}, {}),
               hostTensor({}, {}, DataType::Uint8)});
  for (const double value : quantized[0].values) EXPECT_TRUE(value >= 0 && value <= 255) << value;
  EXPECT_TRUE(quantized[2].values[0] >= 0 && quantized[2].values[0] <= 255);
}

// Growing first would make 2^40 elements between ends of 2^20.
TEST(Host, ResizeShrinksBeforeItGrows) {
  constexpr std::int64_t kLong = std::int64_t{1} << 20;
  const HostTensor x = hostTensor({1, kLong}, Values(static_cast<std::size_t>(kLong), 3));
  const double scale = static_cast<double>(kLong);
  const Values y =
      valuesOf(NodeKind::Resize, {x}, {kLong, 1}, ResizeAttributes{.scales = {scale, 1 / scale}});
  EXPECT_EQ(y, Values(static_cast<std::size_t>(kLong), 3));
}

}  // namespace
}  // namespace heddle
