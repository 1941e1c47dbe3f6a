// A sweep as jobs of Slurm: an array, each job a part of the sweep with a folder of its own, and a
// last one that puts them together. The cluster does the rest.
//
//   64 points in 8 jobs of 2 threads, a point within 10 minutes and 4 GiB:
//   #SBATCH --array=1-8 ... --cpus-per-task=2 --mem=8192M --time=40
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "heddle/support/result.h"
#include "heddle/sweep/options.h"

namespace heddle {

// As many as a Slurm with its own defaults takes (MaxArraySize).
inline constexpr std::int64_t kMostJobs = 1000;

struct SlurmJobs {
  std::int64_t points = 0;
  std::int64_t jobs = 1, threads = 1;       // threads of each
  std::int64_t minutes = 1, mebibytes = 1;  // what each asks for
  std::vector<std::string> arguments;       // of the sweep: all but folder, threads and part
  std::string program, workingFolder;       // heddle itself, and what paths are relative to
  std::string out, version;
};

// What is asked for, of a sweep with so many points and jobs with so many threads. Needs:
// options.slurm. Errors: SWEEP004 a number of jobs, a time or a size that is none.
Result<SlurmJobs> slurmJobs(const SweepOptions& options, std::int64_t points, std::int64_t threads);

// For bash; what it is called with goes to sbatch.
std::string slurmScript(const SlurmJobs& jobs);

}  // namespace heddle
