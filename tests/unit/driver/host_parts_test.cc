#include "heddle/driver/host_parts.h"

#include <gtest/gtest.h>

#include <span>

namespace heddle {
namespace {

NpyArray floats(std::vector<std::int64_t> shape, const std::vector<float>& values) {
  NpyArray array{NpyType::Float32, std::move(shape), {}};
  const auto bytes = std::as_bytes(std::span(values));
  array.data.assign(bytes.begin(), bytes.end());
  return array;
}

// x -> Neg on the host -> n -> the array (which here does nothing) -> m -> Neg on the host -> y,
// all 1x2.
Canonicalized hostOnBothSides() {
  const auto negation = [](const char* from, const char* to) {
    Graph graph{.name = "model"};
    graph.values = {{from, DataType::Float32, {1, 2}, {}}, {to, DataType::Float32, {1, 2}, {}}};
    graph.nodes = {{"neg", "Neg", NodeKind::Neg, {ValueId(0)}, {ValueId(1)}, FunctionAttributes{}}};
    graph.inputs = {ValueId(0)};
    graph.outputs = {ValueId(1)};
    return graph;
  };
  Canonicalized canonical;
  canonical.graph.name = "model";
  canonical.graph.tensors = {{.name = "q", .shape = {1, 1, 2}, .scale = 0.5}};
  const auto port = [](const char* name) {
    return Port{name, TensorId(0), ElementType::Float32, {1, 2}, {1, 2}, "NC"};
  };
  canonical.graph.inputs = {port("n")};
  canonical.graph.outputs = {port("m")};
  canonical.hostBefore = negation("x", "n");
  canonical.hostAfter = negation("m", "y");
  return canonical;
}

TEST(HostParts, TheHostRunsBeforeTheFirstQuantizeAndAfterTheLastDequantize) {
  const NamedArrays inputs{{"x", floats({1, 2}, {-3, 1.5})}};
  const auto values = enterArray(hostOnBothSides(), inputs);
  ASSERT_TRUE(values) << values.diagnostics();
  EXPECT_EQ(*values, (std::vector<std::vector<std::int8_t>>{{6, -3}}));  // (3, -1.5) / 0.5
  const auto outputs = leaveArray(hostOnBothSides(), *values, inputs);
  ASSERT_TRUE(outputs) << outputs.diagnostics();
  EXPECT_EQ(outputs->at("y"), floats({1, 2}, {-3, 1.5}));
}

TEST(HostParts, WhatTheHostReadsMayBeAnOutputOfTheModelToo) {
  const NamedArrays inputs{{"x", floats({1, 2}, {-3, 1.5})}};
  const auto outputs = leaveArray(hostOnBothSides(), {{{6, -3}}}, inputs);
  ASSERT_TRUE(outputs) << outputs.diagnostics();
  EXPECT_EQ(outputs->at("n"), floats({1, 2}, {3, -1.5}));  // of the host before the array
  EXPECT_EQ(outputs->at("m"), floats({1, 2}, {3, -1.5}));  // of the array
  EXPECT_EQ(outputs->at("x"), inputs.at("x"));
}

TEST(HostParts, WithoutHostOperatorsThePortsAreTheModels) {
  Canonicalized canonical = hostOnBothSides();
  canonical.hostBefore = canonical.hostAfter = {};
  const auto values = enterArray(canonical, {{"n", floats({1, 2}, {3, 0})}});
  ASSERT_TRUE(values) << values.diagnostics();
  const auto outputs = leaveArray(canonical, *values, {});
  ASSERT_TRUE(outputs) << outputs.diagnostics();
  EXPECT_EQ(outputs->at("m"), floats({1, 2}, {3, 0}));
}

TEST(HostParts, RefusesWhatDoesNotFitTheModel) {
  EXPECT_EQ(enterArray(hostOnBothSides(), {}).diagnostics().at(0).code, "CLI006");
  EXPECT_EQ(enterArray(hostOnBothSides(), {{"x", floats({2}, {1, 2})}}).diagnostics().at(0).code,
            "CLI005");
}

}  // namespace
}  // namespace heddle
