// The descriptions of hw_configs/ that travel inside the executable, so that it runs from anywhere.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace heddle {

std::vector<std::string> builtInDevices();                          // "paper", "switched"
std::optional<std::string> builtInDevice(const std::string& name);  // its YAML

}  // namespace heddle
