// Re-checks a canonical graph the slow way, sharing nothing with canonicalize.
#include <algorithm>
#include <unordered_set>

#include "heddle/canon/batch.h"
#include "heddle/canon/canonicalize.h"
#include "heddle/canon/fold_columns.h"
#include "heddle/canon/fuse_operators.h"

namespace heddle {

namespace {

class Checker {
 public:
  explicit Checker(const CanonicalGraph& graph) : graph_(graph) {}

  Diagnostics run() {
    if (!checkBatch()) return std::move(found_);
    checkTensors();
    std::vector<bool> written(graph_.tensors.size());
    std::vector<bool> pooled(graph_.tensors.size());  // where it is written: nobody reads it
    for (std::size_t i = 0; i < written.size(); ++i)
      written[i] = !graph_.tensors[i].constant.empty();
    for (const Port& port : graph_.inputs)
      if (checkPort(port, true)) written[port.tensor.at()] = true;
    std::unordered_set<std::string> names;
    for (const CanonicalOp& op : graph_.ops) {
      if (!names.insert(op.name).second) fault(op.name, "two operators have this name");
      const auto known = [&](TensorId id) { return id.valid() && id.at() < graph_.tensors.size(); };
      if (!known(op.output) || !std::ranges::all_of(op.inputs, known)) {
        fault(op.name, "a tensor id is out of range");
        continue;
      }
      for (const TensorId id : op.inputs)
        if (!written[id.at()])
          fault(op.name, "it reads '" + graph_.tensors[id.at()].name + "' before that is written");
      const TensorId computed = computedTensor(op);
      if (computed != op.output && !known(computed)) {
        fault(op.name, "the tensor that it pools is out of range");
        continue;
      }
      if (written[op.output.at()] || written[computed.at()] || pooled[op.output.at()] ||
          pooled[computed.at()])
        fault(op.name, "its output is written twice");
      written[op.output.at()] = true;
      pooled[computed.at()] = computed != op.output;
      checkOp(op);
    }
    for (const Port& port : graph_.outputs)
      if (checkPort(port, false) && !written[port.tensor.at()])
        fault(port.name, "nothing writes this output");
    return std::move(found_);
  }

 private:
  void fault(const std::string& who, const std::string& what) {
    found_.push_back({.code = "CANON010",
                      .where = graph_.name + ", '" + who + "'",
                      .summary = "the canonical graph breaks a promise",
                      .what = what,
                      .mend = "a graph from a file: mend it; from canonicalize: please report it",
                      .severity = Severity::BadInput});
  }
  void require(bool holds, const CanonicalOp& op, const std::string& what) {
    if (!holds) fault(op.name, what);
  }

  bool checkBatch() {
    if (graph_.batch < 1) {
      fault(graph_.name, "its batch is not positive");
      return false;
    }
    for (const CanonicalTensor& tensor : graph_.tensors)
      if (tensor.shape.height % graph_.batch != 0)
        fault(tensor.name, "its rows are not those of whole images");
    return found_.empty();
  }

  void checkTensors() {
    std::unordered_set<std::string> names;
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    for (const CanonicalTensor& tensor : graph_.tensors) {
      if (!names.insert(tensor.name).second) fault(tensor.name, "two tensors have this name");
      const Shape& s = tensor.shape;
      const bool sane = s.height > 0 && s.width > 0 && s.channels > 0 && s.height <= kMost &&
                        s.width <= kMost / s.height && s.channels <= kMost / (s.height * s.width);
      if (!sane)
        fault(tensor.name, "its shape is not positive or has more than 2^31 elements");
      else if (!tensor.constant.empty() &&
               static_cast<std::int64_t>(tensor.constant.size()) != s.elements())
        fault(tensor.name, "its constant does not fill its shape");
      if (!(tensor.scale > 0)) fault(tensor.name, "its scale is not positive");
    }
  }

