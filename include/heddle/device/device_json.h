// What a device is, for programs: the same entries wherever JSON tells it.
//
//   "keys": {"rows": 4, ..., "links.ddr.read": 4, ...}      docs/device.md: each in its one unit
//   "wires": [{"name": "column0", "reach": {"row": 0, ...}, "feeders": [0, 1]}]
#pragma once
#include <vector>

#include "heddle/device/device.h"
#include "heddle/device/keys.h"
#include "heddle/support/json_writer.h"

namespace heddle {

// An object by key, null where there is no limit.
void writeKeys(JsonWriter& json, const std::vector<DeviceNumber>& numbers);
void writeWires(JsonWriter& json, const std::vector<Wire>& wires);  // an array

}  // namespace heddle
