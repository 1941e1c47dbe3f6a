// Text in a CSV file, RFC 4180, that no spreadsheet takes for a formula.
//
//   =1+"1"  ->  "'=1+""1"""
#pragma once
#include <string>
#include <string_view>

namespace heddle {

std::string csvText(std::string_view text);

}  // namespace heddle
