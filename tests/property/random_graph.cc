// Grows a graph operator by operator. Scales are chosen so that outputs use most of int8 and some
// saturate: a network of zeros would prove nothing.
#include "random_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "heddle/canon/fold_columns.h"
#include "heddle/sparsity/kept_blocks.h"
#include "random_movement.h"

namespace heddle::property {
namespace {

constexpr double kSpread = 74;  // standard deviation of a uniform int8
constexpr double kTarget = 45;  // of an output

struct Axis {  // one axis of a Window, and the output's extent along it
  std::int64_t kernel = 1, stride = 1, dilation = 1, before = 0, after = 0, output = 1;
};

class Generator {
 public:
  explicit Generator(const RandomGraphOptions& options)
      : options_(options), random_(options.seed) {}

  CanonicalGraph make() {
    graph_.name = "random-" + std::to_string(options_.seed);
    addInput();
    while (std::ssize(graph_.ops) < options_.ops) addOp();
    nameOutputs();
    return std::move(graph_);
  }

 private:
  const CanonicalTensor& tensor(TensorId id) const { return graph_.tensors[id.at()]; }

  // --- tensors

  double randomScale(double about) {
    const double scale = about * std::exp2(random_.real(-1, 1));
    return random_.chance(50) ? std::exp2(std::round(std::log2(scale))) : scale;
  }

  CanonicalTensor randomQuantization() {
    CanonicalTensor tensor;
    tensor.scale = randomScale(0.05);
    tensor.zeroPoint = random_.chance(50)   ? std::int8_t{0}
                       : random_.chance(40) ? std::int8_t{-128}
                       : random_.chance(10) ? std::int8_t{127}
                                            : random_.int8();
    tensor.fromUint8 = random_.chance(40);
    return tensor;
  }

  TensorId addTensor(const Shape& shape, CanonicalTensor quantization) {
    quantization.name = "t" + std::to_string(graph_.tensors.size());
    quantization.shape = shape;
    quantization.constant.clear();
    graph_.tensors.push_back(std::move(quantization));
    return TensorId(graph_.tensors.size() - 1);
  }

  std::int64_t randomExtent(std::int64_t most) {
    const std::vector<std::int64_t> telling{1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 24, 32};
    return std::min(most, random_.chance(60) ? random_.pick(telling) : random_.between(1, most));
  }

  TensorId addInput() {
    Shape shape{randomExtent(options_.maxExtent), randomExtent(options_.maxExtent),
                randomExtent(options_.maxChannels)};
    while (shape.elements() > options_.maxElements) {
      std::int64_t& largest = shape.channels >= std::max(shape.height, shape.width) ? shape.channels
                              : shape.height >= shape.width                         ? shape.height
                                                                                    : shape.width;
      largest = (largest + 1) / 2;
    }
    const TensorId id = addTensor(shape, randomQuantization());
    graph_.inputs.push_back(portOf(id));
    return id;
  }

  Port portOf(TensorId id) {
    const CanonicalTensor& t = tensor(id);
    Port port{.name = t.name,
              .tensor = id,
              .type = random_.chance(40) ? ElementType::Float32
                      : t.fromUint8      ? ElementType::Uint8
                                         : ElementType::Int8,
              .shape = {1, t.shape.channels, t.shape.height, t.shape.width},
              .view = {},
              .axes = "NCHW"};
    port.view = port.shape;
    return port;
  }

  void nameOutputs() {
    std::set<TensorId> read;
    for (const CanonicalOp& op : graph_.ops) read.insert(op.inputs.begin(), op.inputs.end());
    for (const CanonicalOp& op : graph_.ops)
      if (!read.contains(op.output)) graph_.outputs.push_back(portOf(op.output));
  }

  // --- operands

  std::vector<TensorId> activations() const {
    std::vector<TensorId> ids;
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i)
      if (graph_.tensors[i].constant.empty()) ids.push_back(TensorId(i));
    return ids;
  }

