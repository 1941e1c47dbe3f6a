// What follows a convolution goes to its end, so that what lies between them never leaves the core:
// tables, residual additions, the pools that take the largest, and depth-wise convolutions. What
// all that it reads is multiplied by, or looked up in, goes to its beginning: gates of one pixel,
// and lines for each channel. An image that a convolution reads with a stride has its columns
// folded (canon/fold_columns.h); rows and columns that a stride leaves out are left out by a Slice
// (canon/slice_strides.h). Before all that, operands of Concats are requantized where they are
// written (canon/requantize_early.h).
//
//   %3 = Conv(%2)   %4 = Table(%3)      ->   %4 = Conv(%2) then table
//   %3 = Conv(%2)   %4 = Add(%3, %0)    ->   %3 = Conv(%2, %0) then add
//   %3 = Conv(%2)   %4 = MaxPool(%3)    ->   %4 = Conv(%2) then max pool of %3
//   %3 = Mul(%2, %1)   %4 = Conv(%3)    ->   %3 = multiply, then Conv(%2, %1)
#pragma once
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

// Output pixels below which a table takes less time as a layer of its own.
inline constexpr std::int64_t kFewPixels = 32;

// The table in which a convolution looks up what it computes, depth-wise ones too; null where there
// is none.
const FusedTable* fusedTableOf(const CanonicalOp& op);
// That of the depth-wise convolution at the end of a convolution; null where there is none.
const FusedTable* tableOfEnd(const CanonicalOp& op);
// The addition at the end of a convolution; null where there is none.
const FusedAdd* fusedAddOf(const CanonicalOp& op);
// What a convolution does first: the multiplication by its operand 1, or the lines; null where it
// does not.
const FusedMul* fusedMulOf(const CanonicalOp& op);
const FusedLines* fusedLinesOf(const CanonicalOp& op);
// Bytes that its calls read for that, for each that they compute from; its name, empty: nothing.
std::int64_t operandsAtStart(const CanonicalOp& op);
std::string nameAtStart(const CanonicalOp& op);
// The zero point of what a convolution computes from: its input, or what it makes of that first.
std::int8_t zeroOfInput(const CanonicalGraph& graph, const CanonicalOp& op);
// Whether the operand is what a convolution adds at its end.
bool isAddend(const CanonicalOp& op, std::size_t operand);
// The pool or depth-wise convolution at the end of a convolution; null where there is none.
const FusedWindow* fusedWindowOf(const CanonicalOp& op);
// Bytes that the calls which finish a convolution read for each that they write: of what it adds,
// and of what it looks up.
std::int64_t operandsAtEnd(const CanonicalOp& op);
// The name of what the operator does at its end: of an Add, or one of the latter. Empty: nothing.
std::string nameAtEnd(const CanonicalOp& op);
// The names of the Tables that it looks up.
std::vector<std::string> tablesOf(const CanonicalOp& op);
// What the operator's kernel writes before what is at its end: its output where there is nothing.
TensorId computedTensor(const CanonicalOp& op);

// The graph with every Table of one table fused that alone reads the output of a convolution, which
// may be depth-wise, of 32 pixels or 4 KiB of weights for eight channels; the tensor between the
// two is gone. And with every Add of which one operand is the output of a Conv that nobody else
// reads; where both are, into the later one. The convolution keeps its name and moves to where the
// Add was; the tensor between the two is gone. Likewise every MaxPool that alone reads the output
// of a Conv which adds nothing, has no dilation, and windows of at most 4 x 4 of which no more than
// half is the next one's; there the tensor between the two stays, as what is pooled. And every
// DepthwiseConv that alone reads the output of such a Conv, of windows of at most 5 x 5 without
// dilation. And every Mul by one pixel (isBroadcast), and every Table of lines, that is read by a
// Conv alone, of a window of one pixel without stride, which has no window at its end and does
// nothing else first; the tensor between the two is gone.
// What is named in `apart` stays a layer of its own. Ids of tensors change. Outputs have the same
// values, bit for bit. Null where there is nothing to fuse, fold or slice.
std::shared_ptr<const CanonicalGraph> fuseOperators(const CanonicalGraph& graph,
                                                    const std::set<std::string>& apart = {});

// The names of what such a graph does in convolutions though it need not: of what they do first,
// pools, depth-wise convolutions and Tables; of depth-wise convolutions alone; and of what they
// do first.
std::set<std::string> optionallyApart(const CanonicalGraph& fused);
std::set<std::string> depthwiseAtEnds(const CanonicalGraph& fused);
std::set<std::string> namesAtStarts(const CanonicalGraph& fused);

}  // namespace heddle
