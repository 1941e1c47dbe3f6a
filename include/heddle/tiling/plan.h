// How a network is laid out over the mesh and over time, as one value: who computes what (mapping),
// which way every byte goes (routes), where tensors live (homes) and in which order (schedule). The
// planner proposes it, verify checks it against the device, later stages only read it.
//
//   layer 'conv', 8x8x64 -> 8x8x256 on 2x2           a core's share: pixels x channel blocks
//     core(0, 0)  y 0..8 x 0..4  blocks 0..16        routes: rows of the input to cores (0-1, 0)
//     core(1, 0)  y 0..8 x 0..4  blocks 16..32         over wire 0 into channel 0; records of
//     core(0, 1)  y 0..8 x 4..8  blocks 0..16          weights to cores (0, 0-1) over wire 2
//     core(1, 1)  y 0..8 x 4..8  blocks 16..32         into channel 1
//
// Any plan that passes verify compiles to a program that computes the network: the schedule refines
// to one sequence of transfers and calls (program/generate.h), and every queue is a projection of
// it. Source: paper 004, sections on subvolumes and on the mapping to the mesh.
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "heddle/canon/block_orders.h"
#include "heddle/canon/canonical_graph.h"
#include "heddle/cost/work.h"
#include "heddle/device/device.h"
#include "heddle/support/result.h"
#include "heddle/tiling/slice.h"

