// Bytes that lie side by side in one memory.
#pragma once
#include <cstdint>

namespace heddle {

struct ByteRange {  // [first, end)
  std::int64_t first = 0, end = 0;
  std::int64_t bytes() const { return end - first; }
  bool empty() const { return end <= first; }
  bool meets(const ByteRange& o) const { return first < o.end && o.first < end; }
  bool holds(const ByteRange& o) const { return first <= o.first && o.end <= end; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

}  // namespace heddle
