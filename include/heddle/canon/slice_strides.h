// A window of one row, or of one column, that moves by a stride reads every n-th row or column of
// its input and no other. Said as a Slice with steps before a window without stride, nothing has to
// bring what is not read: the Slice copies nothing where its output can be pixels of its input
// (tiling/views.h).
//
//   %1 = Conv(%0) 1x1 stride 2, 56x56x256 -> 28x28x512
//   %2 = Slice(%0) [::2, ::2]   %1 = Conv(%2) 1x1, 28x28x256 -> 28x28x512
#pragma once
#include <memory>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

// The graph with such a Slice before every operator whose window has a stride, reads no border, and
// is one row or one column high or wide; one for all that read a tensor alike. Ids of tensors and
// names stay; Slices and their outputs are called after what they take, `x::2x2`. Outputs have the
// same values, bit for bit. Null where there is none. Needs: one image (batch 1).
std::shared_ptr<const CanonicalGraph> sliceStrides(const CanonicalGraph& graph);

}  // namespace heddle
