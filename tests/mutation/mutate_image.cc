#include <random>
#include <set>
#include <utility>
#include <vector>

#include "heddle/program/visit.h"
#include "heddle/support/check.h"
#include "mutate.h"

namespace heddle::mutation {
namespace {

// Where the parts of a CONV's record lie in the image; see WeightImage.
struct ConvRecord {
  std::size_t number;
  std::int64_t pairs;                 // of an output and an input block: bits of gamma
  std::int64_t gamma, weights, rest;  // first byte of each; `rest` is where the weights end
};

// Every record that a CONV reads, once.
std::vector<ConvRecord> convRecords(const Program& program) {
  std::vector<ConvRecord> found;
  std::set<std::int64_t> known;
  for (const Engine& engine : enginesOf(program))
    for (QueueCursor q(program, engine); !q.done(); q.next()) {
      const FlatInstruction instruction = q.evaluated();
      const auto* call = std::get_if<Call<std::int64_t>>(&instruction.as);
      if (call == nullptr) continue;
      const Kernel& kernel = program.kernels[call->kernel.at()];
      if (kernel.op != OpKind::Conv || !known.insert(call->record).second) continue;
      const auto number = static_cast<std::size_t>(call->record);
      const WeightRecord& record = program.records[number];
      const std::int64_t pairs = kernel.outputBlocks * kernel.inputBlocks;
      const std::int64_t gamma =
          record.offset + kernel.recordAt + (kernel.weightZeros ? kernel.outputBlocks * kBlock : 0);
      const std::int64_t weights = gamma + divideRoundUp(pairs, 64) * 8;
      const std::int64_t taps = kernel.window.kernelY * kernel.window.kernelX;
      found.push_back(
          {number, pairs, gamma, weights, weights + record.kept * taps * kBlock * kBlock});
    }
  return found;
}

bool bitOf(const WeightImage& image, std::int64_t first, std::int64_t bit) {
  return (image.bytes[static_cast<std::size_t>(first + bit / 8)] >> (bit % 8) & 1) != 0;
}
void flip(WeightImage& image, std::int64_t first, std::int64_t bit) {
  image.bytes[static_cast<std::size_t>(first + bit / 8)] ^=
      static_cast<std::uint8_t>(1 << (bit % 8));
}

}  // namespace

ImageMutation mutateImage(const Program& program, const WeightImage& image, std::uint64_t seed) {
  const std::vector<ConvRecord> records = convRecords(program);
  HEDDLE_CHECK(!records.empty()) << "no CONV reads this image";
  std::mt19937_64 random(seed);
  const auto pick = [&](std::int64_t count) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
  };
  const ConvRecord& r = records[static_cast<std::size_t>(pick(std::ssize(records)))];
  ImageMutation m{image, {}, "record " + std::to_string(r.number) + ": "};
  const std::int64_t bit = pick(r.pairs), other = pick(r.pairs);
  const bool hasWeights = r.rest > r.weights;
  const std::int64_t kind = pick(3);
  if (kind == 0 && hasWeights) {
    const std::int64_t weight = pick((r.rest - r.weights) * 8);
    m.kind = "weight";
    m.what += "bit " + std::to_string(weight % 8) + " of weight " + std::to_string(weight / 8);
    flip(m.image, r.weights, weight);
  } else if (kind == 1 && bitOf(image, r.gamma, bit) != bitOf(image, r.gamma, other)) {
    m.kind = "gamma, as many kept";
    m.what += "bits " + std::to_string(bit) + " and " + std::to_string(other) + " change places";
    flip(m.image, r.gamma, bit);
    flip(m.image, r.gamma, other);
  } else {
    m.kind = "gamma";
    m.what += "bit " + std::to_string(bit) + " flips";
    flip(m.image, r.gamma, bit);
  }
  return m;
}

}  // namespace heddle::mutation
