// Which part of an operand an output needs: the projection of output rows, columns and channel
// blocks to the input.
//
//   3x3 convolution, stride 2, pad 1, 56 rows in: output row 0 needs input rows [0, 2), row 1 rows
//   [1, 4), row 27 [53, 56); of a second image below it row 28 needs [56, 58)
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/tiling/plan.h"
#include "heddle/tiling/record_contents.h"

namespace heddle {

// Rows of images that lie one below the other in an operator's output and input.
struct ImageRows {
  std::int64_t batch = 1, output = 1, input = 1;  // the latter of one image
  // The image that output row y lies in. Asked for each row that is planned: one needs no division.
  std::int64_t at(std::int64_t y) const { return batch == 1 ? 0 : y / output; }
};

// Which inputs an Assemble's part gives to which outputs along an axis; of many parts each gives to
// few.
class MappedAxis {
 public:
  MappedAxis() = default;
  explicit MappedAxis(const AxisMap& map);
  // -1: nothing is given to it.
  std::int64_t inputOf(std::int64_t output) const;
  // The smallest interval around what is given to outputs; empty where nothing is.
  Interval around(const Interval& outputs) const;
  std::vector<std::int64_t> outputs() const;  // to which something is given, upwards

 private:
  std::size_t firstFrom(std::int64_t output) const;
  struct Pair {
    std::int64_t to = 0, from = 0;
  };
  std::vector<Pair> all_;  // by output
};

class OperandGeometry {
 public:
  // Of the operator's output; `ofKernel`: of what its kernel writes (computedTensor).
  OperandGeometry(const CanonicalGraph& graph, const CanonicalOp& op, std::size_t operand);
  static OperandGeometry ofKernel(const CanonicalGraph& graph, const CanonicalOp& op,
                                  std::size_t operand);

  // Input rows of output row y with the kernel rows of `part`, inside the image; empty where all
  // taps are border.
  Interval rows(std::int64_t y, const Interval& kernelRows) const;
  // Those of several output rows: windows begin and end the later the later their row is.
  Interval rowsOf(const Interval& outputs, const Interval& kernelRows) const;
  // Input columns of output columns `x`, inside the tensor; at least one column where the operand
  // has a window.
  Interval columns(const Interval& x) const;
  // Input channel blocks of output blocks `blocks`; for CONV those of the reduction part. Empty:
  // the operand is unused.
  Interval blocks(const Interval& outputBlocks, const ReductionPart& part) const;
  // Absolute column and row (maybe negative, or the image's before) of the first tap of output
  // column x, row y.
  std::int64_t firstColumn(std::int64_t x) const;
  std::int64_t firstRow(std::int64_t y, const Interval& kernelRows) const;
  bool hasWindow() const { return windowed_; }
  // An Assemble operand that gives nothing to output row y.
  bool absent(std::int64_t y) const;
  // Those of an Assemble operand that are not absent, upwards; of another all.
  std::vector<std::int64_t> outputRows() const;

 private:
  OperandGeometry(const CanonicalGraph& graph, const CanonicalOp& op, std::size_t operand,
                  const Shape& output, const std::optional<Window>& window);

  Shape input_, output_;
  ImageRows images_;
  bool shared_ = false, broadcasts_ = false;
  Window window_;
  bool windowed_ = false;
  bool moves_ = false;  // an Assemble's:
  MappedAxis rows_, columns_, channels_;
};

// What a pixel of the output sees of the input, of an operator that has a window: its kernel's own,
// or, with another at its end (FusedWindow), all that this one's pixels see.
//
//   3x3, pad 1, then the largest of 2x2, stride 2: 4x4, stride 2, pad 1
std::optional<Window> windowOf(const CanonicalOp& op);
// That of the kernel alone.
const Window* kernelWindowOf(const CanonicalOp& op);
// Rows of the kernel that a part of the reduction holds, and its taps. An operator with a
// window at its end is not cut by them.
Interval kernelRowsOf(const CanonicalOp& op, const ReductionPart& part);
std::int64_t tapsOf(const CanonicalOp& op, const ReductionPart& part);

// Which rows and columns of what its kernel writes (computedTensor) an operator needs for its
// output: the same but where a window is at its end.
class PooledGeometry {
 public:
  PooledGeometry(const CanonicalGraph& graph, const CanonicalOp& op);
  Interval rows(std::int64_t y) const;
  // The first tap's, which may be border.
  std::int64_t firstRow(std::int64_t y) const;
  // Those that are not among the rows of output row y - 1, which the core still has if `follows`.
  Interval freshRows(std::int64_t y, bool follows) const;
  Interval columns(const Interval& x) const;
  // The most rows of an output row, and of `rows` that follow each other; columns likewise.
  std::int64_t mostRows(std::int64_t rows = 1) const;
  std::int64_t mostColumns(std::int64_t columns) const;

 private:
  std::optional<Window> window_;
  Shape computed_;
  ImageRows images_;
};

// Channels are reduced (CONV).
bool reducesChannels(const CanonicalOp& op);
// Whether the operand is what is reduced, or what that is multiplied by, so that cores with the
// same pixels need the same of it.
bool sharesInput(const CanonicalOp& op, std::size_t operand);
// Channel blocks that the vector unit reads in a convolution's call, a byte each: for what it does
// first, and what the calls that finish add and look up at its end.
std::int64_t operandBlocks(const CanonicalOp& op, std::int64_t outputBlocks,
                           const ReductionPart& part, bool lastPart);
// 8x8 blocks that a core multiplies in one tap: for CONV the kept ones of outputBlocks x
// part.inputBlocks, else the output blocks.
std::int64_t blocksComputed(const CanonicalOp& op, const Interval& outputBlocks,
                            const ReductionPart& part);
// Whether the operator is a CONV some of whose blocks are not kept.
bool leavesBlocksOut(const CanonicalOp& op);
// The same in constant time, for many rectangles of one CONV.
class BlockCounts {
 public:
  explicit BlockCounts(const CanonicalOp& op);
  bool whole() const { return inputBlocks_ == 0; }  // no block is left out
  std::int64_t count(const Interval& outputBlocks, const Interval& inputBlocks) const;

 private:
  std::int64_t inputBlocks_ = 0;      // 0: all blocks are kept
  std::vector<std::int32_t> before_;  // kept above and left of each corner, row by row
};
// Bytes of the weight record (program/program.h, WeightImage) of `outputBlocks` for `part`; 0 where
// the operator has none.
std::int64_t recordBytes(const CanonicalOp& op, const Interval& outputBlocks,
                         const ReductionPart& part, bool lastPart);
// Of these, the first: what a depth-wise convolution at the end of the operator reads, in the
// record of the last part.
std::int64_t endRecordBytes(const CanonicalOp& op, std::int64_t outputBlocks);
// The same in constant time, for many records of one operator, which outlives it.
class RecordLengths {
 public:
  explicit RecordLengths(const CanonicalOp& op);
  explicit RecordLengths(const CanonicalOp&&) = delete;
  // Of a CONV's record that keeps `kept` blocks; of others' of so many output blocks.
  std::int64_t bytes(std::int64_t outputBlocks, const ReductionPart& part, bool lastPart,
                     std::int64_t kept) const;

 private:
  const CanonicalOp* op_;
  RecordContents ofAll_;  // what all records have in common
  RecordContents ofEnd_;  // in the last part's
};

}  // namespace heddle
