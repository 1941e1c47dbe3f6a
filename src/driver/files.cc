#include "heddle/driver/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

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

// Every byte, or the reason of the system.
Diagnostics writeAll(const fs::path& path, std::string_view content, int flags) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
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

// Swaps two folders in one step where the file system can.
bool exchange(const fs::path& a, const fs::path& b) {
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
}

fs::path sibling(const fs::path& path, const std::string& ending) {
  return path.parent_path() /
         ("." + path.filename().string() + ending + std::to_string(::getpid()));
}

// The first name in an existing folder that `compile` would not have written.
std::optional<std::string> foreignEntry(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (std::find(kOutputNames.begin(), kOutputNames.end(), name) == kOutputNames.end())
      return name;
  }
  return std::nullopt;
}

}  // namespace

const std::vector<std::string> kOutputNames = {"program.asm",
                                               "weights.bin",
                                               "device.yaml",
                                               "timeline.json",
                                               "report.json",
                                               "timeline.html",
                                               "report.md",
                                               "layers.csv",
                                               "dump",
                                               "timeline.chrome.json",
                                               "timeline.perfetto-trace",
                                               "timeline.csv",
                                               "timeline.vcd"};

Result<std::string> readTextFile(const fs::path& path, std::uintmax_t most) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return unreadable(path, "there is no such file");
  if (fs::is_directory(status)) return unreadable(path, "it is a folder");
  if (fs::is_regular_file(status) && fs::file_size(path, error) > most)
    return unreadable(path, "it is larger than " + std::to_string(most) + " B");
  std::ifstream in(path, std::ios::binary);
  if (!in) return unreadable(path, std::strerror(errno));
  std::string text;
  std::vector<char> piece(1 << 16);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > most)
      return unreadable(path, "it is larger than " + std::to_string(most) + " B");
  }
  if (in.bad()) return unreadable(path, "reading failed");
  return text;
}

Diagnostics writeFile(const fs::path& path, std::string_view content) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return {unwritable(path, "it is a folder")};
  if (fs::exists(status) && !fs::is_regular_file(status)) return writeAll(path, content, 0);
  const fs::path partial = sibling(path, ".partial");
  const RemovedOnInterrupt removed(partial);
  Diagnostics faults = writeAll(partial, content, O_CREAT | O_TRUNC);
  if (faults.empty()) {
    fs::rename(partial, path, error);
    if (error) faults.push_back(unwritable(path, error.message()));
  }
  if (!faults.empty()) {
    faults.front().where = path.string();
    fs::remove(partial, error);
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
    if (fs::exists(target)) {
      if (!fs::is_directory(target))
        return noFolder(wanted, "there is a file of that name",
                        "choose another name, or remove it");
      if (const std::optional<std::string> foreign = foreignEntry(target))
        return noFolder(wanted, "the folder holds '" + *foreign + "', which heddle did not write",
                        "choose another name, or empty the folder");
    }
    fs::create_directories(target.parent_path());
    const fs::path partial = sibling(target, ".partial");
    fs::remove_all(partial);
    OutputFolder folder(wanted, target, partial);
    fs::create_directory(partial);
    return Result<OutputFolder>(std::move(folder));
  } catch (const fs::filesystem_error& e) {
    return noFolder(wanted, e.code().message(),
                    "choose another name, or check permissions and the space left");
  }
}

OutputFolder::OutputFolder(fs::path wanted, fs::path target, fs::path partial)
    : wanted_(std::move(wanted)),
      target_(std::move(target)),
      partial_(std::move(partial)),
      removed_(std::make_unique<RemovedOnInterrupt>(partial_)) {}

OutputFolder::~OutputFolder() {
  if (!removed_) return;
  std::error_code ignored;
  fs::remove_all(partial_, ignored);
}

Diagnostics OutputFolder::write(const fs::path& name, std::string_view content) {
  std::error_code error;
  fs::create_directories((partial_ / name).parent_path(), error);
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
  std::error_code error;
  if (!fs::exists(target_)) {
    fs::rename(partial_, target_, error);
  } else if (exchange(partial_, target_)) {
    fs::remove_all(partial_, error);
  } else {
    const fs::path old = sibling(target_, ".old");
    fs::rename(target_, old, error);
    if (!error) fs::rename(partial_, target_, error);
    if (!error) fs::remove_all(old, error);
  }
  if (error) return {noFolder(wanted_, error.message(), "check permissions and the space left")};
  removed_.reset();
  return {};
}

}  // namespace heddle
