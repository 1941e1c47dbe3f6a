// The word that somebody probably meant, for messages.
//
//   nearestWord("memroy", {"memory", "banks"}) == "memory";  nearestWord("zebra", {"memory",
//   "banks"}) == nothing
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

// The candidate with the fewest letters inserted, dropped, changed or swapped (case counts half);
// nothing where even that is more than a third of the word. The first of equals.
std::optional<std::string> nearestWord(std::string_view word,
                                       const std::vector<std::string>& candidates);

// "a, b, c" for messages.
std::string joinWords(const std::vector<std::string>& words, std::string_view separator = ", ");

}  // namespace heddle
