// A page in the user's browser.
#pragma once
#include <filesystem>

#include "heddle/support/result.h"

namespace heddle {

// By xdg-open. Errors: CLI008.
Diagnostics openPage(const std::filesystem::path& page);

}  // namespace heddle
