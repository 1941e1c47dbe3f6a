// Which devices a sweep looks at: every mesh with every combination of the varied keys.
//
//   --mesh 1..2x1..2 --vary links.ddr.read=2GB/s,4GB/s    8 designs
//   --mesh 2..4x2..4 --square                             2x2, 3x3, 4x4
//   --mesh 4x4,8x8                                        two of them
//   --mesh 1,2,4x4                                        1x4, 2x4, 4x4
//   --vary links.{wire,memtile.read}=4GB/s,8GB/s          both keys 4 GB/s, then both 8 GB/s
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "heddle/device/device.h"
#include "heddle/support/result.h"
#include "heddle/sweep/options.h"

namespace heddle {

using Mesh = std::pair<std::int64_t, std::int64_t>;  // rows, columns

// The meshes of one text, in its order. Errors: SWEEP001 it is not ROWSxCOLUMNS.
Result<std::vector<Mesh>> readMeshes(const Argument& text);

// Keys that vary together, and the values that they take one after another.
struct VaryAxis {
  std::vector<std::string> keys;
  std::vector<std::string> values;
};
// Errors: SWEEP002 it is not KEY=VALUE,VALUE.
Result<VaryAxis> readAxis(const Argument& text);

// Designs of one sweep, and points, at most: what a table and a page can still hold.
inline constexpr std::int64_t kMostPoints = 200'000;

// Every mesh (one without: that of the description) with every combination of values, the last axis
// fastest. Errors: those above; SWEEP003 there are too many, or none.
Result<std::vector<DeviceOverrides>> readDesigns(const SweepOptions& options);

// The part of `shard`, "2/8", as index (from 0) and count. Errors: SWEEP004 it is not I/N.
Result<std::pair<std::int64_t, std::int64_t>> readShard(const std::optional<Argument>& shard);

// A whole number from `least` to `most`. Errors: SWEEP004 it is no such `what`.
Result<std::int64_t> numberOf(const Argument& text, std::int64_t least, std::int64_t most,
                              const std::string& what);

// A fault of what a user wrote: usage where it stands on the command line.
Diagnostic faultAt(const std::string& where, const char* code, std::string summary,
                   std::string what, std::string mend);

}  // namespace heddle