  TensorId operand() {
    if (graph_.inputs.size() < 3 && random_.chance(5)) return addInput();
    const std::vector<TensorId> all = activations();
    return random_.chance(50) ? all.back() : random_.pick(all);
  }

  // Another operand of `shape`: one that is there but for `besides`, a constant, or the same.
  TensorId partner(TensorId of, TensorId besides = {}) {
    const Shape shape = tensor(of).shape;
    std::vector<TensorId> same;
    for (const TensorId id : activations())
      if (id != of && id != besides && tensor(id).shape == shape) same.push_back(id);
    if (!same.empty() && random_.chance(75)) return random_.pick(same);
    if (random_.chance(20)) return of;
    return random_.chance(40) ? addConstant(shape) : tableOf(of);
  }

  // One pixel of its channels, which broadcasts to it: its own average as squeeze-and-excitation
  // has it, one that is there, or a constant.
  TensorId onePixel(TensorId of, bool isOfOthers = false) {
    const Shape shape = tensor(of).shape, pixel{1, 1, shape.channels};
    std::vector<TensorId> same;
    for (const TensorId id : activations())
      if (id != of && tensor(id).shape == pixel) same.push_back(id);
    if (!same.empty() && random_.chance(40)) return random_.pick(same);
    if (isOfOthers || random_.chance(20)) return addConstant(pixel);
    AveragePool op{.window = {.kernelY = shape.height, .kernelX = shape.width}, .rescale = {1, 0}};
    const TensorId average = addTensor(pixel, tensor(of));
    add("AveragePool", {of}, average, op);
    return random_.chance(50) ? average : tableOf(average);
  }

  TensorId tableOf(TensorId x) {
    addTable(x, random_.chance(30) ? tensor(x).shape.channels : 1);
    return graph_.ops.back().output;
  }

  TensorId addConstant(const Shape& shape) {
    const TensorId id = addTensor(shape, randomQuantization());
    TensorValue& values = graph_.tensors[id.at()].constant;
    for (std::int64_t i = 0; i < shape.elements(); ++i) values.push_back(random_.int8());
    return id;
  }

  // --- operators

  void add(const char* kind, std::vector<TensorId> inputs, TensorId output,
           OpAttributes attributes) {
    graph_.ops.push_back({kind + std::to_string(graph_.ops.size()), kind, std::move(inputs), output,
                          std::move(attributes)});
  }

  void addOp() {
    const TensorId x = operand();
    switch (random_.between(0, 11)) {
      case 0:
      case 1:
      case 2:
        return addConv(x);
      case 3:
        return addDepthwise(x);
      case 4:
        return addMaxPool(x);
      case 5:
        return addAveragePool(x);
      case 6:
        return addAdd(x);
      case 7:
        return addMul(x);
      case 8:
        return addTable(x);
      case 9:
        return addConcat(x);
      default:
        return addMovement(x);
    }
  }

  Clamp randomClamp(std::int8_t zero) {
    if (random_.chance(60)) return {};
    if (random_.chance(60)) return {zero, 127};
    const std::int8_t a = random_.int8(), b = random_.int8();
    return {std::min(a, b), std::max(a, b)};
  }

  // Pools need a tap in the tensor for every output.
  Axis randomAxis(std::int64_t extent, bool pool) {
    const std::vector<std::int64_t> kernels{1, 1, 2, 3, 3, 3, 4, 5, 7};
    Axis axis{.kernel = random_.pick(kernels),
              .stride = random_.chance(60) ? 1 : random_.between(1, 4),
              .dilation = !pool && random_.chance(25) ? random_.between(2, 3) : 1};
    const auto span = [&axis] { return axis.dilation * (axis.kernel - 1) + 1; };
    if (random_.chance(40)) {  // as SAME does
      axis.before = (span() - 1) / 2;
      axis.after = span() - 1 - axis.before;
    } else if (random_.chance(60)) {
      axis.before = random_.between(0, span() - 1);
      axis.after = random_.between(0, span() - 1);
    }
    while (extent + axis.before + axis.after < span()) {
      axis.kernel = std::max<std::int64_t>(1, axis.kernel - 1);
      axis.before = std::min(axis.before, span() - 1);
      axis.after = std::min(axis.after, span() - 1);
    }
    axis.output = (extent + axis.before + axis.after - span()) / axis.stride + 1;
    return axis;
  }

