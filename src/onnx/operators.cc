// Which operators heddle reads, and what each one's attributes and constant inputs mean in every
// version of the operator set. Source: ONNX Operators.md and its Changelog.md; ONNX Runtime's
// ContribOperators.md.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "node_reader.h"
#include "signatures.h"

namespace heddle::onnx_import {

namespace {

using onnx::AttributeProto;
using onnx::TensorProto;

constexpr const char* kMicrosoft = "com.microsoft";

// Kernel, strides, dilations, pads of a convolution or pool; auto_pad resolved against the data's
// extents.
struct WindowAttributes {
  Dims kernel, strides, dilations, pads;
};

WindowAttributes readWindow(NodeReader& node, const Dims& x, std::size_t firstSpatial,
                            const Dims& kernelOtherwise) {
  if (x.size() < 3) throw Fault("data " + toText(x) + " has no spatial axes");
  const std::size_t spatial = x.size() - 2;
  WindowAttributes window;
  window.kernel = node.hasAttribute("kernel_shape") ? node.extents("kernel_shape", spatial, 1, 1)
                                                    : kernelOtherwise;
  if (window.kernel.size() != spatial)
    throw Fault("the kernel does not have the data's spatial axes");
  window.strides = node.extents("strides", spatial, 1, 1);
  window.dilations = node.extents("dilations", spatial, 1, 1);
  window.pads = node.extents("pads", 2 * spatial, 0, 0);
  const std::string automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "NOTSET" || automatic.empty()) return window;
  window.pads.assign(2 * spatial, 0);
  if (automatic == "VALID") return window;
  if (automatic != "SAME_UPPER" && automatic != "SAME_LOWER")
    throw Fault("auto_pad is '" + automatic + "'");
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t extent = x[firstSpatial + i], stride = window.strides[i];
    const std::int64_t out = (extent + stride - 1) / stride;
    const std::int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
    const std::int64_t total = std::max<std::int64_t>(0, (out - 1) * stride + reach - extent);
    window.pads[i] = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
    window.pads[i + spatial] = total - window.pads[i];
  }
  return window;
}

NodeAttributes readConv(NodeReader& node, std::size_t weights) {
  const Dims& w = node.input(weights).shape;
  if (w.size() < 3) throw Fault("weights " + toText(w) + " have no spatial axes");
  WindowAttributes window = readWindow(node, node.input(0).shape, 2, Dims(w.begin() + 2, w.end()));
  return ConvAttributes{.kernel = std::move(window.kernel),
                        .strides = std::move(window.strides),
                        .dilations = std::move(window.dilations),
                        .pads = std::move(window.pads),
                        .group = node.integer("group", 1)};
}

NodeAttributes readPool(NodeReader& node, bool global) {
  const Dims& x = node.input(0).shape;
  if (x.size() < 3) throw Fault("data " + toText(x) + " has no spatial axes");
  PoolAttributes pool;
  pool.channelsLast = node.flag("channels_last", false);
  const std::size_t spatial = x.size() - 2, first = pool.channelsLast ? 1 : 2;
  const Dims image(x.begin() + static_cast<std::ptrdiff_t>(first),
                   x.begin() + static_cast<std::ptrdiff_t>(first + spatial));
  if (global) {
    pool.kernel = image;
    pool.strides = pool.dilations = Dims(spatial, 1);
    pool.pads = Dims(2 * spatial, 0);
    return pool;
  }
  WindowAttributes window = readWindow(node, x, first, {});
  pool.kernel = std::move(window.kernel);
  pool.strides = std::move(window.strides);
  pool.dilations = std::move(window.dilations);
  pool.pads = std::move(window.pads);
  pool.ceilMode = node.flag("ceil_mode", false);
  pool.countIncludePad = node.flag("count_include_pad", false);
  if (node.integer("storage_order", 0) != 0 && node.proto().output_size() > 1)
    throw Fault("indices in column-major order are not supported");
  return pool;
}

NodeAttributes readGemm(NodeReader& node) {
  return GemmAttributes{.alpha = node.real("alpha", 1),
                        .beta = node.real("beta", 1),
                        .transA = node.flag("transA", false),
                        .transB = node.flag("transB", false)};
}

// Makes axes non-negative, and refuses repeated ones.
void makeDistinct(Dims& axes, std::size_t rank) {
  std::vector<bool> named(rank);
  for (std::int64_t& axis : axes) {
    axis = NodeReader::axis(axis, rank);
    const auto at = static_cast<std::size_t>(axis);
    if (named[at]) throw Fault("its axes name one axis twice");
    named[at] = true;
  }
}

