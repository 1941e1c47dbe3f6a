// Every fault that the Machine reports of a program that verify has passed. docs/diagnostics.md
// lists this table.
#pragma once
#include <array>

namespace heddle {

struct MachineDiagnostic {
  const char* code;
  const char* meaning;
};

inline constexpr std::array<MachineDiagnostic, 12> kMachineDiagnostics{{
    {"MACH006", "a lock rises above its maximum"},
    {"MACH008", "bytes are read that nobody has written"},
    {"MACH009", "other bytes are read than the instruction means to read"},
    {"MACH010", "bytes were overwritten before they were read"},
    {"MACH011", "bytes are touched while another transfer or call still writes or reads them"},
    {"MACH012", "two cores computed the same part of a tensor and disagree"},
    {"MACH013", "a tensor is not wholly computed, or an output does not lie in DDR at the end"},
    {"MACH014", "the run takes more cycles than allowed"},
    {"MACH015", "the weight record keeps other blocks than its table says"},
    {"MACH016", "the program is too large to be simulated"},
    {"MACH017", "the weight image or the inputs do not fit the program"},
    {"MACH019",
     "bytes are touched that another transfer or call has done with in time, but that no lock, "
     "START "
     "or WAIT makes wait for it"},
}};

// Of these the one of a run that is given up: --max-cycles was less, or no run may be so long.
inline constexpr const char* kTooManyCycles = "MACH014";

}  // namespace heddle
