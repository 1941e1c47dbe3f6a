#include "heddle/driver/quantized_tensors.h"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <map>
#include <span>

namespace heddle {
namespace {

// A Graph of operators on quantized rows of two numbers, all with scale 1.
class RowBuilder {
 public:
  RowBuilder() {
    graph.name = "rows";
    value("one", DataType::Float32, {}, std::string("\0\0\x80\x3f", 4));
    value("zero", DataType::Int8, {}, std::string(1, '\0'));
  }
  ValueId input(const char* name) {
    graph.inputs.push_back(value(name, DataType::Float32, {1, 2}));
    return graph.inputs.back();
  }
  ValueId constant(const char* name, std::initializer_list<char> bytes) {
    return value(name, DataType::Int8, {1, static_cast<std::int64_t>(bytes.size())},
                 std::string(bytes));
  }
  ValueId quantized(const char* name, ValueId x) {
    return op(name, DataType::Int8, NodeKind::QuantizeLinear, {x, ValueId(0), ValueId(1)},
              AxisAttributes{});
  }
  ValueId dequantized(const char* name, ValueId x) {
    return op(name, DataType::Float32, NodeKind::DequantizeLinear, {x, ValueId(0), ValueId(1)},
              AxisAttributes{});
  }
  ValueId op(const char* name, DataType type, NodeKind kind, std::vector<ValueId> inputs,
             NodeAttributes attributes) {
    const ValueId out = value(name, type, {1, 2});
    graph.nodes.push_back(
        {name, toText(kind), kind, std::move(inputs), {out}, std::move(attributes)});
    return out;
  }

  Graph graph;

 private:
  ValueId value(const char* name, DataType type, Dims shape,
                std::optional<std::string> constant = std::nullopt) {
    graph.values.push_back({name, type, std::move(shape), std::move(constant)});
    return ValueId(graph.values.size() - 1);
  }
};

struct Collected {
  std::map<std::string, std::vector<int>> bytes;
  std::vector<std::string> unknown;
};

// With every canonical tensor holding {3, 5}.
Collected collected(const Graph& graph, const NamedArrays& given) {
  const Result<Canonicalized> canonical = canonicalize(graph);
  EXPECT_TRUE(canonical) << canonical.diagnostics();
  const std::vector<std::vector<std::int8_t>> values(canonical->graph.tensors.size(), {3, 5});
  const auto tensors = quantizedTensors(graph, *canonical, values, given);
  EXPECT_TRUE(tensors) << tensors.diagnostics();
  Collected found{{}, tensors->unknown};
  for (const auto& [name, array] : tensors->arrays) {
    EXPECT_EQ(array.type, NpyType::Int8) << name;
    EXPECT_EQ(array.shape, (std::vector<std::int64_t>{1, 2})) << name;
    for (const std::byte b : array.data) found.bytes[name].push_back(static_cast<std::int8_t>(b));
  }
  return found;
}

NpyArray row(float a, float b) {
  const std::array<float, 2> values{a, b};
  const auto bytes = std::as_bytes(std::span(values));
  return {NpyType::Float32, {1, 2}, {bytes.begin(), bytes.end()}};
}

// x -> Softmax on the host -> Relu on the array -> Softmax on the host, rounded after each; and a
// sum that nothing reads.
Graph sourceNetwork() {
  RowBuilder m;
  const ValueId softmax = m.op("softmax", DataType::Float32, NodeKind::Softmax, {m.input("x")},
                               AxisAttributes{.axis = 1});
  const ValueId relu =
      m.op("relu", DataType::Float32, NodeKind::Relu,
           {m.dequantized("dq", m.quantized("entry_q", softmax))}, FunctionAttributes{});
  const ValueId last = m.dequantized("last", m.quantized("relu_q", relu));
  const ValueId weights = m.dequantized("weights", m.constant("weights_q", {7, -7}));
  m.quantized("unread_q", m.op("sum", DataType::Float32, NodeKind::Add, {last, weights}, {}));
  const ValueId top =
      m.op("top", DataType::Float32, NodeKind::Softmax, {last}, AxisAttributes{.axis = 1});
  m.graph.outputs = {m.dequantized("y", m.quantized("top_q", top))};
  return m.graph;
}

TEST(QuantizedTensors, HoldWhatTheArrayTheHostAndNobodyNeeds) {
  const Collected found = collected(sourceNetwork(), {{"x", row(0, 0)}});
  EXPECT_EQ(found.bytes, (std::map<std::string, std::vector<int>>{{"entry_q", {3, 5}},
                                                                  {"relu_q", {3, 5}},
                                                                  {"weights_q", {7, -7}},
                                                                  {"unread_q", {10, -2}},
                                                                  {"top_q", {0, 1}}}));
  EXPECT_TRUE(found.unknown.empty());
}

TEST(QuantizedTensors, NameThoseThatHangOnAnInputThatIsNotGiven) {
  RowBuilder m;
  const ValueId x = m.input("x");
  const ValueId relu = m.op("relu", DataType::Float32, NodeKind::Relu,
                            {m.dequantized("dq", m.quantized("x_q", x))}, FunctionAttributes{});
  const ValueId last = m.dequantized("last", m.quantized("relu_q", relu));
  const ValueId top =
      m.op("top", DataType::Float32, NodeKind::Softmax, {last}, AxisAttributes{.axis = 1});
  const ValueId scaled = m.op("scaled", DataType::Float32, NodeKind::Mul, {top, x}, {});
  m.graph.outputs = {m.dequantized("y", m.quantized("scaled_q", scaled))};
  EXPECT_EQ(collected(m.graph, {}).unknown, std::vector<std::string>{"scaled_q"});
  const Collected found = collected(m.graph, {{"x", row(100, 10)}});
  EXPECT_TRUE(found.unknown.empty());
  EXPECT_EQ(found.bytes.at("scaled_q"), (std::vector<int>{12, 9}));  // 100 / (1 + e^2), 10 - ...
}

}  // namespace
}  // namespace heddle
