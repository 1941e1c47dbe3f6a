// prove_plans FIRST COUNT: random legal plans of random graphs on random arrays, seed by seed, each
// executed and compared with the interpreter. Prints how many were accepted of each kind; fails
// where one is wrong, or where a kind never occurs.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "heddle/canon/batch.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/table_lines.h"
#include "heddle/tiling/plan.h"
#include "prove.h"
#include "random_graph.h"
#include "random_plan.h"

namespace {

using namespace heddle;

struct TriedPlan {
  std::optional<std::string> fault;
  property::PlanKinds kinds;
  bool accepted = false;
};

TriedPlan tryPlan(std::uint64_t seed) {
  CanonicalGraph grown = property::makeRandomGraph({.seed = seed,
                                                    .ops = 4,
                                                    .maxExtent = 24,
                                                    .maxChannels = 60,
                                                    .maxElements = 4'000,
                                                    .maxMacs = 300'000,
                                                    .addedBehindMul = 70});
  if (auto lines = findTableLines(grown)) grown = std::move(*lines);
  const auto fused = fuseOperators(grown);
  const CanonicalGraph graph = withBatch(fused ? *fused : grown, property::batchOfSeed(seed / 5));
  const Device device = property::randomArray(seed);
  const std::optional<property::RandomPlan> made = property::randomPlan(graph, device, seed);
  if (!made) return {};
  const Diagnostics faults = verify(made->plan, graph, device);
  const bool limited = std::all_of(faults.begin(), faults.end(), [](const Diagnostic& fault) {
    return fault.severity == Severity::DoesNotFit;
  });
  if (!faults.empty() && limited && device.limits != Limits{}) return {};
  if (!faults.empty()) return {toText(faults), {}, false};
  const Result<MemoryPlan> memory = allocateMemory(graph, made->plan, device);
  if (!memory) {
    const bool room = memory.diagnostics()[0].severity != Severity::DoesNotFit;
    return {room ? std::optional(toText(memory.diagnostics())) : std::nullopt, {}, false};
  }
  const std::vector<TensorValue> inputs =
      property::inputsOfBatch(property::randomInputs(fused ? *fused : grown, seed), graph.batch);
  Cycles makespan{-1};  // stays so where a limit of the device refuses the program
  const std::optional<std::string> fault =
      property::disprove(graph, made->plan, *memory, device, inputs,
                         property::interpretImages(graph, inputs), &makespan);
  if (fault || makespan >= Cycles{}) return {fault, made->kinds, !fault};
  return {};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: prove_plans FIRST_SEED COUNT\n";
    return 2;
  }
  const std::uint64_t first = std::strtoull(argv[1], nullptr, 10),
                      count = std::strtoull(argv[2], nullptr, 10);
  std::int64_t accepted = 0;
  property::PlanKinds kinds;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const TriedPlan tried = tryPlan(seed);
    if (tried.fault) {
      std::cout << "seed " << seed << " fails\n" << *tried.fault << "\n";
      return 1;
    }
    accepted += tried.accepted;
    for (const auto& [kind, n] : tried.kinds) kinds[kind] += n > 0;
  }
  bool all = true;
  for (const std::string& kind : property::planKindNames()) {
    std::cout << "  " << kinds[kind] << " plans with: " << kind << "\n";
    all = all && kinds[kind] > 0;
  }
  std::cout << accepted << " of " << count << " random plans from seed " << first
            << " were accepted, and are bit-exact\n";
  if (!all || accepted == 0) std::cout << "a kind of plan never occurred\n";
  return all && accepted > 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 70;
}
