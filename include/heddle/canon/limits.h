// How large a network may be: canonicalize says so before the work (CANON005), and whoever reads a
// Program holds it to the same numbers. Above them nothing is a network for one array but an attack
// or a mistake.
#pragma once
#include <algorithm>
#include <cstdint>

namespace heddle {

inline constexpr std::int64_t kMaxExtent = std::int64_t{1}
                                           << 20;  // of a tensor's axis, a window, a kernel
inline constexpr std::int64_t kMaxDdrBytes = std::int64_t{1} << 30;
// Of all tensors together, channels in whole blocks of 8.
inline constexpr std::int64_t kMaxTensorBytes = std::int64_t{1} << 30;

// Of the tensors and weights together of a network with so many bytes of weights: they must find
// room in DDR, with a sixteenth left for scales and biases. Its run with data, which proves it,
// takes about 5 B of memory for each byte of a tensor; a file of a few bytes that declares a huge
// image must not take what a large network may.
constexpr std::int64_t maxMemoryBytes(std::int64_t weights) {
  constexpr std::int64_t kWithout = std::int64_t{1} << 28, kPerWeight = 128;
  const std::int64_t counted = std::min(weights, kMaxDdrBytes / kPerWeight);
  return std::min(kMaxDdrBytes - kMaxDdrBytes / 16, kWithout + kPerWeight * counted);
}

// Output rows that one kernel call computes.
inline constexpr std::int64_t kMaxCallRows = 256;

// Of one window: rows times columns of its kernel.
inline constexpr std::int64_t kMaxTaps = std::int64_t{1} << 20;

// Of one Assemble: the planner's memory grows with their square, 1 GiB for so many.
inline constexpr std::int64_t kMaxMovedParts = std::int64_t{1} << 12;

// Inputs that all pooling windows together read: a minute of the interpreter.
inline constexpr std::int64_t kMaxPoolTaps = std::int64_t{1} << 35;

}  // namespace heddle
