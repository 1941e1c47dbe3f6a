// In what two devices differ, key by key.
//
//   core.macsPerCycle   256 MAC/cycle   128 MAC/cycle
#pragma once
#include <string>
#include <vector>

#include "heddle/device/device.h"

namespace heddle {

// A key, dotted as for --set, and its values as printDevice writes them.
struct DeviceDifference {
  std::string key, a, b;
  friend bool operator==(const DeviceDifference&, const DeviceDifference&) = default;
};

// In the order of printDevice. The wires are one key, told by their count, and only of one mesh:
// between two meshes they differ anyway. notModelled is not compared.
std::vector<DeviceDifference> differences(const Device& a, const Device& b);

}  // namespace heddle
