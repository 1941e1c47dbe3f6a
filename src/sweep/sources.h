// What the points of a folder were made from, so that one of them can be compiled again.
//
//   DIR/sources.json           heddle.sources/1: where the files of each network lie, as seen from
//                              DIR, by the hash that the points name
//   DIR/devices/3f9c....yaml   each description as it was read
#pragma once
#include <filesystem>

#include "heddle/device/description.h"
#include "heddle/driver/options.h"
#include "heddle/support/result.h"
#include "heddle/sweep/options.h"
#include "point.h"
#include "tasks.h"

namespace heddle {

// Adds those of a sweep to what is there already. Errors: FILE002.
Diagnostics writeSources(const std::filesystem::path& folder, const SweepOptions& options,
                         const SweepNetworks& networks, const DeviceDescription& description);

// What `heddle compile` needs for the same point, less the folder for its results. Errors: SWEEP016
// its device or its network is not there any more, or is another one.
Result<CompileOptions> againOf(const std::filesystem::path& folder, const Point& point);

}  // namespace heddle
