// Two reports layer by layer, and what weight blocks that were left out gained: where a layer needs
// fewer MACs in B than in A and is not as much faster, what held it back.
//
//   b4_pw   A 25585 cycles   B 13461 cycles   half of the MACs: 1.90 times as fast
//   b1_pw   A 50722 cycles   B 50624 cycles   half of the MACs: held back, the input wire binds
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "heddle/report/report.h"

namespace heddle {

// What one inference of a run of several takes, on average: times, bytes, MACs and the bounds'
// cycles of the run and of its layers, rounded; `frames` and `batch` are 1. Weights that the
// network needs are its own, though those of a batch come once for several. Peaks, `bounds`, places
// in time, steps, groups, what-ifs and effort stay the run's. Runs of as many inferences need no
// mean, and lose nothing by rounding without it.
Report meanInference(const Report& report);

// What is a layer of its own in one report and at the start or end of another in the other report
// is told as there in both: figures that add up are added, and what bounds it, its imbalance,
// routes and split are those of the part that takes longer. Places of layers change; a report where
// they do has no groups any more.
void tellAlike(Report& a, Report& b);

// Indices of Report::layers.
struct LayerPair {
  std::size_t a = 0, b = 0;
  friend bool operator==(const LayerPair&, const LayerPair&) = default;
};

// Layers of one name are one layer: the first with the first, where a name occurs again.
struct LayerMatch {
  std::vector<LayerPair> both;            // in the order of A
  std::vector<std::size_t> onlyA, onlyB;  // rising
  friend bool operator==(const LayerMatch&, const LayerMatch&) = default;
};
LayerMatch matchLayers(const Report& a, const Report& b);

// Why a layer gained less than its MACs allow.
enum class Obstacle {
  OtherResource,  // what binds it in B carries no weights and computes nothing
  MoreBytes,      // DDR or the weights wires bind it in B, and carry more than the MACs' share
  Imbalance,      // its heaviest core has more over the mean in B than in A
  Idle            // none of these: even its busiest engine stands still, or was not all of A's time
};
std::string_view name(Obstacle obstacle);  // "other resource", "more bytes", ..

// A layer is held back where it gains less than this share of what its MACs allow; DDR, wires and
// cores are blamed where they are off by more than this factor.
inline constexpr double kHeldBackBelow = 0.9, kBlamedAbove = 1.05;

struct LayerGain {
  LayerPair layer;
  std::optional<Obstacle> obstacle;  // none: it gained what it could
};

struct SparsityGain {
  std::vector<LayerGain> layers;  // of both runs; those that need fewer MACs in B, as matched
  std::size_t moreMacs = 0;       // of both runs: how many need more MACs in B
  // Of `layers`: seconds in A over seconds in B, and what that would be were the time of each as
  // much less as its MACs are; none where there is no time.
  std::optional<double> speedUp, allowed;
};
SparsityGain sparsityGain(const Report& a, const Report& b, const LayerMatch& match);

// Seconds in A over seconds in B; none where either takes none.
std::optional<double> speedUp(const Report& a, Cycles inA, const Report& b, Cycles inB);

// Bytes that the resource moved for the layer, once for all; 0 for compute and the sequencer.
Bytes bytesOver(Resource resource, const LayerReport& layer);

// Cycles of the layer's busiest engine over all of its resources.
Cycles busiest(const LayerReport& layer);

}  // namespace heddle