// Axes as an attribute (older versions) or as the constant input `input`; sorted, non-negative,
// without repetition.
std::optional<Dims> readAxes(NodeReader& node, std::size_t input, std::size_t rank) {
  std::optional<Dims> axes = node.integers("axes");
  if (!axes) axes = node.constantIntegers(input, "axes");
  if (!axes) return std::nullopt;
  makeDistinct(*axes, rank);
  std::ranges::sort(*axes);
  return axes;
}

NodeAttributes readReduce(NodeReader& node) {
  const std::size_t rank = node.input(0).shape.size();
  ReduceAttributes reduce{.axes = {}, .keepDims = node.flag("keepdims", true)};
  const bool emptyMeansNone = node.flag("noop_with_empty_axes", false);
  const std::optional<Dims> axes = readAxes(node, 1, rank);
  if (axes && !axes->empty()) {
    reduce.axes = *axes;
  } else if (!emptyMeansNone) {
    for (std::size_t i = 0; i < rank; ++i) reduce.axes.push_back(static_cast<std::int64_t>(i));
  }
  return reduce;
}

NodeAttributes readAxis(NodeReader& node, std::int64_t otherwise, std::size_t data) {
  const std::size_t rank = node.input(data).shape.size();
  if (rank == 0) return AxisAttributes{};
  return AxisAttributes{.axis = NodeReader::axis(node.integer("axis", otherwise), rank)};
}

NodeAttributes readSoftmax(NodeReader& node) {
  const bool flattened = node.opset() < 13;
  auto axis = std::get<AxisAttributes>(readAxis(node, flattened ? 1 : -1, 0));
  axis.flattened = flattened;
  return axis;
}

NodeAttributes readArg(NodeReader& node) {
  auto axis = std::get<AxisAttributes>(readAxis(node, 0, 0));
  axis.keepDims = node.flag("keepdims", true);
  axis.selectLast = node.flag("select_last_index", false);
  return axis;
}

// The axis of a vector of scales; a scalar scale has none, whatever the attribute says.
NodeAttributes readQuantization(NodeReader& node) {
  node.ignore("saturate");  // of float8 only
  if (node.integer("block_size", 0) != 0) throw Fault("scales by block are not supported");
  node.ignore("output_dtype");
  node.ignore("precision");
  const std::int64_t axis = node.integer("axis", 1);
  if (node.input(1).shape.empty() || elementCount(node.input(1).shape) == 1)
    return AxisAttributes{};
  return AxisAttributes{.axis = NodeReader::axis(axis, node.input(0).shape.size())};
}

NodeAttributes readSplit(NodeReader& node) {
  const Dims& x = node.input(0).shape;
  SplitAttributes split{.axis = NodeReader::axis(node.integer("axis", 0), x.size()), .sizes = {}};
  std::optional<Dims> sizes = node.integers("split");
  if (!sizes) sizes = node.constantIntegers(1, "split");
  const std::int64_t count = node.integer("num_outputs", node.proto().output_size());
  if (sizes) {
    split.sizes = *sizes;
  } else {
    if (count < 1 || count > node.proto().output_size())
      throw Fault("num_outputs is " + std::to_string(count));
    const std::int64_t extent = x[static_cast<std::size_t>(split.axis)],
                       part = (extent + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i)
      split.sizes.push_back(std::clamp<std::int64_t>(extent - i * part, 0, part));
  }
  if (static_cast<int>(split.sizes.size()) != node.proto().output_size())
    throw Fault(std::to_string(split.sizes.size()) + " parts for " +
                std::to_string(node.proto().output_size()) + " outputs");
  return split;
}

