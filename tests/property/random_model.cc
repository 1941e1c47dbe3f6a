#include "random_model.h"

#include <algorithm>
#include <map>
#include <set>

#include "model_writer.h"

namespace heddle::property {
namespace {

constexpr std::int64_t kMostElements = 2'000;  // of a tensor that another operator reads

std::vector<NamedMaker> joined(const std::vector<std::vector<NamedMaker>>& families) {
  std::vector<NamedMaker> all;
  for (const auto& family : families) all.insert(all.end(), family.begin(), family.end());
  return all;
}

const NamedMaker& weighted(Choices& choices, const std::vector<NamedMaker>& makers) {
  std::int64_t sum = 0;
  for (const NamedMaker& maker : makers) sum += maker.weight;
  std::int64_t at = choices.between(0, sum - 1);
  for (const NamedMaker& maker : makers)
    if ((at -= maker.weight) < 0) return maker;
  return makers.back();
}

class Network {
 public:
  Network(Choices& choices, bool asRuntime) : w_(choices, asRuntime) {}

  onnx::ModelProto make() {
    static const std::vector<NamedMaker> all = joined(
        {productMakers(), windowMakers(), elementwiseMakers(), movementMakers(), integerMakers()});
    for (std::int64_t n = w_.chance(15) ? 2 : 1; n > 0; --n) addInput();
    for (std::int64_t n = w_.between(1, 7); n > 0; --n) addOperator(all);
    addOutputs();
    decorate();
    return std::move(w_.m.model());
  }

 private:
  std::int64_t extent(std::int64_t most) {
    return std::min(most, w_.choices.pick(std::vector<std::int64_t>{1, 4, 8, w_.between(1, most),
                                                                    w_.between(1, most), 7, 9}));
  }

  Dims inputShape() {
    switch (w_.between(0, 19)) {
      case 0:
        return {1, extent(60)};
      case 1:
        return {extent(6), extent(40)};
      case 2:
        return {1, extent(12), extent(20)};
      case 3:
        return w_.chance(20) ? Dims{2, extent(4), extent(6), extent(6)} : Dims{1, 3, 8, 8};
      case 4:
        return w_.chance(30) ? Dims{1, extent(4), extent(3), extent(5), extent(5)}
                             : Dims{extent(30)};
      default:
        return {1, extent(16), extent(9), extent(9)};
    }
  }

  void addInput() {
    const Dims shape = inputShape();
    const std::string name = "x" + std::to_string(w_.pool.size());
    if (w_.chance(25)) {
      const Scaling own = w_.scaling(1.0 / 40);
      const auto type = own.isUnsigned ? onnx::TensorProto::UINT8 : onnx::TensorProto::INT8;
      w_.pool.push_back({shape, "", w_.m.input(name, shape, type), own});
      return;
    }
    Tensor x{shape, w_.m.input(name, shape), "", {}};
    w_.pool.push_back(x);  // what shape arithmetic asks
    static const std::vector<NamedMaker> before = joined({elementwiseMakers(), movementMakers()});
    for (std::int64_t n = w_.chance(20) ? w_.between(1, 2) : 0; n > 0; --n)
      if (const auto made = weighted(w_.choices, before).make(w_, x);
          made && elementCount(made->shape) <= kMostElements)
        x = *made;
    if (x.integer.empty()) x = w_.quantized(x.real, x.shape);
    w_.pool.back() = x;
  }

  void addOperator(const std::vector<NamedMaker>& makers) {
    const Tensor x = w_.chance(25) ? w_.choices.pick(w_.pool) : w_.pool.back();
    std::optional<Tensor> made;
    for (int tries = 0; tries < 5 && !made; ++tries)
      made = weighted(w_.choices, makers).make(w_, x);
    if (made && elementCount(made->shape) <= kMostElements) w_.pool.push_back(std::move(*made));
  }

