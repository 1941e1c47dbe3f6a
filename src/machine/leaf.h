// One instruction made ready: what its ends are, what it moves and computes, and how long that
// takes.
#pragma once
#include "executable.h"

namespace heddle::machine {

// Fills `leaf` (its instruction, op and layer are set).
void prepareLeaf(const Program& program, const Device& device, Leaf& leaf);

}  // namespace heddle::machine
