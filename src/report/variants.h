// Runs of one program that differ in what its instructions or its device take, time only.
#pragma once
#include <vector>

#include "heddle/machine/machine.h"

namespace heddle {

struct Variant {
  Device device;
  std::vector<bool> oneCycle;  // as SimulateOptions::oneCycle
};

// The makespan of each, on as many threads as the machine has. Limits of locks' values are not
// held: a question of time only, and that a lock rises higher where an engine is faster hinders
// nobody. Errors: those of simulateTime.
Result<std::vector<Cycles>> runVariants(const VerifiedProgram& program,
                                        const std::vector<Variant>& variants);

}  // namespace heddle
