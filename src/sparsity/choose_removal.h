// Which of the channels that nobody needs are worth taking out.
//
// Operators that compute channel c of their output from channel c of their operands join these:
// they stay or go together. Taking out single channels moves those behind them, and that can cost:
// parts of a Concat no longer begin at a block of 8, so that they must be copied; weights whose
// zeros fill 8x8 blocks no longer do. So channels that nobody needs stay where a part would move
// off its block, and of tensors that hang together either single channels go or whole blocks only,
// whichever leaves fewer blocks to compute.
#pragma once
#include "channels.h"

namespace heddle::sparsity {

// By tensor and channel; at least one of each tensor, and of each Assemble one that an operand
// brings.
ChannelSets chooseKept(const CanonicalGraph& graph, const ChannelSets& needed);

}  // namespace heddle::sparsity
