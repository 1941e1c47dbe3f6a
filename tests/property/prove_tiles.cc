// prove_tiles FIRST COUNT: random graphs on random meshes with random stretches of their layers
// tiled depth-wise; says how many homes gave memory back row by row, and fails where none did.
#include <cstdlib>
#include <exception>
#include <iostream>

#include "heddle/canon/batch.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/table_lines.h"
#include "prove.h"
#include "random.h"
#include "random_graph.h"

namespace heddle {
namespace {

struct TriedTiles {
  std::optional<std::string> fault;
  bool tiled = false, reused = false;
};

PlanOptions randomGroups(const CanonicalGraph& graph, std::uint64_t seed) {
  property::Random random(seed ^ 0x74696c65);
  PlanOptions options{.tiling = PlanOptions::Tiling::Given, .groups = {}};
  const std::int64_t last = std::ssize(graph.ops) - 1;
  const auto name = [&](std::int64_t op) { return graph.ops[static_cast<std::size_t>(op)].name; };
  for (std::int64_t from = random.between(0, last); from <= last;) {
    const std::int64_t to = random.between(from, last);
    options.groups.push_back({name(from), name(to), random.chance(20) ? 0 : random.between(2, 7)});
    from = to + random.between(1, 3);
  }
  return options;
}

TriedTiles tryTiles(std::uint64_t seed) {
  CanonicalGraph graph = property::makeRandomGraph({.seed = seed, .ops = 8});
  if (auto lines = findTableLines(graph)) graph = std::move(*lines);
  if (auto fused = fuseOperators(graph)) graph = *fused;
  const std::vector<TensorValue> first = property::randomInputs(graph, seed);
  graph = withBatch(std::move(graph), property::batchOfSeed(seed / 3));
  const Device device = property::randomDevice(seed, 4);
  Result<Plan> plan = makePlan(graph, device, randomGroups(graph, seed));
  if (!plan) return {};  // prove_random says where it must not be refused
  plan->frames = property::framesOfSeed(seed);
  const Result<MemoryPlan> memory = allocateMemory(graph, *plan, device);
  if (!memory) return {toText(memory.diagnostics())};
  const std::vector<TensorValue> inputs = property::inputsOfBatch(first, graph.batch);
  TriedTiles tried;
  tried.fault = property::disprove(graph, *plan, *memory, device, inputs,
                                   property::interpretImages(graph, inputs));
  tried.tiled = plan->schedule.size() > graph.ops.size();
  for (const TensorMemory& tensor : memory->tensors)
    for (const StepRange& life : tensor.lives) tried.reused = tried.reused || life != tensor.life;
  return tried;
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) try {
  using namespace heddle;
  if (argc != 3) {
    std::cerr << "usage: prove_tiles FIRST_SEED COUNT\n";
    return 2;
  }
  const std::uint64_t first = std::strtoull(argv[1], nullptr, 10),
                      count = std::strtoull(argv[2], nullptr, 10);
  std::int64_t tiled = 0, reused = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const TriedTiles tried = tryTiles(seed);
    if (tried.fault) {
      std::cout << "seed " << seed << " fails\n" << *tried.fault << "\n";
      return 1;
    }
    tiled += tried.tiled;
    reused += tried.reused;
  }
  std::cout << count << " random graphs from seed " << first << " are bit-exact, " << tiled
            << " of them tiled, " << reused << " with rows that leave their memory to others\n";
  return reused > 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 70;
}
