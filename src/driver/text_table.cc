#include "text_table.h"

#include <algorithm>
#include <cmath>

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

std::string percentText(double part) {
  const std::int64_t tenths = std::llround(part * 1000);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

}  // namespace heddle
