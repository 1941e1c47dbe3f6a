// Whether offsets are a packing, told by a walk through time that knows nothing of the solver.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heddle/packing/pack.h"

namespace heddle {

// The first fault by time, as a sentence; none: no two buffers that live at one time share a byte,
// and each lies in [0, capacity). Buffers without bytes only need an offset that lies there.
std::optional<std::string> findPackingFault(const std::vector<LiveBuffer>& buffers,
                                            const std::vector<std::int64_t>& offsets,
                                            std::int64_t capacity);

}  // namespace heddle
