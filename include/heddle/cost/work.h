// What the steps of a plan do, as plain counts, and the time that follows from them in closed form:
// no event is simulated. Whoever has a plan counts (tiling: LayerNest; planner/count_work.h), this
// turns counts into cycles; planner, report and plan.txt show the same figure, and the Machine
// judges it.
//
//   a 3x3 convolution of 14 rows on one core, ring of 4 rows:
//     calls   1 x {CONV, ahead: 2 rows on the wire, waited: 0}        the first window
//            13 x {CONV, ahead: 1 row on the wire, out: 1 row}
//     wires   14 rows of inputs, 1 record of weights
//   -> 13 * max(CONV, a row by wire, a row out) + ... cycles, and when each wire and DDR channel is
//      free again
//
// Source: docs/plan.md, section on time.
#pragma once
#include <cstdint>
#include <vector>

#include "heddle/cost/cost.h"
#include "heddle/cost/resource.h"
#include "heddle/support/byte_range.h"

namespace heddle {

struct TransferCount {  // transfers of one size, one after another through one engine
  Bytes size;
  std::int64_t times = 0, acquires = 0;  // of them those that take the device's lock latency
  friend bool operator==(const TransferCount&, const TransferCount&) = default;
};
using Transfers = std::vector<TransferCount>;

// Adds `times` transfers of `size` bytes; none of no bytes.
void add(Transfers& to, Bytes size, std::int64_t times, bool acquires = true);

Bytes bytesOf(const Transfers& transfers);

// Rows on their way to a core: over the busiest of their wires and out of the busiest of their DDR
// channels, rows for other cores over the same ones included.
struct RowTransfers {
  Transfers wire, ddr;
  friend bool operator==(const RowTransfers&, const RowTransfers&) = default;
};

// Calls of a core that are alike, with what must have come before each can begin.
struct CallWork {
  KernelWork kernel;
  KernelWork pace;      // of the slowest core that gets the same rows at the same time
  RowTransfers ahead;   // for which there is room while the call before runs
  RowTransfers waited;  // only after it has ended
  Transfers out;        // its output row leaves, while the next call runs
  std::int64_t times = 0;
  friend bool operator==(const CallWork&, const CallWork&) = default;
};

struct CoreWork {  // of cores that do the same
  std::vector<CallWork> calls;
  std::vector<CallWork> loading;  // of them those that bring what stays in the core
  std::int64_t stays = 0;         // how often such rows begin to come; 0: none stay
  RowTransfers first;             // rows of the first call
  std::int64_t rowsBefore = 0;    // of the first operand, before the last one that it asks for
  // Records on the wires of its rows, for which these wait, and calls for which it has rows while
  // they do: more than the one that runs, of weighted layers whose rows do not stay.
  Transfers recordsAmongRows;
  std::int64_t callsAhead = 0;
  // Where its records take turns over several wires, or share one with rows that do: of these wires
  // the one with most to do; else -1.
  std::int64_t turnsWire = -1;
  bool recordsByTurns = false;
  // Rows of the first operand that come in all, and that it has place for.
  std::int64_t rows = 0, places = 0;
  // Over which rows of any operand come to a core: of all these cores, each set once.
  std::vector<std::vector<std::int64_t>> rowWires;
  std::int64_t cores = 0;
};

struct ChannelWork {  // of a wire or a DDR channel
  Transfers weights, activations;
  Transfers firstWeights;        // of `weights`, the first record of each turn of each route
  Transfers firstOfRoutes;       // of these, the first of each route
  std::int64_t turns = 1;        // of a route among whose records these are
  std::int64_t firstRecord = 0;  // the number, among its route's, of the first record it brings
  bool passes = false;  // some of `activations` go through the cores instead of staying there
  friend bool operator==(const ChannelWork&, const ChannelWork&) = default;
};

struct Producer {
  std::int64_t step = 0;
  bool whole = false;  // all of its output must be there: it comes back out of DDR
  friend bool operator==(const Producer&, const Producer&) = default;
};

// What a step does wherever it stands in a schedule and in memory.
struct StepCounts {
  std::vector<CoreWork> cores;                 // none: the step executes nothing
  std::vector<ChannelWork> wires;              // per wire of the device
  std::vector<ChannelWork> ddrRead, ddrWrite;  // per memtile and channel of it
  Bytes record;                                // the largest weight record
  std::int64_t records = 0;                    // that a core receives
  std::int64_t weightSlots = 0;                // places for them in a core
  std::int64_t height = 1;  // rows of the first operand; in a tile those behind the tile before
  // The first iteration that reads its last rows; the last iteration where they stay.
  std::int64_t lastRows = 0;
  // When its output is written, by iterations of the loops over time.
  struct Writing {
    std::int64_t iterations = 1;
    // The first that writes rows; the first that writes rows of the last pass.
    std::int64_t first = 0, last = 0;
    std::int64_t all = 1, ofLastPass = 1;  // how many write
    friend bool operator==(const Writing&, const Writing&) = default;
  } writing;
};

// Where it stands.
struct StepPlace {
  struct Whole {  // what a DDR channel moves of a tensor that goes whole to or from its home
    std::size_t channel = 0;
    TransferCount rows;
    friend bool operator==(const Whole&, const Whole&) = default;
  };
  std::int64_t recordsStaged = 0;   // places for weight records in a memtile
  ByteRange staging;                // where these lie; empty: where those of the step before do
  bool rowsAhead = false;           // all rows out of DDR can come before the step begins
  ByteRange weights, rings, all;    // where its buffers lie in the cores
  std::vector<Producer> producers;  // steps whose outputs it reads
  std::vector<Whole> reads, writes;
};

// One step of a schedule.
struct StepWork : StepCounts, StepPlace {};

struct StepTime {
  Cycles begin, end;           // of its calls; last byte of its output
  Cycles cycles;               // end, less that of all steps before; what it adds to the whole
  PerResource<Cycles> busy{};  // of the busiest engine
  Resource boundBy = Resource::Compute;  // the engine that is busy longest
};

// The parts of a step's time, each as if it stood alone; every core, wire and channel at its own
// pace, what is slowest decides.
struct StepTerms {
  struct Wire {              // of the device
    Cycles inputs, weights;  // rows of operands, records
    friend bool operator==(const Wire&, const Wire&) = default;
  };
  Cycles compute, output;              // of the busiest core: its calls, its rows on their way out
  std::vector<Wire> wires;             // per wire of the device
  Cycles ddrReadWeights, ddrReadRows;  // of the busiest channel of all
  Cycles ddrWrite;                     // likewise
  Cycles firstRows;    // before the first call: until its rows are there, of the last core
  Cycles firstRecord;  // likewise the first weight record of each route
  friend bool operator==(const StepTerms&, const StepTerms&) = default;
};

// Counts in cycles of a device: all that a StepClock asks of them, so that a step that is tried
// often is added up once.
class StepCycles {
 public:
  StepCycles(const StepCounts& counts, const Device& device);
  // Of counts that lack some of the cores, or all: with them no step ends earlier.
  static StepCycles ofSomeCores(const StepCounts& counts, const Device& device);
  // Of the core, wire or sending channel that has most to do: the step alone takes no less, however
  // early its bytes come out of DDR.
  Cycles busiest() const;

