#include "simulation.h"

#include <algorithm>
#include <limits>
#include <span>

#include "fault.h"
#include "heddle/cost/cost.h"
#include "heddle/machine/diagnostics.h"
#include "heddle/support/check.h"

namespace heddle::machine {
namespace {

constexpr std::int64_t kMaxInstructions = std::int64_t{1} << 26;
constexpr std::int64_t kProgressSteps = 1000;
constexpr std::int64_t kMaxTime = std::int64_t{1} << 53;

std::int64_t addSaturated(std::int64_t a, std::int64_t b) {
  return std::min(a + b, kMaxInstructions + 1);
}

std::int64_t executions(const SectionCode& section) {
  std::int64_t total = 0;
  std::vector<std::int64_t> around{1};
  for (const Code& code : section.code) {
    switch (code.kind) {
      case Code::Kind::Leaf:
        total = addSaturated(total, around.back());
        break;
      case Code::Kind::Begin:
        around.push_back(static_cast<std::int64_t>(
            std::min<Int128>(Int128{around.back()} * code.count, kMaxInstructions + 1)));
        break;
      case Code::Kind::End:
        around.pop_back();
        break;
    }
  }
  return total;
}

std::int64_t lockMaximum(const Device& device) {
  return device.limits.lockMaximum.value_or(std::numeric_limits<std::int64_t>::max());
}

}  // namespace

Simulation::Simulation(const Executable& executable, const SimulateOptions& options, DataPath* data)
    : x_(executable), options_(options), data_(data), engines_(executable.numbers.count()) {
  const Rates& rates = x_.device->rates;
  HEDDLE_CHECK(options.oneCycle.empty() || options.oneCycle.size() == executable.leaves.size())
      << options.oneCycle.size() << " flags for " << executable.leaves.size() << " instructions";
  if (rates.ddrReadTotal) readShare_.emplace(*rates.ddrReadTotal, x_.device->clock);
  if (rates.ddrWriteTotal) writeShare_.emplace(*rates.ddrWriteTotal, x_.device->clock);
  for (const Lock& lock : x_.program->locks) locks_.push_back({lock.initial, {}});
  if (data_ != nullptr || options.locksOfAnyTimes) happensBefore_.emplace(x_);
  result_.stepEnd.resize(static_cast<std::size_t>(x_.program->frames) * x_.program->stepCount());
  for (EngineIndex e = 0; e < static_cast<EngineIndex>(engines_.size()); ++e) {
    if (x_.sectionsOf[static_cast<std::size_t>(e)].empty()) continue;
    for (const std::int32_t section : x_.sectionsOf[static_cast<std::size_t>(e)])
      state(e).entries += static_cast<std::int64_t>(
          x_.program->sections[static_cast<std::size_t>(section)].items.size());
    state(e).track = static_cast<std::int32_t>(result_.timeline.tracks.size());
    state(e).last.track = state(e).track;
    result_.timeline.tracks.push_back({x_.engine(e), {}});
  }
}

SimulateResult Simulation::run() {
  countInstructions();
  begin();
  for (;;) {
    if (!ends_.empty() && ends_.top().time == now_) {
      const Event event = ends_.top();
      ends_.pop();
      if (state(event.engine).busy && state(event.engine).order == event.order)
        finish(event.engine);
    } else if (nextAttempt_ < attempts_.size()) {
      const EngineIndex e = attempts_[nextAttempt_++];
      state(e).queued = false;
      attempt(e);
    } else if (!ends_.empty()) {
      attempts_.clear();
      nextAttempt_ = 0;
      now_ = ends_.top().time;
      const std::int64_t limit = options_.maxCycles ? options_.maxCycles->raw() : kMaxTime;
      if (now_ > limit)
        failTooLarge(kTooManyCycles, "cycle " + std::to_string(limit),
                     "the run takes more cycles than allowed",
                     "the limit is " + std::to_string(limit) + " cycles",
                     options_.maxCycles ? "raise --max-cycles" : "compile a smaller network");
    } else {
      break;
    }
  }
  // verify has found that every queue runs to its end, whatever the times are.
  HEDDLE_CHECK(std::ranges::all_of(engines_, [](const EngineState& s) { return s.leaf < 0; }))
      << "deadlock at cycle " << now_;
  checkFullestLock();
  result_.highestLock = fullest_.value;
  result_.instructions = instructions_;
  if (data_ != nullptr) data_->complete(result_, happensBefore_->known(kSequencer));
  return std::move(result_);
}

// At the end, so that the message says what would suffice.
void Simulation::checkFullestLock() const {
  if (fullest_.value <= lockMaximum(*x_.device)) return;
  const Lock& declared = x_.program->locks[static_cast<std::size_t>(fullest_.lock)];
  const std::string reached = std::to_string(fullest_.value);
  failTooLarge(
      "MACH006", fullest_.where,
      happensBefore_ ? "a lock can rise above its maximum" : "a lock rises above its maximum",
      "lock " + std::to_string(declared.index) + " of " + nameOf(declared.tile) +
          (happensBefore_ ? " reaches " + reached + " where its consumer is slow"
                          : " reaches " + reached) +
          ", 'limits.lockMaximum' is " + std::to_string(lockMaximum(*x_.device)),
      "choose a device with 'limits.lockMaximum' of " + reached +
          " or more, or another mesh or network");
}

void Simulation::countInstructions() {
  for (std::size_t i = 0; i < x_.sections.size(); ++i) {
    const std::int64_t engines = x_.program->sections[i].engines.size();
    instructions_ = static_cast<std::int64_t>(
        std::min<Int128>(instructions_ + Int128{executions(x_.sections[i])} * engines *
                                             (x_.sections[i].lastFrame ? 1 : x_.program->frames),
                         kMaxInstructions + 1));
  }
  if (instructions_ > kMaxInstructions)
    failTooLarge(
        "MACH016", "program '" + x_.program->model + "'", "the program is too long to be simulated",
        "it executes more than " + std::to_string(kMaxInstructions) + " instructions",
        x_.program->frames > 1 ? "simulate fewer frames or layers" : "simulate fewer layers");
}

void Simulation::tellProgress() {
  if (++ended_ < nextTold_) return;
  const std::int64_t step = std::max<std::int64_t>(instructions_ / kProgressSteps, 1);
  nextTold_ = std::min(ended_ + step, instructions_);
  if (options_.progress)
    options_.progress(static_cast<double>(ended_) / static_cast<double>(instructions_));
}

// ---- events ----

void Simulation::queueAttempt(EngineIndex e) {
  EngineState& s = state(e);
  if (s.queued) return;
  s.queued = true;
  attempts_.push_back(e);
}

bool Simulation::locksThere(EngineIndex e, Blocked& blocked) const {
  for (const LockNeed& need : state(e).acquire)
    if (locks_[static_cast<std::size_t>(need.lock)].value < need.count) {
      blocked = {WaitKind::Lock, need.lock, -1};
      return false;
    }
  return true;
}

void Simulation::attempt(EngineIndex e) {
  EngineState& s = state(e);
  if (s.busy || s.leaf < 0) return;
  switch (leafOf(s).op) {
    case Op::Start:
      start(e, false);
      break;
    case Op::Wait:
      s.blocked = {WaitKind::DdrEntry, -1, s.channel};
      if (state(s.channel).entriesEnded > s.waitEntry) start(e, false);
      break;
    case Op::Move:
      if (isDdr(x_.engine(e)) && s.entry >= s.entriesStarted)
        s.blocked = {WaitKind::Start, -1, kSequencer};
      else if (locksThere(e, s.blocked))
        start(e, shareOf(e) != nullptr);
      break;
    case Op::Call:
      if (locksThere(e, s.blocked)) start(e, false);
      break;
    case Op::Send:
      attemptSend(e);
      break;
    case Op::Receive: {
      s.blocked = {WaitKind::Partner, -1, s.partners.front()};
      const EngineState& wire = state(s.partners.front());
      if (!wire.busy && wire.leaf >= 0) attemptSend(s.partners.front());
      break;
    }
  }
}

void Simulation::attemptSend(EngineIndex wire) {
  EngineState& s = state(wire);
  for (const EngineIndex receiver : s.partners) {
    const EngineState& r = state(receiver);
    if (!r.busy && r.leaf >= 0 && r.partners.front() == wire) continue;
    s.blocked = {WaitKind::Partner, -1, receiver};
    return;
  }
  if (!locksThere(wire, s.blocked)) return;
  for (const EngineIndex receiver : s.partners)
    if (!locksThere(receiver, s.blocked)) return;
  start(wire, false);
}

std::int64_t Simulation::duration(EngineIndex e) const {
  const EngineState& s = state(e);
  bool acquires = !s.acquire.empty();
  if (leafOf(s).op == Op::Send)
    acquires = acquires || std::any_of(s.partners.begin(), s.partners.end(),
                                       [&](EngineIndex r) { return !state(r).acquire.empty(); });
  const std::int64_t cycles =
      takesOneCycle(s) ? std::min<std::int64_t>(s.work.cycles, 1) : s.work.cycles;
  return cycles + (acquires ? x_.device->lockAcquire.raw() : 0);
}

bool Simulation::takesOneCycle(const EngineState& s) const {
  return !options_.oneCycle.empty() && options_.oneCycle[static_cast<std::size_t>(s.leaf)];
}

SharedRate* Simulation::shareOf(EngineIndex e) {
  if (takesOneCycle(state(e))) return nullptr;
  const EngineKind kind = x_.engine(e).kind;
  if (kind == EngineKind::DdrIn && readShare_) return &*readShare_;
  if (kind == EngineKind::DdrOut && writeShare_) return &*writeShare_;
  return nullptr;
}

// `e` heads all the queues that it needs and all locks are there.
void Simulation::start(EngineIndex e, bool shared) {
  EngineState& s = state(e);
  const std::int64_t end = shared ? kUnknownEnd : now_ + duration(e);
  occupy(e, e, end);
  if (leafOf(s).op == Op::Send)
    for (const EngineIndex receiver : s.partners) occupy(receiver, e, end);
  if (happensBefore_) learn(e);
  if (data_ != nullptr) moveData(e, end);
  countTraffic(s);
  if (!shared) {
    scheduleEnd(e, end);
    return;
  }
  const Rates& rates = x_.device->rates;
  const bool reads = x_.engine(e).kind == EngineKind::DdrIn;
  const BytesPerSecond cap = reads ? std::min(rates.ddrRead, rates.memtileWrite)
                                   : std::min(rates.ddrWrite, rates.memtileRead);
  if (!shareOf(e)->start(e, Bytes(s.work.bytes), cap, now_))
    failTooLarge("MACH016", whereIs(e), "more DDR channels share one rate than can be told apart",
                 "", "choose a smaller mesh");
  reschedule(*shareOf(e));
}

void Simulation::occupy(EngineIndex e, EngineIndex primary, std::int64_t end) {
  EngineState& s = state(e);
  if (options_.recordTimeline) {
    SpanSlice slice{.start = now_,
                    .end = end,
                    .ready = s.ready,
                    .leaf = s.leaf,
                    .layer = leafOf(s).layer,
                    .wait = WaitKind::None,
                    .lock = -1,
                    .record = s.work.record,
                    .cause = {}};
    if (s.ready < now_) noteWait(e, primary, slice);
    result_.timeline.tracks[static_cast<std::size_t>(s.track)].slices.push_back(slice);
    ++s.last.index;
  }
  s.busy = true;
  for (const LockNeed& need : s.acquire) {
    locks_[static_cast<std::size_t>(need.lock)].value -= need.count;
    if (happensBefore_) happensBefore_->acquire(e, need.lock, need.count);
  }
}

// Apart from its locks: which operations have ended for certain, now that it starts.
void Simulation::learn(EngineIndex e) {
  const EngineState& s = state(e);
  switch (leafOf(s).op) {
    case Op::Move:
      if (isDdr(x_.engine(e))) happensBefore_->awaitStart(e, s.entry);
      break;
    case Op::Wait:
      happensBefore_->awaitEntry(e, s.channel, s.waitEntry);
      break;
    case Op::Send:
      happensBefore_->meet(e, s.partners);
      break;
    case Op::Start:
    case Op::Receive:
    case Op::Call:
      break;
  }
  const auto hold = [&](EngineIndex engine) {
    for (const LockNeed& need : state(engine).acquire)
      happensBefore_->hold(engine, need.lock, need.count);
  };
  hold(e);
  if (leafOf(s).op == Op::Send) std::for_each(s.partners.begin(), s.partners.end(), hold);
}

// Why the engine started later than it was ready: what its transfer was seen to lack last.
void Simulation::noteWait(EngineIndex e, EngineIndex primary, SpanSlice& slice) const {
  const Blocked own = state(e).blocked, whole = state(primary).blocked;
  const Blocked& blocked = whole.kind == WaitKind::None || whole.engine == e ? own : whole;
  slice.wait = blocked.kind;
  slice.lock = blocked.lock;
  switch (blocked.kind) {
    case WaitKind::Lock:
      slice.cause = locks_[static_cast<std::size_t>(blocked.lock)].lastRelease;
      break;
    case WaitKind::Partner:
      slice.cause = state(blocked.engine).last;
      if (state(blocked.engine).busy)
        --slice.cause.index;  // the newest slice there is this very transfer
      break;
    case WaitKind::Start:
      slice.cause = state(e).lastStart;
      break;
    case WaitKind::DdrEntry:
      slice.cause = state(blocked.engine).last;
      break;
    case WaitKind::None:
      break;
  }
}

void Simulation::moveData(EngineIndex e, std::int64_t end) {
  EngineState& s = state(e);
  const Moment moment{now_, end, happensBefore_->actorOf(e), happensBefore_->numberOf(e),
                      &happensBefore_->known(e)};
  const auto execution = [&](EngineIndex engine) {
    const EngineState& of = state(engine);
    return Execution{engine, of.leaf, of.frame, of.counters.data(), of.depth};
  };
  switch (leafOf(s).op) {
    case Op::Start:
    case Op::Wait:
    case Op::Receive:
      return;
    case Op::Send: {
      receives_.clear();
      for (const EngineIndex receiver : s.partners) receives_.push_back(execution(receiver));
      s.operation = data_->startSend(execution(e), receives_, moment);
      return;
    }
    case Op::Move:
    case Op::Call:
      s.operation = data_->start(execution(e), moment);
      return;
  }
}

void Simulation::countTraffic(const EngineState& s) {
  result_.macs += s.work.macs;
  if (Bytes Traffic::*traffic = leafOf(s).cost.traffic)
    result_.traffic.*traffic += Bytes(s.work.bytes);
}

void Simulation::scheduleEnd(EngineIndex e, std::int64_t time) {
  state(e).order = ++order_;
  ends_.push({time, order_, e});
}

void Simulation::reschedule(SharedRate& rate) {
  for (const SharedRate::Transfer& t : rate.transfers())
    scheduleEnd(t.engine,
                t.end + (state(t.engine).acquire.empty() ? 0 : x_.device->lockAcquire.raw()));
}

void Simulation::finish(EngineIndex e) {
  EngineState& s = state(e);
  const Leaf& leaf = leafOf(s);
  if (isDdr(x_.engine(e))) {
    if (SharedRate* rate = shareOf(e)) {
      rate->end(e, now_);
      reschedule(*rate);
    }
  }
  if (data_ != nullptr && leaf.op != Op::Start && leaf.op != Op::Wait)
    data_->ended(s.operation, now_);
  if (happensBefore_)
    happensBefore_->end(e, leaf.op == Op::Send ? s.partners : std::span<const EngineIndex>{});
  if (leaf.op == Op::Start) letEntryRun(e);
  if (leaf.op == Op::Send) {
    // The list goes when the queue moves on.
    receivers_.swap(s.partners);
    letGo(e);
    for (const EngineIndex receiver : receivers_) letGo(receiver);
  } else {
    letGo(e);
  }
}

void Simulation::letEntryRun(EngineIndex sequencer) {
  EngineState& channel = state(state(sequencer).channel);
  ++channel.entriesStarted;
  channel.lastStart = state(sequencer).last;
  if (happensBefore_) happensBefore_->start(sequencer, state(sequencer).channel);
  queueAttempt(state(sequencer).channel);
}

// The end of one engine's part: slice, locks, and on to the next instruction.
void Simulation::letGo(EngineIndex e) {
  EngineState& s = state(e);
  Cycles& stepEnd = result_.stepEnd[static_cast<std::size_t>(s.frame) * x_.program->stepCount() +
                                    leafOf(s).step.at()];
  stepEnd = std::max(stepEnd, Cycles(now_));
  result_.timeline.makespan = std::max(result_.timeline.makespan, Cycles(now_));
  if (options_.recordTimeline)
    result_.timeline.tracks[static_cast<std::size_t>(s.track)].slices.back().end = now_;
  for (const LockNeed& need : s.release) {
    LockState& lock = locks_[static_cast<std::size_t>(need.lock)];
    lock.value += need.count;
    lock.lastRelease = s.last;
    std::int64_t highest = lock.value;
    if (happensBefore_) {
      happensBefore_->release(e, need.lock, need.count);
      highest = happensBefore_->highest(e, need.lock);
    }
    if (highest > fullest_.value) fullest_ = {highest, need.lock, whereIs(e)};
    queueAttempt(x_.lockConsumer[static_cast<std::size_t>(need.lock)]);
  }
  s.busy = false;
  tellProgress();
  if (advance(e) && isDdr(x_.engine(e))) {
    ++s.entriesEnded;
    if (happensBefore_) happensBefore_->endEntry(e);
    queueAttempt(kSequencer);
  }
  arrive(e);
}

}  // namespace heddle::machine