  bool checkPort(const Port& port, bool mayBeFolded) {
    if (!port.tensor.valid() || port.tensor.at() >= graph_.tensors.size()) {
      fault(port.name, "its tensor is out of range");
      return false;
    }
    const Shape s = imageShape(graph_, port.tensor);
    if (!isPortOf(port, s, mayBeFolded)) fault(port.name, "its view does not fit its tensor");
    return true;
  }

  const Shape& shape(TensorId id) const { return graph_.tensors[id.at()].shape; }

  void checkWindow(const CanonicalOp& op, const Window& w) {
    checkWindow(op, w, imageShape(graph_, op.inputs[0]), imageShape(graph_, computedTensor(op)));
  }

  void checkWindow(const CanonicalOp& op, const Window& w, const Shape& in, const Shape& out) {
    const bool positive = w.kernelY > 0 && w.kernelX > 0 && w.strideY > 0 && w.strideX > 0 &&
                          w.dilationY > 0 && w.dilationX > 0 && w.padTop >= 0 && w.padLeft >= 0 &&
                          w.padBottom >= 0 && w.padRight >= 0;
    require(positive, op, "its window is not positive");
    // Every window starts in the tensor or before it.
    require((out.height - 1) * w.strideY - w.padTop < in.height &&
                (out.width - 1) * w.strideX - w.padLeft < in.width,
            op, "its last window starts behind the tensor");
  }

  template <class Op>
  void checkProduct(const CanonicalOp& op, const Op& conv, std::int64_t inputsPerOutput) {
    checkWindow(op, conv.window);
    checkWeights(op, conv, inputsPerOutput);
  }

  template <class Op>
  void checkWeights(const CanonicalOp& op, const Op& conv, std::int64_t inputsPerOutput) {
    const auto outputs = static_cast<std::size_t>(shape(op.output).channels);
    const std::int64_t row = conv.window.kernelY * conv.window.kernelX * inputsPerOutput;
    require(conv.weights.size() == outputs * static_cast<std::size_t>(row), op,
            "its weights do not fit");
    require(conv.weightZero.size() == outputs && conv.bias.size() == outputs &&
                conv.requantize.size() == outputs,
            op, "its zero points, biases or multipliers do not fit its channels");
    require(conv.requantizeNegative.empty() || conv.requantizeNegative.size() == outputs, op,
            "its negative multipliers do not fit its channels");
    require(conv.clamp.low <= conv.clamp.high, op, "its clamp is empty");
  }

  void checkAdd(const CanonicalOp& op, const Add& add) {
    constexpr std::int64_t kMost = std::int64_t{1} << 46;
    require(std::abs(add.multiplierA) < kMost && std::abs(add.multiplierB) < kMost &&
                add.shift >= 0 && add.shift < 63,
            op, "its multipliers are out of range");
  }

  void checkFusedWindow(const CanonicalOp& op) {
    const FusedWindow& end = *fusedWindowOf(op);
    const CanonicalTensor &before = graph_.tensors[end.before.at()],
                          &result = graph_.tensors[op.output.at()];
    const Window& w = end.window();
    checkWindow(op, w, imageShape(graph_, end.before), imageShape(graph_, op.output));
    require(w.dilationY == 1 && w.dilationX == 1 && w.padTop < w.kernelY && w.padLeft < w.kernelX,
            op, "a window at its end has gaps, or none of its tensor");
    require(before.shape.channels == result.shape.channels, op,
            "a window at its end changes the number of channels");
    require(!fusedAddOf(op), op, "it adds, and has a window at its end");
    if (const DepthwiseConv* depthwise = end.depthwise())
      checkWeights(op, *depthwise, 1);
    else
      require(before.scale == result.scale && before.zeroPoint == result.zeroPoint, op,
              "its pool changes scale or zero point");
  }

