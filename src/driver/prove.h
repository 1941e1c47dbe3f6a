// Executes a program with data and compares with the interpreter.
#pragma once
#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "heddle/driver/compilation.h"
#include "heddle/driver/progress.h"
#include "heddle/machine/machine.h"
#include "heddle/support/result.h"

namespace heddle {

// A program's execution on inputs made from a seed, on a thread of its own while other stages go
// on.
class Execution {
 public:
  // Null where there is no second processor, or no thread, for it. Needs: the program and its
  // weights stay where they are as long as it lives.
  static std::unique_ptr<Execution> begin(const Compilation& run, std::uint64_t seed,
                                          std::optional<Cycles> maxCycles);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  ~Execution();  // stops it

  const std::vector<std::vector<std::int8_t>>& inputs() const { return inputs_; }
  // Once.
  Result<SimulateResult> wait(Progress& progress);
  double seconds() const { return seconds_; }  // that it took; after wait()

 private:
  explicit Execution(std::vector<std::vector<std::int8_t>> inputs) : inputs_(std::move(inputs)) {}

  std::vector<std::vector<std::int8_t>> inputs_;
  std::atomic<double> done_ = 0;
  std::atomic<bool> stopped_ = false;
  double seconds_ = 0;
  std::future<Result<SimulateResult>> result_;
};

// Compares what the program computes of inputs made from the seed with what the interpreter does.
// `begun`: with that seed, of this program; null: it is executed here.
Diagnostics prove(Compilation& run, std::uint64_t seed, std::optional<Cycles> maxCycles,
                  Execution* begun, Progress& progress);

}  // namespace heddle
