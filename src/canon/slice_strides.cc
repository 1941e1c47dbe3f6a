#include "heddle/canon/slice_strides.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/canon/fuse_operators.h"
#include "heddle/support/check.h"
#include "heddle/support/unique_names.h"

namespace heddle {
namespace {

struct Axes {  // of a window or a tensor
  std::int64_t y = 1, x = 1;
  friend auto operator<=>(const Axes&, const Axes&) = default;
};

template <class Op>
auto* windowIn(Op& op) {
  using Found = std::conditional_t<std::is_const_v<Op>, const Window, Window>;
  return std::visit(
      [](auto& a) -> Found* {
        if constexpr (requires { a.window; })
          return &a.window;
        else
          return nullptr;
      },
      op.attributes);
}

AxisMap every(std::int64_t step, std::int64_t outputs) { return {{0, 1, 0, step, outputs}}; }

class StrideSlicing {
 public:
  explicit StrideSlicing(const CanonicalGraph& graph)
      : graph_(graph), out_{graph.name, graph.tensors, {}, graph.inputs, graph.outputs} {
    HEDDLE_CHECK(graph.batch == 1) << graph.batch;
    for (const CanonicalTensor& tensor : graph.tensors) tensorNames_.takeExactly(tensor.name);
    for (const CanonicalOp& op : graph.ops) opNames_.takeExactly(op.name);
  }

  std::shared_ptr<const CanonicalGraph> run() {
    if (std::ranges::all_of(graph_.ops,
                            [&](const CanonicalOp& op) { return stepsOf(op) == Axes{}; }))
      return nullptr;
    for (CanonicalOp op : graph_.ops) {
      if (const Axes steps = stepsOf(op); steps != Axes{}) slice(op, steps);
      out_.ops.push_back(std::move(op));
    }
    return std::make_shared<const CanonicalGraph>(std::move(out_));
  }

 private:
  const Shape& shape(TensorId t) const { return out_.tensors[t.at()].shape; }

  // Which rows and columns of its first operand the operator reads: every n-th.
  Axes stepsOf(const CanonicalOp& op) const {
    const Window* window = windowIn(op);
    if (!window) return {};
    // Whose columns are folded is known by what reads them.
    if (const Conv* conv = std::get_if<Conv>(&op.attributes); conv && conv->folded) return {};
    const Shape& in = shape(op.inputs[0]);
    const auto step = [](std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                         std::int64_t inputs) {
      return kernel == 1 && pad == 0 && inputs > 1 ? stride : 1;
    };
    return {step(window->kernelY, window->strideY, window->padTop, in.height),
            step(window->kernelX, window->strideX, window->padLeft, in.width)};
  }

  void slice(CanonicalOp& op, const Axes& steps) {
    const Shape in = shape(op.inputs[0]), computed = shape(computedTensor(op));
    const Axes taken{steps.y > 1 ? computed.height : in.height,
                     steps.x > 1 ? computed.width : in.width};
    Assemble assemble;
    assemble.fill = out_.tensors[op.inputs[0].at()].zeroPoint;
    assemble.parts.push_back(
        {every(steps.y, taken.y), every(steps.x, taken.x), every(1, in.channels), {}});
    Window& window = *windowIn(op);
    if (op.kind() == OpKind::MaxPool && window.kernelY * window.kernelX == 1 &&
        taken == Axes{computed.height, computed.width}) {
      op.attributes = std::move(assemble);  // the pool does nothing else
      return;
    }
    assemble.isOfStride = true;
    op.inputs[0] = sliced(op.inputs[0], steps, taken, std::move(assemble));
    if (steps.y > 1) {
      window.strideY = window.dilationY = 1;
      window.padBottom = 0;
    }
    if (steps.x > 1) {
      window.strideX = window.dilationX = 1;
      window.padRight = 0;
    }
  }

  TensorId sliced(TensorId from, const Axes& steps, const Axes& taken, Assemble assemble) {
    const auto [known, fresh] = slices_.try_emplace({from.at(), steps, taken});
    if (!fresh) return known->second;
    CanonicalTensor tensor = out_.tensors[from.at()];
    const std::string text = "::" + std::to_string(steps.y) + "x" + std::to_string(steps.x);
    CanonicalOp op{.name = opNames_.take(tensor.name + text),
                   .onnxOp = "Slice",
                   .inputs = {from},
                   .output = TensorId(out_.tensors.size()),
                   .attributes = std::move(assemble)};
    tensor.name = tensorNames_.take(tensor.name + text);
    tensor.shape.height = taken.y;
    tensor.shape.width = taken.x;
    tensor.constant.clear();
    out_.tensors.push_back(std::move(tensor));
    known->second = op.output;
    out_.ops.push_back(std::move(op));
    return known->second;
  }

  const CanonicalGraph& graph_;
  CanonicalGraph out_;
  UniqueNames tensorNames_, opNames_;
  std::map<std::tuple<std::size_t, Axes, Axes>, TensorId> slices_;
};

}  // namespace

std::shared_ptr<const CanonicalGraph> sliceStrides(const CanonicalGraph& graph) {
  return StrideSlicing(graph).run();
}

}  // namespace heddle