  // Each weight of the folded kernel that is outside of the network's is its zero point.
  void checkFold(const CanonicalOp& op, const Conv& conv) {
    const bool sized = std::ssize(conv.weights) == std::ssize(conv.weightZero) *
                                                       conv.window.kernelY * conv.window.kernelX *
                                                       shape(op.inputs[0]).channels;
    if (!conv.folded || !sized) return;  // checkProduct() says so
    const FoldedColumns& folded = *conv.folded;
    const Window& w = conv.window;
    const Shape image = imageShape(graph_, op.inputs[0]);
    const std::int64_t inputs = image.channels, columns = folded.columns;
    bool fits = columns > 1 && columns <= inputs && inputs % columns == 0 && w.dilationX == 1;
    // The image is that of the port, which says how wide it is.
    const auto isImage = [&](const Port& port) {
      return port.tensor == op.inputs[0] && isPortOf(port, image, true) &&
             portImage(port) == Shape{image.height, folded.width, inputs / columns};
    };
    fits = fits && std::ranges::any_of(graph_.inputs, isImage) && folded.padLeft >= 0 &&
           divideRoundUp(folded.padLeft, columns) == w.padLeft && folded.kernelX > 0;
    const std::int64_t ahead = fits ? w.padLeft * columns - folded.padLeft : 0;
    fits = fits && folded.kernelX <= w.kernelX * columns &&
           w.kernelX == divideRoundUp(ahead + folded.kernelX, columns);
    require(fits, op, "its folded window is not that of the network");
    if (!fits) return;
    const std::int64_t row = w.kernelX * inputs, first = ahead * (inputs / columns),
                       end = first + folded.kernelX * (inputs / columns);
    bool isZero = true;
    for (std::int64_t i = 0; i < std::ssize(conv.weights); ++i) {
      const bool isOwn = i % row >= first && i % row < end;
      const auto output = static_cast<std::size_t>(i / (row * w.kernelY));
      isZero =
          isZero && (isOwn || conv.weights[static_cast<std::size_t>(i)] == conv.weightZero[output]);
    }
    require(isZero, op, "a tap that folding its columns put in has a weight");
  }

  void checkAxis(const CanonicalOp& op, const AxisMap& map, std::int64_t to, std::int64_t from,
                 bool rising) {
    for (const AxisRun& run : map) {
      const std::int64_t lastTo = run.to + (run.count - 1) * run.toStep,
                         lastFrom = run.from + (run.count - 1) * run.fromStep;
      require(run.count > 0 && run.toStep > 0 && run.to >= 0 && lastTo < to && run.from >= 0 &&
                  run.from < from && lastFrom >= 0 && lastFrom < from &&
                  (!rising || run.fromStep >= 0),
              op, "a run of a part is out of range");
    }
  }

  void checkAssemble(const CanonicalOp& op, const Assemble& assemble) {
    require(assemble.parts.size() == op.inputs.size() && !op.inputs.empty(), op,
            "it needs one part for each operand");
    if (assemble.parts.size() != op.inputs.size()) return;
    const Shape& out = shape(op.output);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const Shape& in = shape(op.inputs[i]);
      checkAxis(op, assemble.parts[i].mapY, out.height, in.height, true);
      checkAxis(op, assemble.parts[i].mapX, out.width, in.width, false);
      checkAxis(op, assemble.parts[i].mapC, out.channels, in.channels, false);
    }
  }

  // Whether it has the output's shape, or is one pixel of its channels.
  bool meets(TensorId operand, const Shape& out) const {
    const Shape onePixel{graph_.batch, 1, out.channels};
    return shape(operand) == out || shape(operand) == onePixel;
  }

  void checkPair(const CanonicalOp& op, const Shape& out) {
    require(shape(op.inputs[0]) == out && meets(op.inputs[1], out), op,
            "its operands have other shapes");
  }

