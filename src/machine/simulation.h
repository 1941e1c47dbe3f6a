// The event engine. Engines run their queues in order; an instruction starts when it heads every
// queue that it needs and all its locks are there, and occupies those engines until it ends. With a
// DataPath every start also moves bytes; the events and their times are the same without.
//
// Order: events run by (time, insertion number); at one time, all that ends lets go before anything
// starts.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "data_path.h"
#include "executable.h"
#include "happens_before.h"
#include "heddle/machine/machine.h"
#include "shared_rate.h"

namespace heddle::machine {

class Simulation {
 public:
  // `data` is null where only time counts.
  Simulation(const Executable& executable, const SimulateOptions& options, DataPath* data);

  // Throws Fault.
  SimulateResult run();

 private:
  struct LockNeed {
    std::int32_t lock = -1;  // entry of Program::locks
    std::int64_t count = 0;
  };
  struct LockState {
    std::int64_t value = 0;
    SliceRef lastRelease;
  };
  // Why the head of a queue has not started yet, as last seen.
  struct Blocked {
    WaitKind kind = WaitKind::None;
    std::int32_t lock = -1;
    EngineIndex engine = -1;  // the partner, or the DDR channel
  };
  struct EngineState {
    // Position: section of the queue, place in its code, loop counters.
    std::int64_t frame = 0;
    std::size_t section = 0;
    std::int32_t at = 0, depth = 0;
    std::array<std::int64_t, kMaxLoopDepth> counters{};
    std::int64_t entry = 0;  // of the head, of all frames

    std::int32_t leaf = -1;  // the head's; -1: the queue has ended
    Work work;               // the head's
    bool busy = false, queued = false;
    std::int64_t ready = 0;
    std::vector<LockNeed> acquire, release;
    std::vector<EngineIndex> partners;  // Send: receivers; Receive: the wire
    EngineIndex channel = -1;           // Start, Wait
    std::int64_t waitEntry = 0;
    std::uint64_t order = 0;  // of the End event that is valid
    Blocked blocked;

    std::int32_t track = -1;
    SliceRef last;                                      // its newest slice
    std::int64_t entries = 0;                           // of a frame
    std::int64_t entriesStarted = 0, entriesEnded = 0;  // DDR channels
    SliceRef lastStart;                                 // the START given last
    std::uint32_t operation = 0;                        // of the data path
  };
  struct Event {
    std::int64_t time;
    std::uint64_t order;  // insertion number
    EngineIndex engine;
    bool operator>(const Event& o) const {
      return time != o.time ? time > o.time : order > o.order;
    }
  };

  const Leaf& leafOf(const EngineState& s) const {
    return x_.leaves[static_cast<std::size_t>(s.leaf)];
  }
  EngineState& state(EngineIndex e) { return engines_[static_cast<std::size_t>(e)]; }
  const EngineState& state(EngineIndex e) const { return engines_[static_cast<std::size_t>(e)]; }
  std::int64_t value(const Affine& a, EngineIndex e) const {
    const EngineState& s = state(e);
    return valueOf(a, s.counters.data(), s.depth, x_.engine(e));
  }

  // Queues.
  void begin();
  void countInstructions();
  void tellProgress();
  bool seek(EngineState& s);  // from a place in the code to the next leaf; whether a top-level item
                              // was left on the way
  bool advance(EngineIndex e);
  void arrive(EngineIndex e);
  void resolveLocks(EngineIndex e);
  Work workOf(EngineIndex e) const;
  void resolvePartners(EngineIndex e, const Transfer<Affine>& send);
  Tile tileOf(EngineIndex e, const LockTerm& term) const;
  void need(EngineIndex e, const LockTerm& term, std::vector<LockNeed>& needs) const;

  // Events.
  void queueAttempt(EngineIndex e);
  void attempt(EngineIndex e);
  bool locksThere(EngineIndex e, Blocked& blocked) const;
  void attemptSend(EngineIndex wire);
  void start(EngineIndex e, bool shared);
  void occupy(EngineIndex e, EngineIndex primary, std::int64_t end);
  void learn(EngineIndex e);
  void moveData(EngineIndex e, std::int64_t end);
  void finish(EngineIndex e);
  void letEntryRun(EngineIndex sequencer);
  void letGo(EngineIndex e);
  void countTraffic(const EngineState& s);
  void scheduleEnd(EngineIndex e, std::int64_t time);
  void reschedule(SharedRate& rate);
  std::int64_t duration(EngineIndex e) const;
  bool takesOneCycle(const EngineState& s) const;
  SharedRate* shareOf(EngineIndex e);
  void noteWait(EngineIndex e, EngineIndex primary, SpanSlice& slice) const;

  // The end.
  void checkFullestLock() const;
  std::string whereIs(EngineIndex e) const;

  const Executable& x_;
  const SimulateOptions& options_;
  DataPath* data_;
  std::optional<HappensBefore> happensBefore_;  // with data
  std::vector<EngineState> engines_;
  std::vector<LockState> locks_;
  struct {
    // The highest value of any lock; with data whatever the times are, else in this run.
    std::int64_t value = 0;
    std::int32_t lock = -1;
    std::string where;
  } fullest_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> ends_;
  std::vector<EngineIndex> attempts_;  // of this moment, first in first out
  std::size_t nextAttempt_ = 0;
  std::vector<EngineIndex> receivers_;  // of the transfer that ends
  std::vector<Execution> receives_;     // of the transfer that starts
  std::uint64_t order_ = 0;
  std::int64_t now_ = 0;
  std::int64_t instructions_ = 0;  // of the whole run, on all engines
  std::int64_t ended_ = 0, nextTold_ = 0;
  std::optional<SharedRate> readShare_, writeShare_;
  SimulateResult result_;
};

}  // namespace heddle::machine
