#include "heddle/driver/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "own_files.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

Diagnostic unreadable(const fs::path& path, std::string what) {
  return {.code = "FILE001",
          .where = path.string(),
          .summary = "the file cannot be read",
          .what = std::move(what),
          .mend = "check the path and its permissions"};
}
Diagnostic unwritable(const fs::path& path, std::string what) {
  return {.code = "FILE002",
          .where = path.string(),
          .summary = "the file cannot be written",
          .what = std::move(what),
          .mend = "check the folder, its permissions and the space left"};
}
Diagnostic noFolder(const fs::path& path, std::string what, std::string mend) {
  return {.code = "FILE003",
          .where = path.string(),
          .summary = "the results cannot be put there",
          .what = std::move(what),
          .mend = std::move(mend)};
}

// A file that is made is made while no interrupt can clear it away: afterwards there would be none
// to clear this one. A pipe is opened without: that waits for its reader.
int openForWriting(const fs::path& path, int flags) {
  std::unique_lock<std::recursive_mutex> held;
  if ((flags & O_CREAT) != 0) held = holdInterrupts();
  return ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
}

// Every byte, or the reason of the system.
Diagnostics writeAll(const fs::path& path, std::string_view content, int flags) {
  const int file = openForWriting(path, flags);
  if (file < 0) return {unwritable(path, std::strerror(errno))};
  int error = 0;
  while (!content.empty() && error == 0) {
    const ssize_t n = ::write(file, content.data(), content.size());
    if (n > 0) content.remove_prefix(static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) error = errno;
  }
  if (::close(file) != 0 && error == 0) error = errno;
  if (error != 0) return {unwritable(path, std::strerror(error))};
  return {};
}

// In one step where the file system can.
std::error_code swapFolders(const fs::path& target, const fs::path& partial) {
  if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0)
    return {};
  const fs::path old = siblingOf(target, kOldEnding);
  std::error_code error, ignored;
  fs::rename(target, old, error);
  if (error) return error;
  fs::rename(partial, target, error);
  fs::rename(old, error ? target : partial, ignored);
  return error;
}

std::optional<Diagnostic> notOurs(const fs::path& wanted, const fs::path& folder) {
  const std::optional<fs::path> foreign = foreignEntry(folder);
  if (!foreign) return std::nullopt;
  return noFolder(
      wanted, "the folder holds '" + foreign->string() + "', which 'heddle compile' did not write",
      "choose another name, or empty the folder");
}

// Why a folder cannot be renamed, or what lies in it not be removed, as far as that is known
// before.
std::optional<std::string> whyFixed(const fs::path& folder) {
  struct statx it {
  }, parent{};
  if (::statx(AT_FDCWD, folder.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &it) != 0 ||
      ::statx(AT_FDCWD, folder.parent_path().c_str(), 0, STATX_BASIC_STATS, &parent) != 0)
    return std::strerror(errno);
  const bool otherDevice =
      it.stx_dev_major != parent.stx_dev_major || it.stx_dev_minor != parent.stx_dev_minor;
  if ((it.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0 || otherDevice)
    return "it is a mount point, which cannot be replaced";
  if ((it.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0)
    return "it is immutable (chattr)";
  const uid_t user = ::geteuid();
  if ((parent.stx_mode & S_ISVTX) != 0 && user != 0 && it.stx_uid != user && parent.stx_uid != user)
    return "it belongs to another user, in a sticky folder";
  if (::access(folder.c_str(), R_OK | W_OK | X_OK) != 0) return std::strerror(errno);
  return std::nullopt;
}

// Why results cannot replace what `target` is now.
std::optional<Diagnostic> whyNot(const fs::path& wanted, const fs::path& target) {
  const fs::file_status status = fs::symlink_status(target);
  if (!fs::exists(status)) return std::nullopt;
  if (fs::is_symlink(status))  // one that leads somewhere is resolved
    return noFolder(wanted, "there is a link of that name that leads nowhere",
                    "choose another name, or remove it");
  if (!fs::is_directory(status))
    return noFolder(wanted, "there is a file of that name", "choose another name, or remove it");
  if (const std::optional<std::string> why = whyFixed(target))
    return noFolder(wanted, *why, "name a folder in it, or another one");
  return notOurs(wanted, target);
}

template <class Content>
Result<Content> readWhole(const fs::path& path, std::uintmax_t most) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return unreadable(path, "there is no such file");
  if (fs::is_directory(status)) return unreadable(path, "it is a folder");
  if (fs::is_regular_file(status) && fs::file_size(path, error) > most)
    return unreadable(path, "it is larger than " + std::to_string(most) + " B");
  std::ifstream in(path, std::ios::binary);
  if (!in) return unreadable(path, std::strerror(errno));
  Content content;
  std::vector<char> piece(1 << 16);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    content.insert(content.end(), piece.begin(), piece.begin() + in.gcount());
    if (content.size() > most)
      return unreadable(path, "it is larger than " + std::to_string(most) + " B");
  }
  if (in.bad()) return unreadable(path, "reading failed");
  return content;
}

}  // namespace

