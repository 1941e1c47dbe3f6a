// Which operations must have ended when another one starts, however long each of them takes: by the
// order of a queue, by a lock's tokens, by START and WAIT, and because the queues of a transfer
// meet. Vector clocks (F. Mattern, Virtual time and global states of distributed systems, 1989).
//
//   wire     SEND 7 ── release L3 ──▶ clock {wire: 7, ...}
//                          │
//   core                   └──▶ acquire L3, CALL 4        knows that SEND 7 has ended, and all that
//   SEND 7 knew
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "executable.h"

namespace heddle::machine {

// By engine: so many of its operations have surely ended.
using Clock = std::vector<std::int32_t>;

class HappensBefore {
 public:
  explicit HappensBefore(const Executable& executable);

  // What an operation of `e` learns before it starts. Needs: the tokens, the START, the entry's end
  // are there.
  void acquire(EngineIndex e, std::int32_t lock, std::int64_t count);
  void awaitStart(EngineIndex channel, std::int64_t entry);
  void awaitEntry(EngineIndex sequencer, EngineIndex channel, std::int64_t entry);
  void meet(EngineIndex wire, std::span<const EngineIndex> receivers);

  // Of the operation of `e` that has started: its number among those of `e`, from 1, and what has
  // ended before it.
  std::int32_t numberOf(EngineIndex e) const { return known(e)[at(e)] + 1; }
  const Clock& known(EngineIndex e) const { return clocks_[at(e)]; }

  // The operation ends, on its receivers too; then it lets others go.
  void end(EngineIndex e, std::span<const EngineIndex> receivers);
  void release(EngineIndex e, std::int32_t lock, std::int64_t count);
  void start(EngineIndex sequencer, EngineIndex channel);
  void endEntry(EngineIndex channel);

 private:
  // What `engine` knew after `number` operations.
  struct Message {
    EngineIndex engine = -1;
    std::int32_t number = 0;
    std::shared_ptr<const Clock> known;
  };
  struct Tokens {
    std::int64_t upTo = 0;  // of all that the lock's producer has ever released
    Message from;
  };
  struct LockHistory {
    std::int64_t acquired = 0, released = 0;
    std::vector<Tokens> left;  // in order; those before `first` are used up
    std::size_t first = 0;
  };

  static std::size_t at(EngineIndex e) { return static_cast<std::size_t>(e); }
  Message messageOf(EngineIndex e);
  void learn(EngineIndex e, const Message& message);

  const Executable& x_;
  std::vector<Clock> clocks_;
  std::vector<std::shared_ptr<const Clock>>
      copies_;  // of clocks_ as they are now, where somebody asked
  std::vector<LockHistory> locks_;
  std::vector<std::vector<Message>> starts_, entryEnds_;  // by channel: of its entries, in order
};

}  // namespace heddle::machine
