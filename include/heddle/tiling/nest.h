// The loop nest of one layer's mapping, spelled out: its iterations in order, the rows that a core
// computes in each, what of every operand it must hold for that. Generator, verifier and counts of
// work all walk the nest through this.
//
//   passes 2, parts 2, order pass > chunk > band > part:
//     (pass 0, part 0) (pass 0, part 1) (pass 1, part 0) (pass 1, part 1)
#pragma once
#include <vector>

#include "heddle/tiling/geometry.h"
#include "heddle/tiling/plan.h"

namespace heddle {

struct Iteration {
  std::int64_t pass = 0, chunk = 0, band = 0, part = 0;
  friend bool operator==(const Iteration&, const Iteration&) = default;
};

// One kernel call: columns x of output rows y to y + rows. With a window at the end: those that
// compute what these rows read, and, of the one row there is where they finish, that of the window.
struct RowCall {
  std::int64_t y = 0, rows = 1;
  Interval x;
  std::size_t box = 0;  // of CoreShare::boxes
  friend bool operator==(const RowCall&, const RowCall&) = default;
};

// What a core holds of an operand for one call; blocks empty where it needs nothing of it.
struct Held {
  Interval columns, blocks;
  friend bool operator==(const Held&, const Held&) = default;
};

class LayerNest {
 public:
  // Needs: the graph and the mapping outlive the nest; the mapping's loops, parts and rows of calls
  // stay as they are.
  LayerNest(const CanonicalGraph& graph, OpId op, const Mapping& mapping);

  const CanonicalOp& op() const { return *op_; }
  const Mapping& mapping() const { return *mapping_; }
  const OperandGeometry& operand(std::size_t i) const { return operands_[i]; }
  // The same of what its kernel writes.
  const OperandGeometry& kernelOperand(std::size_t i) const { return kernelOperands_[i]; }
  const PooledGeometry& pooled() const { return pooled_; }

  // All iterations, in the mapping's order.
  const std::vector<Iteration>& iterations() const { return iterations_; }
  // Whether an iteration is not the first of its chunk and band: its calls wait for no row that is
  // just computed.
  static bool isLater(const Iteration& at) { return at.pass > 0 || at.part > 0; }
  // Of these, whether it is not the last one either: no core has nothing left but to compute what
  // comes in it.
  bool isBetween(const Iteration& at) const;
  // Of these, whether it does not end a reduction, or, where that is not cut, is not of the last
  // pass: nobody waits for single rows of its calls.
  bool isInner(const Iteration& at) const;
  // Output rows of a call at most. With a window at the end one, but in inner iterations that only
  // sum as many as Mapping::innerCallRows steps of the window.
  std::int64_t callRows(const Iteration& at) const { return rowsOfCalls(at).output; }
  // Rows that the kernel computes at once at most: those of a call, or with a window at the end
  // some of them.
  std::int64_t kernelCallRows(const Iteration& at) const { return rowsOfCalls(at).kernel; }
  // The calls of a core in one iteration, of the output rows `rows` of a step: each of rows of one
  // box and image.
  std::vector<RowCall> calls(const CoreShare& share, const Interval& rows,
                             const Iteration& at) const;
  // Rows that the kernel writes for one of these calls, and not for the one before it: a core with
  // a window at the end still has those.
  Interval rowsComputed(const std::vector<RowCall>& calls, std::size_t k) const;
  // From the first row to the last of an operand that a call needs; empty where all taps are
  // border.
  Interval rowsOf(std::size_t operand, const RowCall& call, const Interval& kernelRows) const;
  // Cells of what the kernel writes for all of them, of one block of channels.
  std::int64_t cellsComputed(const std::vector<RowCall>& calls) const;
  // Rows of an operand that each run of the kernel needs for these calls, in order.
  std::vector<Interval> rowsOfKernel(std::size_t operand, const std::vector<RowCall>& calls,
                                     const Iteration& at) const;
  Held held(const CoreShare& share, std::size_t operand, const Iteration& at,
            const Interval& x) const;
  // Held::blocks, if there are columns.
  Interval blocks(const CoreShare& share, std::size_t operand, const Iteration& at) const;
  // Whether an operand stays in the core over passes and parts.
  bool stays(std::size_t operand) const;
  // Whether a core that has calls in an iteration gets rows of the operand for them, if it does not
  // hold them already.
  bool takesRows(const CoreShare& share, std::size_t operand, const Iteration& at) const;
  // Kernel rows whose input is loaded in an iteration: all where the input stays.
  Interval loadedKernelRows(const Iteration& at) const;
  const ReductionPart& part(const Iteration& at) const {
    return mapping_->parts[static_cast<std::size_t>(at.part)];
  }
  bool first(const Iteration& at) const { return at.part == 0; }
  bool last(const Iteration& at) const { return at.part + 1 == std::ssize(mapping_->parts); }
  // Bytes of the weight record that a core receives for an iteration, and what of them it reads;
  // multiples of 8.
  std::int64_t recordBytes(const CoreShare& share, const Iteration& at) const;
  std::int64_t usedBytes(const CoreShare& share, const Iteration& at) const;
  // Sums that the loops inside Part keep at once, as a number of bands; and which of them is due.
  std::int64_t accumulatorBands() const;
  std::int64_t accumulatorBand(const Iteration& at) const;
  // Iterations with equal keys read the same weight record, or hold the same input.
  std::int64_t recordKey(const Iteration& at) const;
  std::int64_t inputKey(const Iteration& at) const;

 private:
  static std::int64_t index(NestLoop loop, const Iteration& at);
  struct RowsOfCall {
    std::int64_t output = 1, kernel = 1;
  };
  RowsOfCall findRowsOfCalls(const Iteration& at) const;
  // All passes between the first and the last have the same.
  const RowsOfCall& rowsOfCalls(const Iteration& at) const {
    const std::int64_t pass = at.pass == 0 ? 0 : at.pass + 1 < mapping_->passes ? 1 : 2;
    return rowsOfCalls_[static_cast<std::size_t>(pass * std::ssize(mapping_->parts) + at.part)];
  }
  void appendCalls(const Interval& y, std::int64_t most, const RowCall& like,
                   std::vector<RowCall>& to) const;

  const CanonicalOp* op_;
  RecordLengths recordLengths_;
  const Mapping* mapping_;
  Shape input_;
  std::int64_t imageHeight_ = 1;  // of the output
  std::int64_t kernelHeight_ = 1;
  std::vector<OperandGeometry> operands_, kernelOperands_;
  PooledGeometry pooled_;
  std::vector<Iteration> iterations_;
  std::vector<RowsOfCall> rowsOfCalls_;  // by part: of the first pass, others, the last
};

// Whether each call that writes, or the one at its end, computes one row whatever the plan says.
bool callsOneRow(const CanonicalOp& op);
// Whether calls of inner iterations may be longer: with a window at the end, if these only sum.
bool hasInnerCalls(const CanonicalOp& op, const Mapping& mapping);

// Of calls that follow each other, the most whose rows a ring of `length` rows holds at once and
// that wait for one of their own: a lock counts so many. `rows`: of each call, empty where it needs
// none.
//
//   3x3, pad 1, ring of 4: rows 0..2, 0..3, 1..4: the first three all wait; then two at a time
std::int64_t mostCallsAhead(const std::vector<Interval>& rows, std::int64_t length);

}  // namespace heddle
