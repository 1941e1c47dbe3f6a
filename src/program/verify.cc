#include "heddle/program/verify.h"

#include <algorithm>

#include "heddle/device/keys.h"
#include "heddle/program/names.h"
#include "heddle/support/check.h"
#include "verify_checks.h"

namespace heddle {
namespace {

// The granularity is a divisor: there the smaller number is the greater need.
bool isDivisor(const Shortage& s) { return s.key == "limits.granularity"; }

// What the device would have to say.
std::string wanted(const Shortage& s) {
  const std::string needed = std::to_string(s.needed) + s.unit;
  if (s.key == "limits.recordLengths") return "unlimited";
  return needed + (isDivisor(s) ? " or a divisor of it" : " or more");
}

Diagnostic asDiagnostic(const Shortage& s) {
  const std::string needed = std::to_string(s.needed) + s.unit;
  return {.code = "PROG007",
          .where = s.where,
          .summary = s.summary,
          .what = "it needs " + needed + ", '" + s.key + "' is " + std::to_string(s.there) + s.unit,
          .mend = "choose a device with '" + s.key + "' of " + wanted(s) +
                  ", or another mesh or network",
          .severity = Severity::DoesNotFit};
}

Faults check(const Program& program, const Device& device) {
  Faults faults(program);
  verifyDeclarations(program, device, faults);
  if (!faults.broken()) verifySections(program, device, faults);
  if (!faults.broken()) verifyDrain(program, device, faults);
  return faults;
}

}  // namespace

void Faults::add(Shortage shortage) {
  const auto known = std::find_if(shortages_.begin(), shortages_.end(),
                                  [&](const Shortage& s) { return s.key == shortage.key; });
  if (known == shortages_.end())
    shortages_.push_back(std::move(shortage));
  else if (isDivisor(shortage) ? shortage.needed < known->needed : shortage.needed > known->needed)
    *known = std::move(shortage);
}

Diagnostics Faults::take() {
  for (const Shortage& s : shortages_)
    if (!full()) faults_.add(asDiagnostic(s));
  if (full()) faults_.stop();
  return faults_.take();
}

std::string keyOf(TileKind kind) {
  switch (kind) {
    case TileKind::Ddr:
      return "limits.shim";
    case TileKind::Memtile:
      return "limits.memtile";
    case TileKind::Core:
      return "limits.core";
  }
  return {};
}

std::string whereIs(const Program& program, LayerId layer, const std::string& engines,
                    std::int32_t leaf, const Instruction& instruction) {
  const bool named = layer.valid() && layer.at() < program.layers.size();
  return "layer " + std::to_string(layer.index) +
         (named ? " '" + program.layers[layer.at()].name + "'" : "") + ", " + engines +
         ", instruction " + std::to_string(leaf) + " (" +
         std::string(mnemonic(instruction, program)) + ")";
}

Diagnostics verify(const Program& program, const Device& device) {
  return check(program, device).take();
}

Result<VerifiedProgram> verified(Program program, const Device& device) {
  Diagnostics faults = verify(program, device);
  if (!faults.empty()) return faults;
  return VerifiedProgram(std::make_shared<const Program>(std::move(program)), device);
}

VerifiedProgram VerifiedProgram::on(Device device) const {
  Device as = *device_;
  if (!device.limits.lockMaximum) as.limits.lockMaximum.reset();
  HEDDLE_CHECK(differOnlyInTimes(device, as))
      << "verified on '" << device_->name << "', asked for on '" << device.name << "'";
  return {program_, std::move(device)};
}

ProgramFit fitOf(Program program, const Device& device) {
  Faults faults = check(program, device);
  if (faults.broken()) {
    const Diagnostics all = faults.take();
    HEDDLE_CHECK(std::ranges::all_of(
        all, [](const Diagnostic& fault) { return fault.severity == Severity::DoesNotFit; }))
        << "a program was made that is right on no device: " << toText(all);
    return {};
  }
  if (!faults.shortages().empty()) return {faults.shortages(), {}};
  return {{}, VerifiedProgram(std::make_shared<const Program>(std::move(program)), device)};
}

}  // namespace heddle