namespace heddle {

struct Interval {  // [first, first + count)
  std::int64_t first = 0, count = 0;
  std::int64_t end() const { return first + count; }
  bool empty() const { return count <= 0; }
  friend auto operator<=>(const Interval&, const Interval&) = default;
};

// What lies in both; empty where nothing does.
inline Interval common(const Interval& a, const Interval& b) {
  const std::int64_t first = std::max(a.first, b.first);
  return {first, std::max<std::int64_t>(std::min(a.end(), b.end()) - first, 0)};
}

// `count` things in `parts` nearly equal intervals; the first ones are longer by one. Interval
// number `index`.
inline Interval evenPart(std::int64_t count, std::int64_t parts, std::int64_t index) {
  const std::int64_t each = count / parts, longer = count % parts;
  return {index * each + std::min(index, longer), each + (index < longer ? 1 : 0)};
}

// ---- mapping ------------------------------------------------------------------------------------

struct PixelBox {  // a rectangle of output pixels
  Interval y, x;
  bool empty() const { return y.empty() || x.empty(); }
  friend auto operator<=>(const PixelBox&, const PixelBox&) = default;
};

std::int64_t pixelsOf(const std::vector<PixelBox>& boxes);

struct CoreAt {
  std::int64_t row = 0, column = 0;
  friend auto operator<=>(const CoreAt&, const CoreAt&) = default;
};

// Where a core's output leaves: through its sending channel into the memtiles that hold the
// tensor's home; where it has none, through places in `memtile` and a DDR channel of that.
struct OutputRoute {
  std::int64_t channel = 0, memtile = 0, ddrChannel = 0;
  friend bool operator==(const OutputRoute&, const OutputRoute&) = default;
};

inline constexpr std::size_t kMaxBoxes = 3;  // head, body and tail of flattened pixels

// What one core computes of a layer: all pixels of its boxes, one box after another, in `blocks`.
struct CoreShare {
  CoreAt core;
  std::vector<PixelBox> boxes;
  Interval blocks;
  OutputRoute output;
  friend bool operator==(const CoreShare&, const CoreShare&) = default;
};

struct Lane {  // a wire, and the receiving channel that it leads to in every core
  std::int64_t wire = 0, channel = 0;
  friend auto operator<=>(const Lane&, const Lane&) = default;
};

// One stream of an operand: rows of an activation, or weight records, to cores that need the same.
// Piece n goes over lane n mod lanes. What comes from DDR waits in places of `memtile`, brought by
// its channel `ddrChannel`; the rest is sent from where it is at home. A piece is told up to `lead`
// calls before its first reader's, as far as places are free: ahead of what other streams of the
// same queue have to say (rows within one sweep; records also across sweeps).
struct Route {
  std::vector<CoreAt> cores;
  std::vector<Lane> lanes;
  std::int64_t memtile = 0, ddrChannel = 0, lead = 0;
  // Piece n comes by the channel that is n mod ddrTurns behind `ddrChannel`, around the memtile's.
  std::int64_t ddrTurns = 1;
  std::int64_t ddrChannelOf(std::int64_t piece, const Device& device) const {
    return (ddrChannel + piece % ddrTurns) % device.memtile.ddrChannelsIn;
  }
  friend bool operator==(const Route&, const Route&) = default;
};

// The loops over time of one core, around the rows of its boxes (one kernel call is up to
// `callRows` of them; with a pool or a depth-wise convolution at the end, one row is as many calls
// of so many as that reads, and one of that).
enum class NestLoop { Pass, Chunk, Band, Part };

struct ReductionPart {
  Interval inputBlocks;  // of the input tensor (CONV); 0, 0 where channels are not reduced
  Interval kernelRows;
  friend bool operator==(const ReductionPart&, const ReductionPart&) = default;
};

// The rows of one operand that a core holds. Out of memtiles, those of a later iteration
// (LayerNest::isLater) that lie in `together` places from a multiple of that on, where a sweep
// begins, come in one transfer; not those that stay in the core, nor, with `onlyBetween`, those of
// the last iteration of a chunk and band (LayerNest::isBetween).
struct RingPlan {
  std::int64_t length = 0, rowBytes = 0, together = 1;
  bool onlyBetween = false;
  friend bool operator==(const RingPlan&, const RingPlan&) = default;
};

struct Mapping {
  std::vector<CoreShare> shares;  // in the order in which their rows are told; empty: in place
  // Outermost first. Part innermost keeps one band of sums, chunks and bands inside it keep more;
  // Pass innermost with `resident` keeps inputs while weights go by; Pass outermost keeps weights.
  std::array<NestLoop, 4> order{NestLoop::Pass, NestLoop::Chunk, NestLoop::Band, NestLoop::Part};
  std::int64_t blocksPerPass = 1, passes = 1, chunks = 1, bands = 1;
  // Rows that a kernel call computes at most; where more, those of inner iterations
  // (LayerNest::isInner), in which nobody waits for the first of them. With a window at the end
  // those are of what it reads, and inner ones only sum.
  std::int64_t callRows = 1, innerCallRows = 1;
  std::vector<ReductionPart> parts;
  bool resident = false;  // all input of a chunk and band stays in the core over passes and parts
  std::vector<RingPlan> rings;                    // per operand
  RingPlan pooled;                                // rows that a window at the end reads
  std::int64_t weightSlots = 0, weightBytes = 0;  // largest record of a pass
  bool equalRecords = false;                      // all are padded to weightBytes
  // Of each route's different records (LayerNest::recordKey) the first so many stay in its memtile
  // from the layer's first step to its last, and come out of DDR once in a frame.
  std::int64_t recordsAtHome = 0;
  std::int64_t outputSlots = 2, outputRowBytes = 0, accumulatorBytes = 0;
  std::vector<std::vector<Route>> inputs;  // per operand
  std::vector<Route> weights;
  Cycles score;         // what the search for this mapping minimised
  std::string boundBy;  // the largest term of the score
  friend bool operator==(const Mapping&, const Mapping&) = default;

