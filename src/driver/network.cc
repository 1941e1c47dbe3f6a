#include "heddle/driver/network.h"

#include "heddle/canon/batch.h"
#include "heddle/canon/table_lines.h"
#include "heddle/canon/upright.h"
#include "heddle/sparsity/kept_blocks.h"
#include "masks.h"
#include "road.h"

namespace heddle {
namespace {

Diagnostics takeCanonical(Network& run, const ModelSource& source) {
  Result<Canonicalized> canonical = canonicalizeGraph(run);
  if (!canonical) return canonical.diagnostics();
  if (Diagnostics faults = takeMasks(source.masks, run, *canonical, source.applyMasks);
      !faults.empty())
    return faults;
  const Timed timed(run.effort.compileSeconds);
  findKeptBlocks(canonical->graph);
  if (auto lines = findTableLines(canonical->graph)) canonical->graph = std::move(*lines);
  run.canonical = std::make_shared<const Canonicalized>(std::move(*canonical));
  return {};
}

Diagnostics take(Stage stage, Network& run, const ModelSource& source) {
  if (stage == Stage::Graph) return importModel(run, source.path, source.shapes);
  if (stage == Stage::Canonical) return takeCanonical(run, source);
  Diagnostics faults = source.propagate ? propagateZeros(run) : Diagnostics{};
  if (faults.empty()) faults = beyondLimits(run.unfused(), run.batch);
  if (faults.empty()) fuseNetwork(run);
  return faults;
}

}  // namespace

Result<Network> inBatchesOf(std::int64_t batch, Network network) {
  if (network.batch == batch) return network;
  if (Diagnostics faults = beyondLimits(network.unfused(), batch); !faults.empty()) return faults;
  network.batch = batch;
  network.reordered.reset();
  fuseNetwork(network);
  return network;
}

void leaveUnfused(Network& network) {
  setFused(network, nullptr);
  network.joined.reset();
}

std::optional<Network> uprightOf(const Network& network) {
  const auto graph = standUpright(network.unfused());
  if (!graph) return std::nullopt;
  Network upright = network;
  upright.canonical = std::make_shared<const Canonicalized>(Canonicalized{.graph = *graph});
  upright.propagated.reset();
  upright.reordered.reset();
  fuseNetwork(upright);
  return upright;
}

Result<Network> readNetwork(const ModelSource& source, std::optional<Stage> last,
                            Progress& progress) {
  Network run;
  run.batch = source.batch;
  for (const Stage stage : {Stage::Graph, Stage::Canonical, Stage::Propagated}) {
    if (last && stage > *last) break;
    progress.begin(name(stage));
    Diagnostics faults = take(stage, run, source);
    progress.end();
    if (!faults.empty()) return faults;
  }
  return run;
}

}  // namespace heddle
