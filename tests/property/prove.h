// Compiles a graph for a device, executes the program with data on the Machine and compares every
// tensor with the interpreter: the whole road but the files.
#pragma once
#include <optional>
#include <string>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/interp/interpret.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/make_plan.h"
#include "heddle/tiling/plan.h"

namespace heddle::property {

// What went wrong, in a few lines; nothing where every tensor that a core writes is equal byte for
// byte, or where the device is too small or too limited for the graph and heddle says so.
// `makespan` is set where it ran. Of a run of several frames `inputs` are the first one's; in the
// others each byte is another.
std::optional<std::string> disprove(const CanonicalGraph& graph, const Device& device,
                                    std::uint64_t seed);
// The same for given inputs, with the interpreter's value of every tensor; also says how long the
// program takes. `batch`: inferences of a frame; `inputs` and `expected` are the first one's.
std::optional<std::string> disprove(const CanonicalGraph& graph, const Device& device,
                                    const std::vector<TensorValue>& inputs,
                                    const std::vector<TensorValue>& expected,
                                    Cycles* makespan = nullptr, const PlanOptions& options = {},
                                    std::int64_t batch = 1);

// A batch's inputs from those of its first image: in the others each byte is another.
std::vector<TensorValue> inputsOfBatch(const std::vector<TensorValue>& first, std::int64_t batch);

// Every tensor by the interpreter, which knows no batch: image by image of what withBatch came
// from.
std::vector<TensorValue> interpretImages(const CanonicalGraph& graph,
                                         const std::vector<TensorValue>& inputs);

// Inferences of a frame for a seed: mostly one, else two to five.
std::int64_t batchOfSeed(std::uint64_t seed);

// Frames of a run for a seed: mostly one, else two or three.
std::int64_t framesOfSeed(std::uint64_t seed);

// Effort of the planner for a seed: mostly the usual, seldom one that simulates plans.
int effortOfSeed(std::uint64_t seed);

// The same for a plan and its memory that may be no planner's; faults of either are disproofs.
std::optional<std::string> disprove(const CanonicalGraph& graph, const Plan& plan,
                                    const MemoryPlan& memory, const Device& device,
                                    const std::vector<TensorValue>& inputs,
                                    const std::vector<TensorValue>& expected,
                                    Cycles* makespan = nullptr);

// A device for a seed: paper.yaml or switched.yaml, up to `mostPerSide` rows and columns of cores;
// two in five with so little memory that layers are cut over time and tensors live in DDR; some
// with other channels, rates, limits or wires.
Device randomDevice(std::uint64_t seed, std::int64_t mostPerSide = 8);

}  // namespace heddle::property
