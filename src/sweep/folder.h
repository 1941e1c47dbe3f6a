// The folder of a sweep: its points, a file each, and what is asked of them. Whoever fills it holds
// its lock.
//
//   DIR/points/3f9c....json     heddle.point/1, appears whole or not at all
//   DIR/questions.json          title, definitions and what is wanted, for `heddle collect`
//   DIR/.lock                   held by the kernel for as long as the process lives
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heddle/support/result.h"
#include "heddle/sweep/options.h"
#include "point.h"

namespace heddle {

class SweepFolder {
 public:
  // Makes it where it is not there. Errors: FILE003 it cannot be made or written; SWEEP011 another
  // process is filling it.
  static Result<SweepFolder> open(const std::filesystem::path& path);
  SweepFolder(SweepFolder&& other) noexcept
      : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}
  SweepFolder& operator=(SweepFolder&&) = delete;
  ~SweepFolder();

  // The point as it was written before, where it was and can be read.
  std::optional<Point> known(const std::string& id) const;
  Diagnostics write(const Point& point) const;  // Errors: FILE002
  Diagnostics writeQuestions(const SweepOptions& options) const;

 private:
  SweepFolder(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::filesystem::path fileOf(const std::string& id) const;
  std::filesystem::path path_;
  int lock_ = -1;
};

// What a folder holds, whoever filled it. Errors: SWEEP012 it is no folder of a sweep; SWEEP010 a
// file in it is no point; FILE001.
struct SweepContent {
  std::vector<Point> points;
  SweepOptions questions;  // as far as they outlive the sweep: title, definitions, what is wanted
};
Result<SweepContent> readSweepFolder(const std::filesystem::path& path);

}  // namespace heddle
