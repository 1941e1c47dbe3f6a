// The allocate command: a table of buffers in, the same with offsets out.
#include <algorithm>
#include <ctime>
#include <ostream>

#include "heddle/driver/commands.h"
#include "heddle/driver/files.h"
#include "heddle/packing/buffers_csv.h"
#include "heddle/packing/verify.h"
#include "heddle/support/json_writer.h"
#include "own_files.h"

namespace heddle {
namespace {

constexpr std::uintmax_t kMostTable = std::uintmax_t{1} << 28;  // bytes of a file that is read

std::string bytes(std::int64_t count) { return std::to_string(count) + " B"; }

std::string json(const AllocateOptions& options, const BufferTable& table, const Packing& packing) {
  JsonWriter writer;
  writer.beginObject().key("buffers").value(std::ssize(table.ids));
  writer.key("capacity").value(options.capacity);
  writer.key("fits").value(packing.outcome == PackOutcome::Found);
  writer.key("impossible").value(packing.outcome == PackOutcome::Impossible);
  writer.key("height").value(packing.height);
  writer.key("mostLive").value(packing.mostLive);
  writer.key("firstFit").value(packing.firstFit);
  return writer.endObject().take() + "\n";
}

Diagnostic tooHigh(const AllocateOptions& options, const BufferTable& table, const Packing& packing,
                   bool outOfTime) {
  Diagnostic fault{.code = "PACK010",
                   .where = options.path,
                   .summary = "no packing below the capacity was found",
                   .what = bytes(options.capacity) + "; the best that was reached is " +
                           bytes(packing.height) + ", first fit " + bytes(packing.firstFit) +
                           ", and " + bytes(packing.mostLive) + " live at one time",
                   .mend = "raise --capacity to " + std::to_string(packing.height),
                   .severity = Severity::DoesNotFit};
  const auto largest =
      std::max_element(table.buffers.begin(), table.buffers.end(),
                       [](const LiveBuffer& a, const LiveBuffer& b) { return a.size < b.size; });
  if (largest->size > options.capacity) {
    const auto at = static_cast<std::size_t>(largest - table.buffers.begin());
    fault.where += ":" + std::to_string(table.lines[at]);
    fault.summary = "the buffer '" + table.ids[at] + "' alone is larger than the capacity";
  } else if (packing.outcome == PackOutcome::Impossible) {
    fault.summary = "there is no packing below the capacity";
  } else if (outOfTime) {
    fault.mend += ", or search longer with --seconds";
  }
  return fault;
}

}  // namespace

Diagnostics allocateCommand(const AllocateOptions& options, std::ostream& out, Progress& progress) {
  progress.begin("read the buffers");
  HEDDLE_TRY(const std::string text, readTextFile(options.path, kMostTable));
  HEDDLE_TRY(const BufferTable table, parseBuffers(text, options.path));
  progress.begin("pack");
  // Work is limited so that a clock decides only where the machine is slow, and then a core's.
  const auto secondsOfACore = [] {
    return static_cast<std::int64_t>(std::clock() / CLOCKS_PER_SEC);
  };
  const std::int64_t begin = secondsOfACore();
  bool outOfTime = false;
  PackLimits limits;
  limits.work = std::clamp<std::int64_t>(options.seconds / 10, 1, 1'000'000) * kPackWork;
  limits.stop = [&] {
    return outOfTime = outOfTime || secondsOfACore() - begin >= options.seconds;
  };
  const Packing packing = pack(table.buffers, options.capacity, limits);
  const bool fits = packing.outcome == PackOutcome::Found;
  progress.begin("verify");
  const auto broken =
      findPackingFault(table.buffers, packing.offsets, fits ? options.capacity : packing.height);
  HEDDLE_CHECK(!broken) << *broken;
  progress.end();
  const std::string rows = printBuffers(table, packing.offsets);
  const bool toFile = !options.out.empty() && options.out != "-";
  Diagnostics faults;
  if (toFile) {
    removeStaleSiblings(options.out);
    faults = writeFile(options.out, rows);
  } else if (!options.verbosity.json) {
    out << rows;
  }
  if (!faults.empty()) return faults;
  if (options.verbosity.json)
    out << json(options, table, packing);
  else if (toFile && fits && !options.verbosity.quiet)
    out << table.ids.size() << " buffers below " << bytes(packing.height) << " of "
        << bytes(options.capacity) << " (first fit " << bytes(packing.firstFit) << ", "
        << bytes(packing.mostLive) << " live at one time)\n";
  if (!fits) faults.push_back(tooHigh(options, table, packing, outOfTime));
  return faults;
}

}  // namespace heddle
