#include "heddle/driver/open_page.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace heddle {

Diagnostics openPage(const std::filesystem::path& page) {
  std::string command = "xdg-open", file = std::filesystem::absolute(page).string();
  char* arguments[] = {command.data(), file.data(), nullptr};
  const auto fault = [&](std::string what) -> Diagnostics {
    return {{.code = "CLI008",
             .where = page.string(),
             .summary = "nothing here opens the page",
             .what = std::move(what),
             .mend = "open the file in a browser"}};
  };
  pid_t child = 0;
  if (const int error = ::posix_spawnp(&child, "xdg-open", nullptr, nullptr, arguments, environ))
    return fault(std::string("xdg-open: ") + std::strerror(error));
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fault("xdg-open failed");
  return {};
}

}  // namespace heddle
