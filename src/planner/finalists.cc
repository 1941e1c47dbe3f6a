#include "finalists.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "alike.h"
#include "heddle/tiling/views.h"
#include "mesh_cut.h"
#include "streams.h"

namespace heddle {
namespace {

constexpr std::size_t kMostFinalists = 18;  // that the closed form looks at, of a layer

struct Candidate {
  std::size_t cut = 0;
  FoundMapping found;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// Of more mappings than the closed form need look at, those of the best scores; the first stays
// where it is.
void keepTheBest(std::vector<Candidate>& candidates) {
  if (candidates.size() <= kMostFinalists) return;
  std::stable_sort(candidates.begin() + 1, candidates.end(),
                   [](const Candidate& a, const Candidate& b) {
                     return a.found.mapping.score < b.found.mapping.score;
                   });
  candidates.resize(kMostFinalists);
}

void addNew(std::vector<Candidate>& to, std::vector<Candidate> more) {
  for (Candidate& candidate : more)
    if (std::ranges::find(to, candidate) == to.end()) to.push_back(std::move(candidate));
}

class FinalistSearch {
 public:
  FinalistSearch(const CanonicalGraph& graph, const Device& device, const DataflowWires& wires,
                 const SearchLimits& limits, bool menu, const WorkCounter& count)
      : graph_(graph),
        device_(device),
        limits_(limits),
        menu_(menu),
        count_(count),
        menus_(wires, device) {}

  Result<FinalistPool> run() {
    const Views views = findViews(graph_);
    const std::vector<std::size_t> alike = firstAlike(graph_);
    FinalistPool pool{std::vector<std::vector<Mapping>>(graph_.ops.size()),
                      Finalists(graph_.ops.size())};
    Diagnostics errors;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      if (views.inPlace[i]) continue;
      std::vector<Mapping>& mappings = pool.mappings[alike[i]];
      if (mappings.empty()) mappings = mappingsOf(i);
      if (mappings.empty()) errors.push_back(doesNotFit(graph_.ops[i]));
      for (const Mapping& mapping : mappings) pool.ofLayer[i].push_back(&mapping);
    }
    if (!errors.empty()) return errors;
    return pool;
  }

 private:
  // Over all cuts: the best of the largest staging, then the others' that are new; none where there
  // are none of the largest.
  std::vector<Mapping> mappingsOf(std::size_t layer) {
    const CanonicalOp& op = graph_.ops[layer];
    const std::vector<MeshCut> cuts = meshCuts(graph_.tensors[op.output.at()].shape, device_);
    std::vector<FoundMappings> found;
    std::vector<std::vector<Candidate>> all(limits_.stagings.size());
    shortage_.clear();
    for (const MeshCut& cut : cuts) {
      const std::span<const Streams> streams = menus_.of(op, hasWeights(op), cut);
      found.push_back(searchMappings(graph_, op, device_, count_.kept(layer), cut,
                                     menu_ ? streams : streams.first(1), limits_));
      if (shortage_.empty()) shortage_ = found.back().shortage;
      for (std::size_t s = 0; s < all.size(); ++s)
        for (FoundMapping& mapping : found.back().ofStaging[s])
          all[s].push_back({found.size() - 1, std::move(mapping)});
      if (!menu_ && !all[0].empty()) break;
    }
    if (all[0].empty()) return {};
    std::vector<Candidate> best;
    for (std::vector<Candidate>& ofStaging : all) {
      keepTheBest(ofStaging);
      addNew(best, std::move(ofStaging));
    }
    std::vector<Mapping> mappings;
    for (const Candidate& candidate : best)
      mappings.push_back(found[candidate.cut].whole(candidate.found));
    return mappings;
  }

  Diagnostic doesNotFit(const CanonicalOp& op) const {
    return {"PLAN001",
            graph_.name + ", node '" + op.name + "' (" + op.onnxOp + ")",
            "no tiling of this layer fits a core",
            shortage_,
            "give the cores or memtiles more memory (--set core.memory=..., --set "
            "memtile.memory=...)" +
                std::string(device_.limits.lockMaximum ? ", or choose a device with more of "
                                                         "'limits.lockMaximum'"
                                                       : ""),
            Severity::DoesNotFit};
  }

  const CanonicalGraph& graph_;
  const Device& device_;
  const SearchLimits& limits_;
  bool menu_;
  const WorkCounter& count_;
  StreamMenus menus_;
  std::string shortage_;  // of the layer that was looked at last
};

}  // namespace

Result<FinalistPool> findFinalists(const CanonicalGraph& graph, const Device& device,
                                   const DataflowWires& wires, const SearchLimits& limits,
                                   bool menu, const WorkCounter& count) {
  return FinalistSearch(graph, device, wires, limits, menu, count).run();
}

Finalists stagedIn(const Finalists& finalists, std::int64_t staging) {
  const Plan plan{.layers = {}, .views = {}, .homes = {}, .schedule = {}, .weightStaging = staging};
  Finalists some(finalists.size());
  for (std::size_t i = 0; i < some.size(); ++i)
    std::ranges::copy_if(finalists[i], std::back_inserter(some[i]), [&](const Mapping* mapping) {
      return mapping->weightBytes * 2 <= plan.stagingPerRoute(*mapping);
    });
  return some;
}

}  // namespace heddle
