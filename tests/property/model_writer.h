// What the makers of random ONNX operators share: values with their shapes, real or quantized or
// both, and the constants beside them.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../unit/onnx/model_builder.h"
#include "choices.h"

namespace heddle::property {

// Scale and zero point, and the constants that hold them.
struct Scaling {
  std::string scale, zero;
  float step = 1;
  std::int64_t zeroPoint = 0;
  bool isUnsigned = false;
};

// A value of the network: `real` is a float32 tensor, `integer` the int8 or uint8 one that it was
// rounded to; one of them may be absent.
struct Tensor {
  Dims shape;
  std::string real, integer;
  Scaling scaling;  // of `integer`
};

struct Weights {
  Dims shape;
  std::string integer, scale, zero;
  std::vector<float> scales;  // one, or one for each index of `axis`
  std::int64_t axis = 0;
};

// Either face of a tensor, for operators that only move elements.
struct Face {
  std::string name;
  bool isInteger = false;
};

class ModelWriter {
 public:
  ModelWriter(Choices& source, bool forRuntime);

  Choices& choices;
  const std::int64_t opset;
  const bool asRuntime;
  ModelBuilder m;
  std::vector<Tensor> pool;  // what a later operator may read

  bool chance(int percent) { return choices.chance(percent); }
  std::int64_t between(std::int64_t low, std::int64_t high) { return choices.between(low, high); }

  // --- values
  std::string real(const Tensor& tensor);
  Tensor asInteger(const Tensor& tensor);  // rounded now where it was not
  Face face(const Tensor& tensor);
  Tensor quantized(const std::string& real, const Dims& shape, double about = 1.0 / 40);
  // What an operator on reals gives: most are rounded at once, some are left for others to fuse.
  Tensor result(const std::string& real, const Dims& shape, double about = 1.0 / 40);
  Tensor moved(const Face& face, const Tensor& from, const std::string& name, const Dims& shape);
  Tensor integerResult(const std::string& name, const Dims& shape, const Scaling& scaling);
  Tensor partner(const Dims& shape);  // another tensor of that shape, from the pool or new

  // --- constants
  Scaling scaling(double about);
  float scale(double about);
  Weights weights(const Dims& shape, std::int64_t axis, std::int64_t fanIn, bool perChannel);
  std::string dequantized(const Weights& weights);
  std::string bias(const Weights& weights, std::int64_t count, float inputScale);
  std::string integerBias(std::int64_t count);
  std::string reals(const Dims& shape, double low, double high);
  std::string bytes(const Dims& shape, bool isUnsigned, std::int64_t low, std::int64_t high);
  std::string shapeInput(const Dims& values);  // int64, perhaps by shape arithmetic

 private:
  std::string arithmetic(const Dims& values);

  bool powersOfTwo_, extreme_;
  int unsigned_, open_, faceInteger_;
};

using Maker = std::function<std::optional<Tensor>(ModelWriter&, const Tensor&)>;
struct NamedMaker {
  std::string name;
  Maker make;
  int weight = 1;
};
// Operators by family. A maker gives nothing, and adds nothing, where `x` is nothing for it.
std::vector<NamedMaker> productMakers();
std::vector<NamedMaker> windowMakers();
std::vector<NamedMaker> elementwiseMakers();
std::vector<NamedMaker> movementMakers();
std::vector<NamedMaker> integerMakers();
// Float operators that stay on the host.
std::vector<NamedMaker> hostMakers();

// A sliding window along each of `extents`; its attributes are set on the node.
struct RandomWindow {
  Dims kernel, strides, dilations, pads, output;
  const char* autoPad = nullptr;
  bool ceil = false;
  void setOn(onnx::NodeProto& node, bool kernelShape) const;
};
RandomWindow randomWindow(ModelWriter& w, const Dims& extents, bool dilated, bool mayCeil);

}  // namespace heddle::property
