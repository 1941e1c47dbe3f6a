// Networks of one row, whose tensors are all one pixel high, stand upright: one-dimensional
// convolutions, sequences. What is computed, moved and tiled goes row by row; of a single row
// nothing could be computed before all of it was there, and nothing leave before all was computed.
//
//   %1 = Conv(%0) 1x9 stride 1x2 : 1x1000x64   becomes   %1 = Conv(%0) 9x1 stride 2x1 : 1000x1x64
#pragma once
#include "heddle/canon/canonicalize.h"

namespace heddle::canon {

// Rows for columns in every tensor, window, part and port; constants and weights stay byte for
// byte. Nothing, where some tensor has several rows, some kernel has, or where some part reads
// columns in an order in which rows cannot be read.
void standUpright(Canonicalized& network);

}  // namespace heddle::canon
