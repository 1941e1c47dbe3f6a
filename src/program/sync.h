// Derives what waits for what: every pair of accesses to the same bytes of which one writes, by two
// queues, is an edge.
//
//   in0 writes bytes [0, 64)   core reads [0, 64)   in0 writes [0, 64) again
//        \__ edge in0->core, data __/   \__ edge core->in0, space __/
//
// Accesses are told in one sequential order that would compute the right result; whoever keeps the
// order of all edges computes the same, and since every queue keeps that order too, it cannot
// deadlock: the sequential order is a schedule of it. tokens.h makes locks of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "heddle/program/program.h"

namespace heddle {

// An instruction in its queue, and which of its ends makes the access (PlacedEnd::point; of a call
// 0).
struct AccessPoint {
  std::int32_t queue = -1;  // dense number of the engine
  std::int32_t op = -1;     // position in its queue
  std::int32_t end = 0;
  std::int32_t step = 0;  // of the schedule
  std::int32_t row = 0;   // of those that it writes
};

struct Edge {  // `to` waits for `from`, in the tile
  AccessPoint from, to;
  bool data = false;  // `to` reads what `from` wrote; else `to` overwrites what `from` has touched
  // With data: the instruction of `from`'s queue that took over the place which `from` was the last
  // to write; several may fill it. Of several rows that one access reads the last counts, of those
  // that it overwrites the first.
  AccessPoint opened;
};

// Stretches by first byte, in chunks: an insertion in the middle moves little.
class FirstBytes {
 public:
  void insert(std::int64_t first, std::uint32_t number);
  void erase(std::int64_t first);
  // The number of the last stretch that begins before `byte`, 0 where there is none.
  std::uint32_t lastBefore(std::int64_t byte) const;

 private:
  struct Entry {
    std::int64_t first = 0;
    std::uint32_t number = 0;
  };
  using Chunk = std::vector<Entry>;
  std::size_t chunkOf(std::int64_t first) const;

  std::vector<std::int64_t> heads_;  // first byte of each chunk
  std::vector<Chunk> chunks_;        // none is empty
};

// The memory of one tile. Queues that touch it are told apart by the dense numbers in AccessPoint.
class TileAccesses {
 public:
  void read(std::int64_t first, std::int64_t end, AccessPoint by, std::vector<Edge>& edges);
  void write(std::int64_t first, std::int64_t end, AccessPoint by, std::vector<Edge>& edges);

  // A place as it stands after the last access: who took it over to write, and who has read it.
  template <class F>  // f(const AccessPoint& opened, const AccessPoint& reader)
  void forEachReadPlace(F&& f) const {
    for (std::uint32_t at = stretches_[kEnds].next; at != kEnds; at = stretches_[at].next) {
      const Stretch& stretch = stretches_[at];
      for (const AccessPoint& reader : stretch.readers)
        if (stretch.writer.queue >= 0 && reader.queue != stretch.writer.queue)
          f(stretch.opened, reader);
    }
  }

 private:
  static constexpr std::uint32_t kEnds = 0;  // before the first stretch and behind the last
  struct Stretch {
    std::int64_t first = 0, end = 0;
    std::uint32_t previous = kEnds, next = kEnds;  // by address
    AccessPoint writer;                            // queue -1: never written
    AccessPoint opened;                // the first write of its queue since others touched it
    std::vector<AccessPoint> readers;  // since the last write, the latest of each queue
  };
  std::uint32_t split(std::int64_t byte);
  std::uint32_t split(std::int64_t byte, std::uint32_t from);
  std::uint32_t splitBehind(std::uint32_t at, std::int64_t byte);
  std::uint32_t insert(std::uint32_t before, std::int64_t first, std::int64_t end);
  void erase(std::uint32_t at);

  // The stretches that together cover what was touched; freed ones are used again with the room of
  // their readers.
  std::vector<Stretch> stretches_{Stretch{}};
  std::vector<std::uint32_t> free_;
  FirstBytes firsts_;
};

}  // namespace heddle
