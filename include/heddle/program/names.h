// How engines, tiles and instructions are called wherever people read of them: asm, messages,
// timelines.
//
//   sequencer  ddr-in(2).0  ddr-out(2).1  wire(3)  core-in(1,2).0  core(1,2)  core-out(1,2).0 ddr
//   mem(2)  core(1,2)
#pragma once
#include <string>
#include <string_view>

#include "heddle/program/program.h"

namespace heddle {

std::string_view word(EngineKind kind);  // "core-in"
std::string_view word(TileKind kind);    // "mem"
std::string_view mnemonic(OpKind op);    // "CONV", ...; Assemble is CONCAT

std::string toText(const Engine& engine);
std::string toText(const Tile& tile);

// "LOADW", "RECV", ...
std::string_view mnemonic(const Transfer<Affine>& transfer);

// That of any instruction; a call has that of its kernel, or CALL where the program has no such
// kernel.
std::string_view mnemonic(const Instruction& instruction, const Program& program);

}  // namespace heddle
