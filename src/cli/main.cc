// heddle compile | simulate | interpret | inspect | explain | compare | prune | view | export |
// allocate | sweep | collect. Exit status: 0 done, 1 bad input, 2 usage, 3 does not fit, 70 a bug,
// 130 interrupted.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>

#include "heddle/driver/commands.h"
#include "heddle/driver/interrupt.h"
#include "heddle/driver/progress.h"
#include "heddle/support/visible.h"
#include "heddle/sweep/sweep.h"
#include "options.h"
#include "version.h"

namespace heddle {
namespace {

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

// Whether all that it wrote has gone out.
std::pair<int, bool> runCommand(const Command& command) {
  VisibleBuffer buffer(*std::cout.rdbuf());
  std::ostream shown(&buffer);
  const int status = report(std::visit(Run{shown}, command));
  shown.flush();
  return {status, shown.good()};
}

int run(const std::vector<std::string>& arguments) {
  const Result<Command> command = parseCommandLine(arguments);
  if (!command) return report(command.diagnostics());
  const auto [status, written] = runCommand(*command);
  std::cout.flush();
  if ((!written || !std::cout) && status == 0)
    return report({{.code = "FILE002",
                    .where = "standard output",
                    .summary = "the output cannot be written",
                    .what = {},
                    .mend = "check the space left where it goes"}});
  return status;
}

int bug(const char* what) {
  return report({{.code = "BUG001",
                  .where = "heddle",
                  .summary = "this is a bug of heddle",
                  .what = what,
                  .mend = "please report it, with the command line and the files that it names",
                  .severity = Severity::Bug}});
}

// The system's word on a path (too long, links in a ring) is no bug, wherever it comes up.
int unusablePath(const std::filesystem::filesystem_error& error) {
  return report({{.code = "FILE001",
                  .where = error.path1().string(),
                  .summary = "the path cannot be used",
                  .what = error.code().message(),
                  .mend = "check the path and its permissions"}});
}

// What was in use is given back by now.
int outOfMemory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  const auto mebibytes = [](std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; };
  return report({{.code = "CLI004",
                  .where = "heddle",
                  .summary = "out of memory",
                  .what = mebibytes(static_cast<std::uint64_t>(usage.ru_maxrss) << 10) +
                          " were in use at most" +
                          (limited ? "; this process may have " + mebibytes(limit.rlim_cur) +
                                         " of address space (ulimit -v)"
                                   : ""),
                  .mend = "use a machine with more memory, or a smaller network",
                  .severity = Severity::DoesNotFit}});
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  try {
    heddle::watchForInterrupts();
    return heddle::run({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    return heddle::outOfMemory();
  } catch (const std::filesystem::filesystem_error& e) {
    return heddle::unusablePath(e);
  } catch (const std::exception& e) {
    return heddle::bug(e.what());
  }
}
