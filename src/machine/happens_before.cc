#include "happens_before.h"

#include <algorithm>

namespace heddle::machine {
namespace {

void raise(Clock& clock, const Clock& to) {
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], to[i]);
}

}  // namespace

HappensBefore::HappensBefore(const Executable& executable)
    : x_(executable),
      clocks_(executable.engines.size(), Clock(executable.engines.size())),
      copies_(executable.engines.size()),
      locks_(executable.program->locks.size()),
      starts_(executable.engines.size()),
      entryEnds_(executable.engines.size()) {}

HappensBefore::Message HappensBefore::messageOf(EngineIndex e) {
  std::shared_ptr<const Clock>& copy = copies_[at(e)];
  if (!copy) copy = std::make_shared<const Clock>(clocks_[at(e)]);
  return {e, clocks_[at(e)][at(e)], copy};
}

// Who knows that the sender's operation has ended knows already all that the sender knew.
void HappensBefore::learn(EngineIndex e, const Message& message) {
  if (clocks_[at(e)][at(message.engine)] >= message.number) return;
  raise(clocks_[at(e)], *message.known);
  copies_[at(e)].reset();
}

// The first of the producer's releases without which the tokens would not have sufficed is the last
// that is certain.
void HappensBefore::acquire(EngineIndex e, std::int32_t lock, std::int64_t count) {
  LockHistory& history = locks_[static_cast<std::size_t>(lock)];
  history.acquired += count;
  const std::int64_t needed =
      history.acquired - x_.program->locks[static_cast<std::size_t>(lock)].initial;
  if (needed <= 0) return;
  while (history.left[history.first].upTo < needed) ++history.first;
  learn(e, history.left[history.first].from);
  if (history.first * 2 > history.left.size()) {
    history.left.erase(history.left.begin(),
                       history.left.begin() + static_cast<std::ptrdiff_t>(history.first));
    history.first = 0;
  }
}

void HappensBefore::awaitStart(EngineIndex channel, std::int64_t entry) {
  learn(channel, starts_[at(channel)][static_cast<std::size_t>(entry)]);
}

void HappensBefore::awaitEntry(EngineIndex sequencer, EngineIndex channel, std::int64_t entry) {
  learn(sequencer, entryEnds_[at(channel)][static_cast<std::size_t>(entry)]);
}

void HappensBefore::meet(EngineIndex wire, std::span<const EngineIndex> receivers) {
  Clock& together = clocks_[at(wire)];
  for (const EngineIndex receiver : receivers) raise(together, clocks_[at(receiver)]);
  for (const EngineIndex receiver : receivers) clocks_[at(receiver)] = together;
}

void HappensBefore::end(EngineIndex e, std::span<const EngineIndex> receivers) {
  const std::int32_t number = ++clocks_[at(e)][at(e)];
  copies_[at(e)].reset();
  for (const EngineIndex receiver : receivers) {
    clocks_[at(receiver)][at(e)] = number;
    ++clocks_[at(receiver)][at(receiver)];
    copies_[at(receiver)].reset();
  }
}

void HappensBefore::release(EngineIndex e, std::int32_t lock, std::int64_t count) {
  LockHistory& history = locks_[static_cast<std::size_t>(lock)];
  history.released += count;
  history.left.push_back({history.released, messageOf(e)});
}

void HappensBefore::start(EngineIndex sequencer, EngineIndex channel) {
  starts_[at(channel)].push_back(messageOf(sequencer));
}

void HappensBefore::endEntry(EngineIndex channel) {
  entryEnds_[at(channel)].push_back(messageOf(channel));
}

}  // namespace heddle::machine
