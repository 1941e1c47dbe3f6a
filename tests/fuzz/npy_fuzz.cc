// Whatever the bytes, parseNpy answers with an array that prints and parses back, or with a
// diagnostic.
#include <cstdint>
#include <string_view>

#include "heddle/npy/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const Result<NpyArray> array = parseNpy(file, "fuzz.npy");
  if (!array) return 0;
  const Result<NpyArray> again = parseNpy(printNpy(*array), "again.npy");
  HEDDLE_CHECK(again && *again == *array) << "printed and parsed, the array is another";
  return 0;
}
