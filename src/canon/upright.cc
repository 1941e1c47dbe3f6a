#include "heddle/canon/upright.h"

#include <algorithm>
#include <utility>

#include "view.h"

namespace heddle {
namespace {

// Whether inputs rise with outputs, as those of rows do.
bool rises(const AxisMap& map) {
  const canon::IndexPairs pairs = canon::expand(map);
  return std::ranges::is_sorted(pairs, {}, [](const auto& pair) { return pair.second; });
}

struct MayStand {
  template <class Op>
  bool operator()(const Op& op) const {
    if constexpr (requires { op.window; })
      return op.window.kernelY == 1;
    else
      return true;
  }
  bool operator()(const Assemble& assemble) const {
    return std::ranges::all_of(assemble.parts,
                               [](const AssemblePart& part) { return rises(part.mapX); });
  }
};

bool mayStand(const CanonicalGraph& graph) {
  const auto& tensors = graph.tensors;
  return std::ranges::all_of(tensors,
                             [](const CanonicalTensor& t) { return t.shape.height == 1; }) &&
         std::ranges::any_of(tensors, [](const CanonicalTensor& t) { return t.shape.width > 1; }) &&
         std::ranges::all_of(graph.ops, [](const CanonicalOp& op) {
           return std::visit(MayStand(), op.attributes);
         });
}

struct Turn {
  template <class Op>
  void operator()(Op& op) const {
    if constexpr (requires { op.window; }) {
      Window& w = op.window;
      w = {.kernelY = w.kernelX,
           .kernelX = w.kernelY,
           .strideY = w.strideX,
           .strideX = w.strideY,
           .dilationY = w.dilationX,
           .dilationX = w.dilationY,
           .padTop = w.padLeft,
           .padLeft = w.padTop,
           .padBottom = w.padRight,
           .padRight = w.padBottom};
    }
  }
  void operator()(Assemble& assemble) const {
    for (AssemblePart& part : assemble.parts) std::swap(part.mapY, part.mapX);
  }
};

void turn(std::vector<Port>& ports) {
  for (Port& port : ports)
    for (char& axis : port.axes)
      if (axis == 'H' || axis == 'W') axis = axis == 'H' ? 'W' : 'H';
}

}  // namespace

std::shared_ptr<const CanonicalGraph> standUpright(const CanonicalGraph& graph) {
  if (!mayStand(graph)) return nullptr;
  CanonicalGraph upright = graph;
  for (CanonicalTensor& tensor : upright.tensors)
    std::swap(tensor.shape.height, tensor.shape.width);
  for (CanonicalOp& op : upright.ops) std::visit(Turn(), op.attributes);
  turn(upright.inputs);
  turn(upright.outputs);
  return std::make_shared<const CanonicalGraph>(std::move(upright));
}

}  // namespace heddle
