#include <algorithm>
#include <utility>

#include "generation.h"
#include "heddle/canon/batch.h"
#include "heddle/canon/fuse_operators.h"

namespace heddle {
namespace {

// Restricts a map to outputs [first, first + count), counted from there, with inputs counted from
// `origin`.
AxisMap restricted(const AxisMap& map, std::int64_t first, std::int64_t count,
                   std::int64_t origin) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const AxisRun& run : map)
    for (std::int64_t i = 0; i < run.count; ++i) {
      const std::int64_t to = run.to + i * run.toStep;
      if (to >= first && to < first + count)
        pairs.push_back({to - first, run.from + i * run.fromStep - origin});
    }
  std::sort(pairs.begin(), pairs.end());
  AxisMap out;
  for (const auto& [to, from] : pairs) {
    if (!out.empty()) {
      AxisRun& r = out.back();
      if (r.count == 1 && to > r.to) {
        r.toStep = to - r.to;
        r.fromStep = from - r.from;
        r.count = 2;
        continue;
      }
      if (to == r.to + r.count * r.toStep && from == r.from + r.count * r.fromStep) {
        ++r.count;
        continue;
      }
    }
    out.push_back({to, 1, from, 1, 1});
  }
  return out;
}

void describeAdd(const Add& add, Kernel& k) {
  k.multiplierA = add.multiplierA;
  k.multiplierB = add.multiplierB;
  k.shift = add.shift;
}

template <class Attributes>
void describe(const Attributes& a, Kernel& k) {
  if constexpr (requires { a.clamp; }) k.clamp = a.clamp;
  if constexpr (requires { a.requantizeNegative; }) k.negativeScale = !a.requantizeNegative.empty();
  if constexpr (requires { a.weightZero; }) k.weightZeros = hasZeroPoints(a.weightZero);
  if constexpr (requires { a.fusedTable; })
    if (a.fusedTable) {
      k.looksUp = true;
      k.lookedUpZero = a.fusedTable->zero;
      k.lookedUpClamp = std::exchange(k.clamp, Clamp{});
    }
}

// What an operator's attributes say of all its calls.
void describeOperator(const CanonicalOp& op, Kernel& k) {
  k.op = op.kind();
  k.name = op.name;
  std::visit([&](const auto& attributes) { describe(attributes, k); }, op.attributes);
  if (fusedLinesOf(op)) k.tableLines = true;
  if (const FusedMul* fused = fusedMulOf(op)) {
    k.multipliesInput = true;
    k.productZero = fused->zero;
    k.productClamp = fused->mul.clamp;
    k.rescale = fused->mul.requantize;
  }
  if (const FusedAdd* fused = fusedAddOf(op)) {
    k.addsInput = true;
    k.addedToZero = fused->zero;
    k.addedToClamp = std::exchange(k.clamp, fused->add.clamp);
    describeAdd(fused->add, k);
  } else if (const auto* pool = std::get_if<AveragePool>(&op.attributes)) {
    k.countIncludesPad = pool->countIncludesPad;
    k.rescale = pool->rescale;
  } else if (const auto* mul = std::get_if<Mul>(&op.attributes)) {
    k.rescale = mul->requantize;
  } else if (const auto* add = std::get_if<Add>(&op.attributes)) {
    describeAdd(*add, k);
  } else if (const auto* table = std::get_if<Table>(&op.attributes)) {
    k.tablePerChannel = table->tables.size() > 1;
    k.tableLines = !table->lines.empty();
  } else if (const auto* assemble = std::get_if<Assemble>(&op.attributes)) {
    k.fill = assemble->fill;
  }
}

