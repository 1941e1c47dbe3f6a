// Whatever the bytes, parseBuffers answers with buffers that print and parse back, and that pack
// into a packing, or with a diagnostic.
#include <cstdint>
#include <string>

#include "heddle/packing/buffers_csv.h"
#include "heddle/packing/verify.h"
#include "heddle/support/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const std::string file(reinterpret_cast<const char*>(data), size);
  const Result<BufferTable> table = parseBuffers(file, "fuzz.csv");
  if (!table) return 0;
  constexpr std::int64_t kCapacity = 64, kWork = 100'000;
  const Packing packing = pack(table->buffers, kCapacity, {.work = kWork, .stop = {}});
  const auto fault = findPackingFault(table->buffers, packing.offsets, packing.height);
  HEDDLE_CHECK(!fault) << *fault;
  const Result<BufferTable> again =
      parseBuffers(printBuffers(*table, packing.offsets), "again.csv");
  HEDDLE_CHECK(again && again->buffers == table->buffers && again->ids == table->ids)
      << "printed and parsed, the buffers are others";
  return 0;
}
