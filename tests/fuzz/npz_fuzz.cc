// Whatever the bytes, parseNpz answers with arrays that print and parse back, or with a diagnostic.
#include <cstdint>
#include <string_view>

#include "heddle/npy/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  constexpr std::int64_t kMost = 1 << 22;
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const Result<NamedNpyArrays> arrays = parseNpz(file, "fuzz.npz", kMost);
  if (!arrays) return 0;
  const Result<std::string> printed = printNpz(*arrays);
  if (!printed) return 0;  // a name that libzip does not write
  const Result<NamedNpyArrays> again = parseNpz(*printed, "again.npz", 2 * kMost);
  HEDDLE_CHECK(again && *again == *arrays) << "printed and parsed, the arrays are others";
  return 0;
}