  // Fills `window`; the result is the output's extents, channels unchanged.
  Shape randomWindow(const Shape& shape, bool pool, Window& window) {
    Axis y = randomAxis(shape.height, pool), x = randomAxis(shape.width, pool);
    if (pool && random_.chance(15)) {  // global
      y = {.kernel = shape.height};
      x = {.kernel = shape.width};
    }
    window = {y.kernel,   x.kernel, y.stride, x.stride, y.dilation,
              x.dilation, y.before, x.before, y.after,  x.after};
    return {y.output, x.output, shape.channels};
  }

  bool tooLarge(const Shape& shape) const {
    return shape.elements() > options_.maxElements || shape.height > options_.maxExtent ||
           shape.width > options_.maxExtent || shape.channels > options_.maxChannels;
  }

  // Weights, zeros, biases and scales of a Conv or DepthwiseConv whose sums have `taps` terms.
  template <class Convolution>
  void fillConvolution(Convolution& op, std::int64_t channels, std::int64_t taps,
                       std::int8_t zero) {
    const double sum = std::sqrt(static_cast<double>(taps)) * kSpread * kSpread;
    const bool perChannel = random_.chance(50), weightZeros = random_.chance(20),
               sparse = random_.chance(25), leaky = random_.chance(15);
    for (std::int64_t i = 0; i < channels * taps; ++i)
      op.weights.own().push_back(sparse && i / 64 % 3 != 0 ? std::int8_t{0} : random_.int8());
    Multiplier scale = makeMultiplier(randomScale(kTarget / sum));
    for (std::int64_t c = 0; c < channels; ++c) {
      if (perChannel) scale = makeMultiplier(randomScale(kTarget / sum));
      op.weightZero.push_back(weightZeros ? random_.int8() : std::int8_t{0});
      op.bias.push_back(static_cast<std::int32_t>(random_.real(-sum, sum)));
      op.requantize.push_back(scale);
      if (leaky) op.requantizeNegative.push_back(makeMultiplier(randomScale(kTarget / sum / 8)));
    }
    op.clamp = randomClamp(zero);
  }

  // Which 8x8 blocks go: some at random, or all but a few that make cores as unequal as can be.
  void emptyBlocks(Conv& op, std::int64_t outputs, std::int64_t inputs) {
    const std::int64_t rows = divideRoundUp(outputs, kBlock),
                       columns = divideRoundUp(inputs, kBlock);
    const std::int64_t kind = random_.between(0, 5), row = random_.between(0, rows - 1),
                       column = random_.between(0, columns - 1);
    static constexpr std::array kDensities = {0, 1, 5, 10, 25, 50, 75, 90, 99};
    const int density =
        kDensities[static_cast<std::size_t>(random_.between(0, std::ssize(kDensities) - 1))];
    std::vector<bool> kept;
    for (std::int64_t b = 0; b < rows; ++b)
      for (std::int64_t a = 0; a < columns; ++a)
        kept.push_back(kind == 0   ? b == row
                       : kind == 1 ? a == column
                       : kind == 2 ? (a + b) % 2 == 0
                       : kind == 3 ? b == row && a == column
                                   : random_.chance(density));
    const std::int64_t taps = op.window.kernelY * op.window.kernelX;
    for (std::int64_t i = 0; i < std::ssize(op.weights); ++i) {
      const std::int64_t out = i / (taps * inputs);
      if (!kept[static_cast<std::size_t>(out / kBlock * columns + i % inputs / kBlock)])
        op.weights.own()[static_cast<std::size_t>(i)] =
            op.weightZero[static_cast<std::size_t>(out)];
    }
  }

