// Concat, Split and Slice operators that need no instruction because their tensors can share memory
// block by block: whole blocks of channels, values unchanged. A Slice may leave rows and columns
// out, at equal distances.
//
//   both = Concat(a: 16 channels, b: 24 channels)     a = blocks 0-1 of both, b = blocks 2-4 of
//   both
//   odd = Slice(a) [1::2, :]                          odd = rows 1, 3, 5, ... of a
#pragma once
#include <optional>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/tiling/pixel_map.h"
#include "heddle/tiling/plan.h"

namespace heddle {

struct Views {
  std::vector<View> tensors;  // per tensor
  std::vector<bool> inPlace;  // per operator: nothing to execute
};

Views findViews(const CanonicalGraph& graph);

// The same with nothing shared: every Concat, Split and Slice copies.
Views noViews(const CanonicalGraph& graph);

// What a part copies of an operand of shape `from` to an output of shape `to`, values unchanged: a
// stretch of channels, at all pixels or at those that a Slice takes.
struct CopiedStretch {
  AxisRun channels;
  std::optional<Sampling> sampling;
};
// None where it does anything else. Shapes: of `batch` images.
std::optional<CopiedStretch> copiedStretch(const AssemblePart& part, const Shape& from,
                                           const Shape& to, std::int64_t batch);
// The sampling of what is pixels of a tensor that is itself pixels of its root.
std::optional<Sampling> composed(const std::optional<Sampling>& own,
                                 const std::optional<Sampling>& ofRoot);

// Where a tensor's pixels lie in its root, and its channels: boxes of the root's home in rows,
// columns and blocks of its own.
PixelMap pixelMapOf(const CanonicalGraph& graph, const Plan& plan, TensorId tensor);
Home homeOf(const CanonicalGraph& graph, const Plan& plan, TensorId tensor);

}  // namespace heddle
