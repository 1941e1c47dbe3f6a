#include "quantity.h"

#include <cctype>

#include "heddle/support/words.h"

namespace heddle {
namespace {

constexpr std::size_t kMostDigits = 18;  // fits std::int64_t

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

// digits * 10^-decimals
struct Decimal {
  std::int64_t digits = 0;
  int decimals = 0;
  std::size_t length = 0;  // characters read
};

std::optional<Decimal> readDecimal(std::string_view text) {
  Decimal d;
  std::size_t digits = 0;
  bool point = false;
  for (; d.length < text.size(); ++d.length) {
    const char c = text[d.length];
    if (c == '.' && !point && digits > 0) {
      point = true;
      continue;
    }
    if (!std::isdigit(static_cast<unsigned char>(c))) break;
    if (++digits > kMostDigits) return std::nullopt;
    d.digits = d.digits * 10 + (c - '0');
    d.decimals += point;
  }
  if (digits == 0 || (point && d.decimals == 0)) return std::nullopt;
  return d;
}

std::vector<std::string> unitNames(const QuantityKind& kind) {
  std::vector<std::string> names;
  for (const Unit& unit : kind.units) names.push_back(unit.name);
  return names;
}

std::string unitList(const QuantityKind& kind) { return "units: " + joinWords(unitNames(kind)); }

ValueFault notNumber(const QuantityKind& kind, std::string_view text) {
  return {.range = false,
          .summary = "'" + std::string(text) + "' is not " + kind.what,
          .what = {},
          .mend = "write it like '" + kind.example + "'"};
}

ValueFault wrongUnit(const QuantityKind& kind, std::string_view number, std::string_view unit) {
  const std::optional<std::string> nearest = nearestWord(unit, unitNames(kind));
  return {.range = false,
          .summary = "'" + std::string(unit) + "' is not a unit of " + kind.what,
          .what = unitList(kind),
          .mend = nearest ? "write '" + std::string(number) + " " + *nearest + "'"
                          : "write it like '" + kind.example + "'"};
}

}  // namespace

const QuantityKind kCount{"a count", {}, "4"};
const QuantityKind kSize{"a size",
                         {{"GiB", std::int64_t{1} << 30},
                          {"MiB", std::int64_t{1} << 20},
                          {"KiB", 1024},
                          {"GB", 1'000'000'000, false},
                          {"MB", 1'000'000, false},
                          {"kB", 1000, false},
                          {"B", 1}},
                         "64 KiB"};
const QuantityKind kRate{"a rate",
                         {{"TB/s", 1'000'000'000'000},
                          {"GB/s", 1'000'000'000},
                          {"MB/s", 1'000'000},
                          {"kB/s", 1000},
                          {"GiB/s", std::int64_t{1} << 30, false},
                          {"MiB/s", std::int64_t{1} << 20, false},
                          {"B/s", 1}},
                         "4 GB/s"};
const QuantityKind kClock{
    "a frequency", {{"GHz", 1'000'000'000}, {"MHz", 1'000'000}, {"kHz", 1000}, {"Hz", 1}}, "1 GHz"};
const QuantityKind kTime{"a number of cycles", {{"cycle", 1, false}, {"cycles", 1}}, "8 cycles"};
const QuantityKind kMacRate{"a rate of multiply-accumulates", {{"MAC/cycle", 1}}, "256 MAC/cycle"};
const QuantityKind kByteRate{"a number of bytes a cycle", {{"B/cycle", 1}}, "64 B/cycle"};

std::variant<std::int64_t, ValueFault> parseQuantity(const QuantityKind& kind,
                                                     std::string_view whole) {
  const std::string_view text = trim(whole);
  const std::optional<Decimal> decimal = readDecimal(text);
  if (!decimal) return notNumber(kind, text);
  const std::string_view number = text.substr(0, decimal->length);
  const std::string_view unitText = trim(text.substr(decimal->length));

  std::int64_t factor = 1;
  if (kind.units.empty()) {
    if (!unitText.empty()) return notNumber(kind, text);
  } else {
    if (unitText.empty())
      return ValueFault{.range = false,
                        .summary = "'" + std::string(number) + "' has no unit",
                        .what = kind.what + " is due; " + unitList(kind),
                        .mend = "write it like '" + kind.example + "'"};
    bool found = false;
    for (const Unit& unit : kind.units) {
      if (unit.name != unitText) continue;
      factor = unit.factor;
      found = true;
    }
    if (!found) return wrongUnit(kind, number, unitText);
  }

  std::int64_t value = 0;
  if (__builtin_mul_overflow(decimal->digits, factor, &value))
    return INT64_MAX;  // out of any range
  for (int i = 0; i < decimal->decimals; ++i) {
    if (value % 10 != 0)
      return ValueFault{.range = false,
                        .summary = "'" + std::string(text) + "' is not a whole number" +
                                   (kind.units.empty() ? "" : " of " + kind.units.back().name),
                        .what = {},
                        .mend = "write it without a fraction, in a smaller unit"};
    value /= 10;
  }
  return value;
}

std::string printQuantity(const QuantityKind& kind, std::int64_t value) {
  if (kind.units.empty()) return std::to_string(value);
  for (const Unit& unit : kind.units) {
    if (unit.printed && (value % unit.factor == 0) && (value != 0 || unit.factor == 1))
      return std::to_string(value / unit.factor) + " " + unit.name;
  }
  return std::to_string(value) + " " + kind.units.back().name;
}

}  // namespace heddle
