// Which devices a sweep looks at: every mesh with every combination of the varied keys.
//
//   --mesh 1..2x1..2 --vary links.ddr.read=2GB/s,4GB/s    8 designs
//   --mesh 2..4x2..4 --square                             2x2, 3x3, 4x4
//   --mesh 4x4,8x8                                        two of them
//   --mesh 1,2,4x4                                        1x4, 2x4, 4x4
//   --vary links.{wire,memtile.read}=4GB/s,8GB/s          both keys 4 GB/s, then both 8 GB/s
//   --batch 1,4                                           each of them in frames of one and of four
#pragma once
#include <chrono>
#include <map>
#include <optional>
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

// Points of one sweep at most: what a table and a page can still hold.
inline constexpr std::int64_t kMostPoints = 200'000;
// Places of a grid at most: a sample needs no more of them than it looks at.
inline constexpr std::int64_t kMostPlaces = std::int64_t{1} << 53;

// Every mesh (one without: that of the description) with every combination of values and every
// choice of masks and batch, as places 0 .. size()-1: the mesh slowest, the batch fastest.
class Grid {
 public:
  // `masks` and `batches` are the numbers of choices. Errors: those above; SWEEP002 a key is given
  // twice; SWEEP003 there are too many places, or none.
  static Result<Grid> read(const SweepOptions& options, std::size_t masks = 1,
                           std::size_t batches = 1);

  std::int64_t size() const { return size_; }
  DeviceOverrides overridesAt(std::int64_t place) const;
  std::size_t masksAt(std::int64_t place) const;
  std::size_t batchAt(std::int64_t place) const;
  // The places one step away: of meshes the next larger and smaller one in rows or in columns
  // alone, or in the list where there is none; of a key, of masks, or of batches, the values beside
  // it in their list.
  std::vector<std::int64_t> neighbours(std::int64_t place) const;
  // Every KEY, VALUE that any place has, each once.
  std::vector<std::pair<std::string, std::string>> allSettings() const;
  // What gave a key of the device its values. Needs: one of allSettings().
  const Argument& givenBy(const std::string& key) const { return givenBy_.at(key); }

 private:
  Result<void> readKeys(const SweepOptions& options);
  Result<bool> take(const std::string& key, const Argument& text, const SweepOptions& options);
  std::vector<std::size_t> stepsAt(std::int64_t place) const;
  std::vector<std::size_t> meshesBeside(std::size_t mesh) const;

  std::vector<std::optional<Mesh>> meshes_;
  std::vector<std::pair<std::string, std::string>> settings_;  // of all places
  std::vector<VaryAxis> axes_;
  std::map<std::string, Argument> givenBy_;  // by key
  std::vector<std::size_t> lengths_;         // of meshes, axes, masks and batches
  std::int64_t size_ = 1;
};

// The part of `shard`, "2/8", as index (from 0) and count. Errors: SWEEP004 it is not I/N.
Result<std::pair<std::int64_t, std::int64_t>> readShard(const std::optional<Argument>& shard);

// "90s", "5m", "1.5h". Errors: SWEEP004 it is no such time.
Result<std::chrono::duration<double>> readTime(const Argument& text);

// "1,2,4", inferences of a frame; one where nothing is said. Errors: SWEEP004 one of them cannot
// be.
Result<std::vector<std::int64_t>> readBatches(const std::optional<Argument>& text);

// A whole number from `least` to `most`. Errors: SWEEP004 it is no such `what`.
Result<std::int64_t> numberOf(const Argument& text, std::int64_t least, std::int64_t most,
                              const std::string& what);

// A fault of what a user wrote: usage where it stands on the command line.
Diagnostic faultAt(const std::string& where, const char* code, std::string summary,
                   std::string what, std::string mend);

}  // namespace heddle
