// What a file may ask for: a hostile one must not exhaust memory or overflow a product.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

#include "heddle/graph/graph.h"

namespace heddle::onnx_import {

// A fault of one node or tensor; becomes a diagnostic where it is caught, in this layer.
class Fault : public std::runtime_error {
 public:
  explicit Fault(const std::string& what, std::string code = "ONNX009")
      : std::runtime_error(what), code_(std::move(code)) {}
  const std::string& code() const { return code_; }

 private:
  std::string code_;
};

constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;  // of one value
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 31;    // of one axis, kernel, stride, pad
constexpr std::int64_t kMaxFoldedBytes = std::int64_t{1}
                                         << 28;  // of all constants computed by folding
constexpr std::int64_t kMaxExternalBytes = std::int64_t{15}
                                           << 26;  // that all tensors read from other files
constexpr std::size_t kMaxRank = 8;

// Throws Fault unless every extent and the product are within the limits; an extent of 0 counts as
// 1, so that no product of some of the extents overflows either.
inline void checkShape(const Dims& shape) {
  if (shape.size() > kMaxRank)
    throw Fault("rank " + std::to_string(shape.size()) + " is above " + std::to_string(kMaxRank),
                "ONNX010");
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) throw Fault("a shape has the negative extent " + std::to_string(extent));
    if (extent == 0) continue;
    if (extent > kMaxExtent || product > kMaxElements / extent)
      throw Fault("the shape " + toText(shape) + " has more than 2^31 elements", "ONNX010");
    product *= extent;
  }
}

}  // namespace heddle::onnx_import
