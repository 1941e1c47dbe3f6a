#include "heddle/driver/saved.h"

#include <utility>

#include "heddle/device/keys.h"
#include "heddle/driver/files.h"
#include "heddle/driver/sha256.h"
#include "heddle/emit/asm.h"
#include "heddle/program/verify.h"

namespace heddle {
namespace {

constexpr std::uintmax_t kMostAsm = std::uintmax_t{1} << 30, kMostWeights = std::uintmax_t{1} << 32;

Diagnostic notTheFile(const std::filesystem::path& file, std::string what) {
  return {.code = "SIM001",
          .where = file.string(),
          .summary = "this is not the file that the program was made for",
          .what = std::move(what),
          .mend = "compile again, or give the folder as compile wrote it"};
}

// A program written by hand may leave a hash out.
Result<void> checkHash(const std::filesystem::path& file, const std::string& expected,
                       const std::string& digest) {
  if (expected.empty() || digest == expected) return {};
  return notTheFile(file, "sha256 " + digest + "; program.asm names " + expected);
}

// Before it is read: a file of holes takes no room on a disk and all there is in memory.
Result<void> checkSize(const std::filesystem::path& file, std::int64_t expected) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error || std::cmp_equal(size, expected)) return {};  // none, or a pipe: reading it says so
  return notTheFile(
      file, std::to_string(size) + " B; program.asm declares " + std::to_string(expected) + " B");
}

Result<Program> readProgram(const std::filesystem::path& file) {
  HEDDLE_TRY(const std::string text, readTextFile(file, kMostAsm));
  return parseAsm(text, file.string());
}

// The device as `settings` want it, which the program was not made for but runs on.
Result<Device> readDevice(const std::filesystem::path& file, const std::string& text,
                          const std::vector<std::pair<std::string, std::string>>& settings) {
  for (const auto& [key, value] : settings)
    if (unitOf(key) && !saysOnlyTimes(key))
      return Diagnostic{.code = "SIM002",
                        .where = "--set " + key + "=" + value,
                        .summary = "another value of '" + key + "' makes another program",
                        .what = "rates, clocks and times alone can be replaced",
                        .mend = "compile for that device",
                        .severity = Severity::Usage};
  return parseDevice(text, file.string(), {.settings = settings});
}

}  // namespace

Result<Saved> readSaved(const std::filesystem::path& folder,
                        const std::vector<std::pair<std::string, std::string>>& settings) {
  const std::filesystem::path weightsFile = folder / "weights.bin",
                              deviceFile = folder / "device.yaml";
  HEDDLE_TRY(Program program, readProgram(folder / "program.asm"));
  HEDDLE_TRY(const std::string deviceText, readTextFile(deviceFile, kMostDevice));
  HEDDLE_TRY(Device device, readDevice(deviceFile, deviceText, settings));
  HEDDLE_DO(checkHash(deviceFile, program.deviceSha256, sha256(deviceText)));
  HEDDLE_DO(checkSize(weightsFile, program.weightsBytes));
  HEDDLE_TRY(VerifiedProgram runnable, verified(std::move(program), device));
  HEDDLE_TRY(std::vector<std::uint8_t> weights, readBytes(weightsFile, kMostWeights));
  HEDDLE_DO(checkHash(weightsFile, runnable->weightsSha256, sha256(weights)));
  return Saved{.program = std::move(runnable), .weights = {.bytes = std::move(weights)}};
}

Diagnostics asBadInput(Diagnostics faults) {
  for (Diagnostic& fault : faults)
    if (fault.severity == Severity::DoesNotFit) fault.severity = Severity::BadInput;
  return faults;
}

}  // namespace heddle
