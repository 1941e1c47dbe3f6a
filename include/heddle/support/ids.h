// Typed ids, dense from 0: artefacts refer to each other's entries by these and never by pointer.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace heddle {

template <class Tag>
struct Id {
  std::int32_t index = -1;
  constexpr Id() = default;
  constexpr explicit Id(std::size_t i) : index(static_cast<std::int32_t>(i)) {}
  constexpr bool valid() const { return index >= 0; }
  constexpr std::size_t at() const { return static_cast<std::size_t>(index); }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using TensorId = Id<struct TensorTag>;  // of a CanonicalGraph (and of the Program made from it)
using OpId =
    Id<struct OpTag>;  // of a CanonicalGraph; a layer of the Program has the index of its op
using KernelId = Id<struct KernelTag>;  // of a Program
using BufferId = Id<struct BufferTag>;  // of a Program
using LayerId = Id<struct LayerTag>;    // of a Program
using StepId = Id<struct StepTag>;      // of a schedule, and of the Program made from it

}  // namespace heddle

template <class Tag>
struct std::hash<heddle::Id<Tag>> {
  std::size_t operator()(heddle::Id<Tag> id) const noexcept {
    return std::hash<std::int32_t>()(id.index);
  }
};
