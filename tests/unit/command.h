// What a command of the shell writes.
#pragma once
#include <array>
#include <cstdio>
#include <memory>
#include <string>

namespace heddle::testing {

inline std::string outputOf(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
    text.append(buffer.data(), n);
  return text;
}

}  // namespace heddle::testing