// Fills `shape` with the output's.
NodeAttributes readSlice(NodeReader& node, Dims& shape) {
  const Dims& x = node.input(0).shape;
  const std::optional<Dims> starts = node.constantIntegers(1, "starts"),
                            ends = node.constantIntegers(2, "ends");
  const std::optional<Dims> steps = node.constantIntegers(4, "steps");
  std::optional<Dims> axes = node.constantIntegers(3, "axes");
  if (!starts || !ends || starts->size() != ends->size())
    throw Fault("its starts and ends do not fit");
  if (!axes) {
    axes.emplace();
    for (std::size_t i = 0; i < starts->size(); ++i) axes->push_back(static_cast<std::int64_t>(i));
  }
  if (axes->size() != starts->size() || (steps && steps->size() != starts->size()))
    throw Fault("its starts, axes and steps do not fit");
  makeDistinct(*axes, x.size());
  SliceAttributes slice{.starts = Dims(x.size(), 0), .steps = Dims(x.size(), 1)};
  shape = x;
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto axis = static_cast<std::size_t>((*axes)[i]);
    const std::int64_t extent = x[axis], step = steps ? (*steps)[i] : 1;
    if (step == 0 || step < -kMaxExtent || step > kMaxExtent)
      throw Fault("a step of " + std::to_string(step));
    const auto place = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
      at = std::clamp(at, -kMaxExtent - 1, kMaxExtent);
      return std::clamp(at < 0 ? at + extent : at, low, high);
    };
    const std::int64_t start =
        step > 0 ? place((*starts)[i], 0, extent) : place((*starts)[i], 0, extent - 1);
    const std::int64_t end =
        step > 0 ? place((*ends)[i], 0, extent) : place((*ends)[i], -1, extent - 1);
    const std::int64_t distance = step > 0 ? end - start : start - end, magnitude = std::abs(step);
    shape[axis] = distance > 0 ? (distance + magnitude - 1) / magnitude : 0;
    slice.starts[axis] = start;
    slice.steps[axis] = step;
  }
  return slice;
}

NodeAttributes readPad(NodeReader& node) {
  const std::size_t rank = node.input(0).shape.size();
  PadAttributes pad{.begins = Dims(rank, 0), .ends = Dims(rank, 0)};
  const std::string mode = node.text("mode", "constant");
  if (mode == "constant")
    pad.mode = PadMode::Constant;
  else if (mode == "reflect")
    pad.mode = PadMode::Reflect;
  else if (mode == "edge")
    pad.mode = PadMode::Edge;
  else if (mode == "wrap")
    pad.mode = PadMode::Wrap;
  else
    throw Fault("mode is '" + mode + "'");
  std::optional<Dims> pads = node.integers("pads");  // before opset 11
  if (!pads) pads = node.constantIntegers(1, "pads");
  if (node.hasAttribute("value")) pad.value = double{node.real("value", 0)};
  const DataType type = node.input(0).type;
  if (pad.value != 0 && type != DataType::Float32 && type != DataType::Float64)
    throw Fault(std::string("a value of ") + std::to_string(pad.value) + " in data of " +
                toText(type));
  if (node.has(2)) pad.value = *node.constantScalar(2, "constant_value");
  std::optional<Dims> axes = node.constantIntegers(3, "axes");
  if (!axes) {
    axes.emplace();
    for (std::size_t i = 0; i < rank; ++i) axes->push_back(static_cast<std::int64_t>(i));
  }
  if (!pads || pads->size() != 2 * axes->size())
    throw Fault("its pads do not fit rank " + std::to_string(rank));
  makeDistinct(*axes, rank);
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto axis = static_cast<std::size_t>((*axes)[i]);
    for (const bool end : {false, true}) {
      const std::int64_t amount = (*pads)[i + (end ? axes->size() : 0)];
      if (amount < -kMaxExtent || amount > kMaxExtent)
        throw Fault("a pad of " + std::to_string(amount));
      (end ? pad.ends : pad.begins)[axis] = amount;
    }
  }
  return pad;
}

ResizeCoordinates readCoordinates(const std::string& mode) {
  if (mode == "half_pixel") return ResizeCoordinates::HalfPixel;
  if (mode == "half_pixel_symmetric") return ResizeCoordinates::HalfPixelSymmetric;
  if (mode == "pytorch_half_pixel") return ResizeCoordinates::PytorchHalfPixel;
  if (mode == "align_corners") return ResizeCoordinates::AlignCorners;
  if (mode == "asymmetric") return ResizeCoordinates::Asymmetric;
  if (mode == "tf_half_pixel_for_nn") return ResizeCoordinates::HalfPixelForNn;
  throw Fault("coordinate_transformation_mode '" + mode + "' is not supported");
}

ResizeRounding readRounding(const std::string& mode) {
  if (mode == "round_prefer_floor") return ResizeRounding::RoundPreferFloor;
  if (mode == "round_prefer_ceil") return ResizeRounding::RoundPreferCeil;
  if (mode == "floor") return ResizeRounding::Floor;
  if (mode == "ceil") return ResizeRounding::Ceil;
  throw Fault("nearest_mode '" + mode + "' is not supported");
}

