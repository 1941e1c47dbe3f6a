// The table of operands against the schemas of libonnx, and one model for each way to break it.
#include "onnx/signatures.h"

#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <limits>

#include "model_builder.h"

namespace heddle {
namespace {

using onnx_import::Operand;
using onnx_import::Signature;
using onnx_import::signatureOf;

std::vector<NodeKind> allKinds() {
  std::vector<NodeKind> kinds;
  for (int i = 0; i <= static_cast<int>(NodeKind::ArgMin); ++i)
    kinds.push_back(static_cast<NodeKind>(i));
  return kinds;
}

// What the operator sets 10 to 17 say of one operator, all versions together.
struct Schemas {
  int leastInputs = std::numeric_limits<int>::max(), mostInputs = 0, mostOutputs = 0;
  std::vector<const onnx::OpSchema*> versions;
};
Schemas schemasOf(const std::string& opType) {
  Schemas found;
  for (int version = 10; version <= 17; ++version) {
    const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(opType, version, "");
    if (!schema || (!found.versions.empty() && found.versions.back() == schema)) continue;
    found.versions.push_back(schema);
    found.leastInputs = std::min(found.leastInputs, schema->min_input());
    found.mostInputs = std::max(found.mostInputs, schema->max_input());
    found.mostOutputs = std::max(found.mostOutputs, schema->max_output());
  }
  return found;
}

// Inputs that versions above 17 have added.
int laterInputs(NodeKind kind) {
  return kind == NodeKind::ReduceMean || kind == NodeKind::ReduceMax ||
                 kind == NodeKind::ReduceMin || kind == NodeKind::Pad
             ? 1
             : 0;
}

TEST(Signatures, TakeAsManyInputsAndOutputsAsTheStandardSays) {
  int seen = 0;
  for (const NodeKind kind : allKinds()) {
    const Schemas schemas = schemasOf(toText(kind));
    if (schemas.versions.empty()) continue;  // of com.microsoft, or newer
    ++seen;
    const Signature& own = signatureOf(kind);
    EXPECT_EQ(own.leastInputs(), static_cast<std::size_t>(schemas.leastInputs)) << toText(kind);
    const auto most = own.mostInputs();
    const bool variadic = schemas.mostInputs == std::numeric_limits<int>::max();
    EXPECT_EQ(most.has_value(), !variadic) << toText(kind);
    if (most) {
      EXPECT_EQ(static_cast<int>(*most), schemas.mostInputs + laterInputs(kind)) << toText(kind);
    }
    const auto outputs = std::min<std::size_t>(own.mostOutputs, std::numeric_limits<int>::max());
    EXPECT_EQ(static_cast<int>(outputs), schemas.mostOutputs) << toText(kind);
  }
  EXPECT_GE(seen, 70);
}

TEST(Signatures, TakeEveryTypeThatTheStandardTakesAndHeddleReads) {
  const std::vector<std::pair<std::string, DataType>> types{
      {"tensor(float)", DataType::Float32}, {"tensor(double)", DataType::Float64},
      {"tensor(int8)", DataType::Int8},     {"tensor(uint8)", DataType::Uint8},
      {"tensor(int32)", DataType::Int32},   {"tensor(int64)", DataType::Int64},
      {"tensor(bool)", DataType::Bool}};
  int seen = 0;
  for (const NodeKind kind : allKinds()) {
    const Signature& own = signatureOf(kind);
    for (const onnx::OpSchema* schema : schemasOf(toText(kind)).versions)
      for (std::size_t i = 0; i < schema->inputs().size(); ++i) {
        const bool scalesOfOld = kind == NodeKind::Resize && schema->since_version() < 11;
        if (scalesOfOld && i == 1) continue;  // where newer versions have roi
        const Operand& operand = own.inputs.at(i);
        for (const auto& [name, type] : types) {
          bool taken = false;
          for (const std::string* one : schema->inputs()[i].GetTypes()) taken |= *one == name;
          if (!taken) continue;
          ++seen;
          EXPECT_TRUE(operand.types.contains(type))
              << toText(kind) << " input " << i << " of " << name;
        }
      }
  }
  EXPECT_GE(seen, 300);
}

// The fault of a model of one node, "" where there is none.
std::string faultOf(const ModelBuilder& m) {
  const Result<Graph> graph = m.import();
  if (graph) return "";
  EXPECT_EQ(graph.diagnostics().size(), 1U) << graph.diagnostics();
  return graph.diagnostics()[0].code + ": " + graph.diagnostics()[0].what;
}
std::string faultOf(const std::string& type, const std::vector<Dims>& shapes) {
  ModelBuilder m;
  ModelBuilder::Names inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    inputs.push_back(m.input("x" + std::to_string(i), shapes[i]));
  m.output(m.op(type, inputs));
  return faultOf(m);
}

TEST(Signatures, RefuseANumberOfInputsThatNoOperatorTakes) {
  EXPECT_EQ(faultOf("PRelu", {{2, 3}}), "ONNX009: it has 1 input where it takes 2");
  EXPECT_EQ(faultOf("Relu", {{2}, {2, 3, 4}}), "ONNX009: it has 2 inputs where it takes 1");
  EXPECT_EQ(faultOf("Add", {{2}}), "ONNX009: it has 1 input where it takes 2");
  EXPECT_EQ(faultOf("Mul", {{2}}), "ONNX009: it has 1 input where it takes 2");
  EXPECT_EQ(faultOf("Clip", {{2}, {1}, {1}, {1}}),
            "ONNX009: it has 4 inputs where it takes 1 to 3");
  EXPECT_EQ(faultOf("Min", {}), "ONNX009: it has 0 inputs where it takes 1 or more");
  EXPECT_EQ(faultOf("Min", {{2}}), "");
  EXPECT_EQ(faultOf("Concat", {}), "ONNX009: it has 0 inputs where it takes 1 or more");
}

TEST(Signatures, RefuseAbsentInputsInTheMiddle) {
  ModelBuilder m;
  m.output(m.op("Max", {m.input("x", {2}), "", m.input("y", {2})}));
  EXPECT_EQ(faultOf(m), "ONNX009: input 1 (data) is missing");
}

TEST(Signatures, RefuseMoreOutputsThanAnOperatorMakes) {
  ModelBuilder m;
  m.output(m.node("Relu", {m.input("x", {2})}, 2).output(0));
  EXPECT_EQ(faultOf(m), "ONNX009: it has 2 outputs where it makes 1");
}

TEST(Signatures, RefuseTypesThatAnOperatorDoesNotTake) {
  ModelBuilder m;
  m.output(m.op("Gather", {m.input("x", {2}), m.input("i", {2})}));
  EXPECT_EQ(faultOf(m), "ONNX009: input 1 (indices) is of float32, not of int32, int64");
  ModelBuilder n;
  n.output(n.op("PRelu", {n.input("x", {2}), n.input("s", {2}, onnx::TensorProto::DOUBLE)}));
  EXPECT_EQ(faultOf(n), "ONNX009: input 1 (slope) is of float64 beside input 0 of float32");
}

TEST(Signatures, RefuseParametersOfAnotherLength) {
  EXPECT_EQ(faultOf("PRelu", {{2, 3}, {2, 2, 3}}),
            "ONNX009: input 1 (slope) of 2x2x3 does not broadcast to 2x3");
  EXPECT_EQ(faultOf("PRelu", {{2, 3}, {1, 3}}), "");
  EXPECT_EQ(faultOf("BatchNormalization", {{1, 4, 2, 2}, {4}, {4}, {3}, {4}}),
            "ONNX009: input 3 (mean) holds 3 elements where it needs 4");
  EXPECT_EQ(faultOf("Conv", {{1, 2, 3, 3}, {4, 2, 1, 1}, {1}}),
            "ONNX009: input 2 (B) holds 1 elements where it needs 4");
  EXPECT_EQ(faultOf("Gemm", {{2, 3}, {3, 4}, {3}}),
            "ONNX009: input 2 (C) of 3 does not broadcast to 2x4");
  EXPECT_EQ(faultOf("QuantizeLinear", {{1, 4, 2, 2}, {3}}),
            "ONNX009: input 1 (y_scale) holds 3 elements where it needs 1 or 4");
}

TEST(Signatures, RefuseParametersWithoutElements) {
  ModelBuilder m;
  m.output(m.op("QuantizeLinear", {m.input("x", {1, 2}), m.floats({0}, {})}));
  EXPECT_EQ(faultOf(m), "ONNX009: input 1 (y_scale) holds 0 elements where it needs 1 or 2");
  ModelBuilder n;
  const std::string none = n.floats({0}, {});
  n.output(n.op("BatchNormalization", {n.input("x", {1, 2, 2}), none, none, none, none}));
  EXPECT_EQ(faultOf(n), "ONNX009: input 1 (scale) holds 0 elements where it needs 2");
}

TEST(Signatures, RefuseZeroPointsOfAnotherLengthThanTheScales) {
  ModelBuilder m;
  m.output(m.op("QuantizeLinear", {m.input("x", {2, 3}), m.floats({3}, {1, 1, 1}), m.zero()}));
  EXPECT_EQ(faultOf(m), "ONNX009: input 2 (y_zero_point) holds 1 elements where it needs 3");
}

TEST(Signatures, RefuseConstantIndicesOutOfRange) {
  ModelBuilder m;
  m.output(m.op("Gather", {m.input("x", {2, 3}), m.integer(-4)}, "axis", std::int64_t{1}));
  EXPECT_EQ(faultOf(m), "ONNX009: index -4 of 2x3 along axis 1");
  ModelBuilder n;
  n.output(n.op("Gather", {n.input("x", {2, 3}), n.integer(-3)}, "axis", std::int64_t{1}));
  EXPECT_EQ(faultOf(n), "");
}

}  // namespace
}  // namespace heddle
