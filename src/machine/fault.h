// How the Machine stops: a fault of the program, thrown inside this layer only and returned as a
// Diagnostic. Codes MACHnnn: the table in machine/diagnostics.h.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "heddle/program/program.h"
#include "heddle/support/result.h"

namespace heddle::machine {

// A cell of 8 bytes of one memory, for the second run that tells what lay there before.
struct CellPlace {
  std::size_t memory = 0;
  std::int64_t cell = 0;
  friend bool operator==(const CellPlace&, const CellPlace&) = default;
};

struct Fault {
  Diagnostic diagnostic;
  std::optional<CellPlace> place;  // where the wrong bytes lie
  std::uint64_t expected = 0;      // identity that should lie there
};

[[noreturn]] void fail(const char* code, std::string where, std::string summary, std::string what,
                       std::string mend);
// Of a run that is longer than allowed, or needs more memory: the program may well be right.
[[noreturn]] void failTooLarge(const char* code, std::string where, std::string summary,
                               std::string what, std::string mend);

// "core (1,2)", "DDR channel in (memtile 3, channel 1)", "wire 4 'row0'"
std::string nameOf(const Engine& engine, const Device& device);
std::string nameOf(const Tile& tile);

}  // namespace heddle::machine