// Scales or sizes of the named axes, all axes where none are named. Fills `shape` with the
// output's.
void readResizeExtents(NodeReader& node, ResizeAttributes& resize, Dims& shape) {
  const bool old = node.opset() < 11;  // inputs: X, scales
  const Dims& x = node.input(0).shape;
  const auto scales = node.constantReals(old ? 1 : 2, "scales");
  const auto sizes = old ? std::nullopt : node.constantIntegers(3, "sizes");
  std::optional<Dims> axes = node.integers("axes");
  if (!axes) {
    axes.emplace();
    for (std::size_t i = 0; i < x.size(); ++i) axes->push_back(static_cast<std::int64_t>(i));
  }
  makeDistinct(*axes, x.size());
  const bool bySize = sizes && !sizes->empty();
  const std::size_t given = bySize ? sizes->size() : scales ? scales->size() : 0;
  if (given != axes->size())
    throw Fault("its scales or sizes do not fit rank " + std::to_string(x.size()));
  if (bySize && node.text("keep_aspect_ratio_policy", "stretch") != "stretch")
    throw Fault("keep_aspect_ratio_policy is not supported");
  node.ignore("keep_aspect_ratio_policy");
  shape = x;
  resize.scales.assign(x.size(), 1);
  for (std::size_t i = 0; i < given; ++i) {
    const auto axis = static_cast<std::size_t>((*axes)[i]);
    if (x[axis] == 0) throw Fault("an empty axis");
    const double extent = static_cast<double>(x[axis]);
    // ONNX computes in float32: 7 * float(1.7142857) must give 12, not 11.
    const double out =
        bySize ? static_cast<double>((*sizes)[i])
               : std::floor(double{static_cast<float>(extent) * static_cast<float>((*scales)[i])});
    if (!(out >= 1 && out <= static_cast<double>(kMaxExtent)))
      throw Fault("a scale or size out of range");
    shape[axis] = static_cast<std::int64_t>(out);
    resize.scales[axis] = bySize ? out / extent : (*scales)[i];
  }
}

NodeAttributes readResize(NodeReader& node, bool upsample, Dims& shape) {
  ResizeAttributes resize;
  const bool old = node.opset() < 11;
  const std::string mode = node.text("mode", "nearest");
  if (mode == "nearest")
    resize.mode = ResizeMode::Nearest;
  else if (mode == "linear")
    resize.mode = ResizeMode::Linear;
  else if (mode == "cubic" && !upsample)
    resize.mode = ResizeMode::Cubic;
  else
    throw Fault("mode '" + mode + "' is not supported");
  resize.coordinates = readCoordinates(
      node.text("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel"));
  resize.rounding = readRounding(node.text("nearest_mode", old ? "floor" : "round_prefer_floor"));
  resize.cubicCoefficient = double{node.real("cubic_coeff_a", -0.75F)};
  resize.excludeOutside = node.flag("exclude_outside", false);
  node.ignore("extrapolation_value");  // of tf_crop_and_resize only
  if (node.flag("antialias", false)) throw Fault("antialias is not supported");
  readResizeExtents(node, resize, shape);
  return resize;
}

NodeAttributes readTranspose(NodeReader& node) {
  const std::size_t rank = node.input(0).shape.size();
  std::optional<Dims> permutation = node.integers("perm");
  if (!permutation) {
    permutation.emplace();
    for (std::size_t i = rank; i > 0; --i) permutation->push_back(static_cast<std::int64_t>(i) - 1);
  }
  return TransposeAttributes{*permutation};
}

NodeAttributes readBlock(NodeReader& node) {
  const std::string mode = node.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") throw Fault("mode is '" + mode + "'");
  return BlockAttributes{.blockSize = node.integer("blocksize", 0),
                         .columnRowDepth = mode == "CRD"};
}

NodeAttributes readClip(NodeReader& node) {
  FunctionAttributes clip;
  if (node.hasAttribute("min")) clip.low = double{node.real("min", 0)};
  if (node.hasAttribute("max")) clip.high = double{node.real("max", 0)};
  if (const auto low = node.constantScalar(1, "min")) clip.low = *low;
  if (const auto high = node.constantScalar(2, "max")) clip.high = *high;
  return clip;
}

