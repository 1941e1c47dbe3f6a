// Which files are heddle's own, so that nothing else is ever removed: the names that `compile` and
// `export` write into OUT, and the hidden siblings in which a run makes them.
//
//   out/resnet50/program.asm        own, where it is a file; a folder of that name is foreign
//   out/resnet50/dump/graph.txt     own; dump/thesis.tex is foreign
//   out/.resnet50.partial4711       a sibling: stale where process 4711 has ended
#pragma once
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle {

inline constexpr std::string_view kPartialEnding = ".partial";  // what is being made
inline constexpr std::string_view kOldEnding = ".old";          // what is being replaced

// Of `path`, by this process: "out/.resnet50.partial4711".
std::filesystem::path siblingOf(const std::filesystem::path& path, std::string_view ending);

// The first thing in `folder`, however deep, that is not heddle's own by name and kind.
std::optional<std::filesystem::path> foreignEntry(const std::filesystem::path& folder);

// Removes what is heddle's own in `path`, a sibling or an OUT, and `path` itself where that leaves
// nothing in it; otherwise, false. A `path` that is a file is removed.
bool removeOwn(const std::filesystem::path& path);

// Keeps others from taking a sibling for a stale one while it lives. The kernel lets go of it
// however the process ends.
class SiblingLock {
 public:
  SiblingLock() = default;
  explicit SiblingLock(const std::filesystem::path& sibling);
  SiblingLock(SiblingLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  SiblingLock& operator=(SiblingLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~SiblingLock();
  bool held() const { return file_ >= 0; }

 private:
  int file_ = -1;
};

// Removes the siblings of `path` that ended processes have left. Gives those back that hold
// something foreign and stay.
std::vector<std::filesystem::path> removeStaleSiblings(const std::filesystem::path& path);

}  // namespace heddle
