#include "heddle/planner/fuse.h"

#include <charconv>
#include <sstream>

namespace heddle {
namespace {

std::optional<PlanOptions::Group> readGroup(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos || dots == 0) return std::nullopt;
  PlanOptions::Group group{text.substr(0, dots), text.substr(dots + 2), 0};
  // A layer's name may have a colon of its own: only a number after the last one is one of tiles.
  if (const std::size_t colon = group.last.rfind(':'); colon != std::string::npos) {
    const char* const end = group.last.data() + group.last.size();
    std::int64_t tiles = 0;
    const auto [read, error] = std::from_chars(group.last.data() + colon + 1, end, tiles);
    if (error == std::errc() && read == end && tiles >= 1) {
      group.tiles = tiles;
      group.last.resize(colon);
    }
  }
  if (group.last.empty()) return std::nullopt;
  return group;
}

}  // namespace

std::optional<std::string> readFuse(const std::string& text, PlanOptions& options) {
  options.groups.clear();
  options.tiling = PlanOptions::Tiling::Auto;
  if (text.empty() || text == "auto") return std::nullopt;
  options.tiling = text == "off" ? PlanOptions::Tiling::Off : PlanOptions::Tiling::Given;
  if (text == "off") return std::nullopt;
  std::istringstream all(text);
  for (std::string word; std::getline(all, word, ',');) {
    std::optional<PlanOptions::Group> group = readGroup(word);
    if (!group) return word;
    options.groups.push_back(std::move(*group));
  }
  return std::nullopt;
}

std::string fuseText(const PlanOptions& options) {
  if (options.tiling == PlanOptions::Tiling::Auto) return "auto";
  if (options.tiling == PlanOptions::Tiling::Off) return "off";
  std::string text;
  for (const PlanOptions::Group& group : options.groups) {
    text += (text.empty() ? "" : ",") + group.first + ".." + group.last;
    if (group.tiles > 0) text += ":" + std::to_string(group.tiles);
  }
  return text;
}

}  // namespace heddle