// The shape that a Reshape's constant asks for: 0 keeps an extent, -1 is what remains.
Dims reshaped(NodeReader& node) {
  const Dims& x = node.input(0).shape;
  std::optional<Dims> target = node.constantIntegers(1, "shape");
  if (!target) throw Fault("its shape is missing");
  const bool zeroIsZero = node.flag("allowzero", false);
  if (target->size() > kMaxRank) throw Fault("rank " + std::to_string(target->size()), "ONNX010");
  std::int64_t known = 1;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < target->size(); ++i) {
    std::int64_t& extent = (*target)[i];
    if (extent == 0 && !zeroIsZero) {
      if (i >= x.size())
        throw Fault("its shape keeps axis " + std::to_string(i) + " of " + toText(x));
      extent = x[i];
    }
    if (extent == -1) {
      if (open) throw Fault("its shape leaves two extents open");
      open = i;
      continue;
    }
    if (extent < 0 || extent > kMaxElements || (extent > 0 && known > kMaxElements / extent))
      throw Fault("its shape holds " + std::to_string(extent));
    known *= extent;
  }
  if (open) {
    if (known == 0 || elementCount(x) % known != 0)
      throw Fault("data " + toText(x) + " does not divide into its shape");
    (*target)[*open] = elementCount(x) / known;
  }
  if (elementCount(*target) != elementCount(x))
    throw Fault("data " + toText(x) + " does not fill the shape " + toText(*target));
  return *target;
}

Dims flattened(NodeReader& node) {
  const Dims& x = node.input(0).shape;
  const std::int64_t given = node.integer("axis", 1), rank = static_cast<std::int64_t>(x.size());
  const std::int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis > rank) throw Fault("axis " + std::to_string(given));
  return {elementCount(Dims(x.begin(), x.begin() + axis)),
          elementCount(Dims(x.begin() + axis, x.end()))};
}

Dims squeezed(NodeReader& node) {
  const Dims& x = node.input(0).shape;
  const std::optional<Dims> axes = readAxes(node, 1, x.size());
  Dims out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool named =
        axes ? std::ranges::find(*axes, static_cast<std::int64_t>(i)) != axes->end() : x[i] == 1;
    if (named && x[i] != 1)
      throw Fault("it squeezes axis " + std::to_string(i) + " of " + toText(x));
    if (!named) out.push_back(x[i]);
  }
  return out;
}

Dims unsqueezed(NodeReader& node) {
  Dims out = node.input(0).shape;
  std::optional<Dims> axes = node.integers("axes");
  if (!axes) axes = node.constantIntegers(1, "axes");
  if (!axes) throw Fault("its axes are missing");
  if (out.size() + axes->size() > kMaxRank)
    throw Fault("rank above " + std::to_string(kMaxRank), "ONNX010");
  makeDistinct(*axes, out.size() + axes->size());
  std::ranges::sort(*axes);
  for (const std::int64_t axis : *axes) out.insert(out.begin() + axis, 1);
  return out;
}

Dims expanded(NodeReader& node) {
  const std::optional<Dims> target = node.constantIntegers(1, "shape");
  if (!target) throw Fault("its shape is missing");
  checkShape(*target);
  const std::optional<Dims> out = broadcastShapes(node.input(0).shape, *target);
  if (!out)
    throw Fault("data " + toText(node.input(0).shape) + " does not expand to " + toText(*target));
  return *out;
}

Dims tiled(NodeReader& node) {
  const std::optional<Dims> repeats = node.constantIntegers(1, "repeats");
  Dims out = node.input(0).shape;
  if (!repeats || repeats->size() != out.size())
    throw Fault("its repeats do not fit rank " + std::to_string(out.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    if ((*repeats)[i] < 0 || (*repeats)[i] > kMaxElements)
      throw Fault("it repeats " + std::to_string((*repeats)[i]));
    if (out[i] > 0 && (*repeats)[i] > kMaxElements / out[i])
      throw Fault("it repeats too often", "ONNX010");
    out[i] *= (*repeats)[i];
  }
  return out;
}

struct Entry {
  NodeKind kind;
  bool inOnnx = true, inMicrosoft = false;
};

const std::unordered_map<std::string, Entry>& table() {
  static const std::unordered_map<std::string, Entry> entries = [] {
    std::unordered_map<std::string, Entry> made;
    for (int i = 0; i <= static_cast<int>(NodeKind::ArgMin); ++i) {
      const auto kind = static_cast<NodeKind>(i);
      made[toText(kind)] = {kind};
    }
    for (const char* name :
         {"QLinearAdd", "QLinearMul", "QLinearAveragePool", "QLinearGlobalAveragePool",
          "QLinearConcat", "QLinearLeakyRelu", "QLinearSigmoid", "QGemm"})
      made[name] = {made[name].kind, false, true};
    for (const char* name : {"QuantizeLinear", "DequantizeLinear", "Gelu"})
      made[name].inMicrosoft = true;
    made["Upsample"] = {NodeKind::Resize};
    return made;
  }();
  return entries;
}

DataType castTarget(NodeReader& node) {
  node.ignore("saturate");
  node.ignore("round_mode");
  const std::int64_t to = node.integer("to", 0);
  const auto type = to > 0 && to < 64 ? dataType(static_cast<std::int32_t>(to)) : std::nullopt;
  if (!type) throw Fault("a cast to type " + std::to_string(to) + " is not supported");
  return *type;
}

std::string integerBytes(const Dims& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t)};
}

