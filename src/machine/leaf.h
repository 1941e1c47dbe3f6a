// One instruction made ready: its ends, sizes and times, and the checks that hold for all its
// iterations at once.
#pragma once
#include <string>
#include <vector>

#include "executable.h"

namespace heddle::machine {

inline constexpr std::int64_t kMaxExtent =
    std::int64_t{1} << 24;  // of a tensor's side, a window, a loop of a kernel
inline constexpr std::int64_t kMaxTensorElements = std::int64_t{1} << 29;
inline constexpr std::int64_t kMaxBytes = std::int64_t{1} << 40;      // of a transfer
inline constexpr std::int64_t kMaxLockValue = std::int64_t{1} << 31;  // where the device names none

inline constexpr std::size_t kMaxUses = 1 << 14;  // locks, dimensions, ... of one instruction

inline bool inRange(std::int64_t value, std::int64_t low, std::int64_t high) {
  return value >= low && value <= high;
}

// Fills `leaf` (its instruction, op and layer are set). `counts`: iterations of the loops around
// it, outermost first. Throws Fault.
void prepareLeaf(const Executable& executable, const EngineRange& engines,
                 const std::vector<std::int64_t>& counts, Leaf& leaf);

// The same for a call's kernel and operands: all that does not depend on where they lie.
void checkCall(const Executable& executable, const Call<Affine>& call);

// MACH001 for the leaf that is prepared: the newest of the executable.
[[noreturn]] void failMalformed(const Executable& executable, std::string what);
void checkRoot(const Executable& executable, TensorId tensor);
// Of what may be some pixels of a root instead.
void checkNamed(const Executable& executable, TensorId tensor);

}  // namespace heddle::machine
