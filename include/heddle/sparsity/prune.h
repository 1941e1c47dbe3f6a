// Which blocks of weights to give up: those whose loss changes the layer least, by a measure of
// their own values alone (no training).
//
//   16x16 weights, 8x8 blocks, ratio 0.5, l2:      energy  9 2      kept  1 0
//   floor(0.5 * 4) = 2 blocks go                           1 4            0 1
//
// Blocks are of output channels x input channels, through the whole kernel; those at the edge of
// the weights are partial. A depth-wise convolution has no such blocks and stays as it is.
//
// | code      | when                                                              |
// |-----------|-------------------------------------------------------------------|
// | SPARSE004 | nothing in the network has weights that can be pruned             |
// | SPARSE005 | a block is larger than the weights of every layer                 |
// | SPARSE006 | a layer to be kept is not there                                   |
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "heddle/canon/canonicalize.h"
#include "heddle/graph/graph.h"
#include "heddle/sparsity/sparse_graph.h"
#include "heddle/support/result.h"

namespace heddle {

// Of the real values in a block. l1: sum of their magnitudes; l2: sum of their squares; variance:
// their variance, for weights whose mean the next normalization takes up.
enum class Importance { L1, L2, Variance };

// Whether each layer loses its share of blocks, or the network does: then blocks of different
// layers are compared by their share of the importance that their layer still keeps, so that a
// layer's last blocks are dear whatever its scale. Source of the comparison: Lee, Park, Mo, Ahn,
// Shin, Layer-adaptive sparsity for the magnitude-based pruning, ICLR 2021, with blocks for
// weights.
enum class PruneScope { Layer, Network };

// Groups of block rows (output channels) or block columns (input channels) that shall keep equally
// many blocks, so that cores which share the layer get equal work.
enum class BalanceAxis { None, Outputs, Inputs };

struct PruneOptions {
  std::int64_t blockRows = 8, blockColumns = 8;
  std::int64_t ratioMillionths = 0;  // of the blocks that go, 0 to 1,000,000
  Importance importance = Importance::L2;
  PruneScope scope = PruneScope::Layer;
  BalanceAxis balance = BalanceAxis::None;
  std::int64_t groups = 1;  // of the balance
  // Layers that stay as they are: "first", "last", or the name of an operator or of its weights.
  std::vector<std::string> keep;
  // Of network scope: the ratio grows in so many equal steps, and the shares are taken anew in
  // each.
  std::int64_t steps = 1;
};

inline constexpr std::int64_t kMostPruneSteps = 1000, kMostGroups = 64;

// The share of N groups in `count` blocks in a row: as the planner cuts channel blocks between
// rows of cores, the first ones one longer.
struct BlockGroup {
  std::int64_t first = 0, count = 0;
};
BlockGroup blockGroup(std::int64_t count, std::int64_t groups, std::int64_t index);

// How many blocks each of several groups keeps so that together they keep `kept` or a little more:
// all the same number, but for groups that have not so many. At most groups - 1 more than asked.
std::vector<std::int64_t> equalShares(std::int64_t kept, const std::vector<std::int64_t>& sizes);

struct PrunedLayer {
  OpId op;
  ValueId value;      // its weights in the ONNX graph; invalid where they are no constant there
  std::string stays;  // why nothing was to be pruned; empty where something was
  std::int64_t blocks = 0, blocksKept = 0;
  double energyKept = 1;  // squares of the real weights, kept / all
  // Blocks kept in each group of the balance, or without one in four groups of output channels.
  std::vector<std::int64_t> groups;
  double imbalance = 1;  // the fullest group / their mean
  Bits kept;             // elements, in order row, tap, column; empty where it stays
};

struct Pruning {
  std::vector<PrunedLayer> layers;  // those with weights, in the order of the operators
  std::vector<WeightMask> masks() const;
};

// A layer whose weights are also those of an earlier one follows it. Each layer in scope keeps
// ceil((1 - ratio) * blocks); of equal importance the blocks that come first stay. With a balance a
// layer keeps at most groups - 1 more. The first and the last layer are those of the operators that
// could be pruned. Errors: SPARSE004 to SPARSE006. Time: ResNet-50 0.5 s.
Result<Pruning> choosePruning(const Graph& model, const Canonicalized& canonical,
                              const PruneOptions& options);

}  // namespace heddle