void readConstant(NodeReader& node, Converted& out) {
  if (const auto* tensor = node.attribute("value", AttributeProto::TENSOR)) {
    TensorProto copy = tensor->t();
    Tensor read = TensorReader(std::nullopt).read(copy);
    out.outputs = {{read.type, read.shape}};
    out.constant = std::move(read.bytes);
  } else if (const auto* one = node.attribute("value_float", AttributeProto::FLOAT)) {
    const float value = one->f();
    out.outputs = {{DataType::Float32, {}}};
    out.constant = std::string(reinterpret_cast<const char*>(&value), sizeof value);
  } else if (const auto* whole = node.attribute("value_int", AttributeProto::INT)) {
    out.outputs = {{DataType::Int64, {}}};
    out.constant = integerBytes({whole->i()});
  } else if (const auto* reals = node.attribute("value_floats", AttributeProto::FLOATS)) {
    const std::vector<float> values(reals->floats().begin(), reals->floats().end());
    out.outputs = {{DataType::Float32, {static_cast<std::int64_t>(values.size())}}};
    out.constant =
        std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  } else if (const auto integers = node.integers("value_ints")) {
    out.outputs = {{DataType::Int64, {static_cast<std::int64_t>(integers->size())}}};
    out.constant = integerBytes(*integers);
  } else {
    throw Fault("a constant of strings or a sparse one is not supported");
  }
}

