// Sweeps: a network on every mesh, with every bandwidth and memory. docs/sweep.md.
//
// Errors, beside those of the driver:
//
// | code | when |
// |----------|---------------------------------------------------------------------------------|
// | SWEEP001 | `--mesh` that is not rows x columns |
// | SWEEP002 | `--vary` or `--set` that is not KEY=VALUE, or names a key again |
// | SWEEP003 | a grid with too many places, or a sweep with too many points, or with none |
// | SWEEP004 | `--shard` that is not I/N, a number, a time or a size that is none |
// | SWEEP005 | an expression that cannot be read |
// | SWEEP006 | a name in an expression that there is not, or not there, or that is taken |
// | SWEEP007 | a requirement that does not compare two sides, or two goals |
// | SWEEP008 | no network, or two of one name |
// | SWEEP010 | a file in points/ that is no point |
// | SWEEP011 | a folder that another sweep is filling |
// | SWEEP012 | a folder that is none of a sweep |
// | SWEEP013 | masks that are not one file for each network, or choices of one name |
// | SWEEP014 | `--refine` without `--samples`, or of parts of a sweep |
// | SWEEP015 | `--timeline` of a point that there is not, or of several |
// | SWEEP016 | a point that cannot be compiled again: its network or device is not what it was |
// | SWEEP017 | `--fuse` that is no group of layers |
// | SWEEP020 | a sweep file that is not YAML, or uses what it has no use for |
// | SWEEP021 | a key of a sweep file that is given twice |
// | SWEEP022 | an unknown key of a sweep file |
// | SWEEP023 | a value in a sweep file that is none of its key |
#pragma once
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>

#include "heddle/driver/progress.h"
#include "heddle/support/result.h"
#include "heddle/sweep/options.h"

namespace heddle {

// Compiles every point that `options.out` does not hold yet. What goes wrong with a point is its
// result, not an error. What is asked is answered on `out`; with --json each point is a line. With
// `options.slurm` nothing is compiled, and the script is what goes to `out`.
Diagnostics sweepCommand(const SweepOptions& options, std::ostream& out, Progress& progress);

// The same for a program that calls it: every point of the sweep goes to `told` as its file has it,
// those of before first, then each when it is done. Calls follow one another, from any thread; what
// `told` or `progress` throws ends the sweep and leaves this function, once the points that other
// threads are at are done.
Diagnostics sweepPoints(const SweepOptions& options,
                        const std::function<void(const std::string& json)>& told,
                        Progress& progress);

// Makes results.csv, results.jsonl, results.sqlite and sweep.html of all points in the folders.
Diagnostics collectCommand(const CollectOptions& options, std::ostream& out, Progress& progress);

// Compiles one point again, as its record says, into the folder that timelineFolder names: all that
// `heddle compile` writes. Errors: also those of compileCommand.
Diagnostics sweepTimelineCommand(const SweepTimelineOptions& options, std::ostream& out,
                                 Progress& progress);
std::filesystem::path timelineFolder(const std::filesystem::path& folder, const std::string& point);

// Whether `heddle sweep` has filled the folder.
bool isSweepFolder(const std::string& path);

}  // namespace heddle
