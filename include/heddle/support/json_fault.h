// What is wrong with a text that should be JSON, before it is read.
#pragma once
#include <optional>
#include <string>

namespace heddle {

inline constexpr int kMostJsonDepth = 64;  // no file of heddle's goes deeper

// In words ("not JSON at byte 3"); nothing where it is JSON that is worth its memory: a bracket
// more would be a byte of text and a hundred of a value.
std::optional<std::string> jsonFault(const std::string& text);

}  // namespace heddle
