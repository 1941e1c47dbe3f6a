// What the time of an engine is spent for. A wire and the receiving channels of cores serve weights
// or inputs, by what a transfer carries.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heddle {

enum class Resource : std::uint8_t {
  Compute,
  WeightsWire,
  InputWire,
  Output,
  DdrRead,
  DdrWrite,
  Sequencer
};
inline constexpr std::size_t kResources = 7;
template <class T>
using PerResource = std::array<T, kResources>;

std::string_view name(
    Resource resource);  // "compute", "weights wire", "input wire", "output", "DDR read", ...

}  // namespace heddle