 private:
  friend class StepClock;
  struct Span {  // of the busiest core
    std::int64_t calls = 0, first = 0, lastCall = 0, lastOut = 0;
    std::int64_t callsByWire = 0, firstByWire = 0;  // where rows wait in the memtile
    std::int64_t loading = 0;                       // until what stays in the core is there
    // The same where all rows for which there are places have come before.
    std::int64_t callsWithRows = 0, loadingWithRows = 0;
    std::int64_t stays = 0;             // of CoreWork
    std::int64_t rows = 1, places = 1;  // likewise
    std::int64_t lostOfWires = 0;       // by each that brings records
    std::int64_t rowsBefore = 0;        // of the core whose first rows come last
  };
  struct Engine {  // cycles with each, and bytes of both together
    std::int64_t weights = 0, activations = 0, firstWeights = 0, firstOfRoutes = 0, bytes = 0,
                 turns = 1, firstRecord = 0;
    bool passes = false;  // of ChannelWork
    // Of a wire, those of Span of the cores to which it brings rows.
    std::int64_t calls = 0, callsByWire = 0;
  };
  void addCores(const std::vector<CoreWork>& cores, const Device& device);
  struct Lost {
    std::int64_t ofCore = 0, ofWire = 0;
  };
  Lost lostByTurns(const CoreWork& core, std::int64_t calls) const;
  std::int64_t keepingStep(const CoreWork& core) const;
  bool executes_ = false, ofAllCores_ = true;
  Span span_;
  std::int64_t compute_ = 0, output_ = 0;  // of the core that is busy longest with each
  std::vector<Engine> wires_, ddrRead_, ddrWrite_;
  Bytes record_;
  std::int64_t recordWire_ = 0, recordDdr_ = 0;  // the largest record by wire, out of DDR
  std::int64_t records_ = 0, weightSlots_ = 0, height_ = 1, lastRows_ = 0;
  StepCounts::Writing writing_;
};

// Follows the engines from step to step, from an idle array.
class StepClock {
 public:
  explicit StepClock(const Device& device);  // which outlives it
  explicit StepClock(const Device&&) = delete;
  StepTime next(const StepWork& step) { return next(StepCycles(step, *device_), step); }
  StepTime next(const StepCycles& step, const StepPlace& place);
  // Wherever the step stands.
  StepTerms termsOf(const StepCycles& step, const StepPlace& place) const;
  // When it would end if it were next.
  Cycles endOf(const StepCycles& step, const StepPlace& place);

