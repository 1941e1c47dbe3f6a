#include "heddle/support/csv.h"

#include "heddle/support/visible.h"

namespace heddle {

std::string csvText(std::string_view text) {
  std::string out = "\"";
  // A leading = + - @ would be a formula to a spreadsheet, so it is kept from the front.
  if (!text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos)
    out += '\'';
  for (const char c : visible(text)) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace heddle
