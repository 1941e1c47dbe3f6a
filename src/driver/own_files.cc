#include "own_files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <set>

#include "heddle/driver/compilation.h"
#include "heddle/driver/files.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDump = "dump";

// What `compile` and `export` write, as paths below OUT.
const std::set<fs::path>& ownFiles() {
  static const std::set<fs::path> files = [] {
    std::set<fs::path> all(kOutputNames.begin(), kOutputNames.end());
    for (const std::string& stage : stageNames())
      all.insert(fs::path(kDump) / artefactFile(*stageNamed(stage)));
    return all;
  }();
  return files;
}

// "/out/resnet50" and ".resnet50.partial4711": 4711.
std::optional<pid_t> maker(const fs::path& of, const std::string& sibling) {
  for (const std::string_view ending : {kPartialEnding, kOldEnding}) {
    const std::string begin = "." + of.filename().string() + std::string(ending);
    if (!sibling.starts_with(begin)) continue;
    pid_t process = 0;
    const char* end = sibling.data() + sibling.size();
    const auto [rest, error] = std::from_chars(sibling.data() + begin.size(), end, process);
    if (error == std::errc() && rest == end && process > 0) return process;
  }
  return std::nullopt;
}

// Of an own file of OUT: what `export` or `view` leaves there when it is killed.
bool isOwnPartial(const fs::path& name) {
  const auto isMade = [&](const fs::path& file) { return maker(file, name.string()).has_value(); };
  return std::any_of(ownFiles().begin(), ownFiles().end(), isMade);
}

bool isOwn(const fs::path& name, const fs::file_status& status) {
  if (fs::is_directory(status)) return name == kDump;
  return fs::is_regular_file(status) && (ownFiles().contains(name) || isOwnPartial(name));
}

// One of our own number is of an earlier process: this one asks before it makes any.
bool hasEnded(pid_t process) {
  return process == ::getpid() || (::kill(process, 0) != 0 && errno == ESRCH);
}

// Whether all of a stale sibling is gone, or back in its place.
bool clear(const fs::path& sibling, const fs::path& path) {
  const fs::file_status status = fs::symlink_status(sibling);
  if (!fs::is_directory(status)) return fs::is_regular_file(status) && removeOwn(sibling);
  if (foreignEntry(sibling)) return false;
  const bool wasMovedAway = sibling.filename().string().starts_with("." + path.filename().string() +
                                                                    std::string(kOldEnding));
  if (!wasMovedAway || fs::exists(fs::symlink_status(path))) return removeOwn(sibling);
  fs::rename(sibling,
             path);  // the results of before, where a run was killed while it replaced them
  return true;
}

}  // namespace

fs::path siblingOf(const fs::path& path, std::string_view ending) {
  return path.parent_path() /
         ("." + path.filename().string() + std::string(ending) + std::to_string(::getpid()));
}

std::optional<fs::path> foreignEntry(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path name = entry.path().lexically_relative(folder);
    if (!isOwn(name, entry.symlink_status())) return name;
  }
  return std::nullopt;
}

bool removeOwn(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(path, error))) {
    fs::remove(path, error);
    return !error;
  }
  std::vector<fs::path> own, folders = {path};
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    const fs::file_status status = at->symlink_status(error);
    if (error || !isOwn(at->path().lexically_relative(path), status)) {
      at.disable_recursion_pending();
    } else {
      (fs::is_directory(status) ? folders : own).push_back(at->path());
    }
  }
  // unlink takes no folder and rmdir none that holds anything: what has come in the meantime stays.
  for (const fs::path& file : own) ::unlink(file.c_str());
  while (folders.size() > 1) {
    ::rmdir(folders.back().c_str());
    folders.pop_back();
  }
  return ::rmdir(path.c_str()) == 0 || errno == ENOENT;
}

SiblingLock::SiblingLock(const fs::path& sibling)
    : file_(::open(sibling.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {
  if (file_ >= 0 && ::flock(file_, LOCK_EX | LOCK_NB) != 0) ::close(std::exchange(file_, -1));
}

SiblingLock::~SiblingLock() {
  if (file_ >= 0) ::close(file_);
}

std::vector<fs::path> removeStaleSiblings(const fs::path& path) {
  std::vector<fs::path> stale, kept;
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::optional<pid_t> process = maker(path, at->path().filename().string());
    if (process && hasEnded(*process)) stale.push_back(at->path());
  }
  for (const fs::path& sibling : stale) {
    // Another container knows the process by another number; the lock tells.
    const SiblingLock lock(sibling);
    if (!lock.held()) continue;
    try {
      if (!clear(sibling, path)) kept.push_back(sibling);
    } catch (const fs::filesystem_error&) {
      kept.push_back(sibling);
    }
  }
  return kept;
}

}  // namespace heddle