 private:
  struct Staged {  // a step's weight records
    ByteRange bytes;
    std::int64_t sent = 0, lastPlace = 0;  // when the wires were done with the last, where it lay
    Bytes record;
    std::int64_t cycles = 0;  // of a record of each of its routes
  };
  struct Past {  // a step before, in cycles
    ByteRange cores;
    std::int64_t begin = 0, end = 0, coreFree = 0;
    std::int64_t firstRows = 0;  // when the cores have the first rows of all its outputs
    Staged staged;
  };
  struct Engines {
    std::vector<std::int64_t> wireFree, ddrFree;  // per wire, per DDR channel
    std::vector<std::int64_t> from;               // per wire: when it begins with the step
    std::int64_t sharedFree = 0;
  };
  // When the DDR channels have brought what a step reads.
  struct Brought {
    std::int64_t record = 0, rows = 0;  // the first of each
    // Of what goes whole: all of it, and the first rows of the core that begins last.
    std::int64_t wholeRows = 0, lastCoresRows = 0;
    std::int64_t streamed = 0;  // the last rows of what goes on to the cores as it comes
    std::int64_t weights = 0;   // the last record
    std::int64_t end = 0;       // of calls with the last of all
  };
  // When the busiest wires are done with a step's pieces, its first record is there, its first
  // rows.
  struct Sent {
    std::int64_t end = 0, record = 0, weights = 0, rows = 0;
  };
  Past advance(Engines& engines, const StepCycles& step, const StepPlace& place) const;
  Sent send(Engines& engines, const StepCycles& step, const StepPlace& place,
            const Brought& brought) const;
  static std::int64_t callsFrom(const Engines& engines, const StepCycles& step,
                                const StepPlace& place, std::int64_t begin, std::int64_t first,
                                std::int64_t least);
  static std::int64_t firstRowsOf(const StepCycles::Engine& wire, std::int64_t from);
  std::int64_t writeCycles(const StepCycles& step, const StepPlace& place) const;
  Brought bring(Engines& engines, const StepCycles& step, const StepPlace& place,
                std::int64_t calls, std::int64_t record) const;
  static std::int64_t behindWhole(const StepCycles& step, std::int64_t whole, std::int64_t calls);
  static std::int64_t writtenBy(const StepCycles& step, std::int64_t begin, std::int64_t calls,
                                std::int64_t loading, std::int64_t written);
  static void keepWithinPlaces(Engines& engines, const StepCycles& step, const StepPlace& place,
                               std::int64_t begin, std::int64_t loaded);
  static std::int64_t rowsThere(const StepCycles::Engine& engine, const StepCycles& step,
                                const Past& past);
  static Staged release(Engines& engines, const StepCycles& step, const StepPlace& place,
                        const Past& past);
  std::int64_t stagingFreeFor(const StepPlace& place, Bytes record) const;
  StepCycles::Engine withWhole(StepCycles::Engine channel, std::size_t number,
                               const std::vector<StepPlace::Whole>& all,
                               const TransferRate& rate) const;
  std::int64_t roomFree(const ByteRange& bytes) const;
  std::int64_t dataReady(const StepPlace& place) const;
  std::int64_t dataEnd(const StepPlace& place) const;
  std::int64_t lastFirstRows(const StepCycles& step, const StepPlace& place) const;
  void countBusy(const StepCycles& step, const StepPlace& place, StepTime& time) const;

  const Device* device_;
  TransferRate ddrRead_, ddrWrite_;
  Engines engines_, tried_;  // tried_: of endOf, which is asked often
  std::vector<Past> past_;   // per step
};

// Work of a schedule's steps, in order, from an idle array.
std::vector<StepTime> stepTimes(const std::vector<StepWork>& steps, const Device& device);

}  // namespace heddle
