// An image has few channels, which fill blocks of eight badly. A convolution that reads it with a
// stride can have several of its columns side by side as channels of one: fewer taps, and less
// padding.
//
//   %0 224x224x3, %1 = Conv(%0) 7x7 stride 2x2 pad 3      49 taps of 8 channels, 3 of them real
//   %0 224x112x6, %1 = Conv(%0) 7x4 stride 2x1 pad 3, 2   28 taps of 8 channels, 6 of them real
//
// In order Y, X, C the values are the same, one behind the other; where the last column has not all
// of its own, zero points fill it.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

// An input's columns to fold, for the one convolution that reads it.
struct ColumnFold {
  std::size_t input = 0, op = 0;  // of the graph's inputs, ops
  std::int64_t columns = 2;       // into one
  friend bool operator==(const ColumnFold&, const ColumnFold&) = default;
};

// Those that leave fewer taps x blocks of channels, kept ones (Conv::kept), and no more blocks of
// the image or weights in kept blocks. The number of columns divides the stride; of those that
// leave equally many taps x blocks it is the least.
std::vector<ColumnFold> findColumnFolds(const CanonicalGraph& graph);
// The port and all other tensors stay. Outputs have the same values, bit for bit.
void foldColumns(CanonicalGraph& graph, const ColumnFold& fold);

// Per tensor, how many columns of the image are one of its own; 1 where none are folded.
std::vector<std::int64_t> foldedColumns(const CanonicalGraph& graph);

// What the array of a port is an image of, in elements: the extents of its view. Needs: as many
// axes as the view has.
Shape portImage(const Port& port);
// Whether the port, whatever its numbers, is one of a tensor whose image has that shape: as it is,
// or `mayBeFolded` its columns.
bool isPortOf(const Port& port, const Shape& tensor, bool mayBeFolded);
// The values of images, one below the other, in order Y, X, C, as a tensor that holds them has
// them, which has so many zero points more in a row. Needs: whole rows.
std::vector<std::int8_t> asHeld(std::span<const std::int8_t> images, const Shape& image,
                                const Shape& tensor, std::int8_t zeroPoint);

// Of the weights with which an output meets the input channels [first, first + count) in one row of
// the kernel, those that the network has: without what a fold put in.
std::int64_t ownWeightsInRow(const Conv& conv, std::int64_t inputChannels, std::int64_t first,
                             std::int64_t count);
// Elements of an operand, but for the columns that a fold put in behind the image's.
std::int64_t ownElements(const CanonicalGraph& graph, const CanonicalOp& op, std::size_t operand);

}  // namespace heddle
