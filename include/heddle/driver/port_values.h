// Between the arrays of a user and the tensors of the network: quantize, dequantize, reorder axes,
// as a Port says.
//
//   port "image" float32 1x3x224x224 NCHW, tensor 224x224x3 scale 0.0625 zero 0:
//   0.125 at [0, 2, 5, 7]  <->  2 at y 5, x 7, c 2
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/machine/machine.h"
#include "heddle/npy/npy.h"
#include "heddle/program/program.h"
#include "heddle/support/result.h"

namespace heddle {

// What a value of a tensor stands for.
struct TensorFormat {
  Shape shape;
  double scale = 1;
  std::int8_t zeroPoint = 0;
};

// The port's, of several frames: they are the first axis, in place of one of extent 1 or before
// all.
std::vector<std::int64_t> shapeOfFrames(const Port& port, std::int64_t frames);

// Stored values in order frame, Y, X, C. `where` names the file. Errors: CLI005 another type or
// shape than that of so many frames of the port.
Result<std::vector<std::int8_t>> storedFromArray(const NpyArray& array, const Port& port,
                                                 const TensorFormat& format,
                                                 const std::string& where, std::int64_t frames = 1);
// `stored`: of one frame or several.
NpyArray arrayFromStored(std::span<const std::int8_t> stored, const Port& port,
                         const TensorFormat& format);

// Pairs "[NAME=]FILE" arguments of `option` with `names`, in the order of the names: the file of
// each, or none. Errors: CLI006 a name that is not there; a file without a name where there are
// several; a name given twice.
Result<std::vector<std::optional<std::string>>> filesOfNames(
    const std::vector<std::string>& arguments, const std::vector<std::string>& names,
    const std::string& option);
std::vector<std::string> namesOf(const std::vector<Port>& ports);

// Reproducible values for a tensor, one frame behind the other: uniform over int8, by seed (of the
// first frame; one more for each that follows) and port number.
std::vector<std::int8_t> randomValues(const Shape& shape, std::uint64_t seed, std::uint64_t stream,
                                      std::int64_t frames = 1);

// From Y, C/8, X, 8 (channels padded to a multiple of 8) to Y, X, C.
std::vector<std::int8_t> fromBlocked(std::span<const std::int8_t> blocked, const Shape& shape);

// Of program.inputs or program.outputs.
std::vector<TensorFormat> formatsOf(const Program& program, const std::vector<Port>& ports);

// What an execution with data left in program.outputs, in order frame, Y, X, C.
std::vector<std::vector<std::int8_t>> outputsOf(const Program& program,
                                                const SimulateResult& executed);

}  // namespace heddle
