// The figures of a device as numbers by key, for tables of many devices.
//
//   numbersOf(device) -> ..., {"links.ddr.read", 4}, {"core.memory", 64}, ...
//   unitOf("links.ddr.read") == "GB/s"; unitOf("core.memory") == "KiB"; unitOf("rows") == ""
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heddle/device/device.h"

namespace heddle {

// A key, dotted as for --set, and its value in the key's unit. A switch is 0 or 1.
struct DeviceNumber {
  std::string key;
  std::optional<double> number;  // none: unlimited
  friend bool operator==(const DeviceNumber&, const DeviceNumber&) = default;
};

// In the order of printDevice; the same keys for every device.
std::vector<DeviceNumber> numbersOf(const Device& device);

// What --set takes for these numbers, less rows and columns: {"links.ddr.read", "4 GB/s"}. Keys
// that there are not, and values that none can have, are left out.
std::vector<std::pair<std::string, std::string>> settingsOf(
    const std::vector<DeviceNumber>& numbers);

// Whether the key says only how long things take: a rate, a clock, a time. Whatever its value, a
// program stays the same program.
bool saysOnlyTimes(const std::string& key);
// Whether all else about them is the same.
bool differOnlyInTimes(const Device& a, Device b);

// The unit in which numbersOf gives a key: "KiB", "GB/s", "GHz", "cycles", "MAC/cycle", "B/cycle";
// empty for counts and switches. Nothing where there is no such key.
std::optional<std::string> unitOf(const std::string& key);

}  // namespace heddle
