// Which operations must have ended when another one starts, however long each of them takes: by the
// order of a queue, by a lock's tokens, by START and WAIT, and because the queues of a transfer
// meet. Vector clocks (F. Mattern, Virtual time and global states of distributed systems, 1989).
//
//   wire     SEND 7 ── release L3 ──▶ clock {wire: 7, ...}
//                          │
//   core                   └──▶ acquire L3, CALL 4        knows that SEND 7 has ended, and all that
//   SEND 7 knew
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "executable.h"

namespace heddle::machine {

// By actor: so many of its operations have surely ended. An actor is an engine that has a queue; a
// receiving channel is none, as its operations are those of the wires. Copies share what they have
// in common.
class Knowledge {
 public:
  explicit Knowledge(std::size_t actors);

  std::int32_t operator[](std::int32_t actor) const {
    const auto i = static_cast<std::size_t>(actor);
    return (*blocks_[i / kBlockSize])[i % kBlockSize];
  }
  void set(std::int32_t actor, std::int32_t number);
  // The greater of both, actor by actor.
  void raise(const Knowledge& to);

 private:
  static constexpr std::size_t kBlockSize = 64;
  using Block = std::array<std::int32_t, kBlockSize>;
  std::vector<std::shared_ptr<Block>> blocks_;  // written only where nobody shares it
};

class HappensBefore {
 public:
  explicit HappensBefore(const Executable& executable);

  // What an operation of `e` learns before it starts. Needs: the tokens, the START, the entry's end
  // are there.
  void acquire(EngineIndex e, std::int32_t lock, std::int64_t count);
  void awaitStart(EngineIndex channel, std::int64_t entry);
  void awaitEntry(EngineIndex sequencer, EngineIndex channel, std::int64_t entry);
  void meet(EngineIndex wire, std::span<const EngineIndex> receivers);

  // After all of these: the operation holds the tokens that it has acquired.
  void hold(EngineIndex e, std::int32_t lock, std::int64_t count);

  // Of the operation of `e`, no receiving channel, that has started: its number among those of its
  // actor, from 1, and what has ended before it.
  std::int32_t actorOf(EngineIndex e) const { return actor_[at(e)]; }
  std::int32_t numberOf(EngineIndex e) const { return known(e)[actorOf(e)] + 1; }
  const Knowledge& known(EngineIndex e) const { return *known_[at(e)]; }

  // The operation ends, on its receivers too; then it lets others go.
  void end(EngineIndex e, std::span<const EngineIndex> receivers);
  void release(EngineIndex e, std::int32_t lock, std::int64_t count);
  // The highest value that the lock can have after this release of `e`, however long everything
  // takes: all that it has got, less what its consumer has surely acquired.
  std::int64_t highest(EngineIndex e, std::int32_t lock);
  void start(EngineIndex sequencer, EngineIndex channel);
  void endEntry(EngineIndex channel);

 private:
  // What an engine knew when the operation `number` of its actor had ended.
  struct Message {
    std::int32_t actor = -1;
    std::int32_t number = 0;
    std::shared_ptr<const Knowledge> known;
  };
  struct Tokens {
    std::int64_t upTo = 0;  // of all that the lock's producer has ever released
    Message from;
  };
  struct Holding {
    std::int64_t upTo = 0;  // of all that the lock's consumer has ever acquired
    std::int32_t actor = -1, number = 0;
  };
  struct LockHistory {
    std::int64_t acquired = 0, released = 0, held = 0;
    std::int64_t surelyHeld = 0;    // of `held`, as the producer knew last
    std::vector<Holding> holdings;  // in order; those before `firstUnsure` have surely happened
    std::size_t firstUnsure = 0;
    std::vector<Tokens> left;  // in order; those before `first` are used up
    std::size_t first = 0;
  };

  // Drops the entries before `first` of a list, once in a while.
  template <class T>
  static void dropBefore(std::size_t& first, std::vector<T>& list) {
    if (first * 2 <= list.size()) return;
    list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(first));
    first = 0;
  }
  static std::size_t at(EngineIndex e) { return static_cast<std::size_t>(e); }
  Message messageOf(EngineIndex e) const {
    return {actorOf(e), known(e)[actorOf(e)], known_[at(e)]};
  }
  void learn(EngineIndex e, const Message& message);
  Knowledge& writable(EngineIndex e);

  const Executable& x_;
  std::vector<std::int32_t>
      actor_;  // by engine; of a receiving channel the wire of its last transfer
  std::vector<std::shared_ptr<Knowledge>> known_;  // by engine; messages and engines share it
  std::vector<LockHistory> locks_;
  std::vector<std::vector<Message>> starts_, entryEnds_;  // by channel: of its entries, in order
};

}  // namespace heddle::machine
