#include "thrift.h"

#include <algorithm>

#include "heddle/machine/machine.h"
#include "heddle/memory/allocate.h"
#include "heddle/program/generate.h"
#include "heddle/program/verify.h"
#include "heddle/support/check.h"

namespace heddle {

Thrift noThrift(const Device& device) {
  return {.rows = device.rows,
          .columns = device.columns,
          .memory = device.memtile.memory,
          .waiting = device.limits.lockMaximum};
}

std::vector<std::vector<Thrift>> thriftierThan(const Thrift& thrift) {
  // What is given up first goes with each of the others.
  Thrift unarranged = thrift;
  unarranged.arranges = false;
  const auto waiting = [&](std::int64_t part) {
    Thrift less = unarranged;
    if (less.waiting) less.waiting = std::max<std::int64_t>(1, *less.waiting / part);
    return less;
  };
  std::vector<Thrift> cheap(4, unarranged), dear(4, unarranged);
  cheap[1].longCalls = false;
  cheap[2].tiles = false;
  cheap[3].recordsStay = false;
  cheap.push_back(waiting(2));
  dear[0].menu = false;
  dear[1].ownChannel = false;
  dear[2].ahead = false;
  dear[3].homes = false;
  // One lock may count the pieces of so many buffers that of half in each there are no fewer in
  // all.
  dear.insert(dear.begin(), waiting(4));
  std::vector<std::vector<Thrift>> out{cheap};
  for (const Thrift& one : dear) out.push_back({one});
  std::vector<Thrift> known{thrift};
  for (std::vector<Thrift>& some : out)
    std::erase_if(some, [&](const Thrift& one) {
      const bool isKnown = std::ranges::find(known, one) != known.end();
      if (!isKnown) known.push_back(one);
      return isKnown;
    });
  return out;
}

std::optional<Thrift> onFewerCores(Thrift thrift) {
  if (thrift.rows == 1 && thrift.columns == 1) return std::nullopt;
  std::int64_t& longer = thrift.rows > thrift.columns ? thrift.rows : thrift.columns;
  longer = divideRoundUp(longer, 2);
  return thrift;
}

std::vector<Thrift> slightlyLess(const Thrift& thrift) {
  std::vector<Thrift> out(5, thrift);
  out[1].memory = Bytes(thrift.memory.raw() * 4 / 5);
  out[2].memory = Bytes(thrift.memory.raw() / 2);
  --out[3].rows;
  --out[4].columns;
  std::erase_if(out, [](const Thrift& less) { return less.rows == 0 || less.columns == 0; });
  return out;
}

Excess excessOf(const CanonicalGraph& graph, const Plan& plan, const Device& device) {
  const Result<MemoryPlan> memory = allocateMemory(graph, plan, device);
  HEDDLE_CHECK(memory) << toText(memory.diagnostics());
  Result<GeneratedProgram> generated = generateProgram(graph, plan, *memory, device);
  HEDDLE_CHECK(generated) << toText(generated.diagnostics());
  ProgramFit fit = fitOf(std::move(generated->program), device);
  std::vector<Shortage>& all = fit.shortages;
  if (fit.program && device.limits.lockMaximum) {
    Device unlimited = device;
    unlimited.limits.lockMaximum.reset();
    const Result<SimulateResult> run = simulateTime(
        fit.program.on(std::move(unlimited)), {.recordTimeline = false, .locksOfAnyTimes = true});
    // A program that is too long to be executed is refused when it is.
    if (run && run->highestLock > *device.limits.lockMaximum)
      all.push_back({.key = "limits.lockMaximum",
                     .where = {},
                     .summary = {},
                     .needed = run->highestLock,
                     .there = *device.limits.lockMaximum,
                     .unit = {}});
  }
  Excess excess{std::ssize(all), 0};
  for (const Shortage& s : all)
    excess.permille =
        std::max(excess.permille, s.needed * 1000 / std::max<std::int64_t>(1, s.there));
  return excess;
}

}  // namespace heddle
