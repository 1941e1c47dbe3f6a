// Holds the interpreter against ONNX Runtime, operator by operator, each fed the Runtime's own
// input, so that no difference is carried on:
//
//   oracle_check MODEL.onnx=DIR ...       # DIR holds NAME.npy for tensors of MODEL as the Runtime
//   computed them
//
// A tensor that DIR lacks (the inside of a fused operator) is the interpreter's own. Prints for
// each kind of operator the values compared and a histogram of the differences; fails where they
// pass the bounds of docs/numbers.md. Float outputs of DIR are compared with those of the host
// operators.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include "heddle/canon/canonicalize.h"
#include "heddle/driver/host_parts.h"
#include "heddle/driver/port_values.h"
#include "heddle/driver/quantized_tensors.h"
#include "heddle/interp/host.h"
#include "heddle/interp/interpret.h"
#include "heddle/npy/npy.h"
#include "heddle/onnx/import.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

constexpr double kMostPerMillion = 50;      // differences of 1, where a scale is not a power of two
constexpr std::int64_t kAllowedAlways = 1;  // one difference in a small test is no rate
constexpr double kFloatTolerance =
    1e-4;                    // of host operators against float32, relative to max(1, |value|)
constexpr int kLargest = 4;  // the histogram's last column: this or more

struct Histogram {
  std::int64_t tensors = 0, values = 0;
  std::array<std::int64_t, kLargest + 1> differences{};  // by size; [0] are the equal ones

  void add(std::int64_t difference) {
    ++values;
    ++differences[static_cast<std::size_t>(std::min<std::int64_t>(std::abs(difference), kLargest))];
  }
  std::int64_t unequal() const { return values - differences[0]; }
  double perMillion() const {
    return values == 0 ? 0 : 1e6 * static_cast<double>(unequal()) / static_cast<double>(values);
  }
};

std::string fileName(std::string tensor) {
  std::replace(tensor.begin(), tensor.end(), '/', '_');
  std::replace(tensor.begin(), tensor.end(), ':', '_');
  return tensor + ".npy";
}

bool isPowerOfTwo(double x) { return x > 0 && std::exp2(std::round(std::log2(x))) == x; }
bool isPowerOfTwo(Multiplier m) {
  return m.multiplier != 0 && (m.multiplier & (m.multiplier - 1)) == 0;
}
bool isPowerOfTwo(std::int64_t m) { return m != 0 && (std::abs(m) & (std::abs(m) - 1)) == 0; }

// Whether nothing but powers of two scales in `op`; the functions of tables have their own real
// values.
bool isExact(const CanonicalGraph& graph, const CanonicalOp& op) {
  bool exact = op.kind() != OpKind::Table && isPowerOfTwo(graph.tensors[op.output.at()].scale);
  for (const TensorId id : op.inputs) exact = exact && isPowerOfTwo(graph.tensors[id.at()].scale);
  std::visit(
      [&](const auto& attributes) {
        if constexpr (requires { attributes.requantize.begin(); })
          for (const Multiplier m : attributes.requantize) exact = exact && isPowerOfTwo(m);
        if constexpr (requires { attributes.requantizeNegative; })
          for (const Multiplier m : attributes.requantizeNegative) exact = exact && isPowerOfTwo(m);
        if constexpr (requires { attributes.multiplierA; })
          exact =
              exact && isPowerOfTwo(attributes.multiplierA) && isPowerOfTwo(attributes.multiplierB);
      },
      op.attributes);
  return exact;
}

class Checker {
 public:
  bool checkModel(const fs::path& model, const fs::path& folder) {
    const Result<Graph> graph = importOnnx(model);
    if (!graph) return refuse(graph.diagnostics());
    const Result<Canonicalized> canonical = canonicalize(*graph);
    model_ = model.stem();
    if (!canonical) return checkOnHost(*graph, folder, canonical.diagnostics());
    const Tensors runtime = runtimeTensors(*canonical, folder);
    const Tensors own = checkOps(*canonical, runtime);
    return checkEntrance(*canonical, *graph, folder, runtime) &&
           checkExit(*canonical, *graph, folder, runtime, own) &&
           checkOutside(*canonical, *graph, folder, runtime, own);
  }

  // Prints the histograms; false where one passes its bounds.
  bool report() const {
    bool good = true;
    std::printf("%-28s %7s %10s %7s %8s  %s\n", "operator", "tensors", "values", "unequal", "ppm",
                "by 1, 2, 3, 4 or more");
    for (const auto& [kind, histogram] : histograms_) {
      const bool pool = kind.find("Pool") != std::string::npos;
      const bool exact = kind.find("powers of two") != std::string::npos;
      const auto& d = histogram.differences;
      const bool rare =
          histogram.unequal() <= kAllowedAlways || histogram.perMillion() <= kMostPerMillion;
      const bool within =
          d[2] + d[3] + d[4] == 0 && (pool || (exact ? histogram.unequal() == 0 : rare));
      std::printf(
          "%-28s %7lld %10lld %7lld %8.2f  %lld %lld %lld %lld%s\n", kind.c_str(),
          static_cast<long long>(histogram.tensors), static_cast<long long>(histogram.values),
          static_cast<long long>(histogram.unequal()), histogram.perMillion(),
          static_cast<long long>(d[1]), static_cast<long long>(d[2]), static_cast<long long>(d[3]),
          static_cast<long long>(d[4]), within ? "" : "  <- beyond its bounds");
      good = good && within;
    }
    std::printf("%d outputs of models compared\n", outputs_);
    return good && !histograms_.empty();
  }

