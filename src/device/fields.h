// The scalar keys of a description as one table: dotted key, kind of value, range, place in Device.
// Reading, `--set`, hints and printing all walk it; a new figure of a device is one new line in it.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heddle/device/device.h"
#include "quantity.h"

namespace heddle {

struct Field {
  std::string key;                     // "core.memory"
  const QuantityKind* kind = nullptr;  // null: a switch, true or false
  std::int64_t low = 0, high = 1;
  bool optional = false;  // may be left out or "unlimited"
  std::function<void(Device&, std::optional<std::int64_t>)> set;
  std::function<std::optional<std::int64_t>(const Device&)> get;
};

// In the order in which they are printed.
const std::vector<Field>& deviceFields();

// Reads `text` into the field. The fault, if any.
std::optional<ValueFault> setField(const Field& field, const std::string& text, Device& device);
std::string printField(const Field& field, const Device& device);

}  // namespace heddle
