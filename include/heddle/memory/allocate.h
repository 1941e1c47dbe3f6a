// What lies where and when: tensors in memtiles or in DDR, the ways in and out of DDR, and each
// step's core memory.
//
//   step      0    1    2    3         a step of the plan's schedule
//   offset 0  [ a      ][ c     ]      a and c never meet, so they share the floor;
//   64 KiB         [ b     ]           b meets both and sits above
//
// A tensor is at home in the memtiles or in DDR; then every use streams it through a small ring of
// places in a memtile. At home, boxes that live over the same steps lie at one address of each
// memtile; of a layer that is tiled some rows may live shorter than others.
//
// Boxes are placed by first fit; those that find no place that way are packed anew with all that
// were placed before them (heddle/packing/pack.h), and their tensor goes without only if that fails
// too.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/support/byte_range.h"
#include "heddle/tiling/lives.h"
#include "heddle/tiling/plan.h"
#include "heddle/tiling/slice.h"

namespace heddle {

// Places in a memtile through which rows or records pass, one after another.
struct StreamPlan {
  std::int64_t address = 0, slotBytes = 0, slots = 0;
  friend bool operator==(const StreamPlan&, const StreamPlan&) = default;
};

struct TensorMemory {            // of a root; of a view nothing
  std::vector<Slice> slices;     // at home in the memtiles, a slice for each box; empty: DDR only
  std::vector<StepRange> lives;  // per slice
  std::optional<std::int64_t> ddr;  // address in DDR
  // Bytes from the place of one frame's to that of the next: of what the host gives or takes, where
  // a run has several; 0: all frames use one place.
  std::int64_t frameStride = 0;
  StepRange life;  // from the first step that touches any of it to the last
  friend bool operator==(const TensorMemory&, const TensorMemory&) = default;
};

struct StepMemory {
  std::int64_t coreBase = 0;         // the step's buffers in core memory begin here
  std::vector<StreamPlan> inputs;    // per operand, the same in every memtile; no slots where the
                                     // operand is at home
  std::optional<StreamPlan> output;  // of the first core that writes through a memtile; the n-th
                                     // one's is n * slots * slotBytes further
  std::vector<StreamPlan> weights;  // per weight route of the layer; no slots where all are at home
  // Likewise: a slot for each record that stays, at one address in all steps of the layer; empty
  // where none does.
  std::vector<StreamPlan> recordHomes;
  friend bool operator==(const StepMemory&, const StepMemory&) = default;
};

struct MemoryPlan {
  std::vector<TensorMemory> tensors;  // per tensor of the graph
  std::vector<StepMemory> steps;      // per step of the schedule
  std::int64_t weightStaging = 0;     // address in every memtile; homes end below it
  std::int64_t weightsAddress = 0;    // of the WeightImage in DDR, behind all tensors
  std::int64_t memtilePeak = 0;
  friend bool operator==(const MemoryPlan&, const MemoryPlan&) = default;
};

// Ensures: memory that meets in time does not meet in space; addresses are multiples of 8 bytes.
// Errors: MEM001 a step's streams alone do not fit a memtile (names layer, bytes needed and there);
//         MEM003 a home for which there is no place;
//         MEM007 a layer of whose weight records not one of each route fits beside the homes;
//         MEM008 weight records that are to stay, for which there is no place beside the homes.
Result<MemoryPlan> allocateMemory(const CanonicalGraph& graph, const Plan& plan,
                                  const Device& device);

// The same, but says which homes have no place (MEM003), and which layers' records that are to stay
// (MEM008): what a planner asks to know what must live in DDR.
struct Allocation {
  MemoryPlan memory;
  std::vector<TensorId> withoutPlace;
  std::vector<LayerId> recordsWithoutPlace;
  bool fitsAll() const { return withoutPlace.empty() && recordsWithoutPlace.empty(); }
  // Per step the bytes of every memtile in which its weight records may wait: those that the plan
  // sets aside, and above the homes what is free in the step and the one before it; below rows that
  // come ahead. Empty where it has none.
  std::vector<ByteRange> recordRooms;
};
Result<Allocation> placeInMemory(const CanonicalGraph& graph, const Plan& plan,
                                 const Device& device);

class MemoryAllocator;

// Whether records that are to stay have places beside a plan's homes, for any numbers of them: what
// else lies in the memtiles is placed once. Needs: plan and the others outlive it, the homes have
// places, and nothing of the plan changes but Mapping::recordsAtHome.
class RecordHomes {
 public:
  RecordHomes(const CanonicalGraph& graph, const Plan& plan, const Device& device);
  ~RecordHomes();
  // Bytes of the longest stretch of every memtile that is free from the step before the layer's
  // first to its last, beside what stays of other layers.
  std::int64_t longestFor(LayerId layer) const;
  bool allFit() const;

