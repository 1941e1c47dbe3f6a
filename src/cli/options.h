// The command line as values: which command, with which options. Only options.cc knows CLI11.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "heddle/driver/options.h"
#include "heddle/support/result.h"
#include "heddle/sweep/options.h"

namespace heddle {

struct PrintText {  // --help, --version
  std::string text;
};
using Command = std::variant<PrintText, CompileOptions, SimulateCommandOptions, InterpretOptions,
                             InspectOptions, CompareOptions, ExplainOptions, PruneCommandOptions,
                             ViewOptions, ExportOptions, AllocateOptions, SweepOptions,
                             SweepTimelineOptions, CollectOptions>;

// `arguments` without the program's name.
// Errors, all Usage: CLI001 an unknown word (with the nearest right one); CLI002 a bad value;
// CLI003 something missing.
Result<Command> parseCommandLine(const std::vector<std::string>& arguments);

}  // namespace heddle
