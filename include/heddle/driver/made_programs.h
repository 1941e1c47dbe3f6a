// Programs that compile() has made, for devices that differ from theirs in nothing but rates and
// times: where the planner chooses the same plan, the program is the same, and so is its proof.
//
//   MadePrograms made(4);
//   compile(network, slow, settings, progress, {.made = &made});   // plans, emits, proves, times
//   compile(network, fast, settings, progress, {.made = &made});   // plans and times
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "heddle/canon/block_orders.h"
#include "heddle/driver/compilation.h"
#include "heddle/report/report.h"

namespace heddle {

// Of any number of threads.
class MadePrograms {
 public:
  // Keeps the `most` that were used last.
  explicit MadePrograms(std::size_t most) : most_(most) {}

  // The program that would be made of the run's network, device, plan and memory plan; none where
  // it is not among those that are kept. It names no device: it is that of several.
  VerifiedProgram find(const Compilation& run);
  // The run's program from now on.
  void add(const Compilation& run);

  // Of such a program: what its proof, with inputs of this seed, has said.
  std::optional<Verification> proofOf(const Program& program, std::uint64_t seed);
  void addProof(const Program& program, std::uint64_t seed, const Verification& verification);

 private:
  struct Made {
    std::shared_ptr<const Canonicalized> canonical;  // with the next three: of which network
    std::shared_ptr<const Propagated> propagated;
    std::shared_ptr<const CanonicalGraph> fused;
    BlockOrders orders;
    Plan plan;
    MemoryPlan memoryPlan;
    VerifiedProgram program;
    std::uint64_t seed = 0;
    std::optional<Verification> proof;
  };
  Made* of(const Program& program);  // needs the mutex

  std::size_t most_;
  std::mutex mutex_;
  std::list<Made> made_;  // the last that was used first
};

}  // namespace heddle