 private:
  using Tensors = std::map<TensorId, TensorValue>;

  bool refuse(const Diagnostics& diagnostics) {
    std::cout << diagnostics;
    return false;
  }

  // The Runtime's values of every canonical tensor that `folder` has.
  Tensors runtimeTensors(const Canonicalized& canonical, const fs::path& folder) {
    Tensors tensors;
    for (const Port& port : canonical.quantized) {
      const fs::path file = folder / fileName(port.name);
      if (!fs::exists(file)) continue;
      const CanonicalTensor& tensor = canonical.graph.tensors[port.tensor.at()];
      const Result<NpyArray> array = readNpy(file);
      if (!array) {
        std::cout << array.diagnostics();
        continue;
      }
      const auto stored = storedFromArray(
          *array, port, {tensor.shape, tensor.scale, tensor.zeroPoint}, file.string());
      if (stored)
        tensors[port.tensor] = *stored;
      else
        std::cout << stored.diagnostics();
    }
    return tensors;
  }

  // The interpreter's value of every tensor, each operator fed the Runtime's.
  Tensors checkOps(const Canonicalized& canonical, const Tensors& runtime) {
    const CanonicalGraph& graph = canonical.graph;
    Tensors own;
    for (const Port& port : graph.inputs)
      if (!runtime.contains(port.tensor)) {
        const Shape& shape = graph.tensors[port.tensor.at()].shape;
        std::cout << model_ << ": the Runtime's " << port.name << " is missing; random values\n";
        own[port.tensor] = randomValues(shape, 1, 0);
      }
    for (std::size_t i = 0; i < graph.tensors.size(); ++i)
      if (!graph.tensors[i].constant.empty()) own[TensorId(i)] = graph.tensors[i].constant;
    for (const CanonicalOp& op : graph.ops) {
      std::vector<const TensorValue*> operands;
      for (const TensorId id : op.inputs)
        operands.push_back(runtime.contains(id) ? &runtime.at(id) : &own.at(id));
      own[op.output] = interpretOp(graph, op, operands);
      if (runtime.contains(op.output)) compare(graph, op, own[op.output], runtime.at(op.output));
    }
    return own;
  }

  // The arrays of `folder` for those of `ids` that it has.
  NamedArrays arraysOf(const Graph& graph, const std::vector<ValueId>& ids,
                       const fs::path& folder) {
    NamedArrays arrays;
    for (const ValueId id : ids) {
      const fs::path file = folder / fileName(graph[id].name);
      if (!fs::exists(file)) continue;
      const Result<NpyArray> array = readNpy(file);
      if (array)
        arrays[graph[id].name] = *array;
      else
        std::cout << array.diagnostics();
    }
    return arrays;
  }

  // A model without an integer meaning of its own (sums wanted as they are, a negative scale): all
  // of it on the host.
  bool checkOnHost(const Graph& graph, const fs::path& folder, const Diagnostics& why) {
    std::cout << model_ << ": on the host, since " << why[0].code << " " << why[0].what << "\n";
    const NamedArrays files = arraysOf(graph, graph.inputs, folder);
    std::vector<HostTensor> inputs;
    for (const ValueId id : graph.inputs)
      inputs.push_back(hostTensorFrom(files.at(graph[id].name)).value());
    const Result<std::vector<HostTensor>> outputs = runHost(graph, inputs);
    if (!outputs) return refuse(outputs.diagnostics());
    NamedArrays ours;
    for (std::size_t i = 0; i < outputs->size(); ++i)
      ours[graph[graph.outputs[i]].name] = arrayFrom((*outputs)[i]);
    return compareOutputs(graph, folder, ours);
  }

  // What the host makes of the model's inputs is what the Runtime quantized them to.
  bool checkEntrance(const Canonicalized& canonical, const Graph& graph, const fs::path& folder,
                     const Tensors& runtime) {
    const auto values = enterArray(canonical, arraysOf(graph, graph.inputs, folder));
    if (!values) return refuse(values.diagnostics());
    for (std::size_t i = 0; i < values->size(); ++i) {
      const TensorId id = canonical.graph.inputs[i].tensor;
      if (runtime.contains(id)) count("input", (*values)[i], runtime.at(id));
    }
    return true;
  }

