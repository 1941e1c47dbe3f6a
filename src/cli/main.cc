// heddle compile | simulate | interpret | inspect | view | export. Exit status: 0 done, 1 bad
// input, 2 usage, 3 does not fit, 70 a bug, 130 interrupted.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <new>

#include "heddle/driver/commands.h"
#include "heddle/driver/interrupt.h"
#include "options.h"

namespace heddle {
namespace {

constexpr int kBadInput = 1, kBug = 70;

int report(const Diagnostics& faults) {
  std::cerr << faults;
  return faults.empty() ? 0 : static_cast<int>(faults.front().severity);
}

TerminalProgress::Style progressStyle(const Verbosity& verbosity) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0 && !verbosity.quiet;
  const char* noColour = std::getenv("NO_COLOR");
  const bool colour = terminal && (noColour == nullptr || *noColour == '\0');
  return {.bars = terminal, .colour = colour, .verbose = verbosity.verbose};
}

struct Run {
  Diagnostics operator()(const PrintText& text) const {
    std::cout << text.text;
    return {};
  }
  Diagnostics operator()(const CompileOptions& o) const { return with(o, compileCommand); }
  Diagnostics operator()(const SimulateCommandOptions& o) const { return with(o, simulateCommand); }
  Diagnostics operator()(const InterpretOptions& o) const { return with(o, interpretCommand); }
  Diagnostics operator()(const InspectOptions& o) const { return with(o, inspectCommand); }
  Diagnostics operator()(const ViewOptions& o) const { return with(o, viewCommand); }
  Diagnostics operator()(const ExportOptions& o) const { return with(o, exportCommand); }

  template <class Options>
  static Diagnostics with(const Options& options,
                          Diagnostics (*command)(const Options&, std::ostream&, Progress&)) {
    TerminalProgress progress(progressStyle(options.verbosity));
    return command(options, std::cout, progress);
  }
};

int run(const std::vector<std::string>& arguments) {
  const Result<Command> command = parseCommandLine(arguments);
  if (!command) return report(command.diagnostics());
  const int status = report(std::visit(Run{}, *command));
  std::cout.flush();
  if (!std::cout && status == 0)
    return report({{.code = "FILE002",
                    .where = "standard output",
                    .summary = "the output cannot be written",
                    .what = {},
                    .mend = "check the space left where it goes"}});
  return status;
}

int bug(const char* what) {
  std::cerr << toText(
      Diagnostic{.code = "BUG001",
                 .where = "heddle",
                 .summary = "this is a bug of heddle",
                 .what = what,
                 .mend = "please report it, with the command line and the files that it names",
                 .severity = Severity::Bug});
  return kBug;
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  try {
    heddle::watchForInterrupts();
    return heddle::run({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    std::cerr << "error[CLI004] heddle: out of memory\n  mend:  use a machine with more memory\n";
    return heddle::kBadInput;
  } catch (const std::exception& e) {
    return heddle::bug(e.what());
  }
}
