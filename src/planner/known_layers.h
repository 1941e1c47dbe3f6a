// What planning finds out about layers, found once: networks that are fused in different ways, and
// plans of one network in different memory, have most of their layers in common.
#pragma once
#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "alike.h"
#include "heddle/cost/work.h"
#include "heddle/device/device.h"
#include "heddle/planner/count_work.h"
#include "heddle/tiling/plan.h"
#include "layer_search.h"

namespace heddle {

// Where a step's tensors are: what its work depends on beside its layer and mapping.
struct StepPlaces {
  Interval rows;                 // of the step
  std::vector<Home> homes;       // of the roots of inputs and output
  std::vector<View> views;       // where in their roots they are, whichever these are
  std::vector<bool> firstReads;  // by input: whether no operator before reads its root
  // By weight route: whether its records that stay have come in an earlier step; empty where none
  // stays.
  std::vector<bool> recordsThere = {};
  friend bool operator==(const StepPlaces&, const StepPlaces&) = default;
};

// The cycles of steps. Ensures: references to them stay valid.
class KnownSteps {
 public:
  // The number of a kind of layers at these places: of no other kind's, for what is known of a
  // mapping may go by this number alone.
  std::size_t numberOf(std::size_t kind, StepPlaces places);
  // Null: not known yet.
  const StepCycles* find(std::size_t number, const Mapping& mapping) const;
  const StepCycles& add(std::size_t number, const Mapping& mapping, StepCycles cycles);

 private:
  struct Known {
    Mapping mapping;
    StepCycles cycles;
  };
  struct AtPlaces {
    StepPlaces places;
    std::deque<Known> steps;
  };
  std::deque<AtPlaces> all_;                                // by number
  std::map<std::size_t, std::vector<std::size_t>> ofKind_;  // numbers
};

// Mappings that a search found, and what the closed form says of steps with one or another of them.
// For one device and one Thrift (thrift.h).
struct KnownFinalists {
  KnownFinalists() = default;
  KnownFinalists(const KnownFinalists&) = delete;  // what is known goes by where the mappings lie
  KnownFinalists& operator=(const KnownFinalists&) = delete;
  ~KnownFinalists() = default;

  struct Asked {
    std::size_t kind = 0;
    SearchLimits limits;
    std::int64_t rows = 0;                   // of a tile; 0: of the whole layer
    std::vector<std::int64_t> columnsApart;  // by operand: from one of its columns to the next
    friend auto operator<=>(const Asked&, const Asked&) = default;
  };
  struct Found {
    std::vector<Mapping> mappings;
    std::string shortage;  // where there are none: what is missing
  };
  std::map<Asked, Found> found;

  struct Trial {  // of one of these mappings
    const Mapping* mapping = nullptr;
    std::size_t places = 0;  // of KnownSteps
    bool apart = false;      // see shareDdrChannels
    friend auto operator<=>(const Trial&, const Trial&) = default;
  };
  struct Cycles {
    std::optional<StepCycles> least;  // of some parts of the counts
    StepCounting::Part counted = StepCounting::Part::Engines;
    const StepCycles* whole = nullptr;  // of KnownSteps
  };
  std::map<Trial, Cycles> cycles;

  // Thousandths of its time by which a layer has to gain with one of them to take it (choose.cc).
  std::unordered_map<const Mapping*, std::int64_t> worthwhile;
};

// All of that for one device.
struct KnownLayers {
  explicit KnownLayers(const Device& ofAll) : device(ofAll) {}  // needs: it outlives this
  explicit KnownLayers(const Device&&) = delete;

  const Device& device;
  LayerKinds kinds;
  KnownSteps steps;
  KnownFinalists finalists;  // of plans that give nothing up
  // In closed form, the end of the best of all plans so far, of the network in any order of its
  // blocks and fused in any way: none is tiled that will not end before.
  std::optional<Cycles> bestEnd;
  void note(Cycles end) { bestEnd = std::min(end, bestEnd.value_or(end)); }
};

}  // namespace heddle
