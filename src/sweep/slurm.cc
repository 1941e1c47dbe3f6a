#include "slurm.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "grid.h"

namespace heddle {
namespace {

constexpr std::int64_t kDefaultSeconds = 300, kDefaultMebibytes = 2048;  // of a point
constexpr std::int64_t kCollectMinutes = 30, kCollectMebibytes = 4096;

std::int64_t roundedUp(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// "4GiB", "512MiB"
Result<std::int64_t> mebibytesOf(const Argument& text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  std::int64_t value = 0;
  const char* last = text.text.data() + text.text.size();
  const auto [end, error] = std::from_chars(text.text.data(), last, value);
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  const std::int64_t factor = unit == "MiB" ? 1 : unit == "GiB" ? 1024 : 0;
  if (error == std::errc() && factor > 0 && value > 0 && value <= kMost / factor)
    return value * factor;
  return faultAt(text.where, "SWEEP004", "'" + text.text + "' is no size of memory", "",
                 "write it like '512MiB' or '4GiB'");
}

// For bash: one word, whatever is in it.
std::string shellWord(const std::string& word) {
  const std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:@%+";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string number(std::int64_t value) { return std::to_string(value); }

std::string request(const std::string& name, std::int64_t minutes, std::int64_t mebibytes) {
  return "#SBATCH --job-name=" + name + "\n#SBATCH --requeue\n#SBATCH --open-mode=append\n" +
         "#SBATCH --time=" + number(minutes) + "\n#SBATCH --mem=" + number(mebibytes) + "M\n";
}

std::string partScript(const SlurmJobs& jobs) {
  std::string text = "#!/bin/bash\n" + request("heddle", jobs.minutes, jobs.mebibytes) +
                     "#SBATCH --array=1-" + number(jobs.jobs) +
                     "\n#SBATCH --cpus-per-task=" + number(jobs.threads) + "\nexec " +
                     shellWord(jobs.program) + " sweep";
  for (const std::string& argument : jobs.arguments) text += " " + shellWord(argument);
  return text + " \\\n  --threads=" + number(jobs.threads) + " --shard=\"$SLURM_ARRAY_TASK_ID/" +
         number(jobs.jobs) + "\" -q -o " + shellWord(jobs.out + "/parts") +
         "/\"$SLURM_ARRAY_TASK_ID\"\n";
}

std::string collectScript(const SlurmJobs& jobs) {
  return "#!/bin/bash\n" + request("heddle-collect", kCollectMinutes, kCollectMebibytes) + "exec " +
         shellWord(jobs.program) + " collect " + shellWord(jobs.out + "/parts") + "/{1.." +
         number(jobs.jobs) + "} -o " + shellWord(jobs.out) + "\n";
}

}  // namespace

Result<SlurmJobs> slurmJobs(const SweepOptions& options, std::int64_t points,
                            std::int64_t threads) {
  const SlurmOptions& asked = *options.slurm;
  SlurmJobs jobs{.points = points,
                 .threads = threads,
                 .arguments = asked.arguments,
                 .out = options.out,
                 .version = options.version};
  HEDDLE_TRY(const std::int64_t most, numberOf(asked.jobs, 1, kMostJobs, "number of jobs"));
  jobs.jobs = std::min(most, points);
  std::int64_t seconds = kDefaultSeconds, mebibytes = kDefaultMebibytes;
  if (asked.pointTime) {
    HEDDLE_TRY(const std::chrono::duration<double> time, readTime(*asked.pointTime));
    seconds = static_cast<std::int64_t>(std::ceil(time.count()));
  }
  if (asked.pointMemory) {
    HEDDLE_TRY(mebibytes, mebibytesOf(*asked.pointMemory));
  }
  const std::int64_t oneByOne = roundedUp(roundedUp(points, jobs.jobs), jobs.threads);
  jobs.minutes = roundedUp(oneByOne * seconds, 60);
  jobs.mebibytes = mebibytes * jobs.threads;
  std::error_code error;
  jobs.program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) jobs.program = "heddle";
  jobs.workingFolder = std::filesystem::current_path().string();
  return jobs;
}

std::string slurmScript(const SlurmJobs& jobs) {
  const std::string logs = shellWord(jobs.out + "/log");
  return "#!/bin/bash\n"
         "# heddle " +
         jobs.version + ": " + number(jobs.points) + " points in " + number(jobs.jobs) +
         " jobs of Slurm. Submit it with bash; what it is called\n"
         "# with goes to sbatch (--partition=..., --account=...). Submitted again, it goes on "
         "where "
         "it was stopped.\n"
         "set -euo pipefail\n"
         "cd " +
         shellWord(jobs.workingFolder) + "\nmkdir -p " + logs +
         "\nparts=$(sbatch --parsable --output=" + logs + "/%a.txt \"$@\" <<'PART'\n" +
         partScript(jobs) +
         "PART\n)\n"
         "collect=$(sbatch --parsable --output=" +
         logs +
         "/collect.txt --dependency=\"afterok:${parts%%;*}\" --kill-on-invalid-dep=yes \"$@\" "
         "<<'COLLECT'\n" +
         collectScript(jobs) +
         "COLLECT\n)\n"
         "echo \"jobs $parts and then $collect; tables and page: \"" +
         shellWord(jobs.out) + "\n";
}

}  // namespace heddle
