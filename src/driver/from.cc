#include "from.h"

#include <filesystem>

#include "heddle/driver/files.h"
#include "heddle/driver/sha256.h"
#include "heddle/program/verify.h"

namespace heddle {
namespace {

constexpr std::uintmax_t kMostPlanText = std::uintmax_t{1} << 30,
                         kMostImage = std::uintmax_t{1} << 32;

Diagnostic notFromThis(const std::string& path, const std::string& of, const std::string& what) {
  return {"PLAN011", path, "the file was made from another " + of, what,
          "give the " + of + " that it was made from, or make the file again"};
}

// A file written by hand may leave a hash empty.
Result<void> checkHash(const std::string& path, const std::string& of, const std::string& named,
                       const std::string& digest) {
  if (named.empty() || named == digest) return {};
  return notFromThis(path, of, "it names sha256 " + named + ", this one has " + digest);
}

Result<void> checkOrigin(const Compilation& run, const std::string& path,
                         const PlanOrigin& origin) {
  HEDDLE_DO(checkHash(path, "model", origin.modelSha256, run.modelSha256));
  return checkHash(path, "device", origin.deviceSha256, sha256(printDevice(*run.device)));
}

// The layers and tensors of the program are those of the network: what the report and the proof
// compare.
Result<void> checkNetwork(const Compilation& run, const std::string& path, const Program& program) {
  const CanonicalGraph& graph = run.network();
  bool same = program.layers.size() == graph.ops.size() &&
              program.tensors.size() == graph.tensors.size() && program.inputs == graph.inputs &&
              program.outputs == graph.outputs;
  for (std::size_t i = 0; same && i < graph.ops.size(); ++i)
    same = program.layers[i].output == graph.ops[i].output;
  for (std::size_t t = 0; same && t < graph.tensors.size(); ++t)
    same = program.tensors[t].shape == graph.tensors[t].shape;
  if (same) return {};
  return notFromThis(path, "model", "its layers, tensors or ports are not those of the network");
}

Result<PlanText> readPlan(const Compilation& run, const std::string& path) {
  HEDDLE_TRY(const std::string text, readTextFile(path, kMostPlanText));
  HEDDLE_DO(checkOrigin(run, path, readOrigin(text)));
  HEDDLE_TRY(PlanText read, parsePlan(text, path, run.network()));
  if (Diagnostics faults = verify(read.plan, run.network(), *run.device); !faults.empty())
    return faults;
  return read;
}

Result<MemoryPlanText> readMemoryPlan(const Compilation& run, const std::string& path) {
  HEDDLE_TRY(const std::string text, readTextFile(path, kMostPlanText));
  HEDDLE_DO(checkOrigin(run, path, readOrigin(text)));
  HEDDLE_TRY(MemoryPlanText read, parseMemoryPlan(text, path));
  if (Diagnostics faults = verify(read.memory, run.network(), *run.plan, *run.device);
      !faults.empty())
    return faults;
  return read;
}

struct ProgramFile {
  Program program;
  WeightImage weights;
};
Result<ProgramFile> readProgram(const Compilation& run, const std::string& path) {
  HEDDLE_TRY(const std::string text, readTextFile(path, kMostPlanText));
  HEDDLE_TRY(Program program, parseAsm(text, path));
  HEDDLE_DO(checkOrigin(run, path, {program.modelSha256, program.deviceSha256}));
  HEDDLE_DO(checkNetwork(run, path, program));
  if (Diagnostics faults = verify(program, *run.device); !faults.empty()) return faults;
  const std::filesystem::path weights = std::filesystem::path(path).parent_path() / "weights.bin";
  HEDDLE_TRY(std::vector<std::uint8_t> bytes, readBytes(weights, kMostImage));
  HEDDLE_DO(checkHash(weights.string(), "program", program.weightsSha256, sha256(bytes)));
  if (std::ssize(bytes) != program.weightsBytes)
    return notFromThis(weights.string(), "program",
                       std::to_string(bytes.size()) + " B; the program declares " +
                           std::to_string(program.weightsBytes));
  return ProgramFile{std::move(program), {std::move(bytes)}};
}

}  // namespace

Diagnostics readPlanFile(Compilation& run, const std::string& path) {
  Result<PlanText> read = readPlan(run, path);
  if (!read) return read.diagnostics();
  run.plan = std::move(read->plan);
  return {};
}

Diagnostics readMemoryPlanFile(Compilation& run, const std::string& path) {
  Result<MemoryPlanText> read = readMemoryPlan(run, path);
  if (!read) return read.diagnostics();
  run.memoryPlan = std::move(read->memory);
  return {};
}

Diagnostics readProgramFile(Compilation& run, const std::string& path) {
  Result<ProgramFile> read = readProgram(run, path);
  if (!read) return read.diagnostics();
  run.listing = listAsm(read->program);
  run.program = std::move(read->program);
  run.weights = std::move(read->weights);
  return {};
}

}  // namespace heddle
