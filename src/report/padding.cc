#include "heddle/report/padding.h"

#include <algorithm>

#include "heddle/program/visit.h"
#include "heddle/support/requantize.h"

namespace heddle {
namespace {

// Channels of `tensor`, a part of its root, among the root's blocks [first, first + count).
std::int64_t realChannels(const Program& program, TensorId tensor, std::int64_t first,
                          std::int64_t count) {
  const ProgramTensor& t = program.tensors[tensor.at()];
  return std::clamp<std::int64_t>(t.shape.channels - (first - t.rootBlock) * kBlock, 0,
                                  count * kBlock);
}

std::int64_t paddedMacs(const CanonicalOp& op, const Program& program, const QueueCursor& at,
                        const Engine& engine, std::int64_t macs) {
  const auto& call = std::get<Call<Affine>>(at.instruction().as);
  const auto number = [&](const Affine& a) {
    return evaluate(a, at.counters(), engine.row, engine.column);
  };
  std::int64_t real = realChannels(program, op.output, number(call.part.block), call.part.blocks);
  std::int64_t whole = call.part.blocks * kBlock;
  if (op.kind() == OpKind::Conv) {
    const RowRing<Affine>& in = call.inputs.front();
    real *= realChannels(program, op.inputs.front(), number(in.block), in.blocks);
    whole *= in.blocks * kBlock;
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
        macsOf(leaves[static_cast<std::size_t>(at.leafIndex())], track.slices[i], program);
    if (macs > 0)
      padded[i] = paddedMacs(graph.ops[at.layer().at()], program, at, track.engine, macs);
  }
  return padded;
}

}  // namespace heddle
