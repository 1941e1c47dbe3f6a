#include "heddle/report/padding.h"

#include <algorithm>

#include "heddle/canon/fold_columns.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/program/visit.h"
#include "heddle/support/requantize.h"

namespace heddle {
namespace {

// Channels of `tensor` among the blocks [first, first + count) of what parts name.
std::int64_t realChannels(const Program& program, TensorId tensor, std::int64_t first,
                          std::int64_t count) {
  const ProgramTensor& t = program.tensors[tensor.at()];
  return std::clamp<std::int64_t>(
      t.shape.channels - (first - program.firstBlockNamed(tensor)) * kBlock, 0, count * kBlock);
}

struct Blocks {  // as parts name them
  std::int64_t first = 0, count = 0;
};

// Of an output in one row of the kernel, with these blocks of the input's root.
std::int64_t ownWeights(const Program& program, const CanonicalOp& op, const Conv& conv,
                        const Blocks& inputs) {
  const TensorId in = op.inputs.front();
  return ownWeightsInRow(conv, program.tensors[in.at()].shape.channels,
                         (inputs.first - program.firstBlockNamed(in)) * kBlock,
                         inputs.count * kBlock);
}

// Of the blocks that a call multiplies those are real which lie in the tensors: of each kept one
// its share.
std::int64_t realMacs(const Program& program, const CanonicalOp& op, const Conv& conv,
                      const Blocks& outputs, const Blocks& inputs, std::int64_t macs) {
  const TensorId in = op.inputs.front();
  const TensorId out = computedTensor(op);
  const std::int64_t b0 = outputs.first - program.firstBlockNamed(out),
                     a0 = inputs.first - program.firstBlockNamed(in);
  const std::int64_t inputBlocks = blocksOf(program.tensors[in.at()].shape);
  std::int64_t real = 0, kept = 0;
  for (std::int64_t b = 0; b < outputs.count; ++b)
    for (std::int64_t a = 0; a < inputs.count; ++a) {
      const std::int64_t bit = (b0 + b) * inputBlocks + a0 + a;
      if (bit < 0 || bit >= conv.kept.size() || !conv.kept[bit]) continue;
      ++kept;
      real += realChannels(program, out, outputs.first + b, 1) *
              ownWeights(program, op, conv, {inputs.first + a, 1});
    }
  const Int128 whole = Int128{kept} * kBlock * kBlock * conv.window.kernelX;
  return kept > 0 ? static_cast<std::int64_t>(Int128{macs} * real / whole) : 0;
}

std::int64_t paddedMacs(const CanonicalOp& op, const Program& program, const QueueCursor& at,
                        const Engine& engine, std::int64_t macs) {
  const auto& call = std::get<Call<Affine>>(at.instruction().as);
  const auto number = [&](const Affine& a) {
    return evaluate(a, at.counters(), engine.row, engine.column);
  };
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  const bool atItsEnd = program.kernels[call.kernel.at()].op == OpKind::DepthwiseConv;
  std::int64_t real = realChannels(program, atItsEnd ? op.output : computedTensor(op),
                                   number(call.part.block), call.part.blocks);
  std::int64_t whole = call.part.blocks * kBlock;
  if (conv && !atItsEnd) {
    const RowRing<Affine>& in = call.inputs.front();
    if (conv->kept.size() > 0)
      return macs - realMacs(program, op, *conv, {number(call.part.block), call.part.blocks},
                             {number(in.block), in.blocks}, macs);
    real *= ownWeights(program, op, *conv, {number(in.block), in.blocks});
    whole *= in.blocks * kBlock * conv->window.kernelX;
  }
  return whole > 0 ? macs - static_cast<std::int64_t>(Int128{macs} * real / whole) : 0;
}

}  // namespace

std::vector<std::int64_t> paddedMacs(const CanonicalGraph& graph, const Program& program,
                                     const std::vector<LeafFacts>& leaves, const Track& track) {
  std::vector<std::int64_t> padded(track.slices.size());
  if (track.engine.kind != EngineKind::Core) return padded;
  QueueCursor at(program, track.engine);
  for (std::size_t i = 0; i < padded.size() && !at.done(); ++i, at.next()) {
    const std::int64_t macs =
        macsOfSlice(leaves[static_cast<std::size_t>(at.leafIndex())], track.slices[i], program);
    if (macs > 0)
      padded[i] = paddedMacs(graph.ops[at.layer().at()], program, at, track.engine, macs);
  }
  return padded;
}

}  // namespace heddle
