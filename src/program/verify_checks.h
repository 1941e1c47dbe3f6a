// The parts of verify: declarations, then each instruction over all its iterations, then the
// untimed run.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heddle/canon/limits.h"
#include "heddle/program/engines.h"
#include "heddle/program/verify.h"
#include "heddle/program/visit.h"
#include "heddle/support/fault_list.h"

namespace heddle {

// Bounds of what a Program may ask for beside canon/limits.h; above them nothing is a program but
// an attack or a mistake.
inline constexpr std::int64_t kMaxNumber = std::int64_t{1}
                                           << 62;  // every affine number, term by term
inline constexpr std::int64_t kMaxLocks = 1024;    // that one instruction or descriptor uses
inline constexpr std::int32_t kMaxLockIndex = 1 << 14;
inline constexpr std::int64_t kMaxSteps = 50'000'000;  // instructions that all queues execute

// Collects faults and stops at 20. Of each limit the greatest need is kept, at its first place.
class Faults {
 public:
  explicit Faults(const Program& program) : faults_("program '" + program.model + "'", 20) {}

  bool full() const { return faults_.full(); }
  // Something is wrong on any device: what comes after must not build on it.
  bool broken() const { return !faults_.empty(); }
  void add(std::string code, std::string where, std::string summary, std::string what,
           std::string mend, Severity severity = Severity::BadInput) {
    if (!full())
      faults_.add({std::move(code), std::move(where), std::move(summary), std::move(what),
                   std::move(mend), severity});
  }
  void add(Shortage shortage);
  Diagnostics take();
  const std::vector<Shortage>& shortages() const { return shortages_; }

 private:
  FaultList faults_;
  std::vector<Shortage> shortages_;
};

// Where the limits of a kind of tile stand in the device's description: "limits.core".
std::string keyOf(TileKind kind);

// "layer 3 'conv1', core(1,2), instruction 17 (CONV)"; instructions are numbered from 0 in the
// order of the asm.
std::string whereIs(const Program& program, LayerId layer, const std::string& engines,
                    std::int32_t leaf, const Instruction& instruction);

// Tensors, kernels, buffers, locks, ports.
void verifyDeclarations(const Program& program, const Device& device, Faults& faults);
// Sections and loops, then every instruction: numbers, addresses, sizes, limits, wires.
void verifySections(const Program& program, const Device& device, Faults& faults);
// The untimed run. Needs a program in which the two above found nothing.
void verifyDrain(const Program& program, const Device& device, Faults& faults);

// Per lock: tokens of those that it begins with that nobody ever takes in any order of the run;
// none are looked for where that takes too long. Needs a program that verify accepts but for them.
std::vector<std::int64_t> spareTokens(const Program& program, const Device& device);

}  // namespace heddle
