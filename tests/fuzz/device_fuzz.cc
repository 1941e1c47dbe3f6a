// A description either is refused with a reason or reads back from what printDevice makes of it.
#include <cstdint>
#include <string>

#include "heddle/device/device.h"
#include "heddle/support/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string yaml(reinterpret_cast<const char*>(data), size);
  const heddle::Result<heddle::Device> device = heddle::parseDevice(yaml, "fuzz.yaml");
  if (!device) return 0;
  const heddle::Result<heddle::Device> again =
      heddle::parseDevice(heddle::printDevice(*device), "printed.yaml");
  HEDDLE_CHECK(again && *again == *device) << "printDevice does not read back";
  return 0;
}
