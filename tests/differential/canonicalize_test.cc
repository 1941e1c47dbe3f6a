// canonicalize keeps the meaning: random quantized networks of many operators, views and layouts,
// computed by the integer interpreter after canonicalize and, independently of it, in double
// precision straight from the ONNX graph. All scales are powers of two, so nothing may differ.
//
// A case that fails names its seed; HEDDLE_SEED=n runs that one alone, HEDDLE_CASES=n many more.
#include "heddle/canon/canonicalize.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "../unit/onnx/model_builder.h"
#include "heddle/driver/port_values.h"
#include "heddle/interp/host.h"
#include "heddle/interp/interpret.h"

namespace heddle {
namespace {

struct Tensor {
  std::string name;
  Dims shape;
};

// Grows a network of one input, operator by operator, each mostly followed by a rounding.
class RandomModel {
 public:
  explicit RandomModel(std::uint64_t seed) : random_(seed) {
    const Dims shape{1, range(1, 9), range(1, 8), range(1, 8)};
    model.input("x", shape);
    values_.push_back(rounded({"x", shape}));
    for (std::int64_t step = range(2, 7); step > 0; --step) {
      Tensor next = grow(values_[static_cast<std::size_t>(range(0, last()))]);
      if (elementCount(next.shape) > 20000) continue;
      values_.push_back(range(0, 5) == 0 ? next : rounded(next));
    }
    model.output(rounded(values_.back()).name);
    model.output(rounded(values_[static_cast<std::size_t>(range(0, last()))]).name);
  }

  ModelBuilder model;

