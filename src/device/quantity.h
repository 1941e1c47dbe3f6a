// Values of a description: whole numbers with a unit, words, switches.
//
//   parseQuantity(kSize, "64 KiB") == 65536;  parseQuantity(kRate, "3.2GB/s") == 3200000000
//   parseQuantity(kSize, "64"): a fault that offers "64 KiB"
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heddle {

struct Unit {
  std::string name;
  std::int64_t factor = 1;
  bool printed = true;  // used when printing; the others are only read
};

// A kind of number: its units, the largest first; none for a plain count.
struct QuantityKind {
  std::string what;  // "a size", "a rate", ...
  std::vector<Unit> units;
  std::string example;
};

extern const QuantityKind kCount, kSize, kRate, kClock, kTime, kMacRate, kByteRate;

// Why a text is not a value: the sentences of a diagnostic.
struct ValueFault {
  bool range = false;  // well written, but too small or too big
  std::string summary, what, mend;
};

std::variant<std::int64_t, ValueFault> parseQuantity(const QuantityKind& dimension,
                                                     std::string_view text);

// "64 KiB": in the largest unit that needs no fraction.
std::string printQuantity(const QuantityKind& dimension, std::int64_t value);

}  // namespace heddle
