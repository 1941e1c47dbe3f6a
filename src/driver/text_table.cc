#include "text_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "heddle/support/check.h"
#include "heddle/support/visible.h"

namespace heddle {

std::string textOf(const TextTable& table, const std::string& indent) {
  std::vector<std::size_t> widths;
  for (const auto& row : table) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], visible(row[i]).size());
  }
  std::string text;
  for (const auto& row : table) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string cell = visible(row[i]);
      const std::string gap(widths[i] - cell.size(), ' ');
      line += (i == 0 ? "" : "  ") + (i == 0 ? cell + gap : gap + cell);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

namespace {

// Not negative, rounded half up. Whoever shows the same figure elsewhere can round it alike.
std::string fixedText(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  std::array<char, 400> text;  // any double
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), std::floor(value * scale + 0.5) / scale,
                    std::chars_format::fixed, digits);
  HEDDLE_CHECK(error == std::errc()) << value;
  return {text.data(), end};
}

}  // namespace

std::string percentText(double part) { return fixedText(part * 100, 1) + " %"; }

std::string hundredthsText(double value) { return fixedText(value, 2); }

}  // namespace heddle