void readShape(NodeReader& node, Converted& out) {
  const Dims& x = node.input(0).shape;
  const auto rank = static_cast<std::int64_t>(x.size());
  const auto bound = [&](std::int64_t at) {
    at = std::clamp(at, -rank - 1, rank);
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = bound(node.integer("start", 0));
  const std::int64_t end = std::max(start, bound(node.integer("end", rank)));
  const Dims part(x.begin() + start, x.begin() + end);
  out.outputs = {{DataType::Int64, {end - start}}};
  out.constant = integerBytes(part);
  out.inputs.clear();
}

void readConstantOfShape(NodeReader& node, Converted& out) {
  const std::optional<Dims> shape = node.constantIntegers(0, "shape");
  if (!shape) throw Fault("its shape is missing");
  checkShape(*shape);
  Tensor element{DataType::Float32, {1}, std::string(sizeof(float), '\0')};
  if (const auto* value = node.attribute("value", AttributeProto::TENSOR)) {
    TensorProto copy = value->t();
    element = TensorReader(std::nullopt).read(copy);
  }
  if (elementCount(element.shape) != 1) throw Fault("its value is not one element");
  const std::int64_t count = elementCount(*shape);
  if (count > kMaxFoldedBytes / 64) throw Fault("a constant of " + toText(*shape), "ONNX010");
  std::string bytes;
  for (std::int64_t i = 0; i < count; ++i) bytes += element.bytes;
  out.outputs = {{element.type, *shape}};
  out.constant = std::move(bytes);
}

void readRange(NodeReader& node, Converted& out) {
  const auto bound = [&](std::size_t i) {
    const auto values = node.constantIntegers(i, "bounds");
    if (!values || values->size() != 1) throw Fault("its bounds are not one integer each");
    return values->front();
  };
  const std::int64_t start = bound(0), limit = bound(1), delta = bound(2);
  constexpr std::int64_t kLimit = std::int64_t{1} << 40;
  for (const std::int64_t x : {start, limit, delta})
    if (x < -kLimit || x > kLimit) throw Fault("a bound of " + std::to_string(x));
  if (delta == 0) throw Fault("a step of 0");
  if (node.input(0).type != DataType::Int64) throw Fault("only ranges of int64 are supported");
  const std::int64_t distance = delta > 0 ? limit - start : start - limit, step = std::abs(delta);
  const std::int64_t count = distance > 0 ? (distance + step - 1) / step : 0;
  if (count > kMaxFoldedBytes / 64)
    throw Fault("a range of " + std::to_string(count) + " elements", "ONNX010");
  Dims values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(start + i * delta);
  out.outputs = {{DataType::Int64, {count}}};
  out.constant = integerBytes(values);
}

// Keeps only the first `count` inputs: the rest have become attributes.
void keepInputs(Converted& out, std::size_t count) {
  if (out.inputs.size() > count) out.inputs.resize(count);
}

void useShape(NodeReader& node, Converted& out, Dims shape) {
  keepInputs(out, 1);
  out.outputs = {{node.input(0).type, std::move(shape)}};
}

BatchNormalizationAttributes readBatchNormalization(NodeReader& node) {
  const BatchNormalizationAttributes attributes{node.real("epsilon", 1e-5F)};
  node.ignore("momentum");
  if (node.flag("training_mode", false)) throw Fault("training_mode is not supported");
  if (node.integer("spatial", 1) != 1) throw Fault("spatial 0 is not supported");
  return attributes;
}

// Where nothing is trained a Dropout gives its input on.
void refuseTraining(NodeReader& dropout) {
  dropout.ignore("seed");
  dropout.ignore("ratio");
  if (dropout.has(2) && dropout.constantScalar(2, "training_mode") != 0.0)
    throw Fault("training_mode is not supported");
}

void readAttributes(NodeReader& node, Converted& out) {
  Dims shape;
  switch (out.kind) {
    case NodeKind::QuantizeLinear:
    case NodeKind::DequantizeLinear:
      out.attributes = readQuantization(node);
      break;
    case NodeKind::Conv:
    case NodeKind::ConvInteger:
      out.attributes = readConv(node, 1);
      break;
    case NodeKind::QLinearConv:
      out.attributes = readConv(node, 3);
      break;
    case NodeKind::Gemm:
    case NodeKind::QGemm:
      out.attributes = readGemm(node);
      break;
    case NodeKind::MaxPool:
    case NodeKind::AveragePool:
    case NodeKind::QLinearAveragePool:
      out.attributes = readPool(node, false);
      break;
    case NodeKind::GlobalAveragePool:
    case NodeKind::GlobalMaxPool:
    case NodeKind::QLinearGlobalAveragePool:
      out.attributes = readPool(node, true);
      break;
    case NodeKind::ReduceMean:
    case NodeKind::ReduceSum:
    case NodeKind::ReduceMax:
    case NodeKind::ReduceMin:
      out.attributes = readReduce(node);
      keepInputs(out, 1);
      break;
    case NodeKind::Concat:
      out.attributes = readAxis(node, 1, 0);
      break;
    case NodeKind::QLinearConcat:
      out.attributes = readAxis(node, 1, 2);
      break;
    case NodeKind::Gather:
      out.attributes = readAxis(node, 0, 0);
      break;
    case NodeKind::Softmax:
    case NodeKind::LogSoftmax:
      out.attributes = readSoftmax(node);
      break;
    case NodeKind::ArgMax:
    case NodeKind::ArgMin:
      out.attributes = readArg(node);
      break;
    case NodeKind::Split:
      out.attributes = readSplit(node);
      keepInputs(out, 1);
      break;
    case NodeKind::Slice:
      out.attributes = readSlice(node, shape);
      useShape(node, out, shape);
      break;
    case NodeKind::Pad:
      out.attributes = readPad(node);
      keepInputs(out, 1);
      break;
    case NodeKind::Resize:
      out.attributes = readResize(node, node.proto().op_type() == "Upsample", shape);
      useShape(node, out, shape);
      break;
    case NodeKind::Transpose:
      out.attributes = readTranspose(node);
      break;
    case NodeKind::DepthToSpace:
    case NodeKind::SpaceToDepth:
      out.attributes = readBlock(node);
      break;
    case NodeKind::Clip:
      out.attributes = readClip(node);
      keepInputs(out, 1);
      break;
    case NodeKind::LeakyRelu:
    case NodeKind::QLinearLeakyRelu:
      out.attributes = FunctionAttributes{.alpha = node.real("alpha", 0.01F)};
      break;
    case NodeKind::HardSigmoid:
      out.attributes =
          FunctionAttributes{.alpha = node.real("alpha", 0.2F), .beta = node.real("beta", 0.5F)};
      break;
    case NodeKind::Elu:
      out.attributes = FunctionAttributes{.alpha = node.real("alpha", 1)};
      break;
    case NodeKind::Selu:
      out.attributes = FunctionAttributes{.alpha = node.real("alpha", 1.67326319217681884765625F),
                                          .beta = node.real("gamma", 1.05070102214813232421875F)};
      break;
    case NodeKind::Gelu:
      out.attributes =
          FunctionAttributes{.tanhApproximation = node.text("approximate", "none") == "tanh"};
      break;
    case NodeKind::BatchNormalization:
      out.attributes = readBatchNormalization(node);
      break;
    case NodeKind::Dropout:
      refuseTraining(node);
      keepInputs(out, 1);
      break;
    case NodeKind::Reshape:
      useShape(node, out, reshaped(node));
      break;
    case NodeKind::Flatten:
      useShape(node, out, flattened(node));
      break;
    case NodeKind::Squeeze:
      useShape(node, out, squeezed(node));
      break;
    case NodeKind::Unsqueeze:
      useShape(node, out, unsqueezed(node));
      break;
    case NodeKind::Expand:
      useShape(node, out, expanded(node));
      break;
    case NodeKind::Tile:
      useShape(node, out, tiled(node));
      break;
    case NodeKind::Cast:
      out.outputs = {{castTarget(node), node.input(0).shape}};
      break;
    case NodeKind::Constant:
      readConstant(node, out);
      break;
    case NodeKind::Shape:
      readShape(node, out);
      break;
    case NodeKind::ConstantOfShape:
      readConstantOfShape(node, out);
      break;
    case NodeKind::Range:
      readRange(node, out);
      break;
    case NodeKind::DynamicQuantizeLinear:
    case NodeKind::MatMul:
    case NodeKind::MatMulInteger:
    case NodeKind::QLinearMatMul:
    case NodeKind::Add:
    case NodeKind::Sub:
    case NodeKind::Mul:
    case NodeKind::Div:
    case NodeKind::Pow:
    case NodeKind::Min:
    case NodeKind::Max:
    case NodeKind::QLinearAdd:
    case NodeKind::QLinearMul:
    case NodeKind::PRelu:
    case NodeKind::Identity:
      break;
    case NodeKind::Relu:
    case NodeKind::Sigmoid:
    case NodeKind::HardSwish:
    case NodeKind::Tanh:
    case NodeKind::Softplus:
    case NodeKind::Softsign:
    case NodeKind::Exp:
    case NodeKind::Log:
    case NodeKind::Sqrt:
    case NodeKind::Abs:
    case NodeKind::Neg:
    case NodeKind::Floor:
    case NodeKind::Ceil:
    case NodeKind::Round:
    case NodeKind::Erf:
    case NodeKind::Reciprocal:
    case NodeKind::Sign:
    case NodeKind::Mish:
    case NodeKind::QLinearSigmoid:
      out.attributes = FunctionAttributes{};
      break;
  }
}

}  // namespace

bool isSupported(const std::string& domain, const std::string& opType) {
  const auto found = table().find(opType);
  if (found == table().end()) return false;
  if (domain == kMicrosoft) return found->second.inMicrosoft;
  return (domain.empty() || domain == "ai.onnx") && found->second.inOnnx;
}

Converted convert(NodeReader& node, const std::string& domain) {
  HEDDLE_CHECK(isSupported(domain, node.proto().op_type())) << node.proto().op_type();
  Converted out;
  out.kind = table().at(node.proto().op_type()).kind;
  out.inputs = node.inputs();
  checkOperands(node, out.kind);
  readAttributes(node, out);
  node.refuseUnread();
  if (out.outputs.empty()) {
    Node made{.name = {},
              .opType = {},
              .kind = out.kind,
              .inputs = out.inputs,
              .outputs = {},
              .attributes = out.attributes};
    out.outputs = inferOutputs(node.graph(), made);
  }
  for (const ValueType& output : out.outputs) checkShape(output.shape);
  checkSizes(node, out);
  return out;
}

}  // namespace heddle::onnx_import
