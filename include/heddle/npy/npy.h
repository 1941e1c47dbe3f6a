// NumPy's .npy files: arrays in and out of the command line.
//
//   NpyArray image{NpyType::Float32, {1, 3, 224, 224}, bytes};
//   writeNpy("image.npy", image);
//   Result<NpyArray> again = readNpy("image.npy");    // *again == image
//
// Source: NumPy Enhancement Proposal 1 and numpy.lib.format, versions 1.0, 2.0 and 3.0.
//
// | code   | when                                                                    |
// |--------|-------------------------------------------------------------------------|
// | NPY001 | the file cannot be opened or read                                       |
// | NPY002 | it does not begin as an .npy file                                       |
// | NPY003 | its header is malformed                                                 |
// | NPY004 | its element type is none of NpyType's (big-endian ones among them)      |
// | NPY005 | its data are shorter or longer than its shape says, or above the limit  |
// | NPY006 | the file cannot be written                                              |
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/support/result.h"

namespace heddle {

enum class NpyType {
  Bool,
  Int8,
  Uint8,
  Int16,
  Uint16,
  Int32,
  Uint32,
  Int64,
  Uint64,
  Float32,
  Float64
};

std::size_t elementSize(NpyType type);  // in bytes
std::string_view nameOf(NpyType type);  // "float32"

struct NpyArray {
  NpyType type = NpyType::Float32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;  // row-major, little-endian
  friend bool operator==(const NpyArray&, const NpyArray&) = default;
};

// The product of the extents; nothing if one is negative or the product does not fit 63 bits.
std::optional<std::int64_t> checkedElementCount(std::span<const std::int64_t> shape);

constexpr std::size_t kLargestNpyFile = std::size_t{2}
                                        << 30;  // 2 GiB; a larger file is refused, not read

// `where` names the file in diagnostics. Column-major data are reordered.
// Ensures: data.size() == element count * elementSize; memory within a few times the size of
// `file`.
Result<NpyArray> parseNpy(std::string_view file, const std::string& where);
Result<NpyArray> readNpy(const std::filesystem::path& path);

std::string printNpy(const NpyArray& array);  // version 1.0, data aligned to 64 bytes
Diagnostics writeNpy(const std::filesystem::path& path, const NpyArray& array);

}  // namespace heddle