 private:
  std::int64_t range(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  std::int64_t last() const { return static_cast<std::int64_t>(values_.size()) - 1; }
  float scale() { return std::ldexp(1.F, static_cast<int>(range(-4, -1))); }

  Tensor rounded(const Tensor& x) {
    return {model.requantized(x.name, scale(), static_cast<std::int8_t>(range(-9, 9))), x.shape};
  }
  std::vector<std::int8_t> bytes(const Dims& shape) {
    std::vector<std::int8_t> values(static_cast<std::size_t>(elementCount(shape)));
    for (std::int8_t& value : values) value = static_cast<std::int8_t>(range(-7, 7));
    return values;
  }
  std::string weights(const Dims& shape) { return model.weights(shape, bytes(shape), 0.125F); }
  std::vector<float> reals(std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = static_cast<float>(range(-6, 6)) / 4;
    return values;
  }

  Tensor grow(const Tensor& x) {
    const bool image = x.shape.size() == 4 && x.shape[0] == 1;
    switch (range(0, image ? 20 : 12)) {
      case 0:
        return transpose(x);
      case 1:
        return reshape(x);
      case 2:
        return slice(x);
      case 3:
        return concat(x);
      case 4:
        return pad(x);
      case 5:
        return split(x);
      case 6:
        return function(x);
      case 7:
        return twoOperands(x);
      case 8:
        return constantOperand(x);
      case 9:
        return matrix(x);
      case 10:
        return flatten(x);
      case 11:
        return {model.op("Relu", {x.name}), x.shape};
      case 12:
        return reduce(x);
      case 13:
      case 14:
        return convolution(x, false);
      case 15:
        return convolution(x, true);
      case 16:
        return pool(x, "MaxPool");
      case 17:
        return pool(x, "AveragePool");
      case 18:
        return resize(x);
      case 19:
        return blocks(x);
      default:
        return {model.op("GlobalAveragePool", {x.name}), {1, x.shape[1], 1, 1}};
    }
  }

  Tensor transpose(const Tensor& x) {
    Dims order(x.shape.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    std::shuffle(order.begin() + (x.shape[0] == 1 ? 1 : 0), order.end(), random_);
    Dims shape;
    for (const std::int64_t axis : order) shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
    return {model.op("Transpose", {x.name}, "perm", order), shape};
  }

  // Joins two neighbouring axes or cuts one in two.
  Tensor reshape(const Tensor& x) {
    Dims shape = x.shape;
    if (shape.size() > 2 && range(0, 1) == 0) {
      const auto i =
          static_cast<std::size_t>(range(1, static_cast<std::int64_t>(shape.size()) - 2));
      shape[i] *= shape[i + 1];
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    } else if (shape.size() < 5) {
      const auto i =
          static_cast<std::size_t>(range(0, static_cast<std::int64_t>(shape.size()) - 1));
      std::int64_t factor = range(1, 4);
      while (shape[i] % factor != 0) --factor;
      shape[i] /= factor;
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(i) + 1, factor);
    }
    return {model.op("Reshape", {x.name, model.integers(shape)}), shape};
  }

  Tensor flatten(const Tensor& x) {
    return {model.op("Flatten", {x.name}, "axis", std::int64_t{1}),
            {x.shape[0], elementCount(x.shape) / x.shape[0]}};
  }

  Tensor slice(const Tensor& x) {
    const std::int64_t axis = range(0, static_cast<std::int64_t>(x.shape.size()) - 1);
    const std::int64_t extent = x.shape[static_cast<std::size_t>(axis)];
    const std::int64_t from = range(0, extent - 1), to = range(from + 1, extent),
                       step = range(1, 2);
    Dims shape = x.shape;
    shape[static_cast<std::size_t>(axis)] = (to - from + step - 1) / step;
    if (range(0, 3) == 0) {  // backwards over all
      shape[static_cast<std::size_t>(axis)] = extent;
      return {model.op("Slice", {x.name, model.integers({-1}), model.integers({-1000000}),
                                 model.integers({axis}), model.integers({-1})}),
              shape};
    }
    return {model.op("Slice", {x.name, model.integers({from}), model.integers({to}),
                               model.integers({axis}), model.integers({step})}),
            shape};
  }

  Tensor split(const Tensor& x) {
    const std::int64_t axis = range(0, static_cast<std::int64_t>(x.shape.size()) - 1);
    const std::int64_t extent = x.shape[static_cast<std::size_t>(axis)];
    if (extent == 1) return slice(x);
    const std::int64_t first = range(1, extent - 1);
    auto& node = model.node("Split", {x.name, model.integers({first, extent - first})}, 2);
    ModelBuilder::set(node, "axis", axis);
    const std::string a = node.output(0), b = node.output(1);
    Dims shape = x.shape;
    shape[static_cast<std::size_t>(axis)] = extent - first;
    if (range(0, 1) == 0) return {b, shape};
    return {model.op("Concat", {b, a}, "axis", axis), x.shape};
  }

  // Beside another value of the same shape but for one axis, or beside itself.
  Tensor concat(const Tensor& x) {
    const std::int64_t axis = range(0, static_cast<std::int64_t>(x.shape.size()) - 1);
    Dims shape = x.shape;
    std::vector<std::string> names{x.name};
    for (const Tensor& other : values_) {
      bool fits = other.shape.size() == x.shape.size() && names.size() < 3;
      for (std::size_t i = 0; fits && i < x.shape.size(); ++i)
        fits = static_cast<std::int64_t>(i) == axis || other.shape[i] == x.shape[i];
      if (!fits) continue;
      names.push_back(other.name);
      shape[static_cast<std::size_t>(axis)] += other.shape[static_cast<std::size_t>(axis)];
    }
    return {model.op("Concat", names, "axis", axis), shape};
  }

  Tensor pad(const Tensor& x) {
    Dims pads(2 * x.shape.size(), 0), shape = x.shape;
    const auto axis =
        static_cast<std::size_t>(range(0, static_cast<std::int64_t>(x.shape.size()) - 1));
    for (const std::size_t i : {axis, x.shape.size() - 1}) {
      if (i == 0) continue;
      pads[i] = range(0, 2);
      pads[i + x.shape.size()] = range(0, 2);
      shape[i] = x.shape[i] + pads[i] + pads[i + x.shape.size()];
    }
    auto& node = model.node(
        "Pad", {x.name, model.integers(pads), model.scalar(range(0, 1) == 0 ? 0.F : 0.5F)});
    if (range(0, 3) == 0) ModelBuilder::set(node, "mode", "edge");
    return {node.output(0), shape};
  }

  Tensor function(const Tensor& x) {
    switch (range(0, 5)) {
      case 0: {
        auto& node = model.node("LeakyRelu", {x.name});
        ModelBuilder::set(node, "alpha", 0.125F);
        return {node.output(0), x.shape};
      }
      case 1:
        return {model.op("HardSwish", {x.name}), x.shape};
      case 2:
        return {model.op("Clip", {x.name, model.scalar(-1), model.scalar(2)}), x.shape};
      case 3:
        return {model.op("Mul", {x.name, model.op("Sigmoid", {x.name})}), x.shape};
      case 4: {
        const Tensor gate = rounded({model.op("HardSigmoid", {x.name}), x.shape});
        return {model.op(range(0, 3) == 0 ? "Sub" : "Mul", {x.name, gate.name}), x.shape};
      }
      default: {
        Dims slopes(x.shape.size() - 1, 1);
        if (x.shape.size() < 2) return {model.op("Abs", {x.name}), x.shape};
        slopes[0] = x.shape[1];
        std::vector<float> values = reals(x.shape[1]);
        for (float& value : values) value = std::abs(value);
        return {model.op("PRelu", {x.name, model.constant(slopes, values)}), x.shape};
      }
    }
  }

  Tensor twoOperands(const Tensor& x) {
    const char* kind = std::array{"Add", "Sub", "Mul"}[static_cast<std::size_t>(range(0, 2))];
    for (std::int64_t tries = 0; tries < 8; ++tries) {
      const Tensor& other = values_[static_cast<std::size_t>(range(0, last()))];
      const auto shape = broadcastShapes(x.shape, other.shape);
      if (shape) return {model.op(kind, {x.name, other.name}), *shape};
    }
    Tensor mean = x;
    for (std::size_t i = 1; i < x.shape.size(); ++i)
      if (range(0, 1) == 0) mean = slicedToOne(mean, i);
    return {model.op(kind, {x.name, mean.name}), x.shape};
  }

  Tensor slicedToOne(const Tensor& x, std::size_t axis) {
    Dims shape = x.shape;
    shape[axis] = 1;
    return {model.op("Slice", {x.name, model.integers({0}), model.integers({1}),
                               model.integers({static_cast<std::int64_t>(axis)})}),
            shape};
  }

  Tensor constantOperand(const Tensor& x) {
    const char* kind = std::array{"Add", "Sub", "Mul"}[static_cast<std::size_t>(range(0, 2))];
    std::string constant;
    Dims shape(x.shape.size(), 1);
    switch (range(0, 2)) {
      case 0:
        constant = model.constant(shape, reals(1));
        break;
      case 1: {
        const auto axis =
            static_cast<std::size_t>(range(0, static_cast<std::int64_t>(x.shape.size()) - 1));
        shape[axis] = x.shape[axis];
        constant = range(0, 1) == 0 ? model.constant(shape, reals(x.shape[axis])) : weights(shape);
        break;
      }
      default:
        constant = weights(x.shape);
    }
    const bool first = range(0, 1) == 0;
    return {model.op(kind, first ? ModelBuilder::Names{constant, x.name}
                                 : ModelBuilder::Names{x.name, constant}),
            x.shape};
  }

  Tensor matrix(const Tensor& x) {
    const std::int64_t outputs = range(1, 9), length = x.shape.back();
    Dims shape = x.shape;
    shape.back() = outputs;
    if (x.shape.size() == 2 && range(0, 1) == 0) {
      auto& node = model.node("Gemm", {x.name, weights({outputs, length}), weights({outputs})});
      ModelBuilder::set(node, "transB", std::int64_t{1});
      return {node.output(0), shape};
    }
    return {model.op("MatMul", {x.name, weights({length, outputs})}), shape};
  }

  Tensor reduce(const Tensor& x) {
    const std::int64_t rank = static_cast<std::int64_t>(x.shape.size());
    if (rank < 3) return transpose(x);
    auto& node = model.node("ReduceMean", {x.name});
    ModelBuilder::set(node, "axes", Dims{rank - 2, rank - 1});
    ModelBuilder::set(node, "keepdims", std::int64_t{0});
    return {node.output(0), Dims(x.shape.begin(), x.shape.end() - 2)};
  }

  Tensor convolution(const Tensor& x, bool depthwise) {
    const std::int64_t channels = x.shape[1];
    std::int64_t group = depthwise ? channels : 1;
    if (!depthwise && channels % 2 == 0 && range(0, 2) == 0) group = 2;
    const std::int64_t outputs = depthwise ? channels : group * range(1, 5);
    const Dims kernel{range(1, 3), range(1, 3)}, strides{range(1, 2), range(1, 2)};
    const Dims pads{range(0, 1) + kernel[0] / 2, range(0, 1), kernel[0] / 2, kernel[1] / 2 + 1};
    auto& node =
        model.node("Conv", {x.name, weights({outputs, channels / group, kernel[0], kernel[1]})});
    if (range(0, 1) == 0) node.add_input(weights({outputs}));
    ModelBuilder::set(node, "kernel_shape", kernel);
    ModelBuilder::set(node, "strides", strides);
    ModelBuilder::set(node, "pads", pads);
    ModelBuilder::set(node, "group", group);
    Dims shape{1, outputs};
    for (std::size_t i = 0; i < 2; ++i)
      shape.push_back((x.shape[i + 2] + pads[i] + pads[i + 2] - kernel[i]) / strides[i] + 1);
    return {node.output(0), shape};
  }

  Tensor pool(const Tensor& x, const char* kind) {
    const Dims kernel{std::min<std::int64_t>(x.shape[2], range(1, 3)),
                      std::min<std::int64_t>(x.shape[3], range(1, 3))};
    const Dims pads{kernel[0] / 2, 0, 0, kernel[1] / 2}, strides{range(1, 2), range(1, 3)};
    auto& node = model.node(kind, {x.name});
    ModelBuilder::set(node, "kernel_shape", kernel);
    ModelBuilder::set(node, "strides", strides);
    ModelBuilder::set(node, "pads", pads);
    if (std::string(kind) == "AveragePool")
      ModelBuilder::set(node, "count_include_pad", range(0, 1));
    Dims shape{1, x.shape[1]};
    for (std::size_t i = 0; i < 2; ++i)
      shape.push_back((x.shape[i + 2] + pads[i] + pads[i + 2] - kernel[i]) / strides[i] + 1);
    return {node.output(0), shape};
  }

  Tensor resize(const Tensor& x) {
    const Dims sizes{1, x.shape[1], range(1, 9), range(1, 9)};
    auto& node = model.node("Resize", {x.name, "", "", model.integers(sizes)});
    ModelBuilder::set(node, "coordinate_transformation_mode",
                      range(0, 1) == 0 ? "asymmetric" : "half_pixel");
    ModelBuilder::set(node, "nearest_mode", range(0, 1) == 0 ? "floor" : "round_prefer_ceil");
    return {node.output(0), sizes};
  }

  Tensor blocks(const Tensor& x) {
    const Dims& s = x.shape;
    if (s[1] % 4 == 0)
      return {model.op("DepthToSpace", {x.name}, "blocksize", std::int64_t{2}),
              {1, s[1] / 4, s[2] * 2, s[3] * 2}};
    if (s[2] % 2 == 0 && s[3] % 2 == 0)
      return {model.op("SpaceToDepth", {x.name}, "blocksize", std::int64_t{2}),
              {1, s[1] * 4, s[2] / 2, s[3] / 2}};
    return transpose(x);
  }

  std::mt19937_64 random_;
  std::vector<Tensor> values_;
};

HostTensor randomImage(const Value& value, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  HostTensor image{value.type, value.shape, {}};
  for (std::int64_t i = elementCount(value.shape); i > 0; --i)
    image.values.push_back(static_cast<double>(static_cast<int>(random() % 400) - 200) / 32);
  return image;
}

// The network's outputs by canonicalize and interpret; absent where it is refused.
std::optional<std::vector<HostTensor>> canonicalOutputs(const Graph& graph,
                                                        const HostTensor& image) {
  const Result<Canonicalized> canonical = canonicalize(graph);
  if (!canonical) {
    EXPECT_EQ(canonical.diagnostics().front().code.substr(0, 6), "CANON0")
        << canonical.diagnostics();
    return std::nullopt;
  }
  // A batch that does not fold into rows, say: the host does the rest.
  if (!canonical->hostBefore.nodes.empty() || !canonical->hostAfter.nodes.empty())
    return std::nullopt;
  const CanonicalGraph& network = canonical->graph;
  const auto formatOf = [&](const Port& port) {
    const CanonicalTensor& tensor = network.tensors[port.tensor.at()];
    return TensorFormat{tensor.shape, tensor.scale, tensor.zeroPoint};
  };
  std::vector<TensorValue> inputs;
  for (const Port& port : network.inputs)
    inputs.push_back(*storedFromArray(arrayFrom(image), port, formatOf(port), "test"));
  const std::vector<TensorValue> values = interpret(network, inputs);
  std::vector<HostTensor> outputs;
  for (const ValueId id : graph.outputs)
    for (const Port& port : network.outputs)
      if (port.name == graph[id].name)
        outputs.push_back(
            *hostTensorFrom(arrayFromStored(values[port.tensor.at()], port, formatOf(port))));
  return outputs;
}

// 1 where the network was compared, 0 where canonicalize refused it.
int compare(const ModelBuilder& model, std::uint64_t seed) {
  const Result<Graph> graph = model.import();
  EXPECT_TRUE(graph) << graph.diagnostics();
  if (!graph) return 0;
  const HostTensor image = randomImage((*graph)[graph->inputs[0]], seed);
  const auto ours = canonicalOutputs(*graph, image);
  if (!ours) return 0;
  const Result<std::vector<HostTensor>> theirs = runHost(*graph, std::span(&image, 1));
  EXPECT_TRUE(theirs) << theirs.diagnostics();
  if (theirs) {
    EXPECT_EQ(*ours, *theirs) << print(*graph, "model");
  }
  return 1;
}
int compare(std::uint64_t seed) {
  SCOPED_TRACE("HEDDLE_SEED=" + std::to_string(seed));
  return compare(RandomModel(seed).model, seed);
}

// Of one axis or two, all alike; nothing where there is no output.
std::optional<ModelBuilder> smallConvolution(std::size_t axes, std::int64_t extent,
                                             std::int64_t kernel, std::int64_t before,
                                             std::int64_t after, std::int64_t stride) {
  constexpr std::int64_t kChannels = 9, kOutputs = 3;
  if (extent + before + after < kernel) return std::nullopt;
  ModelBuilder model;
  Dims shape{1, kChannels}, weights{kOutputs, kChannels};
  shape.resize(2 + axes, extent);
  weights.resize(2 + axes, kernel);
  model.input("x", shape);
  std::vector<std::int8_t> values;
  for (std::int64_t i = 0; i < elementCount(weights); ++i)
    values.push_back(static_cast<std::int8_t>(i * 11 % 17 - 8));
  auto& node = model.node(
      "Conv", {model.requantized("x", 0.25F, 3), model.weights(weights, values, 0.125F)});
  Dims pads(axes, before);
  pads.resize(2 * axes, after);
  ModelBuilder::set(node, "pads", pads);
  ModelBuilder::set(node, "strides", Dims(axes, stride));
  model.output(model.requantized(node.output(0), 0.5F, -2));
  return model;
}

// An axis of one element tells nobody where it lies.
TEST(Canonicalize, KeepsTheMeaningOfConvolutionsOfOneElementOrTwo) {
  int compared = 0;
  for (const std::size_t axes : {1, 2})
    for (const std::int64_t extent : {1, 2})
      for (const std::int64_t kernel : {1, 2})
        for (const std::int64_t before : {0, 1, 2})
          for (const std::int64_t after : {0, 1, 2})
            for (const std::int64_t stride : {1, 2})
              if (const std::optional<ModelBuilder> model =
                      smallConvolution(axes, extent, kernel, before, after, stride)) {
                SCOPED_TRACE(std::to_string(axes) + " axes of " + std::to_string(extent) +
                             ", kernel " + std::to_string(kernel) + ", pads " +
                             std::to_string(before) + " " + std::to_string(after) + ", stride " +
                             std::to_string(stride));
                compared += compare(*model, 1);
              }
  EXPECT_EQ(compared, 140);
}

TEST(Canonicalize, KeepsTheMeaningOfRandomNetworks) {
  const char* one = std::getenv("HEDDLE_SEED");
  const char* many = std::getenv("HEDDLE_CASES");
  const std::uint64_t first = one ? std::strtoull(one, nullptr, 10) : 0;
  const std::uint64_t cases = one ? 1 : many ? std::strtoull(many, nullptr, 10) : 400;
  std::uint64_t compared = 0;
  for (std::uint64_t seed = first; seed < first + cases && !HasFailure(); ++seed)
    compared += static_cast<std::uint64_t>(compare(seed));
  RecordProperty("compared", static_cast<int>(compared));
  std::cout << compared << " of " << cases
            << " networks compared; the others lack a QuantizeLinear\n";
  EXPECT_GT(2 * compared, cases);
}

}  // namespace
}  // namespace heddle
