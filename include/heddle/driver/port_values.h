// Between the arrays of a user and the tensors of the network: quantize, dequantize, reorder axes,
// as a Port says.
//
//   port "image" float32 1x3x224x224 NCHW, tensor 224x224x3 scale 0.0625 zero 0:
//   0.125 at [0, 2, 5, 7]  <->  2 at y 5, x 7, c 2
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/npy/npy.h"
#include "heddle/support/result.h"

namespace heddle {

// What a value of a tensor stands for.
struct TensorFormat {
  Shape shape;
  double scale = 1;
  std::int8_t zeroPoint = 0;
};

// Stored values in order Y, X, C. `where` names the file. Errors: CLI005 another type or shape than
// the port's.
Result<std::vector<std::int8_t>> storedFromArray(const NpyArray& array, const Port& port,
                                                 const TensorFormat& format,
                                                 const std::string& where);
NpyArray arrayFromStored(std::span<const std::int8_t> stored, const Port& port,
                         const TensorFormat& format);

// Pairs "[NAME=]FILE" arguments with ports, in the ports' order: the file of each, or none.
// Errors: CLI006 a name that no port has; a file without a name where there are several ports; a
// port given twice.
Result<std::vector<std::optional<std::string>>> filesOfPorts(
    const std::vector<std::string>& arguments, const std::vector<Port>& ports,
    const std::string& option);

// Reproducible values for a tensor: uniform over int8, by seed and port number.
std::vector<std::int8_t> randomValues(const Shape& shape, std::uint64_t seed, std::uint64_t stream);

// Between Y, C/8, X, 8 (channels padded to a multiple of 8) and Y, X, C: of a blocked tensor of
// `blocks` channel blocks, the channels from firstBlock * 8 on, `shape` of them.
std::vector<std::int8_t> fromBlocked(std::span<const std::int8_t> blocked, const Shape& shape,
                                     std::int64_t blocks, std::int64_t firstBlock);

}  // namespace heddle
