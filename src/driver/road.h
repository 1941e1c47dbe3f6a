// The stages, each from the artefacts before it in a Compilation to its own.
#pragma once
#include <functional>
#include <string>

#include "heddle/canon/block_orders.h"
#include "heddle/driver/compilation.h"
#include "heddle/driver/port_values.h"
#include "heddle/driver/progress.h"

namespace heddle {

// Adds the seconds that it lives to a figure.
class Timed {
 public:
  explicit Timed(double& seconds);
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed();

 private:
  double& seconds_;
  double begun_;
};

std::int64_t peakMemoryBytes();  // of this process so far

Diagnostics importModel(Network& run, const std::string& path, const ShapeSettings& shapes);
Result<Canonicalized> canonicalizeGraph(Network& run);  // of the graph, under the model's name
Diagnostics canonicalizeModel(Network& run);            // the same, into its place
Diagnostics propagateZeros(Network& run);
void fuseNetwork(Network& run);  // fuseOperators(), fuseAndJoin()
// What is planned is this network, or with null the unfused one, of as many images as a frame has.
void setFused(Network& run, std::shared_ptr<const CanonicalGraph> fused);
// Its channel blocks in these orders from now on. Errors: CANON011.
Diagnostics reorder(Network& run, const BlockOrders& orders);
// `asked`: also what the plan was chosen among.
Diagnostics planNetwork(Compilation& run, const PlanOptions& options, bool asked,
                        Progress& progress);
Diagnostics planMemory(Compilation& run);
void timeInClosedForm(Compilation& run, const MemoryPlan& memory);  // the plan's steps
// Generated, verified, with the hashes of all files; `named`: of the device, too.
Diagnostics makeProgram(Compilation& run, bool named);
// And the report of it; `free`: also with each resource for nothing.
Diagnostics simulateTiming(Compilation& run, std::optional<Cycles> maxCycles, bool free,
                           Progress& progress);
// The same faults as faults of ours: whatever they say of a program that we made, the user cannot
// mend. But that it takes longer than the user allows, or more memory, is none.
Diagnostics asBugs(Diagnostics faults);
// What execution finds: bugs of a program that was made here, else faults of the file it came from.
Diagnostics faultsOfProgram(const Compilation& run, Diagnostics faults);

// Names of the operators that run before and after the program.
std::vector<std::string> hostOperators(const Canonicalized& canonical);

// Every tensor of the graph by the interpreter.
std::vector<std::vector<std::int8_t>> interpretAll(
    const CanonicalGraph& graph, const std::vector<std::vector<std::int8_t>>& inputs,
    Progress& progress);

// What advances the step that `progress` is in.
std::function<void(double)> progressOf(Progress& progress);

TensorFormat formatOf(const CanonicalTensor& tensor);

}  // namespace heddle
