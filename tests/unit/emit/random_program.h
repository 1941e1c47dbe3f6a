// Programs that use every field of every instruction, with no other sense in them.
#pragma once
#include "heddle/program/program.h"

namespace heddle {

// To be called inside a RapidCheck property.
Program randomProgram();

// One of each instruction, each field different from its default.
Program programOfEverything();

}  // namespace heddle