const std::vector<std::string> kOutputNames = {
    "plan.txt",      "program.asm", "weights.bin",          "device.yaml",
    "timeline.json", "report.json", "explain.json",         "timeline.html",
    "report.md",     "layers.csv",  "timeline.chrome.json", "timeline.perfetto-trace",
    "timeline.csv",  "timeline.vcd"};

Result<std::string> readTextFile(const fs::path& path, std::uintmax_t most) {
  return readWhole<std::string>(path, most);
}

Result<std::vector<std::uint8_t>> readBytes(const fs::path& path, std::uintmax_t most) {
  return readWhole<std::vector<std::uint8_t>>(path, most);
}

Diagnostics writeFile(const fs::path& path, std::string_view content) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return {unwritable(path, "it is a folder")};
  if (fs::exists(status) && !fs::is_regular_file(status)) return writeAll(path, content, 0);
  const fs::path partial = siblingOf(path, kPartialEnding);
  const RemovedOnInterrupt removed(partial);
  removeOwn(partial);
  Diagnostics faults = writeAll(partial, content, O_CREAT | O_EXCL);
  if (faults.empty()) {
    fs::rename(partial, path, error);
    if (error) faults.push_back(unwritable(path, error.message()));
  }
  if (!faults.empty()) {
    faults.front().where = path.string();
    removeOwn(partial);
  }
  return faults;
}

Result<OutputFolder> OutputFolder::open(const fs::path& wanted) {
  try {
    const fs::path target =
        fs::weakly_canonical(fs::absolute(wanted.has_filename() ? wanted : wanted.parent_path()));
    if (target.empty() || target == target.root_path())
      return noFolder(wanted, "it names no folder of its own",
                      "name a folder, as in -o out/resnet50");
    std::vector<fs::path> leftovers = removeStaleSiblings(target);
    if (const std::optional<Diagnostic> fault = whyNot(wanted, target)) return *fault;
    fs::create_directories(target.parent_path());
    OutputFolder folder(wanted, target, siblingOf(target, kPartialEnding), std::move(leftovers));
    const auto held = holdInterrupts();
    if (!fs::create_directory(folder.partial_)) {
      folder.removed_.reset();  // it is not ours
      return noFolder(wanted, "'" + folder.partial_.string() + "' is there: of another run",
                      "wait for it, or remove that");
    }
    folder.lock_ = std::make_unique<SiblingLock>(folder.partial_);
    return Result<OutputFolder>(std::move(folder));
  } catch (const fs::filesystem_error& e) {
    return noFolder(wanted, e.code().message(),
                    "choose another name, or check permissions and the space left");
  }
}

OutputFolder::OutputFolder(fs::path wanted, fs::path target, fs::path partial,
                           std::vector<fs::path> leftovers)
    : wanted_(std::move(wanted)),
      target_(std::move(target)),
      partial_(std::move(partial)),
      leftovers_(std::move(leftovers)),
      removed_(std::make_unique<RemovedOnInterrupt>(partial_)) {}

OutputFolder::OutputFolder(OutputFolder&&) noexcept = default;

OutputFolder::~OutputFolder() {
  if (removed_) removeOwn(partial_);
}

Diagnostics OutputFolder::write(const fs::path& name, std::string_view content) {
  std::error_code error;
  {
    const auto held = holdInterrupts();
    fs::create_directories((partial_ / name).parent_path(), error);
  }
  if (error) return {unwritable(wanted_ / name, error.message())};
  Diagnostics faults = writeAll(partial_ / name, content, O_CREAT | O_TRUNC);
  if (!faults.empty()) faults.front().where = (wanted_ / name).string();
  return faults;
}

Diagnostics OutputFolder::write(const fs::path& name, std::span<const std::uint8_t> content) {
  return write(name,
               std::string_view(reinterpret_cast<const char*>(content.data()), content.size()));
}

Diagnostics OutputFolder::commit() {
  const auto held = holdInterrupts();
  try {
    Diagnostics faults;
    if (fs::exists(fs::symlink_status(target_))) {
      faults = replace();
    } else {
      fs::rename(partial_, target_);
    }
    if (faults.empty()) removed_.reset();
    return faults;
  } catch (const fs::filesystem_error& e) {
    return {noFolder(wanted_, e.code().message(), "check permissions and the space left")};
  }
}

// Others may have put something there since open(), and may at any moment: what was there is looked
// at once more when it is out of the way, and only what is ours by name is ever removed.
Diagnostics OutputFolder::replace() {
  if (std::optional<Diagnostic> fault = whyNot(wanted_, target_)) return {std::move(*fault)};
  if (const std::error_code error = swapFolders(target_, partial_))
    return {noFolder(wanted_, error.message(), "check permissions and the space left")};
  if (std::optional<Diagnostic> fault = notOurs(wanted_, partial_)) {
    swapFolders(target_, partial_);
    return {std::move(*fault)};
  }
  if (removeOwn(partial_)) return {};
  return {noFolder(wanted_,
                   "the results are there; what lay there before is now in '" + partial_.string() +
                       "' and cannot be removed",
                   "remove it")};
}

}  // namespace heddle
