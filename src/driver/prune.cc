// The prune command: another ONNX model, with zeros where weights were.
#include "heddle/sparsity/prune.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <set>

#include "arrays.h"
#include "heddle/driver/commands.h"
#include "heddle/driver/files.h"
#include "heddle/onnx/import.h"
#include "heddle/onnx/rewrite.h"
#include "masks.h"
#include "prune_text.h"
#include "road.h"

namespace heddle {
namespace {

std::filesystem::path masksBeside(const std::filesystem::path& model) {
  return std::filesystem::path(model).replace_extension(".masks.npz");
}

// What both keep, operator by operator.
std::vector<WeightMask> together(std::vector<WeightMask> given,
                                 const std::vector<WeightMask>& chosen) {
  for (const WeightMask& mask : chosen) {
    const auto found = std::ranges::find(given, mask.op, &WeightMask::op);
    if (found == given.end()) {
      given.push_back(mask);
      continue;
    }
    for (std::int64_t i = 0; i < mask.kept.size(); ++i)
      if (!mask.kept[i]) found->kept.reset(i);
  }
  std::ranges::sort(given, {}, &WeightMask::op);
  return given;
}

// Re-checks the new file the slow way: read again, the weights of every operator are those that the
// masks leave. A channel all of whose weights are zero may be written differently.
void verifyPruned(const std::string& bytes, const Network& run, const ShapeSettings& shapes,
                  const std::vector<WeightMask>& masks) {
  ImportOptions options;
  for (const auto& [name, sizes] : shapes) options.shapes[name] = sizes;
  const Result<Graph> again = importOnnx(std::string_view(bytes), run.graph->name, options);
  HEDDLE_CHECK(again) << toText(again.diagnostics());
  const Result<Canonicalized> canonical = canonicalize(*again);
  HEDDLE_CHECK(canonical) << toText(canonical.diagnostics());
  const CanonicalGraph wanted = masked(run.canonical->graph, masks);
  HEDDLE_CHECK(canonical->graph.ops.size() == wanted.ops.size())
      << "operators appeared or vanished";
  std::set<ValueId> changed;  // of several operators one weight may be
  std::set<OpId> known;
  for (const WeightMask& mask : masks) known.insert(mask.op);
  for (const WeightOrigin& origin : run.canonical->weights)
    if (known.contains(origin.op)) changed.insert(origin.value);
  for (const WeightOrigin& origin : run.canonical->weights)
    if (!changed.contains(origin.value)) known.insert(origin.op);
  for (const OpId id : known) {
    const CanonicalOp& op = wanted.ops[id.at()];
    const Bits has = nonZeroWeights(canonical->graph, canonical->graph.ops[id.at()]),
               should = nonZeroWeights(wanted, op);
    const std::int64_t row = should.size() / weightExtents(wanted, op)->rows;
    for (std::int64_t first = 0; first < should.size(); first += row) {
      bool equal = true, zero = true;
      for (std::int64_t i = first; i < first + row; ++i) {
        equal &= has[i] == should[i];
        zero &= !has[i];
      }
      HEDDLE_CHECK(equal || zero) << op.name << ": channel " << first / row;
    }
  }
}

Diagnostics writeBoth(const Network& run, const PruneCommandOptions& options,
                      const std::vector<WeightMask>& masks, PruneResult& result) {
  std::map<std::string, NewConstant> constants;
  for (auto& [name, constant] : maskedConstants(masks, *run.graph, *run.canonical))
    constants[name] = {constant.bytes, constant.dropped};
  const Result<std::string> model = rewriteConstants(options.model, constants);
  if (!model) return model.diagnostics();
  verifyPruned(*model, run, options.shapes, masks);
  const Result<std::string> archive = printNpz(arraysOf(masks, *run.graph, *run.canonical));
  if (!archive) return archive.diagnostics();
  const std::filesystem::path beside = masksBeside(options.out);
  result.masksFile = beside.string();
  Diagnostics faults = writeFile(options.out, *model);
  if (faults.empty()) faults = writeFile(beside, *archive);
  return faults;
}

std::vector<TensorFormat> inputFormats(const CanonicalGraph& graph) {
  std::vector<TensorFormat> formats;
  for (const Port& port : graph.inputs)
    formats.push_back(formatOf(graph.tensors[port.tensor.at()]));
  return formats;
}

Diagnostics measure(const Network& run, const PruneCommandOptions& options, PruneResult& result,
                    Progress& progress) {
  const CanonicalGraph& graph = run.canonical->graph;
  const auto inputs = readInputs(options.inputs, graph.inputs, inputFormats(graph), options.seed);
  if (!inputs) return inputs.diagnostics();
  progress.begin("sensitivity");
  auto sensitivity =
      measureSensitivity(run, options.blocks.value_or(PruneOptions{}), *inputs, progress);
  if (!sensitivity) return sensitivity.diagnostics();
  result.sensitivity = std::move(*sensitivity);
  return {};
}

}  // namespace

Diagnostics pruneCommand(const PruneCommandOptions& options, std::ostream& out,
                         Progress& progress) {
  Network run;
  PruneResult result;
  progress.begin("import");
  Diagnostics faults = importModel(run, options.model, options.shapes);
  if (faults.empty()) faults = canonicalizeModel(run);
  if (!faults.empty()) return faults;
  auto given = readMasks(options.masks, *run.graph, *run.canonical, options.applyMasks);
  if (!given) return given.diagnostics();
  std::vector<WeightMask> masks = std::move(*given);
  result.masked = masks.size();
  if (options.blocks) {
    progress.begin("prune");
    Canonicalized left = *run.canonical;
    left.graph = masked(std::move(left.graph), masks);
    Result<Pruning> pruning = choosePruning(*run.graph, left, *options.blocks);
    if (!pruning) return pruning.diagnostics();
    masks = together(std::move(masks), pruning->masks());
    result.pruning = std::move(*pruning);
  }
  if (options.sensitivity) faults = measure(run, options, result, progress);
  if (faults.empty() && !options.out.empty()) {
    progress.begin("write");
    faults = writeBoth(run, options, masks, result);
  }
  if (!faults.empty()) return faults;
  progress.end();
  if (options.verbosity.json)
    out << pruneJson(run, options, result);
  else if (!options.verbosity.quiet)
    out << pruneText(run, options, result);
  return {};
}

}  // namespace heddle
