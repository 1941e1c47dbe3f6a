// A network as it is before it meets a device: what all points of a sweep share.
//
//   HEDDLE_TRY(const Network network, readNetwork({.path = "resnet50.onnx"}, {}, progress));
//   HEDDLE_TRY(const Compilation run, compile(network, device, {}, progress));
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "heddle/canon/canonicalize.h"
#include "heddle/driver/options.h"
#include "heddle/driver/progress.h"
#include "heddle/graph/graph.h"
#include "heddle/report/report.h"
#include "heddle/sparsity/propagate.h"
#include "heddle/support/result.h"

namespace heddle {

struct Network {
  std::string modelName;  // "resnet50" of build/models/resnet50.onnx: results do not tell where the
                          // file was
  std::string modelSha256;
  std::optional<Graph> graph;  // as imported; absent where nobody asks for it any more
  // Frozen, and so shared by all that is compiled from it: copies of a Network are cheap.
  std::shared_ptr<const Canonicalized> canonical;
  std::shared_ptr<const Propagated> propagated;  // none where it changes nothing, or may not
  // Inferences of a frame. Where they are several, `fused` and `joined` are of so many images
  // (canon/batch.h), and `fused` is there also where nothing was.
  std::int64_t batch = 1;
  std::shared_ptr<const CanonicalGraph> fused;   // fuseOperators() of these; none likewise
  std::shared_ptr<const CanonicalGraph> joined;  // fuseAndJoin() of them; likewise
  // The same with its channel blocks in the order that the plan is of; none likewise.
  std::shared_ptr<const CanonicalGraph> reordered;
  Effort effort;

  // What is planned, executed and reported on. Needs: canonicalize is done.
  const CanonicalGraph& network() const { return reordered ? *reordered : inModelsOrder(); }
  const CanonicalGraph& inModelsOrder() const { return fused ? *fused : unfused(); }
  const CanonicalGraph& unfused() const {
    return propagated ? propagated->graph : canonical->graph;
  }
};

// The same for another number of inferences of a frame. Errors: CANON005 more than may be planned
// together.
Result<Network> inBatchesOf(std::int64_t batch, Network network);
// Nothing is fused, nothing joined.
void leaveUnfused(Network& network);
// The same with rows for columns, fused and joined; none where it may not stand so
// (canon/upright.h).
std::optional<Network> uprightOf(const Network& network);

// The stages up to Propagated, or up to `last` where that is earlier; each begins and ends on
// `progress`. Errors: those of importOnnx, canonicalize and of the masks; FILE001.
Result<Network> readNetwork(const ModelSource& source, std::optional<Stage> last,
                            Progress& progress);

}  // namespace heddle