  void addConv(TensorId x, bool isOfOnePixel = false) {
    const Shape input = tensor(x).shape;
    Conv op;
    Shape shape = randomWindow(input, false, op.window);
    shape.channels = 1;
    if (isOfOnePixel || random_.chance(30) || tooLarge(shape)) {  // 1x1
      op.window = {};
      shape = input;
    }
    const std::int64_t taps = op.window.kernelY * op.window.kernelX * input.channels;
    const std::int64_t pixels = shape.height * shape.width;
    const std::int64_t most =
        std::min(options_.maxMacs / (pixels * taps), options_.maxElements / pixels);
    shape.channels = std::clamp<std::int64_t>(randomExtent(options_.maxChannels), 1,
                                              std::max<std::int64_t>(1, most));
    const bool hasSiblings =
        options_.siblings && options_.maxChannels >= 2 * kBlock && random_.chance(30);
    if ((options_.wholeBlocks || hasSiblings) && most >= 2 * kBlock)
      shape.channels =
          std::clamp(divideRoundUp(shape.channels, kBlock), std::int64_t{2}, most / kBlock) *
          kBlock;
    const TensorId y = addTensor(shape, randomQuantization());
    fillConvolution(op, shape.channels, taps, tensor(y).zeroPoint);
    if (random_.chance(options_.wholeBlocks ? 80 : 40))
      emptyBlocks(op, shape.channels, input.channels);
    add("Conv", {x}, y, op);
    if (hasSiblings) return addSiblings(x, y, std::move(op));
    const TensorId end = maybeLookedUp(y, 30);  // what the convolution can do itself,
    if (random_.chance(isOfOnePixel ? options_.addedBehindMul : 25))
      addAdd(end, y);  // as it can make a sum
    else if (random_.chance(25))
      addSmallPool(end);  // a pool
    else if (random_.chance(30))
      addSmallDepthwise(end);  // or a depth-wise convolution
  }

  // More convolutions that read what one does, alike but for their weights; maybe a Concat that
  // begins with what one of them writes. All of these are read in turn, by tables for each channel,
  // which no convolution looks up: they are no outputs.
  void addSiblings(TensorId x, TensorId y, Conv op) {
    std::vector<TensorId> all{y};
    for (std::int64_t n = random_.between(1, 3); n > 0; --n) {
      std::vector<std::int8_t>& weights = op.weights.own();
      std::ranges::reverse(weights);
      std::rotate(weights.begin(), weights.begin() + std::ssize(weights) / 3, weights.end());
      std::ranges::reverse(op.bias);
      all.push_back(addTensor(tensor(y).shape, tensor(y)));
      add("Conv", {x}, all.back(), op);
    }
    const TensorId first = random_.pick(all);
    const bool isConcatenated = addTwo(first);
    for (const TensorId id : all)
      if (id != first || !isConcatenated) addTable(id, tensor(id).shape.channels);
  }

  // A Concat that begins with a tensor.
  bool addTwo(TensorId first) {
    const TensorId second = random_.chance(60) ? tableOf(first) : operand();
    const Shape shape = tensor(first).shape, more = tensor(second).shape;
    if (first == second || more.height != shape.height || more.width != shape.width) return false;
    Movement concat = concatenation({shape, more}, 'C');
    if (tooLarge(concat.output)) return false;
    const TensorId both = addTensor(concat.output, tensor(first));
    add("Concat", {first, second}, both, std::move(concat.assemble));
    addTable(both);
    return true;
  }

  // A window without dilation of at most so many rows and columns, which lies on the tensor
  // wherever it is; the result is the output's extents. A stride is at least `apart` times the
  // kernel's extent.
  Shape smallWindow(const Shape& shape, std::int64_t most, double apart, Window& window) {
    struct Side {
      std::int64_t kernel, stride, before, after, output;
    };
    const auto side = [&](std::int64_t extent) {
      Side s{};
      s.kernel = random_.between(1, std::min(most, extent));
      const auto least =
          static_cast<std::int64_t>(std::ceil(apart * static_cast<double>(s.kernel)));
      s.stride = random_.between(std::max<std::int64_t>(1, least), s.kernel + 1);
      s.before = random_.chance(40) ? random_.between(0, s.kernel - 1) : 0;
      s.after = random_.chance(40) ? random_.between(0, s.kernel - 1) : 0;
      s.output = (extent + s.before + s.after - s.kernel) / s.stride + 1;
      while ((s.output - 1) * s.stride - s.before >= extent) --s.output;
      return s;
    };
    const Side y = side(shape.height), w = side(shape.width);
    window = {y.kernel, w.kernel, y.stride, w.stride, 1, 1, y.before, w.before, y.after, w.after};
    return {y.output, w.output, shape.channels};
  }

