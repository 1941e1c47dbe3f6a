// Masks of weights as files hold them: arrays by the name of the ONNX constant, in its own shape.
//
//   masks.npz:  "conv1.weight" bool 64x64x3x3     1 keeps the weight, 0 drops it
//               "conv2.weight" bool 8x8           the same for 8x8 blocks: COUT/8 x CIN/8 rounded
//                                                 up, each through the whole kernel
//
// COUT and CIN are the channels of the operator as `heddle inspect` shows it: of a grouped
// convolution all input channels, of a matrix product behind a Flatten the channels before it.
// Where the shape of the weight is also that of its blocks, the array masks elements.
//
// | code      | when                                                                  |
// |-----------|-----------------------------------------------------------------------|
// | SPARSE001 | a mask is for a tensor that is not the weight of an operator          |
// | SPARSE002 | a mask has another type or shape, or values other than 0 and 1        |
// | SPARSE003 | a mask drops weights that are not zero                                |
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "heddle/canon/canonicalize.h"
#include "heddle/graph/graph.h"
#include "heddle/npy/npz.h"
#include "heddle/sparsity/sparse_graph.h"
#include "heddle/support/result.h"

namespace heddle {

// The bytes that the masks of this network can take: parseNpz's `most`.
std::int64_t mostMaskBytes(const Graph& model, const Canonicalized& canonical);

// One mask for each operator that reads a tensor which `arrays` names, in the order of the
// operators. `where` names the file. Errors: SPARSE001, SPARSE002, all of them.
Result<std::vector<WeightMask>> masksFrom(const NamedNpyArrays& arrays, const Graph& model,
                                          const Canonicalized& canonical, const std::string& where);

// Errors: SPARSE003 for each operator whose weights the mask would change.
Diagnostics droppedWeights(const std::vector<WeightMask>& masks, const Graph& model,
                           const Canonicalized& canonical, const std::string& where);

// The masks as arrays: of blocks where whole 8x8 blocks are kept and dropped and the shape can't be
// taken for the weight's, else of elements. Of operators that share a weight the first counts.
NamedNpyArrays arraysOf(const std::vector<WeightMask>& masks, const Graph& model,
                        const Canonicalized& canonical);

struct MaskedConstant {
  std::string bytes;          // new, little-endian in row-major order
  std::vector<bool> dropped;  // by element
};

// The constants with every weight that a mask drops at its zero point, by name. Weights
// that several operators share are dropped where any mask says so.
std::map<std::string, MaskedConstant> maskedConstants(const std::vector<WeightMask>& masks,
                                                      const Graph& model,
                                                      const Canonicalized& canonical);

}  // namespace heddle
