#include "heddle/graph/graph.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heddle/graph/infer.h"

namespace heddle {
namespace {

TEST(Graph, BroadcastingStretchesExtentsOfOne) {
  EXPECT_EQ(broadcastShapes({1, 8, 1, 5}, {6, 1}), (Dims{1, 8, 6, 5}));
  EXPECT_EQ(broadcastShapes({2, 3}, {4, 3}), std::nullopt);
}

TEST(Graph, CeilAddsAWindowUnlessItWouldStartInTheEndPadding) {
  EXPECT_EQ(windowExtent(6, 0, 0, 3, 2, 1, false), 2);
  EXPECT_EQ(windowExtent(6, 0, 0, 3, 2, 1, true), 3);
  // 3 elements and 1 of padding, kernel 2, stride 3: a second window would start in the padding.
  EXPECT_EQ(windowExtent(3, 0, 1, 2, 3, 1, true), 1);
  EXPECT_THROW(windowExtent(2, 0, 0, 3, 1, 1, false), InferenceFault);
}

Graph chain(const std::vector<std::pair<std::size_t, std::size_t>>& edges) {
  Graph graph;
  graph.values.resize(4);
  for (const auto& [from, to] : edges) {
    Node node;
    node.inputs = {ValueId(from)};
    node.outputs = {ValueId(to)};
    graph.nodes.push_back(node);
  }
  return graph;
}

TEST(Graph, TopologicalOrderPutsProducersFirst) {
  const auto order = topologicalOrder(chain({{2, 3}, {1, 2}, {0, 1}}));
  EXPECT_EQ(order, (std::vector<NodeId>{NodeId(2), NodeId(1), NodeId(0)}));
}

TEST(Graph, ACycleHasNoTopologicalOrder) {
  EXPECT_EQ(topologicalOrder(chain({{0, 1}, {1, 0}})), std::nullopt);
}

TEST(Graph, VerifyFindsAValueReadBeforeItsProducer) {
  Graph graph = chain({{1, 2}, {0, 1}});
  for (std::size_t i = 0; i < 4; ++i) graph.values[i].name = std::to_string(i);
  graph.inputs = {ValueId(0)};
  const Diagnostics found = verify(graph);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].code, "GRAPH001");
}

TEST(Graph, NearestSourceFollowsTheCoordinateMode) {
  ResizeAttributes resize{.rounding = ResizeRounding::Floor, .scales = {2.0}};
  resize.coordinates = ResizeCoordinates::Asymmetric;
  EXPECT_EQ(nearestSource(resize, 0, 3, 4, 8), 1);
  resize.coordinates = ResizeCoordinates::HalfPixel;  // (3 + 0.5) / 2 - 0.5 = 1.25
  EXPECT_EQ(nearestSource(resize, 0, 3, 4, 8), 1);
  EXPECT_EQ(nearestSource(resize, 0, 0, 4, 8), 0);  // -0.25 is clamped
}

// In float32 0.5 / (1 / 7) - 0.5 is 2.9999998, exactly it is 3; 1 / (2 / 6) is 3 there, and less
// in double precision once 1/3 is a float. ONNX Runtime takes the float32 ones.
TEST(Graph, NearestSourceDividesInFloat32) {
  ResizeAttributes resize{.rounding = ResizeRounding::Floor, .scales = {1.0 / 7}};
  resize.coordinates = ResizeCoordinates::HalfPixel;
  EXPECT_EQ(nearestSource(resize, 0, 0, 7, 1), 2);
  resize.coordinates = ResizeCoordinates::Asymmetric;
  resize.scales = {double{1.F / 3.F}};
  EXPECT_EQ(nearestSource(resize, 0, 1, 6, 2), 3);
}

TEST(Graph, WhatIsNoNumberStaysNone) {
  const double none = std::nan("");
  EXPECT_TRUE(std::isnan(*evaluateFunction(NodeKind::Sign, {}, none)));
  for (const NodeKind kind : {NodeKind::Min, NodeKind::Max}) {
    EXPECT_TRUE(std::isnan(*evaluateBinary(kind, none, 1)));
    EXPECT_TRUE(std::isnan(*evaluateBinary(kind, 1, none)));
  }
}

TEST(Graph, FunctionsAreThoseOfOnnx) {
  EXPECT_EQ(evaluateFunction(NodeKind::HardSwish, {}, 3), 3);
  EXPECT_EQ(evaluateFunction(NodeKind::LeakyRelu, {.alpha = 0.125F}, -8), -1);
  EXPECT_EQ(evaluateFunction(NodeKind::Conv, {}, 1), std::nullopt);
  EXPECT_EQ(evaluateBinary(NodeKind::Sub, 2, 5), -3);
}

}  // namespace
}  // namespace heddle
