// The Program as text, for people first: a performance engineer reads it, `simulate` executes it.
// docs/asm.md.
//
//   on core rows 0-1 columns 0-1, layer 0:
//     loop 14 {  # i0
//       CONV k0 %1[y 1 + i0, block 2*row for 2, x 8*column for 8] in %0[row i0, column -1 +
//       8*column] ...
//     }
//
// Ensures: parseAsm(printAsm(p)) == p for every p whose ids are -1 or above and whose ranges are
// not empty, doubles included; printAsm is a function of p alone.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "heddle/program/program.h"
#include "heddle/support/result.h"

namespace heddle {

std::string printAsm(const Program& program);

// The same text, and the line of each instruction in it, from 0, by QueueCursor::leafIndex.
struct AsmListing {
  std::string text;
  std::vector<std::int64_t> lines;
  friend bool operator==(const AsmListing&, const AsmListing&) = default;
};
AsmListing listAsm(const Program& program);

// Reads a program back; `name` stands for the file in messages. Text is bounded in what it may ask
// for (loop depth, number of instructions); whether the program makes sense is for verify to say.
// Errors (up to 20 of the file at once, file:line:column): ASM001 not this version of asm; ASM002
// expected one thing, found another (with the nearest word); ASM003 a number out of range; ASM004
// an id out of order or unknown; ASM005 loops too deep, not closed or not opened; ASM006 more than
// the reader takes; ASM007 said twice or never.
Result<Program> parseAsm(const std::string& text, const std::string& name);

}  // namespace heddle
