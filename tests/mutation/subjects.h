// Correct programs to break: of random networks, and of networks that need what random ones seldom
// do.
#pragma once
#include <cstdint>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/machine/machine.h"

namespace heddle::mutation {

struct Subject {
  Program program;
  Device device;
  WeightImage weights;
  ProgramInputs inputs;

  Result<SimulateResult> run() const;
};

// Of a network and device; inputs are random.
Subject compiled(CanonicalGraph graph, Device device, std::uint64_t seed, std::int64_t frames = 1,
                 std::int64_t batch = 1);

// Of a random network.
Subject generated(std::uint64_t seed, std::int64_t rows, std::int64_t columns,
                  std::int64_t frames = 1, std::int64_t batch = 1);

// A bottleneck whose sum its last convolution makes, in several passes and parts of the reduction.
Subject withAFusedSum(std::int64_t rows, std::int64_t columns);

// A convolution in several passes, with a depth-wise one at its end that reads the same records.
Subject withADepthwiseEnd(std::int64_t rows, std::int64_t columns);

// Convolutions that read every second row and column of what another writes, and of the input.
Subject withSlices(std::int64_t rows, std::int64_t columns, Bytes memtile);

// Convolutions that keep a quarter, half or a checkerboard of their blocks: records of different
// lengths, in one and in several parts of the reduction. `padding`: channels that no block needs;
// their weights mean nothing.
std::vector<Subject> sparseSubjects(std::int64_t padding);

}  // namespace heddle::mutation
