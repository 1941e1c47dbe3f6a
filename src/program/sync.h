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

// An instruction in its queue, and which of its ends makes the access (0 source or only one, 1..
// destinations).
struct AccessPoint {
  std::int32_t queue = -1;  // dense number of the engine
  std::int32_t op = -1;     // position in its queue
  std::int32_t end = 0;
  std::int32_t step = 0;  // of the schedule
};

struct Edge {  // `to` waits for `from`, in the tile
  AccessPoint from, to;
  bool data = false;  // `to` reads what `from` wrote; else `to` overwrites what `from` has touched
  // With data: the instruction of `from`'s queue that took over the place which `from` was the last
  // to write; several may fill it.
  AccessPoint opened;
};

// The memory of one tile. Queues that touch it are told apart by the dense numbers in AccessPoint.
class TileAccesses {
 public:
  void read(std::int64_t first, std::int64_t end, AccessPoint by, std::vector<Edge>& edges);
  void write(std::int64_t first, std::int64_t end, AccessPoint by, std::vector<Edge>& edges);

  // A place as it stands after the last access: who took it over to write, and who has read it.
  template <class F>  // f(const AccessPoint& opened, const AccessPoint& reader)
  void forEachReadPlace(F&& f) const {
    for (const std::uint32_t number : numbers_) {
      const Stretch& stretch = stretches_[number];
      for (const AccessPoint& reader : stretch.readers)
        if (stretch.writer.queue >= 0 && reader.queue != stretch.writer.queue)
          f(stretch.opened, reader);
    }
  }

 private:
  struct Stretch {
    std::int64_t end = 0;
    AccessPoint writer;                // queue -1: never written
    AccessPoint opened;                // the first write of its queue since others touched it
    std::vector<AccessPoint> readers;  // since the last write, the latest of each queue
  };
  Stretch& stretch(std::size_t at) { return stretches_[numbers_[at]]; }
  std::size_t split(std::int64_t byte, std::size_t from);
  Stretch& insert(std::size_t at, std::int64_t first, std::int64_t end);
  void erase(std::size_t begin, std::size_t end);

  // The stretches that together cover what was touched, by first byte: first bytes apart from the
  // rest, so that a search reads little; freed stretches are used again with the room of their
  // readers.
  std::vector<std::int64_t> firsts_;
  std::vector<std::uint32_t> numbers_;  // in stretches_
  std::vector<Stretch> stretches_;
  std::vector<std::uint32_t> free_;
};

}  // namespace heddle