  // Of windows that a convolution can pool at its end.
  void addSmallPool(TensorId x) {
    MaxPool op;
    const Shape shape = smallWindow(tensor(x).shape, 4, 0.5, op.window);
    add("MaxPool", {x}, addTensor(shape, tensor(x)), op);
  }

  // Of windows that a convolution can convolve depth-wise at its end.
  void addSmallDepthwise(TensorId x) {
    DepthwiseConv op;
    const Shape shape = smallWindow(tensor(x).shape, 5, 0, op.window);
    if (!tooLarge(shape)) maybeLookedUp(addDepthwise(x, shape, std::move(op)), 80);
  }

  void addDepthwise(TensorId x) {
    DepthwiseConv op;
    const Shape shape = randomWindow(tensor(x).shape, false, op.window);
    if (!tooLarge(shape)) maybeLookedUp(addDepthwise(x, shape, std::move(op)), 40);
  }

  TensorId addDepthwise(TensorId x, const Shape& shape, DepthwiseConv op) {
    const TensorId y = addTensor(shape, randomQuantization());
    fillConvolution(op, shape.channels, op.window.kernelY * op.window.kernelX, tensor(y).zeroPoint);
    add("DepthwiseConv", {x}, y, std::move(op));
    return y;
  }

  // What a convolution writes, in so many of a hundred cases through one table.
  TensorId maybeLookedUp(TensorId written, int percent) {
    if (!random_.chance(percent)) return written;
    addTable(written, 1);
    return graph_.ops.back().output;
  }

  void addMaxPool(TensorId x) {
    MaxPool op;
    const Shape shape = randomWindow(tensor(x).shape, true, op.window);
    if (tooLarge(shape)) return;
    add("MaxPool", {x}, addTensor(shape, tensor(x)), op);
  }

  void addAveragePool(TensorId x) {
    AveragePool op{.countIncludesPad = random_.chance(50), .rescale = {1, 0}};
    const Shape shape = randomWindow(tensor(x).shape, true, op.window);
    if (tooLarge(shape)) return;
    CanonicalTensor quantization = tensor(x);
    if (random_.chance(50)) {
      quantization = randomQuantization();
      op.rescale = makeMultiplier(tensor(x).scale / quantization.scale);
    }
    op.clamp = randomClamp(quantization.zeroPoint);
    add("AveragePool", {x}, addTensor(shape, quantization), op);
  }

  void addAdd(TensorId a, TensorId besides = {}) {
    const TensorId b = random_.chance(15) ? onePixel(a, besides.valid()) : partner(a, besides);
    CanonicalTensor quantization = randomQuantization();
    quantization.scale = randomScale(std::max(tensor(a).scale, tensor(b).scale));
    const double ratioA = tensor(a).scale / quantization.scale,
                 ratioB = tensor(b).scale / quantization.scale;
    const int shift = static_cast<int>(random_.between(16, 40));
    Add op{.multiplierA = std::llrint(std::ldexp(ratioA, shift)),
           .multiplierB = std::llrint(std::ldexp(ratioB, shift)),
           .shift = shift,
           .clamp = randomClamp(quantization.zeroPoint)};
    if (random_.chance(25)) op.multiplierB = -op.multiplierB;
    add("Add", {a, b}, addTensor(tensor(a).shape, quantization), op);
  }

