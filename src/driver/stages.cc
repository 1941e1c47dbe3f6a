#include <array>

#include "heddle/driver/options.h"

namespace heddle {
namespace {

constexpr std::array<const char*, 8> kNames = {"graph",    "canonical",   "propagated",
                                               "plan",     "memory-plan", "program",
                                               "simulate", "report"};  // in the order of Stage

}  // namespace

std::string name(Stage stage) { return kNames[static_cast<std::size_t>(stage)]; }

std::vector<std::string> stageNames() { return {kNames.begin(), kNames.end()}; }

std::optional<Stage> stageNamed(const std::string& name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (name == kNames[i]) return static_cast<Stage>(i);
  return std::nullopt;
}

}  // namespace heddle
