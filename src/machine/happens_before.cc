#include "happens_before.h"

#include <algorithm>

namespace heddle::machine {

Knowledge::Knowledge(std::size_t actors)
    : blocks_(actors / kBlockSize + 1, std::make_shared<Block>()) {}

void Knowledge::set(std::int32_t actor, std::int32_t number) {
  const auto i = static_cast<std::size_t>(actor);
  std::shared_ptr<Block>& block = blocks_[i / kBlockSize];
  if (block.use_count() > 1) block = std::make_shared<Block>(*block);
  (*block)[i % kBlockSize] = number;
}

void Knowledge::raise(const Knowledge& to) {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b] == to.blocks_[b]) continue;
    const Block &mine = *blocks_[b], &theirs = *to.blocks_[b];
    Block both;
    std::int32_t above = 0, below = 0;  // bits that the result has and mine, theirs has not
    for (std::size_t i = 0; i < kBlockSize; ++i) {
      both[i] = std::max(mine[i], theirs[i]);
      above |= both[i] ^ mine[i];
      below |= both[i] ^ theirs[i];
    }
    if (above == 0) continue;
    blocks_[b] = below == 0 ? to.blocks_[b] : std::make_shared<Block>(both);
  }
}

HappensBefore::HappensBefore(const Executable& executable)
    : x_(executable),
      actor_(executable.numbers.count(), -1),
      known_(executable.numbers.count()),
      locks_(executable.program->locks.size()),
      starts_(executable.numbers.count()),
      entryEnds_(executable.numbers.count()) {
  std::int32_t actors = 0;
  for (std::size_t e = 0; e < actor_.size(); ++e)
    if (!x_.sectionsOf[e].empty() && x_.numbers.engines()[e].kind != EngineKind::CoreIn)
      actor_[e] = actors++;
  std::fill(known_.begin(), known_.end(),
            std::make_shared<Knowledge>(static_cast<std::size_t>(actors)));
}

Knowledge& HappensBefore::writable(EngineIndex e) {
  std::shared_ptr<Knowledge>& known = known_[at(e)];
  if (known.use_count() > 1) known = std::make_shared<Knowledge>(*known);
  return *known;
}

// Who knows that the sender's operation has ended knows already all that the sender knew.
void HappensBefore::learn(EngineIndex e, const Message& message) {
  if (known(e)[message.actor] < message.number) writable(e).raise(*message.known);
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
  dropBefore(history.first, history.left);
}

void HappensBefore::hold(EngineIndex e, std::int32_t lock, std::int64_t count) {
  LockHistory& history = locks_[static_cast<std::size_t>(lock)];
  history.held += count;
  history.holdings.push_back({history.held, actorOf(e), numberOf(e)});
}

void HappensBefore::awaitStart(EngineIndex channel, std::int64_t entry) {
  learn(channel, starts_[at(channel)][static_cast<std::size_t>(entry)]);
}

void HappensBefore::awaitEntry(EngineIndex sequencer, EngineIndex channel, std::int64_t entry) {
  learn(sequencer, entryEnds_[at(channel)][static_cast<std::size_t>(entry)]);
}

void HappensBefore::meet(EngineIndex wire, std::span<const EngineIndex> receivers) {
  for (const EngineIndex receiver : receivers)
    if (known_[at(receiver)] != known_[at(wire)]) writable(wire).raise(known(receiver));
  for (const EngineIndex receiver : receivers) {
    known_[at(receiver)] = known_[at(wire)];
    actor_[at(receiver)] = actorOf(wire);
  }
}

void HappensBefore::end(EngineIndex e, std::span<const EngineIndex> receivers) {
  // Since they met, the receivers hold what the wire holds.
  for (const EngineIndex receiver : receivers) known_[at(receiver)].reset();
  Knowledge& known = writable(e);
  known.set(actorOf(e), known[actorOf(e)] + 1);
  for (const EngineIndex receiver : receivers) known_[at(receiver)] = known_[at(e)];
}

void HappensBefore::release(EngineIndex e, std::int32_t lock, std::int64_t count) {
  LockHistory& history = locks_[static_cast<std::size_t>(lock)];
  history.released += count;
  history.left.push_back({history.released, messageOf(e)});
}

// What the producer knows grows, so an acquisition that was sure once stays so.
std::int64_t HappensBefore::highest(EngineIndex e, std::int32_t lock) {
  LockHistory& history = locks_[static_cast<std::size_t>(lock)];
  for (; history.firstUnsure < history.holdings.size(); ++history.firstUnsure) {
    const Holding& next = history.holdings[history.firstUnsure];
    if (known(e)[next.actor] < next.number) break;
    history.surelyHeld = next.upTo;
  }
  dropBefore(history.firstUnsure, history.holdings);
  return x_.program->locks[static_cast<std::size_t>(lock)].initial + history.released -
         history.surelyHeld;
}

void HappensBefore::start(EngineIndex sequencer, EngineIndex channel) {
  starts_[at(channel)].push_back(messageOf(sequencer));
}

void HappensBefore::endEntry(EngineIndex channel) {
  entryEnds_[at(channel)].push_back(messageOf(channel));
}

}  // namespace heddle::machine