  void addOutputs() {
    std::set<std::string> names;
    for (const auto& input : w_.m.graph().input()) names.insert(input.name());
    const auto add = [&](Tensor tensor) {
      if (tensor.integer.empty() && !w_.chance(10))
        tensor = w_.quantized(tensor.real, tensor.shape);
      if (w_.chance(15)) tensor = onHost(tensor);
      const bool asInteger =
          !tensor.integer.empty() && (tensor.real.empty() ? w_.chance(80) : w_.chance(15));
      const std::string name = asInteger ? tensor.integer : w_.real(tensor);
      if (names.insert(name).second) w_.m.output(name);
    };
    const std::vector<Tensor> pool = w_.pool;
    for (std::size_t i = 0; i + 1 < pool.size(); ++i)
      if (w_.chance(12)) add(pool[i]);
    add(pool.back());
    if (w_.m.graph().output_size() == 0) w_.m.output(w_.m.op("Identity", {w_.real(pool.back())}));
  }

  Tensor onHost(const Tensor& x) {
    static const std::vector<NamedMaker> last =
        joined({hostMakers(), hostMakers(), elementwiseMakers()});
    const auto made = weighted(w_.choices, last).make(w_, x);
    return made ? *made : x;
  }

  // What else is found in files.
  void decorate() {
    onnx::GraphProto& graph = w_.m.graph();
    if (w_.chance(20))
      for (auto& node : *graph.mutable_node()) node.clear_name();
    if (w_.chance(15)) w_.m.op("Relu", {w_.real(w_.choices.pick(w_.pool))});  // nobody reads it
    if (w_.chance(10)) w_.reals({2, 3}, 0, 1);
    if (w_.chance(15)) constantsAsNodes(graph);
    if (w_.chance(10)) constantsAsInputs(graph);
  }

  void constantsAsNodes(onnx::GraphProto& graph) {
    auto& constants = *graph.mutable_initializer();
    for (int i = constants.size() - 1; i >= 0; --i) {
      if (!w_.chance(40)) continue;
      onnx::NodeProto node;
      node.set_op_type("Constant");
      node.add_output(constants[i].name());
      auto& value = *node.add_attribute();
      value.set_name("value");
      value.set_type(onnx::AttributeProto::TENSOR);
      *value.mutable_t() = constants[i];
      value.mutable_t()->clear_name();
      constants.DeleteSubrange(i, 1);
      *graph.add_node() = node;
      for (int k = graph.node_size() - 1; k > 0; --k) graph.mutable_node()->SwapElements(k, k - 1);
    }
  }

  // Files of old listed every constant among the inputs.
  static void constantsAsInputs(onnx::GraphProto& graph) {
    for (const auto& constant : graph.initializer()) {
      auto& input = *graph.add_input();
      input.set_name(constant.name());
      auto& type = *input.mutable_type()->mutable_tensor_type();
      type.set_elem_type(constant.data_type());
      type.mutable_shape();
      for (const auto extent : constant.dims())
        type.mutable_shape()->add_dim()->set_dim_value(extent);
    }
  }

  ModelWriter w_;
};

}  // namespace

onnx::ModelProto makeRandomModel(Choices& choices, bool asRuntime) {
  return Network(choices, asRuntime).make();
}

onnx::ModelProto reordered(const onnx::ModelProto& model, std::uint64_t seed) {
  Choices choices(seed);
  const auto& nodes = model.graph().node();
  std::map<std::string, int> writer;
  for (int i = 0; i < nodes.size(); ++i)
    for (const auto& name : nodes[i].output())
      if (!name.empty()) writer[name] = i;
  std::vector<int> open(static_cast<std::size_t>(nodes.size()), 0);
  std::vector<std::vector<int>> readers(static_cast<std::size_t>(nodes.size()));
  std::vector<int> ready;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const auto& name : nodes[i].input())
      if (const auto found = writer.find(name); found != writer.end()) {
        readers[static_cast<std::size_t>(found->second)].push_back(i);
        ++open[static_cast<std::size_t>(i)];
      }
    if (open[static_cast<std::size_t>(i)] == 0) ready.push_back(i);
  }
  onnx::ModelProto out = model;
  out.mutable_graph()->clear_node();
  while (!ready.empty()) {
    const auto at = static_cast<std::size_t>(choices.between(0, std::ssize(ready) - 1));
    const int next = ready[at];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(at));
    *out.mutable_graph()->add_node() = nodes[next];
    for (const int reader : readers[static_cast<std::size_t>(next)])
      if (--open[static_cast<std::size_t>(reader)] == 0) ready.push_back(reader);
  }
  return out;
}

}  // namespace heddle::property
