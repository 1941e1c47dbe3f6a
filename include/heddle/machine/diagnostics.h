// Every fault that the Machine reports. docs/diagnostics.md lists this table.
#pragma once
#include <array>

namespace heddle {

struct MachineDiagnostic {
  const char* code;
  const char* meaning;
};

inline constexpr std::array<MachineDiagnostic, 19> kMachineDiagnostics{{
    {"MACH001", "the program is malformed: an id, a count or a size that cannot be"},
    {"MACH002", "an engine, tile, lock, wire or memtile that the device does not have"},
    {"MACH003", "an address is out of range of its memory, or not a multiple of what it must be"},
    {"MACH004", "deadlock: every engine that is left waits; the cycle of waits is named"},
    {"MACH005", "a lock is not back at its initial value when the program has ended"},
    {"MACH006",
     "a lock is used by a queue that is neither its producer nor its consumer, or rises above its "
     "maximum"},
    {"MACH007", "the ends of a transfer disagree about what is moved"},
    {"MACH008", "bytes are read that nobody has written"},
    {"MACH009", "other bytes are read than the instruction means to read"},
    {"MACH010", "bytes were overwritten before they were read"},
    {"MACH011", "bytes are touched while another transfer or call still writes or reads them"},
    {"MACH012", "two cores computed the same part of a tensor and disagree"},
    {"MACH013", "a tensor is not wholly computed, or an output does not lie in DDR at the end"},
    {"MACH014", "the run takes more cycles than allowed"},
    {"MACH015", "the weight record is not what its table or its kernel says"},
    {"MACH016", "the program is too large to be simulated"},
    {"MACH017", "the weight image or the inputs do not fit the program"},
    {"MACH018", "a START finds no entry left in the queue of its channel"},
    {"MACH019",
     "bytes are touched that another transfer or call has done with in time, but that no lock, "
     "START "
     "or WAIT makes wait for it"},
}};

// Of these the one of a run that is given up: --max-cycles was less, or no run may be so long.
inline constexpr const char* kTooManyCycles = "MACH014";

}  // namespace heddle
