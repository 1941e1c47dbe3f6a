// prove_masks [--time] FIRST COUNT: convolutions at random under chains of masks of their 8x8
// blocks, on random meshes, seed by seed, up to the first that is not exact. Tells where a mask
// with fewer blocks takes over 3 % longer. --time draws layers of a network's size and executes
// them without data.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>

#include "masked_conv.h"
#include "random.h"

namespace heddle::property {
namespace {

struct Drawn {
  ConvShape shape;
  std::int64_t rows, columns;
  std::string memory;  // of a core
};

Drawn draw(std::uint64_t seed, bool large) {
  Random random(seed);
  const std::int64_t side = large ? 8 : 5;
  Drawn d{{},
          random.between(1, side),
          random.between(1, side),
          !large && random.chance(40) ? "8 KiB" : "64 KiB"};
  const std::vector<std::int64_t> kernels{1, 1, 3, 3, 5};
  d.shape.kernel = random.pick(kernels);
  d.shape.height = random.between(d.shape.kernel, large ? 56 : 12);
  d.shape.width = large ? d.shape.height : random.between(d.shape.kernel, 24);
  d.shape.inputs = random.between(1, large ? 512 : d.memory == "8 KiB" ? 300 : 100);
  d.shape.outputs = random.between(1, large ? 512 : 80);
  d.shape.stride = random.chance(25) ? 2 : 1;
  d.shape.weightZeros = random.chance(30);
  return d;
}

std::string describeConv(const Drawn& d) {
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  const ConvShape& s = d.shape;
  return number(s.height) + "x" + number(s.width) + "x" + number(s.inputs) + " to " +
         number(s.outputs) + " channels, kernel " + number(s.kernel) + ", stride " +
         number(s.stride) + ", on " + number(d.rows) + "x" + number(d.columns) + " with " +
         d.memory + " a core";
}

struct Tally {
  std::uint64_t slower = 0;
  std::int64_t worst = 1000;  // permille of the cycles with more blocks
};

// False where a program is not exact.
bool prove(std::uint64_t seed, bool large, Tally& tally) {
  const Drawn d = draw(seed, large);
  const Result<Device> device =
      readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml",
                 {.mesh = {{d.rows, d.columns}}, .settings = {{"core.memory", d.memory}}});
  const MaskedConv conv(d.shape, seed);
  Slowdown worst;
  for (const MaskChain& chain : maskChains(conv.outputBlocks(), conv.inputBlocks(), d.rows, seed)) {
    std::vector<Cycles> cycles;
    if (large) {
      cycles = cyclesOf(conv, chain, *device);
    } else if (const auto fault = disprove(conv, chain, *device, seed, cycles)) {
      std::cout << "seed " << seed << ", " << describeConv(d) << ": " << *fault << std::endl;
      return false;
    }
    const Slowdown slowdown = worstSlowdown(chain, cycles);
    if (slowdown.permille > worst.permille) worst = slowdown;
  }
  if (worst.permille > kMostPermille) {
    std::cout << "seed " << seed << ", " << describeConv(d) << ": " << worst.what << std::endl;
    ++tally.slower;
    tally.worst = std::max(tally.worst, worst.permille);
  }
  return true;
}

}  // namespace
}  // namespace heddle::property

int main(int argc, char** argv) try {
  std::uint64_t first = 1, count = 1;
  bool large = false;
  CLI::App app("Proves convolutions under masks of blocks");
  app.add_flag("--time", large, "layers of a network's size, without data");
  app.add_option("first", first, "seed")->required();
  app.add_option("count", count, "seeds")->required();
  CLI11_PARSE(app, argc, argv);
  heddle::property::Tally tally;
  for (std::uint64_t seed = first; seed < first + count; ++seed)
    if (!heddle::property::prove(seed, large, tally)) return 1;
  std::cout << count << " convolutions " << (large ? "run" : "are exact")
            << " under every mask; of " << tally.slower
            << " some mask with fewer blocks takes over 3 % longer, at most "
            << static_cast<double>(tally.worst) / 1000 << " times as long\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 70;
}
