#include "heddle/support/json_fault.h"

#include <nlohmann/json.hpp>

namespace heddle {
namespace {

using Json = nlohmann::json;
using Event = Json::parse_event_t;

struct TooDeep {};

// Keeps nothing of what is read.
bool keepNothing(int depth, Event event, Json&) {
  const bool begins = event == Event::array_start || event == Event::object_start;
  if (begins && depth >= kMostJsonDepth) throw TooDeep();
  return false;
}

}  // namespace

std::optional<std::string> jsonFault(const std::string& text) {
  try {
    const Json nothing = Json::parse(text, keepNothing);
  } catch (const Json::parse_error& error) {
    return error.byte > text.size()
               ? "it ends in the middle, after " + std::to_string(text.size()) + " B"
               : "not JSON at byte " + std::to_string(error.byte);
  } catch (const Json::out_of_range&) {
    return "it holds a number that is too large";
  } catch (const TooDeep&) {
    return "it is nested more than " + std::to_string(kMostJsonDepth) + " levels deep";
  }
  return std::nullopt;
}

}  // namespace heddle
