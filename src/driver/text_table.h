// Columns of text, the first to the left, the others to the right, as wide as their widest entry.
//
//   layer  blocks  kept
//   conv1       2     2
#pragma once
#include <string>
#include <vector>

namespace heddle {

using TextTable = std::vector<std::vector<std::string>>;  // rows of equally many cells
std::string textOf(const TextTable& table, const std::string& indent);

std::string percentText(double part);      // of 1: "49.8 %"
std::string hundredthsText(double value);  // "1.92"

}  // namespace heddle
