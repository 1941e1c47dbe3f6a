// heddle compile | simulate | interpret | inspect | explain | compare | prune | view | export |
// allocate | sweep | collect. Exit status: 0 done, 1 bad input, 2 usage, 3 does not fit, 70 a bug,
// 130 interrupted.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>

#include "heddle/driver/commands.h"
#include "heddle/driver/interrupt.h"
#include "heddle/driver/progress.h"
#include "heddle/support/failure_json.h"
#include "heddle/support/visible.h"
#include "heddle/sweep/sweep.h"
#include "options.h"
#include "version.h"

namespace heddle {
namespace {

// For a person, and where a program reads along, for it.
class Report {
 public:
  explicit Report(bool json) : json_(json) {}

  int operator()(const Diagnostics& faults) const {
    const int status = faults.empty() ? 0 : static_cast<int>(faults.front().severity);
    std::cerr << faults;
    if (!json_ || faults.empty()) return status;
    VisibleBuffer buffer(*std::cout.rdbuf());
    std::ostream(&buffer) << failureJson(faults, status) << std::flush;
    return status;
  }

 private:
  bool json_;
};

TerminalProgress::Style progressStyle(const Verbosity& verbosity) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0 && !verbosity.quiet;
  const char* noColour = std::getenv("NO_COLOR");
  const bool colour = terminal && (noColour == nullptr || *noColour == '\0');
  return {.bars = terminal, .colour = colour, .verbose = verbosity.verbose};
}

// What a command says goes to `shown`: names of others are in it. An exported timeline goes to a
// file or a pipe as it is.
struct Run {
  std::ostream& shown;

  Diagnostics operator()(const PrintText& text) const {
    shown << text.text;
    return {};
  }
  Diagnostics operator()(const CompileOptions& o) const { return with(o, compileCommand, shown); }
  Diagnostics operator()(const SimulateCommandOptions& o) const {
    return with(o, simulateCommand, shown);
  }
  Diagnostics operator()(const InterpretOptions& o) const {
    return with(o, interpretCommand, shown);
  }
  Diagnostics operator()(const InspectOptions& o) const { return with(o, inspectCommand, shown); }
  Diagnostics operator()(const CompareOptions& o) const { return with(o, compareCommand, shown); }
  Diagnostics operator()(const ExplainOptions& o) const { return with(o, explainCommand, shown); }
  Diagnostics operator()(const PruneCommandOptions& o) const {
    return with(o, pruneCommand, shown);
  }
  // A table goes to a file or a pipe as it is.
  Diagnostics operator()(const AllocateOptions& o) const {
    return with(o, allocateCommand, ::isatty(STDOUT_FILENO) != 0 ? shown : std::cout);
  }
  Diagnostics operator()(const ViewOptions& o) const {
    if (o.paths.size() != 1 || !isSweepFolder(o.paths.front())) return with(o, viewCommand, shown);
    return (*this)(CollectOptions{.folders = o.paths,
                                  .out = o.out,
                                  .version = kVersion,
                                  .open = o.open,
                                  .verbosity = o.verbosity});
  }
  Diagnostics operator()(const SweepOptions& o) const { return with(o, sweepCommand, shown); }
  Diagnostics operator()(const SweepTimelineOptions& o) const {
    return with(o, sweepTimelineCommand, shown);
  }
  Diagnostics operator()(const CollectOptions& o) const { return with(o, collectCommand, shown); }
  Diagnostics operator()(const ExportOptions& o) const {
    return with(o, exportCommand, ::isatty(STDOUT_FILENO) != 0 ? shown : std::cout);
  }

  template <class Options>
  static Diagnostics with(const Options& options,
                          Diagnostics (*command)(const Options&, std::ostream&, Progress&),
                          std::ostream& out) {
    TerminalProgress progress(progressStyle(options.verbosity));
    return command(options, out, progress);
  }
};

// Whether all that it wrote has gone out, too.
std::pair<Diagnostics, bool> runCommand(const Command& command) {
  VisibleBuffer buffer(*std::cout.rdbuf());
  std::ostream shown(&buffer);
  Diagnostics faults = std::visit(Run{shown}, command);
  shown.flush();
  return {std::move(faults), shown.good()};
}

// Of buffers that do not fit the figures are told all the same, and say so.
bool hasAnswered(const Command& command, const Diagnostics& faults) {
  return std::holds_alternative<AllocateOptions>(command) && !faults.empty() &&
         faults.front().code == "PACK010";
}

int run(const std::vector<std::string>& arguments, const Report& report) {
  const Result<Command> command = parseCommandLine(arguments);
  if (!command) return report(command.diagnostics());
  const auto [faults, written] = runCommand(*command);
  std::cout.flush();
  if (!faults.empty())
    return hasAnswered(*command, faults) ? Report(false)(faults) : report(faults);
  if (written && std::cout) return 0;
  return Report(false)({{.code = "FILE002",
                         .where = "standard output",
                         .summary = "the output cannot be written",
                         .what = {},
                         .mend = "check the space left where it goes"}});
}

Diagnostics bug(const char* what) {
  return {{.code = "BUG001",
           .where = "heddle",
           .summary = "this is a bug of heddle",
           .what = what,
           .mend = "please report it, with the command line and the files that it names",
           .severity = Severity::Bug}};
}

// The system's word on a path (too long, links in a ring) is no bug, wherever it comes up.
Diagnostics unusablePath(const std::filesystem::filesystem_error& error) {
  return {{.code = "FILE001",
           .where = error.path1().string(),
           .summary = "the path cannot be used",
           .what = error.code().message(),
           .mend = "check the path and its permissions"}};
}

// What was in use is given back by now.
Diagnostics outOfMemory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  const auto mebibytes = [](std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; };
  return {{.code = "CLI004",
           .where = "heddle",
           .summary = "out of memory",
           .what = mebibytes(static_cast<std::uint64_t>(usage.ru_maxrss) << 10) +
                   " were in use at most" +
                   (limited ? "; this process may have " + mebibytes(limit.rlim_cur) +
                                  " of address space (ulimit -v)"
                            : ""),
           .mend = "use a machine with more memory, or a smaller network",
           .severity = Severity::DoesNotFit}};
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const heddle::Report report(std::ranges::find(arguments, "--json") != arguments.end());
  try {
    heddle::watchForInterrupts();
    return heddle::run(arguments, report);
  } catch (const std::bad_alloc&) {
    return report(heddle::outOfMemory());
  } catch (const std::filesystem::filesystem_error& e) {
    return report(heddle::unusablePath(e));
  } catch (const std::exception& e) {
    return report(heddle::bug(e.what()));
  }
}
