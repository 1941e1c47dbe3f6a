// The commands, each one function: what it says goes to `out`, what went wrong comes back.
//
// Errors: those of every stage, of the driver's parts, CLI007 a path that inspect does not know,
// CLI008 nothing opens the page, CLI009 masks for what is no model, and PACK010 no packing below
// the capacity.
//
// Two exceptions leave them, std::bad_alloc and InternalError. As main reports these: CLI004 the
// memory does not suffice; BUG001 a promise that only a bug of heddle can break.
#pragma once
#include <iosfwd>

#include "heddle/driver/options.h"
#include "heddle/driver/progress.h"
#include "heddle/support/result.h"

namespace heddle {

Diagnostics compileCommand(const CompileOptions& options, std::ostream& out, Progress& progress);
Diagnostics simulateCommand(const SimulateCommandOptions& options, std::ostream& out,
                            Progress& progress);
Diagnostics interpretCommand(const InterpretOptions& options, std::ostream& out,
                             Progress& progress);
Diagnostics exportCommand(const ExportOptions& options, std::ostream& out, Progress& progress);
Diagnostics viewCommand(const ViewOptions& options, std::ostream& out, Progress& progress);
Diagnostics pruneCommand(const PruneCommandOptions& options, std::ostream& out, Progress& progress);
// Words, or one JSON object, on the run or one layer of it. Errors: those of parseExplanation and
// readSaved, EXPL004 a layer that there is not.
Diagnostics explainCommand(const ExplainOptions& options, std::ostream& out, Progress& progress);
Diagnostics compareCommand(const CompareOptions& options, std::ostream& out, Progress& progress);
// A table of buffers with their offsets; the best that was reached goes out with PACK010 too.
Diagnostics allocateCommand(const AllocateOptions& options, std::ostream& out, Progress& progress);
Diagnostics inspectCommand(const InspectOptions& options, std::ostream& out, Progress& progress);

}  // namespace heddle
