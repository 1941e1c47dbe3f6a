#include "saved.h"

#include <utility>

#include "heddle/driver/files.h"
#include "heddle/driver/sha256.h"
#include "heddle/emit/asm.h"

namespace heddle {
namespace {

constexpr std::uintmax_t kMostAsm = std::uintmax_t{1} << 30, kMostWeights = std::uintmax_t{1} << 32,
                         kMostDevice = std::uintmax_t{1} << 20;

// A program written by hand may leave a hash out.
Diagnostics checkHash(const std::filesystem::path& file, const std::string& expected,
                      const std::string& content) {
  const std::string digest = sha256(content);
  if (expected.empty() || digest == expected) return {};
  return {{.code = "SIM001",
           .where = file.string(),
           .summary = "this is not the file that the program was made for",
           .what = "sha256 " + digest + "; program.asm names " + expected,
           .mend = "compile again, or give the folder as compile wrote it"}};
}

// Before it is read: a file of holes takes no room on a disk and all there is in memory.
Result<void> checkSize(const std::filesystem::path& file, std::int64_t expected) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error || std::cmp_equal(size, expected)) return {};  // none, or a pipe: reading it says so
  return Diagnostic{
      .code = "SIM001",
      .where = file.string(),
      .summary = "this is not the file that the program was made for",
      .what = std::to_string(size) + " B; program.asm declares " + std::to_string(expected) + " B",
      .mend = "compile again, or give the folder as compile wrote it"};
}

Result<Program> readProgram(const std::filesystem::path& file) {
  HEDDLE_TRY(const std::string text, readTextFile(file, kMostAsm));
  return parseAsm(text, file.string());
}

}  // namespace

Result<Saved> readSaved(const std::filesystem::path& folder) {
  const std::filesystem::path asmFile = folder / "program.asm",
                              weightsFile = folder / "weights.bin",
                              deviceFile = folder / "device.yaml";
  HEDDLE_TRY(Program program, readProgram(asmFile));
  HEDDLE_TRY(const std::string deviceText, readTextFile(deviceFile, kMostDevice));
  HEDDLE_TRY(Device device, parseDevice(deviceText, deviceFile.string()));
  HEDDLE_DO(checkSize(weightsFile, program.weightsBytes));
  HEDDLE_TRY(const std::string weights, readTextFile(weightsFile, kMostWeights));
  for (Diagnostics faults : {checkHash(weightsFile, program.weightsSha256, weights),
                             checkHash(deviceFile, program.deviceSha256, deviceText)})
    if (!faults.empty()) return faults;
  return Saved{.program = std::move(program),
               .weights = {.bytes = {weights.begin(), weights.end()}},
               .device = std::move(device)};
}

}  // namespace heddle
