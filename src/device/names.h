// Names of devices and wires: plain words, so that they need no quotes anywhere.
#pragma once
#include <algorithm>
#include <cctype>
#include <string>

namespace heddle {

inline const std::string kNameRule =
    "a name is a letter, then at most 63 letters, digits, '_', '-' or '.'";

inline bool isName(const std::string& text) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.';
  };
  if (text == "null" || text == "Null" || text == "NULL") return false;  // YAML's word for nothing
  return !text.empty() && text.size() <= 64 &&
         std::isalpha(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(), plain);
}

}  // namespace heddle
