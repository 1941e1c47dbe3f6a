// What a user may ask of each command; the command line fills these in, and so may any other
// caller.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heddle/device/device.h"
#include "heddle/emit/export.h"
#include "heddle/planner/make_plan.h"
#include "heddle/sparsity/prune.h"
#include "heddle/support/units.h"

namespace heddle {

// How much is said on stdout and stderr.
struct Verbosity {
  bool json = false;     // one JSON object on stdout instead of the summary
  bool verbose = false;  // each step with its time, on stderr
  bool quiet = false;    // nothing but faults
};

// The artefacts in the order of the road; each is a stage to stop after or to dump.
enum class Stage { Graph, Canonical, Propagated, Plan, MemoryPlan, Program, Simulate, Report };

// NAME=1x3x224x224 of --shape: the sizes of an input whose own are open.
using ShapeSettings = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

struct ModelSource {
  std::string path;  // of the ONNX file
  ShapeSettings shapes;
  std::string masks;        // .npz file with masks of the weights; may be empty
  bool applyMasks = false;  // where they drop weights that are not zero
  bool propagate = true;    // take out what follows from zeros in weights
  std::int64_t batch = 1;   // inferences of a frame, which go through the array together
};

struct CompileOptions {
  ModelSource model;
  std::string device = "paper";  // path of a description, or the name of a built-in one
  DeviceOverrides overrides;
  std::string out;  // folder; may be empty with stopAfter, and with --json
  PlanOptions plan;
  bool choosesBatch = false;  // as gains (choose_batch.h), in place of model.batch
  bool verify = true;         // execute with data and compare with the interpreter
  std::uint64_t seed = 1;     // of the input of the verification
  std::optional<Stage>
      stopAfter;  // the artefact goes to stdout, or with the ones before it to OUT/dump
  // Stages that begin with a file: Plan, MemoryPlan, Program.
  std::map<Stage, std::string> from;
  std::optional<Stage> dump;  // ... and every artefact up to this one to OUT/dump
  std::optional<Cycles> maxCycles;
  Verbosity verbosity;
};

struct SimulateCommandOptions {
  std::string folder;  // OUT of compile
  // KEY=VALUE of --set: other rates and times than those that it was compiled for.
  std::vector<std::pair<std::string, std::string>> settings;
  bool data = false;                         // execute with data, not time only
  std::vector<std::string> inputs, outputs;  // "[NAME=]FILE.npy"
  std::uint64_t seed = 1;                    // of inputs that are not given
  std::optional<Cycles> maxCycles;
  Verbosity verbosity;
};

struct InterpretOptions {
  std::string model;
  ShapeSettings shapes;
  std::vector<std::string> inputs, outputs;  // "[NAME=]FILE.npy"
  std::optional<std::string> dumpTensors;    // folder for every quantized tensor
  bool quantized = false;  // start and end at the quantized tensors, without host operators
  std::uint64_t seed = 1;
  Verbosity verbosity;
};

struct InspectOptions {
  std::string path;  // a model, a device description or an OUT of compile
  DeviceOverrides overrides;
  ShapeSettings shapes;
  std::string masks;  // .npz file with masks of a model's weights; may be empty
  Verbosity verbosity;
};

struct PruneCommandOptions {
  std::string model;
  ShapeSettings shapes;
  std::optional<PruneOptions> blocks;  // absent: only masks are applied, or no more than measured
  std::string masks;                   // .npz file; may be empty
  bool applyMasks = false;             // where they drop weights that are not zero
  std::string out;                     // the pruned model; empty: only sensitivity is measured
  bool sensitivity = false;
  std::vector<std::string> inputs;  // of sensitivity: "[NAME=]FILE.npy"
  std::uint64_t seed = 1;           // of inputs that are not given
  Verbosity verbosity;
};

struct ExportOptions {
  std::string path;  // OUT of compile, or a timeline.json
  ExportFormat format = ExportFormat::Chrome;
  TimeScale scale = TimeScale::Seconds;
  std::string out;  // file, "-" for standard output; empty: beside the timeline
  Verbosity verbosity;
};

struct ViewOptions {
  std::vector<std::string> paths;  // one or two of OUT or timeline.json
  std::string out;  // file; empty: beside the timeline, or A-vs-B.html in the working folder
  bool open = false;
  Verbosity verbosity;
};

enum class CompareOrder { Layer, Gain };  // of the network; by cycles gained, most first

struct CompareOptions {
  std::string a, b;  // OUT of compile, or a report.json
  CompareOrder order = CompareOrder::Layer;
  Verbosity verbosity;
};

struct ExplainOptions {
  std::string folder;                // OUT of compile
  std::optional<std::string> layer;  // its name; none: the run
  Verbosity verbosity;
};

struct AllocateOptions {
  std::string path;  // of the CSV file
  std::int64_t capacity = 0;
  std::int64_t seconds = 10;  // of a core, for the search, at most
  std::string out;            // file; empty or "-": standard output
  Verbosity verbosity;
};

std::string name(Stage stage);  // "plan"
std::vector<std::string> stageNames();
std::optional<Stage> stageNamed(const std::string& name);

}  // namespace heddle
