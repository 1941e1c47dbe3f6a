#include "heddle/device/differences.h"

#include "fields.h"

namespace heddle {

std::vector<DeviceDifference> differences(const Device& a, const Device& b) {
  std::vector<DeviceDifference> found;
  const auto compare = [&](const std::string& key, const std::string& inA, const std::string& inB) {
    if (inA != inB) found.push_back({key, inA, inB});
  };
  compare("name", a.name, b.name);
  for (const Field& field : deviceFields())
    compare(field.key, printField(field, a), printField(field, b));
  if (a.rows == b.rows && a.columns == b.columns && a.wires != b.wires)
    found.push_back({"wires", std::to_string(a.wires.size()),
                     std::to_string(b.wires.size()) + ", not all the same,"});
  return found;
}

}  // namespace heddle