// What each operand of an Assemble moves into the call's output.
std::vector<Kernel::Move> movesOf(const LayerNest& nest, const CoreShare& share,
                                  const Iteration& at, const Interval& x) {
  std::vector<Kernel::Move> moves;
  const auto* assemble = std::get_if<Assemble>(&nest.op().attributes);
  if (!assemble) return moves;
  const Interval blocks = nest.mapping().passBlocks(share, at.pass);
  std::int64_t tables = 0;
  for (std::size_t i = 0; i < assemble->parts.size(); ++i) {
    const AssemblePart& from = assemble->parts[i];
    const std::int64_t number = from.table ? tables++ : -1;
    const Held h = nest.held(share, i, at, x);
    if (h.blocks.empty()) continue;
    moves.push_back({restricted(from.mapX, x.first, x.count, h.columns.first),
                     restricted(from.mapC, blocks.first * kBlock, blocks.count * kBlock,
                                h.blocks.first * kBlock),
                     number});
  }
  return moves;
}

KernelId numberOf(Generation& g, std::size_t layer, Kernel kernel) {
  std::vector<Kernel>& kernels = g.out.program.kernels;
  std::vector<KernelId>& known = g.kernels[layer];
  const auto same = std::find_if(known.begin(), known.end(),
                                 [&](KernelId id) { return kernels[id.at()] == kernel; });
  if (same != known.end()) return *same;
  known.emplace_back(kernels.size());
  kernels.push_back(std::move(kernel));
  return known.back();
}

}  // namespace

KernelId kernelFor(Generation& g, const LayerNest& nest, std::size_t layer, const CoreShare& share,
                   const Iteration& at, const Interval& x) {
  const CanonicalOp& op = nest.op();
  const Interval blocks = nest.mapping().passBlocks(share, at.pass);
  const ReductionPart& part = nest.part(at);
  Kernel k;
  describeOperator(op, k);
  const CanonicalTensor& input = g.graph.tensors[op.inputs[0].at()];
  if (const Window* window = kernelWindowOf(op)) {
    k.window = *window;
    k.kernelYWhole = window->kernelY;
    k.window.kernelY = kernelRowsOf(op, part).count;
  }
  k.tensorHeight = imageShape(g.graph, op.inputs[0]).height;
  k.tensorWidth = input.shape.width;
  k.inputBlocks = part.inputBlocks.empty() ? blocks.count : part.inputBlocks.count;
  k.outputBlocks = blocks.count;
  k.outputColumns = nest.pooled().columns(x).count;
  k.inputZero = input.zeroPoint;
  const auto zeroOf = [&](TensorId tensor) { return g.graph.tensors[tensor.at()].zeroPoint; };
  if (k.multipliesInput) k.gateZero = zeroOf(op.inputs[1]);
  if (const std::size_t last = op.inputs.size() - 1; last > (k.multipliesInput ? 1U : 0U)) {
    k.inputZeroB = zeroOf(op.inputs[last]);
    k.broadcasts = isBroadcast(g.graph, op, last);
  }
  k.outputZero = g.graph.tensors[computedTensor(op).at()].zeroPoint;
  if (nest.last(at)) k.recordAt = endRecordBytes(op, blocks.count);
  k.moves = movesOf(nest, share, at, x);
  return numberOf(g, layer, std::move(k));
}

KernelId endKernelFor(Generation& g, const LayerNest& nest, std::size_t layer,
                      const CoreShare& share, const Iteration& at, const Interval& x) {
  const CanonicalOp& op = nest.op();
  const FusedWindow& end = *fusedWindowOf(op);
  const CanonicalTensor& input = g.graph.tensors[end.before.at()];
  const std::int64_t blocks = nest.mapping().passBlocks(share, at.pass).count;
  Kernel k;
  std::visit([&](const auto& attributes) { describe(attributes, k); }, end.op);
  k.op = end.depthwise() ? OpKind::DepthwiseConv : OpKind::MaxPool;
  k.name = op.name;
  k.window = end.window();
  k.kernelYWhole = k.window.kernelY;
  k.tensorHeight = imageShape(g.graph, end.before).height;
  k.tensorWidth = input.shape.width;
  k.inputBlocks = k.outputBlocks = blocks;
  k.outputColumns = x.count;
  k.inputZero = input.zeroPoint;
  k.outputZero = g.graph.tensors[op.output.at()].zeroPoint;
  k.sharesRecord = end.depthwise() != nullptr;
  return numberOf(g, layer, std::move(k));
}

}  // namespace heddle