  void addMul(TensorId a) {
    const TensorId b = random_.chance(50) ? onePixel(a) : partner(a);
    CanonicalTensor quantization = randomQuantization();
    const double product = tensor(a).scale * tensor(b).scale;
    quantization.scale = randomScale(product * kSpread * kSpread / kTarget);
    const Mul op{makeMultiplier(product / quantization.scale), randomClamp(quantization.zeroPoint)};
    const TensorId y = addTensor(tensor(a).shape, quantization);
    add("Mul", {a, b}, y, op);
    if (isBroadcast(graph_, graph_.ops.back(), 1) && random_.chance(75))
      addConv(y, true);  // which can do that itself
  }

  Table256 randomTable() { return randomTable(random_.chance(50)); }
  Table256 randomTable(bool rising) {
    Table256 table;
    const double slope = random_.real(0.3, 2), offset = random_.real(-60, 60);
    for (std::size_t i = 0; i < table.size(); ++i)
      table[i] = rising ? saturate(std::llrint((static_cast<double>(i) - 128) * slope + offset))
                        : random_.int8();
    return table;
  }

  void addTable(TensorId x) {
    if (random_.chance(60)) return addTable(x, 1);
    addTable(x, tensor(x).shape.channels, 80);
    if (random_.chance(80))
      addConv(graph_.ops.back().output, true);  // which looks it up itself, if it is lines
  }

  void addTable(TensorId x, std::int64_t tables, int risingPerCent = 50) {
    Table op;
    const bool rising = random_.chance(risingPerCent);
    for (std::int64_t i = 0; i < tables; ++i) op.tables.push_back(randomTable(rising));
    const Shape shape = tensor(x).shape;
    add("Table", {x}, addTensor(shape, randomQuantization()), std::move(op));
  }

  // A Concat of what convolutions and what stands behind them write for it, each in a scale of its
  // own; maybe of x, too.
  bool addBranches(TensorId x) {
    const Shape input = tensor(x).shape;
    const std::int64_t pixels = input.height * input.width, branches = random_.between(1, 3);
    const std::int64_t most =
        std::min({options_.maxElements / (pixels * (branches + 1)),
                  options_.maxMacs / (pixels * input.channels), options_.maxChannels});
    if (most < kBlock) return false;
    std::vector<TensorId> operands;
    std::vector<Shape> shapes;
    for (std::int64_t i = 0; i < branches; ++i) {
      Shape shape = input;
      shape.channels = kBlock * random_.between(1, std::min<std::int64_t>(2, most / kBlock));
      if (i + 1 == branches) shape.channels -= random_.between(0, 3);
      Conv op;
      const TensorId y = addTensor(shape, randomQuantization());
      fillConvolution(op, shape.channels, input.channels, tensor(y).zeroPoint);
      add("Conv", {x}, y, std::move(op));
      const TensorId end = maybeLookedUp(y, 40);
      operands.push_back(random_.chance(15) ? onePooled(end) : end);
      shapes.push_back(shape);
    }
    if (input.channels % kBlock == 0 && random_.chance(50)) {
      operands.insert(operands.begin(), x);
      shapes.insert(shapes.begin(), input);
    }
    if (operands.size() < 2) return false;
    addAssemble(operands, concatenation(shapes, 'C'));
    return true;
  }

  TensorId onePooled(TensorId x) {
    const Window window{
        .kernelY = 3, .kernelX = 3, .padTop = 1, .padLeft = 1, .padBottom = 1, .padRight = 1};
    const TensorId y = addTensor(tensor(x).shape, tensor(x));
    add("MaxPool", {x}, y, MaxPool{window});
    return y;
  }