  // Each output pixel has its own of the input, and there is no border.
  void checkStart(const CanonicalOp& op, const Conv& conv) {
    require(conv.window == Window{} && !conv.fusedWindow && !conv.folded, op,
            "it does something with what it reads, and has a window");
    require(!(conv.fusedMul && conv.fusedLines), op, "it does two things with what it reads");
    if (conv.fusedMul) checkFusedMul(op, conv);
    if (!conv.fusedLines) return;
    const Table& table = conv.fusedLines->table;
    require(table.lines.size() == table.tables.size() &&
                std::ssize(table.lines) == shape(op.inputs[0]).channels,
            op, "the lines of what it reads do not fit its channels");
  }

  void checkFusedMul(const CanonicalOp& op, const Conv& conv) {
    const Shape onePixel{graph_.batch, 1, shape(op.inputs[0]).channels};
    require(shape(op.inputs[1]) == onePixel, op, "what it multiplies by is not one pixel");
    require(conv.fusedMul->mul.clamp.low <= conv.fusedMul->mul.clamp.high, op,
            "the clamp of its product is empty");
  }

  void checkOp(const CanonicalOp& op) {
    const bool two = op.kind() == OpKind::Add || op.kind() == OpKind::Mul;
    const std::size_t operands = two ? 2 : 1 + (fusedAddOf(op) ? 1 : 0) + (fusedMulOf(op) ? 1 : 0);
    if (op.kind() != OpKind::Assemble && op.inputs.size() != operands)
      return fault(op.name, "it needs " + std::to_string(operands) + " operands");
    const Shape& out = shape(op.output);
    switch (op.kind()) {
      case OpKind::Conv:
        checkProduct(op, std::get<Conv>(op.attributes), shape(op.inputs[0]).channels);
        if (fusedWindowOf(op)) checkFusedWindow(op);
        checkFold(op, std::get<Conv>(op.attributes));
        if (const FusedAdd* fused = fusedAddOf(op)) {
          checkAdd(op, fused->add);
          require(meets(op.inputs.back(), out), op, "what is added to it has another shape");
        }
        if (operandsAtStart(op) > 0) checkStart(op, std::get<Conv>(op.attributes));
        break;
      case OpKind::DepthwiseConv:
        checkProduct(op, std::get<DepthwiseConv>(op.attributes), 1);
        require(out.channels == shape(op.inputs[0]).channels, op,
                "its channels differ from its input's");
        break;
      case OpKind::MaxPool: {
        checkWindow(op, std::get<MaxPool>(op.attributes).window);
        const CanonicalTensor &in = graph_.tensors[op.inputs[0].at()],
                              &result = graph_.tensors[op.output.at()];
        require(in.scale == result.scale && in.zeroPoint == result.zeroPoint, op,
                "it changes scale or zero point");
        require(out.channels == in.shape.channels, op, "its channels differ from its input's");
        break;
      }
      case OpKind::AveragePool:
        checkWindow(op, std::get<AveragePool>(op.attributes).window);
        require(out.channels == shape(op.inputs[0]).channels, op,
                "its channels differ from its input's");
        break;
      case OpKind::Add: {
        checkAdd(op, std::get<Add>(op.attributes));
        checkPair(op, out);
        break;
      }
      case OpKind::Mul:
        checkPair(op, out);
        break;
      case OpKind::Table: {
        const Table& table = std::get<Table>(op.attributes);
        const std::size_t tables = table.tables.size();
        require(shape(op.inputs[0]) == out, op, "its input has another shape");
        require(tables == 1 || static_cast<std::int64_t>(tables) == out.channels, op,
                "its tables do not fit its channels");
        require(table.lines.empty() || (tables > 1 && table.lines.size() == tables), op,
                "its lines do not fit its channels");
        break;
      }
      case OpKind::Assemble:
        checkAssemble(op, std::get<Assemble>(op.attributes));
        break;
    }
  }

  const CanonicalGraph& graph_;
  Diagnostics found_;
};

}  // namespace

Diagnostics verify(const CanonicalGraph& graph) { return Checker(graph).run(); }

}  // namespace heddle
