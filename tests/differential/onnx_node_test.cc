// The ONNX standard's own test vectors through importOnnx and runHost: one model of one operator
// with its inputs and outputs each. Those of Debian (package libonnx-testdata) and the newer ones
// kept beside the source tree.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "heddle/interp/host.h"
#include "heddle/onnx/import.h"
#include "shared_data.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

constexpr double kTolerance = 2e-5;  // of float results, relative to max(1, |expected|)

std::string bytesOf(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

onnx::TensorProto protoOf(const fs::path& path) {
  onnx::TensorProto proto;
  proto.ParseFromString(bytesOf(path));
  return proto;
}

constexpr std::size_t kShortReason = 60;  // characters of a reason in the summary

// The elements of a tensor of the test data; none for types that heddle does not have.
std::optional<HostTensor> tensorOf(const onnx::TensorProto& proto) {
  static const std::map<int, DataType> kTypes{
      {onnx::TensorProto::FLOAT, DataType::Float32}, {onnx::TensorProto::DOUBLE, DataType::Float64},
      {onnx::TensorProto::INT8, DataType::Int8},     {onnx::TensorProto::UINT8, DataType::Uint8},
      {onnx::TensorProto::INT32, DataType::Int32},   {onnx::TensorProto::INT64, DataType::Int64},
      {onnx::TensorProto::BOOL, DataType::Bool}};
  const auto type = kTypes.find(proto.data_type());
  if (type == kTypes.end()) return {};
  const Dims shape(proto.dims().begin(), proto.dims().end());
  if (proto.has_raw_data()) return hostConstant({"raw", type->second, shape, proto.raw_data()});
  HostTensor tensor{type->second, shape, {}};
  tensor.values.assign(proto.float_data().begin(), proto.float_data().end());
  tensor.values.insert(tensor.values.end(), proto.double_data().begin(), proto.double_data().end());
  tensor.values.insert(tensor.values.end(), proto.int32_data().begin(), proto.int32_data().end());
  tensor.values.insert(tensor.values.end(), proto.int64_data().begin(), proto.int64_data().end());
  return tensor;
}

// Inputs from `first` on become constants: axes, sizes and pads must be known before a network is
// compiled.
std::string withConstantInputs(const fs::path& folder, int first) {
  onnx::ModelProto model;
  model.ParseFromString(bytesOf(folder / "model.onnx"));
  onnx::GraphProto& graph = *model.mutable_graph();
  for (int i = first; i < graph.input_size(); ++i) {
    const fs::path data = folder / "test_data_set_0" / ("input_" + std::to_string(i) + ".pb");
    const fs::path flat = folder / ("input_" + std::to_string(i) + ".pb");
    *graph.add_initializer() = protoOf(fs::exists(data) ? data : flat);
    graph.mutable_initializer()->rbegin()->set_name(graph.input(i).name());
  }
  while (graph.input_size() > first) graph.mutable_input()->RemoveLast();
  return model.SerializeAsString();
}

bool near(double actual, double expected, DataType type) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (actual == expected) return true;
  if (type != DataType::Float32 && type != DataType::Float64) return false;
  return std::abs(actual - expected) <= kTolerance * std::max(1.0, std::abs(expected));
}

struct Outcome {
  enum class Kind { Right, Wrong, NotSupported } kind;
  std::string why;
};

Outcome compare(const std::vector<HostTensor>& actual, const std::vector<HostTensor>& expected) {
  for (std::size_t o = 0; o < actual.size(); ++o) {
    const HostTensor &a = actual[o], &e = expected.at(o);
    if (a.type != e.type || a.shape != e.shape)
      return {Outcome::Kind::Wrong, std::string(toText(a.type)) + "[" + toText(a.shape) +
                                        "], not " + toText(e.type) + "[" + toText(e.shape) + "]"};
    for (std::size_t i = 0; i < a.values.size(); ++i)
      if (!near(a.values[i], e.values[i], a.type))
        return {Outcome::Kind::Wrong, "element " + std::to_string(i) + ": " +
                                          std::to_string(a.values[i]) + ", not " +
                                          std::to_string(e.values[i])};
  }
  return {Outcome::Kind::Right, ""};
}

std::vector<HostTensor> tensorsOf(const fs::path& folder, const std::string& stem,
                                  std::size_t count, bool& known) {
  std::vector<HostTensor> tensors;
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<HostTensor> tensor =
        tensorOf(protoOf(folder / (stem + std::to_string(i) + ".pb")));
    known = known && tensor.has_value();
    if (tensor) tensors.push_back(*tensor);
  }
  return tensors;
}

Outcome runModel(const Graph& graph, const fs::path& data) {
  bool known = true;
  const std::vector<HostTensor> inputs = tensorsOf(data, "input_", graph.inputs.size(), known);
  const std::vector<HostTensor> expected = tensorsOf(data, "output_", graph.outputs.size(), known);
  if (!known) return {Outcome::Kind::NotSupported, "an element type"};
  for (std::size_t i = 0; i < inputs.size(); ++i)  // an input that the model does not read is gone
    if (inputs[i].shape != graph[graph.inputs[i]].shape)
      return {Outcome::Kind::NotSupported, "an input that is not read"};
  const Result<std::vector<HostTensor>> outputs = runHost(graph, inputs);
  if (!outputs) return {Outcome::Kind::NotSupported, outputs.diagnostics()[0].what};
  return compare(*outputs, expected);
}

Outcome runFolder(const fs::path& folder) {
  const fs::path nested = folder / "test_data_set_0", data = fs::exists(nested) ? nested : folder;
  onnx::ModelProto model;
  model.ParseFromString(bytesOf(folder / "model.onnx"));
  std::string why;
  for (int variable = model.graph().input_size(); variable >= 0; --variable) {
    const Result<Graph> graph = importOnnx(withConstantInputs(folder, variable), "model.onnx");
    if (graph) return runModel(*graph, data);
    why = graph.diagnostics()[0].code + " " + graph.diagnostics()[0].what;
  }
  return {Outcome::Kind::NotSupported, why};
}

// Runs every folder under `root`; at least `least` must be right and none wrong but the
// `knownDifferences`.
void runAll(const fs::path& root, int least, const std::set<std::string>& knownDifferences) {
  if (!fs::exists(root)) GTEST_SKIP() << "no " << root;
  std::map<std::string, int> notSupported;
  int right = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
    if (!fs::exists(entry.path() / "model.onnx")) continue;
    const std::string name = entry.path().filename();
    const Outcome outcome = runFolder(entry.path());
    right += outcome.kind == Outcome::Kind::Right;
    if (outcome.kind == Outcome::Kind::NotSupported)
      ++notSupported[outcome.why.substr(0, kShortReason)];
    EXPECT_TRUE(outcome.kind != Outcome::Kind::Wrong || knownDifferences.contains(name))
        << name << ": " << outcome.why;
  }
  std::cout << right << " vectors agree; not supported:\n";
  for (const auto& [why, count] : notSupported) std::cout << "  " << count << " x " << why << "\n";
  EXPECT_GE(right, least);
}

TEST(OnnxNode, DebiansVectors) {
  // Output sizes of 2.4: the standard divides by them, heddle and ONNX Runtime by the 2 elements
  // that there are.
  runAll("/usr/share/libonnx-testdata/data/node", 350,
         {"test_resize_downsample_scales_linear_align_corners",
          "test_resize_downsample_scales_cubic_align_corners"});
}

TEST(OnnxNode, NewerVectors) { runAll(differential::sharedModels() / "onnx_node", 200, {}); }

}  // namespace
}  // namespace heddle
