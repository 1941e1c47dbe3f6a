// Names of contents: a program says by these which weights and which device it is for.
//
//   sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "heddle/support/result.h"

namespace heddle {

std::string sha256(std::span<const std::uint8_t> bytes);  // 64 hex digits
std::string sha256(std::string_view text);
Result<std::string> sha256OfFile(const std::filesystem::path& path);  // Errors: FILE001

}  // namespace heddle
