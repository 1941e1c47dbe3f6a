// Compiles a graph for a device, executes the program with data on the Machine and compares every tensor with the
// interpreter: the whole road but the files.
#pragma once
#include <optional>
#include <string>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"

namespace heddle::property {

// What went wrong, in a few lines; nothing where every tensor that a core writes is equal byte for byte.
std::optional<std::string> disprove(const CanonicalGraph& graph, const Device& device, std::uint64_t seed);

// hw_configs/`name`.yaml with `rows` x `columns` cores.
Device deviceOf(const std::string& name, std::int64_t rows, std::int64_t columns);

}  // namespace heddle::property