  // Operands that agree in two extents, the first one twice where there is no other.
  void addConcat(TensorId x) {
    const char axis = "CCCYX"[random_.between(0, 4)];
    if (axis == 'C' && random_.chance(40) && addBranches(x)) return;
    std::vector<TensorId> fitting;
    for (const TensorId id : activations()) {
      const Shape &a = tensor(x).shape, &b = tensor(id).shape;
      if ((axis == 'Y' || a.height == b.height) && (axis == 'X' || a.width == b.width) &&
          (axis == 'C' || a.channels == b.channels))
        fitting.push_back(id);
    }
    std::vector<TensorId> operands{x};
    while (operands.size() < 2 || (operands.size() < 4 && random_.chance(30)))
      operands.push_back(random_.pick(fitting));
    std::vector<Shape> shapes;
    for (const TensorId id : operands) shapes.push_back(tensor(id).shape);
    addAssemble(operands, concatenation(shapes, axis));
  }

  void addMovement(TensorId x) { addAssemble({x}, randomMovement(random_, tensor(x).shape)); }

  // The output has the quantization of the first operand; parts of another are requantized, as some
  // others are.
  void addAssemble(const std::vector<TensorId>& operands, Movement movement) {
    if (tooLarge(movement.output)) return;
    const CanonicalTensor quantization = tensor(operands[0]);
    std::vector<TensorId> inputs;
    const bool requantized = random_.chance(15);
    for (std::size_t i = 0; i < movement.operands.size(); ++i) {
      const TensorId id = operands[movement.operands[i]];
      inputs.push_back(id);
      if (requantized || tensor(id).scale != quantization.scale ||
          tensor(id).zeroPoint != quantization.zeroPoint)
        movement.assemble.parts[i].table = randomTable();
    }
    const TensorId y =
        addTensor(movement.output, requantized ? randomQuantization() : quantization);
    add(movement.name, inputs, y, std::move(movement.assemble));
  }

  RandomGraphOptions options_;
  Random random_;
  CanonicalGraph graph_;
};

std::string textOf(const Shape& shape) {
  return std::to_string(shape.height) + "x" + std::to_string(shape.width) + "x" +
         std::to_string(shape.channels);
}

std::string textOf(const Window& w) {
  const auto pair = [](const char* name, std::int64_t y, std::int64_t x) {
    return std::string(name) + std::to_string(y) + "x" + std::to_string(x);
  };
  return pair(" kernel ", w.kernelY, w.kernelX) + pair(" stride ", w.strideY, w.strideX) +
         pair(" dilation ", w.dilationY, w.dilationX) + pair(" pad ", w.padTop, w.padLeft) +
         pair(" to ", w.padBottom, w.padRight);
}

}  // namespace

CanonicalGraph makeRandomGraph(const RandomGraphOptions& options) {
  CanonicalGraph graph = Generator(options).make();
  findKeptBlocks(graph);
  return graph;
}

std::vector<TensorValue> randomInputs(const CanonicalGraph& graph, std::uint64_t seed) {
  Random random(seed);
  std::vector<TensorValue> inputs;
  for (const Port& port : graph.inputs) {
    TensorValue value(static_cast<std::size_t>(portImage(port).elements()));
    for (std::int8_t& element : value) element = random.int8();
    inputs.push_back(std::move(value));
  }
  return inputs;
}

std::string describe(const CanonicalGraph& graph) {
  std::string text = graph.name + "\n";
  for (const CanonicalTensor& tensor : graph.tensors)
    text += "  " + tensor.name + " " + textOf(tensor.shape) + " scale " +
            std::to_string(tensor.scale) + " zero " + std::to_string(tensor.zeroPoint) +
            (tensor.constant.empty() ? "" : " constant") + "\n";
  for (const CanonicalOp& op : graph.ops) {
    text += "  " + graph.tensors[op.output.at()].name + " = " + op.onnxOp + "(";
    for (const TensorId id : op.inputs)
      text += (text.back() == '(' ? "" : ", ") + graph.tensors[id.at()].name;
    text += ")";
    std::visit(
        [&](const auto& attributes) {
          if constexpr (requires { attributes.window; }) text += textOf(attributes.window);
          if constexpr (requires { attributes.clamp; })
            text += " clamp " + std::to_string(attributes.clamp.low) + ".." +
                    std::to_string(attributes.clamp.high);
        },
        op.attributes);
    text += "\n";
  }
  return text;
}

}  // namespace heddle::property
