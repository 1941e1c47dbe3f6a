#include "saved.h"

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

}  // namespace

Result<Saved> readSaved(const std::filesystem::path& folder) {
  const std::filesystem::path asmFile = folder / "program.asm",
                              weightsFile = folder / "weights.bin",
                              deviceFile = folder / "device.yaml";
  HEDDLE_TRY(const std::string asmText, readTextFile(asmFile, kMostAsm));
  HEDDLE_TRY(const std::string weights, readTextFile(weightsFile, kMostWeights));
  HEDDLE_TRY(const std::string deviceText, readTextFile(deviceFile, kMostDevice));
  HEDDLE_TRY(Program program, parseAsm(asmText, asmFile.string()));
  HEDDLE_TRY(Device device, parseDevice(deviceText, deviceFile.string()));
  for (Diagnostics faults : {checkHash(weightsFile, program.weightsSha256, weights),
                             checkHash(deviceFile, program.deviceSha256, deviceText)})
    if (!faults.empty()) return faults;
  return Saved{.program = std::move(program),
               .weights = {.bytes = {weights.begin(), weights.end()}},
               .device = std::move(device)};
}

Diagnostics asBadInput(Diagnostics faults) {
  for (Diagnostic& fault : faults)
    if (fault.severity == Severity::DoesNotFit) fault.severity = Severity::BadInput;
  return faults;
}

}  // namespace heddle