  bool inPlace() const { return shares.empty(); }
  std::int64_t extent(NestLoop loop) const;
  // Bytes of core memory: all buffers.
  std::int64_t coreBytes() const;
  // Output blocks of a core in pass `pass` (empty: it sits this pass out).
  Interval passBlocks(const CoreShare& share, std::int64_t pass) const;
  const CoreShare* shareOf(const CoreAt& core) const;
};

// Most of the routes that begin at one memtile; 0 without routes.
std::int64_t mostRoutesOfAMemtile(const std::vector<Route>& routes);

// Weight records that each route brings in a step: what the loops inside all that change the record
// repeat is held.
std::int64_t recordsOf(const Mapping& mapping);

// Different ones among them at most: one for each pass and part. Where all are at home, none waits
// in the memtiles on its way.
std::int64_t differentRecords(const Mapping& mapping);
inline bool allRecordsAtHome(const Mapping& mapping) {
  return mapping.recordsAtHome >= differentRecords(mapping);
}

// ---- homes and schedule -------------------------------------------------------------------------

// A tensor that is channels of another, from block `block` of its root on, at all pixels of it or
// at some; a root is its own.
struct View {
  TensorId root;
  std::int64_t block = 0;
  std::optional<Sampling> sampling;
  friend bool operator==(const View&, const View&) = default;
  // Where in its root, whichever that is.
  View withoutRoot() const { return {TensorId(), block, sampling}; }
};

// The part of a tensor that one memtile keeps.
struct HomeBox {
  std::int64_t memtile = 0;
  Interval y, x, blocks;
  std::int64_t bytes() const { return y.count * x.count * blocks.count * kBlock; }
  friend bool operator==(const HomeBox&, const HomeBox&) = default;
};
using Home = std::vector<HomeBox>;  // empty: in DDR only

// A step computes output rows `rows` of a layer, by all its cores.
struct ScheduleStep {
  LayerId layer;
  Interval rows;
  friend bool operator==(const ScheduleStep&, const ScheduleStep&) = default;
};

inline constexpr std::int64_t kMaxFrames = 1024;  // of one run
inline constexpr std::int64_t kMaxBatch = 64;     // inferences of a frame

struct Plan {
  std::vector<Mapping> layers;  // per operator of the graph
  std::vector<View> views;      // per tensor
  std::vector<Home> homes;      // per tensor; of roots only
  std::vector<ScheduleStep> schedule;
  // Bytes of every memtile set aside for weight records: homes end below. Those of a step may take
  // more where homes leave it.
  std::int64_t weightStaging = 0;
  std::int64_t frames = 1;  // in one run, each of CanonicalGraph::batch inferences
  friend bool operator==(const Plan&, const Plan&) = default;
};

// Whether a step is the first of its layer's to bring records by one of the layer's routes, so that
// those at home have still to come: the first in which some of the route's cores compute rows.
bool isFirstToBring(const Plan& plan, std::size_t step, const Route& route);

// A layer cuts the bytes for its records in equal parts: as many as it has weight routes at one
// memtile.
std::int64_t stagingPerRoute(std::int64_t staging, const Mapping& mapping);

// Re-checks a plan the slow way: every output pixel, block and term of the reduction once, every
// operand's way from its home to the cores that need it, every buffer in core memory, every step
// after those that it reads. What lies in memtiles is for allocateMemory to place.
//
// | code    | when                                                                             |
// |---------|----------------------------------------------------------------------------------|
// | PLAN003 | outputs that no core computes, or several; cores that are not there               |
// | PLAN004 | loops or parts of the reduction that are not the whole of it, each once           |
// | PLAN005 | a buffer too small, or in which more waits than a lock counts; what does not fit  |
// | PLAN006 | a route that does not serve its cores, or by a wire or memtile that cannot        |
// | PLAN007 | a tensor's home that is not the whole of it, or in no memtile of the device       |
// | PLAN008 | a schedule that leaves out, repeats, or reads what is not there yet               |
// | PLAN009 | tensors that share memory which no operator would copy there                      |
Diagnostics verify(const Plan& plan, const CanonicalGraph& graph, const Device& device);

// Whether some layer computes its rows in several steps.
bool isTiled(const Plan& plan, const CanonicalGraph& graph);

// "W/4 x C/4, 2 passes": a mapping in short, for people.
std::string splitText(const Mapping& mapping);

struct PlanOrigin {  // what a plan was made from: sha256 of the ONNX file and of printDevice's text
  std::string modelSha256, deviceSha256;
  std::int64_t batch = 1;  // CanonicalGraph::batch
  friend bool operator==(const PlanOrigin&, const PlanOrigin&) = default;
};

// `times`, where given, stand beside the steps of the schedule as comments.
std::string print(const Plan& plan, const CanonicalGraph& graph, const PlanOrigin& origin = {},
                  const std::vector<StepTime>& times = {});

// What the head of a plan or memory plan names; empty where it has no such line.
PlanOrigin readOrigin(const std::string& text);
// The names of a plan's layers; those of lines that can be read.
std::set<std::string> layersNamedIn(const std::string& text);

struct PlanText {
  Plan plan;
  PlanOrigin origin;
  BlockOrders orders;  // of the network's tensors that the plan is of; none at all: as they are
};
// Reads what print writes. `name` stands for the file in messages.
// Errors: PLAN010 a line of a plan that is none, with its place; a plan that lacks a layer, or
// folds other columns.
Result<PlanText> parsePlan(const std::string& text, const std::string& name,
                           const CanonicalGraph& graph);

}  // namespace heddle
