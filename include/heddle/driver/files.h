// Files as a user expects them: read whole with a reason where that fails, written beside and
// renamed, so that neither a full disk nor Ctrl-C leaves half of one under its name.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/driver/interrupt.h"
#include "heddle/support/result.h"

namespace heddle {

class SiblingLock;

// Largest files of an OUT that are read: report.json or report.md, device.yaml.
inline constexpr std::uintmax_t kMostReport = std::uintmax_t{1} << 26,
                                kMostDevice = std::uintmax_t{1} << 20;

// Errors: FILE001 not there, not a file, unreadable, or larger than `most` bytes.
Result<std::string> readTextFile(const std::filesystem::path& path, std::uintmax_t most);
Result<std::vector<std::uint8_t>> readBytes(const std::filesystem::path& path, std::uintmax_t most);

// Writes into `path`.partial and renames it. Something that is not a regular file (a pipe,
// /dev/stdout) is written into. Errors: FILE002 the file cannot be written, and why.
Diagnostics writeFile(const std::filesystem::path& path, std::string_view content);

// A folder that appears whole or not at all: files go into a hidden sibling that commit() renames.
//
//   HEDDLE_TRY(OutputFolder out, OutputFolder::open("out/resnet50"));
//   faults = out.write("program.asm", text);  ...  faults = out.commit();
//
// An existing folder is replaced only if all that lies in it, however deep, is ours by name and
// kind: files of `kOutputNames`, and of a dump in dump/. Nothing else is ever removed. Siblings
// that killed processes have left are cleared away.
class OutputFolder {
 public:
  // Errors: FILE003 the folder cannot be made, or what lies there is not ours to replace.
  static Result<OutputFolder> open(const std::filesystem::path& target);
  OutputFolder(OutputFolder&&) noexcept;
  ~OutputFolder();  // without commit(): removes the sibling

  // `name` may have folders in it. Errors: FILE002.
  Diagnostics write(const std::filesystem::path& name, std::string_view content);
  Diagnostics write(const std::filesystem::path& name, std::span<const std::uint8_t> content);
  std::filesystem::path pathOf(const std::filesystem::path& name) const { return partial_ / name; }
  const std::filesystem::path& name() const { return wanted_; }
  // Siblings of killed processes that hold something foreign, and stay.
  const std::vector<std::filesystem::path>& leftovers() const { return leftovers_; }
  Diagnostics commit();

 private:
  OutputFolder(std::filesystem::path wanted, std::filesystem::path target,
               std::filesystem::path partial, std::vector<std::filesystem::path> leftovers);
  Diagnostics replace();

  std::filesystem::path wanted_, target_,
      partial_;  // as the user wrote it, resolved, where it is being written
  std::vector<std::filesystem::path> leftovers_;
  std::unique_ptr<SiblingLock> lock_;
  std::unique_ptr<RemovedOnInterrupt> removed_;  // none once committed or moved from
};

// The files of a folder written by `compile`, less those of a dump, and what `export` adds to it.
extern const std::vector<std::string> kOutputNames;

}  // namespace heddle