 private:
  std::unique_ptr<MemoryAllocator> allocator_;
};

// Weight records of a route that wait in a memtile at most.
inline constexpr std::int64_t kMostStaged = 8;

// How many records of each of a mapping's routes wait in so many bytes; 0 where there are none.
std::int64_t recordPlaces(std::int64_t staging, const Mapping& mapping, const Device& device);

// Bytes of the memtile that takes most, with so many records of each route.
std::int64_t recordBytes(const Mapping& mapping, std::int64_t places);

// Where the records of one step after another wait: in the highest bytes of their room that those
// of the step before leave free. Homes of earlier steps seldom reach up there, so that records come
// further ahead.
//
//   step              0    1    2          0    1    2
//   end of memtile  [    |    | rows ]   [ r0 |    | rows ]
//                   [    |    | r2   ]   [    | r1 |      ]
//                   [ r0 | r1 | home ]   [    |    | r2   ]
//                   [ home    | home ]   [ home    | home ]
class RecordSpread {
 public:
  // Of Allocation::recordRooms, which outlive it.
  explicit RecordSpread(const std::vector<ByteRange>& rooms) : rooms_(rooms) {}
  explicit RecordSpread(const std::vector<ByteRange>&& rooms) = delete;
  // Needs: `bytes` fit the step's room.
  ByteRange placeOf(std::size_t step, std::int64_t bytes) const;
  // Those of a step lie there; the next that is asked for comes after it.
  void take(const ByteRange& place);

 private:
  const std::vector<ByteRange>& rooms_;
  ByteRange before_;
};

// What a row of an operand out of DDR takes of a memtile, with the columns between its own: at most
// so many bytes.
std::int64_t streamedRowBytes(const CanonicalGraph& graph, const Plan& plan, const RingPlan& ring,
                              TensorId tensor);
// Rows of an operand that come through a memtile in one sweep over a step.
std::int64_t rowsThrough(const CanonicalGraph& graph, const Plan& plan, std::size_t step,
                         std::size_t operand);

// Where the buffers of a step begin in core memory, where those before it end at `end`: behind
// them, around the circle, so that its first transfers overlap the end of that step.
std::int64_t coreBaseAfter(std::int64_t end, const Mapping& mapping, const Device& device);

// Which of the cores that write through one memtile a share's is, counted in the mapping's order;
// which of the weight routes of one memtile a route is.
std::int64_t outputRank(const Mapping& mapping, const CoreShare& share);
std::int64_t weightRank(const Mapping& mapping, std::size_t route);

// Re-checks a memory plan the slow way, sharing no code with the allocator.
//
// | code   | when                                                                              |
// |--------|-----------------------------------------------------------------------------------|
// | MEM002 | memory that meets in time and in space, or lies outside its tile                   |
// | MEM004 | slices, or places of records that stay, that are not the plan's; lives too short   |
// | MEM005 | places of a stream, or of records that stay, that are too few or too small         |
// | MEM006 | tensors in DDR that have no address, meet, or lie among the weights                |
Diagnostics verify(const MemoryPlan& memory, const CanonicalGraph& graph, const Plan& plan,
                   const Device& device);

std::string print(const MemoryPlan& memory, const CanonicalGraph& graph,
                  const PlanOrigin& origin = {});

struct MemoryPlanText {
  MemoryPlan memory;
  PlanOrigin origin;
};
// Reads what print writes. Errors: MEM010 a line of a memory plan that is none, with its place.
Result<MemoryPlanText> parseMemoryPlan(const std::string& text, const std::string& name);

}  // namespace heddle