  // The quantized tensors that no canonical tensor holds (inner ones of the host, a folded Pad),
  // made from the Runtime's own others; every tensor that the Runtime gave has to be among all of
  // them.
  bool checkOutside(const Canonicalized& canonical, const Graph& graph, const fs::path& folder,
                    const Tensors& runtime, Tensors values) {
    for (const auto& [id, value] : runtime) values[id] = value;
    std::vector<TensorValue> all;
    for (std::size_t i = 0; i < canonical.graph.tensors.size(); ++i)
      all.push_back(values.at(TensorId(i)));
    const auto made =
        quantizedTensors(graph, canonical, all, arraysOf(graph, graph.inputs, folder));
    if (!made) return refuse(made.diagnostics());
    std::set<std::string> inside;
    for (const Port& port : canonical.quantized) inside.insert(port.name);
    bool whole = true;
    for (const Value& value : graph.values) {
      const bool byte = value.type == DataType::Int8 || value.type == DataType::Uint8;
      const fs::path file = folder / fileName(value.name);
      if (!byte || inside.contains(value.name) || !fs::exists(file)) continue;
      const auto found = made->arrays.find(value.name);
      const Result<NpyArray> theirs = readNpy(file);
      const bool fits = found != made->arrays.end() && theirs &&
                        found->second.type == theirs->type && found->second.shape == theirs->shape;
      if (fits) count("outside the array", bytesOf(found->second), bytesOf(*theirs));
      if (!fits) std::cout << model_ << ": " << value.name << " is not among the tensors\n";
      whole = whole && fits;
    }
    return whole;
  }

  static TensorValue bytesOf(const NpyArray& array) {
    TensorValue bytes;
    for (const std::byte b : array.data)
      bytes.push_back(
          static_cast<std::int8_t>(static_cast<int>(b) - (array.type == NpyType::Uint8 ? 128 : 0)));
    return bytes;
  }

  // The model's outputs, made from the Runtime's own last quantized tensors.
  bool checkExit(const Canonicalized& canonical, const Graph& graph, const fs::path& folder,
                 const Tensors& runtime, const Tensors& own) {
    std::vector<TensorValue> last;
    for (const Port& port : canonical.graph.outputs)
      last.push_back(runtime.contains(port.tensor) ? runtime.at(port.tensor) : own.at(port.tensor));
    const auto ours = leaveArray(canonical, last, arraysOf(graph, graph.inputs, folder));
    if (!ours) return refuse(ours.diagnostics());
    return compareOutputs(graph, folder, *ours);
  }

  bool compareOutputs(const Graph& graph, const fs::path& folder, const NamedArrays& ours) {
    bool good = true;
    for (const auto& [name, theirs] : arraysOf(graph, graph.outputs, folder)) {
      const auto found = ours.find(name);
      const bool near = found != ours.end() && isNear(found->second, theirs);
      if (!near) std::cout << model_ << ": output " << name << " differs\n";
      good = good && near;
      ++outputs_;
    }
    return good;
  }

  // Quantized values may differ by 1 where a float32 product falls on the other side of a tie.
  static bool isNear(const NpyArray& ours, const NpyArray& theirs) {
    if (ours.type != theirs.type || ours.shape != theirs.shape) return false;
    const std::vector<double> a = hostTensorFrom(ours)->values, b = hostTensorFrom(theirs)->values;
    const bool quantized = ours.type == NpyType::Int8 || ours.type == NpyType::Uint8;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double allowed = quantized ? 1 : kFloatTolerance * std::max(1.0, std::abs(b[i]));
      if (std::abs(a[i] - b[i]) > allowed) return false;
    }
    return true;
  }

  void compare(const CanonicalGraph& graph, const CanonicalOp& op, const TensorValue& ours,
               const TensorValue& theirs) {
    static constexpr std::array kNames{"Conv", "DepthwiseConv", "MaxPool", "AveragePool",
                                       "Add",  "Mul",           "Table",   "Assemble"};
    const std::string kind = kNames.at(op.attributes.index());
    const std::int64_t unequal =
        count(kind + (isExact(graph, op) ? ", powers of two" : ""), ours, theirs);
    if (unequal > 0)
      std::printf("%s: %s (%s): %lld of %zu values differ\n", model_.c_str(), op.name.c_str(),
                  op.onnxOp.c_str(), static_cast<long long>(unequal), ours.size());
  }

  // Adds to the histogram of `kind`; how many differ.
  std::int64_t count(const std::string& kind, const TensorValue& ours, const TensorValue& theirs) {
    Histogram& histogram = histograms_[kind];
    const std::int64_t before = histogram.unequal();
    for (std::size_t i = 0; i < ours.size(); ++i) histogram.add(ours[i] - theirs[i]);
    ++histogram.tensors;
    return histogram.unequal() - before;
  }

  std::string model_;
  int outputs_ = 0;
  std::map<std::string, Histogram> histograms_;
};

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  heddle::Checker checker;
  bool good = argc > 1;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equal = argument.rfind('=');
    if (equal == std::string::npos) return 2;
    good = checker.checkModel(argument.substr(0, equal), argument.substr(equal + 1)) && good;
  }
  return checker.report() && good ? 0 : 1;
}
