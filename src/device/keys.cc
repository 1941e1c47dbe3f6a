#include "heddle/device/keys.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fields.h"

namespace heddle {
namespace {

// The unit that a table shows: one for each kind, whatever the value.
Unit tableUnit(const QuantityKind* kind) {
  const std::string name = kind == &kSize ? "KiB" : kind == &kRate ? "GB/s" : "";
  if (kind == nullptr || kind->units.empty()) return {};
  for (const Unit& unit : kind->units)
    if (unit.name == name) return unit;
  return kind == &kTime ? kind->units.back() : kind->units.front();
}

bool isTime(const Field& field) {
  constexpr std::array<const QuantityKind*, 5> kTimes = {&kRate, &kClock, &kTime, &kMacRate,
                                                         &kByteRate};
  return std::ranges::find(kTimes, field.kind) != kTimes.end();
}

constexpr double kMostSize = 1e18;  // of a value in its smallest unit: none comes near

}  // namespace

std::vector<DeviceNumber> numbersOf(const Device& device) {
  std::vector<DeviceNumber> numbers;
  for (const Field& field : deviceFields()) {
    const std::optional<std::int64_t> value = field.get(device);
    const auto factor = static_cast<double>(tableUnit(field.kind).factor);
    numbers.push_back(
        {field.key, value ? std::optional(static_cast<double>(*value) / factor) : std::nullopt});
  }
  return numbers;
}

std::vector<std::pair<std::string, std::string>> settingsOf(
    const std::vector<DeviceNumber>& numbers) {
  std::vector<std::pair<std::string, std::string>> settings;
  Device scratch;
  for (const DeviceNumber& one : numbers)
    for (const Field& field : deviceFields()) {
      if (field.key != one.key || one.key == "rows" || one.key == "columns") continue;
      if (!one.number && !field.optional) continue;
      std::optional<std::int64_t> value;
      if (one.number) {
        const double size = *one.number * static_cast<double>(tableUnit(field.kind).factor);
        if (!(size >= 0 && size <= kMostSize)) continue;
        value = std::llround(size);
      }
      field.set(scratch, value);
      settings.emplace_back(one.key, printField(field, scratch));
    }
  return settings;
}

bool saysOnlyTimes(const std::string& key) {
  const auto& fields = deviceFields();
  const auto field = std::ranges::find(fields, key, &Field::key);
  return field != fields.end() && isTime(*field);
}

bool differOnlyInTimes(const Device& a, Device b) {
  for (const Field& field : deviceFields())
    if (isTime(field)) field.set(b, field.get(a));
  return a == b;
}

std::optional<std::string> unitOf(const std::string& key) {
  for (const Field& field : deviceFields())
    if (field.key == key) return tableUnit(field.kind).name;
  return std::nullopt;
}

}  // namespace heddle
