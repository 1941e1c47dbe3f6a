#include "masks.h"

#include "heddle/driver/files.h"
#include "heddle/driver/sha256.h"

namespace heddle {

Result<std::vector<WeightMask>> readMasks(const std::string& file, const Graph& graph,
                                          const Canonicalized& canonical, bool mayDropWeights) {
  if (file.empty()) return std::vector<WeightMask>{};
  const std::int64_t most = mostMaskBytes(graph, canonical);
  // Packed it is no larger than unpacked, but for the archive's own lists.
  HEDDLE_TRY(const std::string bytes, readTextFile(file, static_cast<std::uintmax_t>(2 * most)));
  HEDDLE_TRY(const NamedNpyArrays arrays, parseNpz(bytes, file, most));
  HEDDLE_TRY(std::vector<WeightMask> masks, masksFrom(arrays, graph, canonical, file));
  if (!mayDropWeights) {
    Diagnostics faults = droppedWeights(masks, graph, canonical, file);
    if (!faults.empty()) return faults;
  }
  return masks;
}

Diagnostics takeMasks(const std::string& file, Network& run, Canonicalized& canonical,
                      bool mayDropWeights) {
  if (file.empty()) return {};
  Result<std::vector<WeightMask>> masks = readMasks(file, *run.graph, canonical, mayDropWeights);
  if (!masks) return masks.diagnostics();
  CanonicalGraph after = masked(canonical.graph, *masks);
  if (after == canonical.graph) return {};
  const Result<std::string> digest = sha256OfFile(file);
  if (!digest) return digest.diagnostics();
  canonical.graph = std::move(after);
  const std::string both = run.modelSha256 + *digest;
  run.modelSha256 = sha256(std::vector<std::uint8_t>(both.begin(), both.end()));
  return {};
}

}  // namespace heddle
