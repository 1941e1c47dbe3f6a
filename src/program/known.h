// What every operation surely knows to have ended when it starts, however long each takes: those
// before it in its queue, what it waits for by a token, and all that these knew. Vector clocks
// (F. Mattern, Virtual time and global states of distributed systems, 1989), told in one sequential
// order. A transfer and its receivers are one operation of several queues.
//
//   wire     0 ──token──▶ core 0 ──token──▶ out 0        out 0 needs no token for wire's 0
#pragma once
#include <array>
#include <boost/container/small_vector.hpp>
#include <boost/pool/pool.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

namespace heddle {

struct Operation {  // of a queue, by dense numbers
  std::int32_t queue = -1;
  std::int32_t op = -1;
};

// Of a pool of the thread: what is known comes and goes by the million, all of one size. Whole
// steps are forgotten at once, so that a place is mostly out of the caches when it is used again:
// the next one is fetched meanwhile.
template <class T>
class Pooled {
 public:
  static void* operator new(std::size_t) {
    Pool& p = pool();
    void* place = p.free;
    if (place) {
      p.free = p.free->next;
      if (p.free) prefetch(p.free);
      return place;
    }
    place = p.places.malloc();
    if (!place) throw std::bad_alloc();
    return place;
  }
  static void operator delete(void* place) {
    Pool& p = pool();
    p.free = new (place) Free{p.free};
  }

 private:
  struct Free {
    Free* next;
  };
  struct Pool {
    boost::pool<> places{sizeof(T), 1024, 1024};
    Free* free = nullptr;
  };
  static void prefetch(const void* place) {
    constexpr std::size_t kLine = 64;
    for (std::size_t at = 0; at < sizeof(T); at += kLine)
      __builtin_prefetch(static_cast<const char*>(place) + at, 1);
  }
  static Pool& pool() {
    thread_local Pool all;
    return all;
  }
};

// By queue: the latest of its operations that has surely ended, -1 where none has. Copies share
// what they have in common.
class Known {
 public:
  std::int32_t operator[](std::int32_t queue) const {
    const auto i = static_cast<std::size_t>(queue);
    return i / kBlockSize < blocks_.size() && blocks_[i / kBlockSize]
               ? blocks_[i / kBlockSize]->latest[i % kBlockSize]
               : -1;
  }
  void set(const Operation& ended);
  // The later of both, queue by queue.
  void raise(const Known& to);

 private:
  static constexpr std::size_t kBlockSize = 32;
  // Of one thread, so that counting who shares it costs little.
  struct Block : Pooled<Block>, boost::intrusive_ref_counter<Block, boost::thread_unsafe_counter> {
    std::array<std::int32_t, kBlockSize> latest;
  };
  using BlockPointer = boost::intrusive_ptr<Block>;
  boost::container::small_vector<BlockPointer, 16>
      blocks_;  // written only where nobody shares it; null: all -1
};

class KnownOrder {
 public:
  // The next operation in the sequential order, of one queue or of several that meet.
  void begin(std::span<const Operation> together, std::int32_t step);
  bool knows(const Operation& ended) const { return now_ && (*now_)[ended.queue] >= ended.op; }
  // The operation waits for the end of an earlier one.
  void await(const Operation& ended);
  void end();

  // The latest operation of `queue` that `by`, told before, knew of. Never more than is true; of
  // operations of long ago sometimes less.
  std::int32_t latest(const Operation& by, std::int32_t queue) const {
    const KnownPointer& known = after(by);
    return known ? (*known)[queue] : -1;
  }

 private:
  // Shared by all that know the same: operations that learn nothing, and queues that meet.
  struct SharedKnown : Known,
                       Pooled<SharedKnown>,
                       boost::intrusive_ref_counter<SharedKnown, boost::thread_unsafe_counter> {};
  using KnownPointer = boost::intrusive_ptr<SharedKnown>;  // null: nothing
  struct Entry {
    std::int32_t op = -1, step = -1;
    KnownPointer known;  // when it has ended
  };
  const KnownPointer& after(const Operation& operation) const;
  Known& change();
  void learn(const KnownPointer& from);
  void forget(std::int32_t before);
  void remember(const Operation& ended);
  static void thinOut(std::vector<Entry>& entries);

  std::vector<std::vector<Entry>> history_;  // by queue, in order
  std::vector<std::size_t> room_;            // by queue: entries, before some of them are thinned
  std::vector<Operation> together_;
  KnownPointer now_;
  bool learned_ = false;  // more than what the operation before it in its queue knew
  std::int32_t step_ = -1;
};

}  // namespace heddle
