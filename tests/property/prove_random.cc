// prove_random FIRST COUNT: proves random graphs on random meshes, seed by seed; shrinks the first
// that fails.
#include <cstdlib>
#include <exception>
#include <iostream>

#include "prove.h"
#include "random_graph.h"

int main(int argc, char** argv) try {
  using namespace heddle;
  if (argc != 3) {
    std::cerr << "usage: prove_random FIRST_SEED COUNT\n";
    return 2;
  }
  const std::uint64_t first = std::strtoull(argv[1], nullptr, 10),
                      count = std::strtoull(argv[2], nullptr, 10);
  std::uint64_t refused = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const CanonicalGraph graph =
        seed % 4 == 0 ? property::makeRandomGraph(
                            {.seed = seed, .ops = 10, .maxExtent = 16, .wholeBlocks = true})
                      : property::makeRandomGraph({.seed = seed, .siblings = seed % 4 == 1});
    const Device device = property::randomDevice(seed);
    Cycles makespan;
    const auto fails = [&](const CanonicalGraph& g) {
      const std::vector<TensorValue> inputs = property::randomInputs(g, seed);
      return property::disprove(
                 g, device, inputs, interpret(g, inputs), &makespan,
                 {.effort = property::effortOfSeed(seed), .frames = property::framesOfSeed(seed)},
                 property::batchOfSeed(seed))
          .has_value();
    };
    if (!fails(graph)) {
      refused += makespan == Cycles(0);
      continue;
    }
    const CanonicalGraph small = property::shrink(graph, fails);
    std::cout << "seed " << seed << " fails on " << device.rows << "x" << device.columns << " of "
              << device.name << " with " << device.core.memory.raw() << " B a core, "
              << device.memtile.memory.raw() << " B a memtile\n"
              << property::describe(small) << *property::disprove(small, device, seed) << "\n";
    return 1;
  }
  std::cout << count << " random graphs from seed " << first << " are bit-exact, or (" << refused
            << " of them) do not fit their device\n";
  return refused <= count / 4 ? 0 : 1;  // more would prove too little
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 70;
}
