// Derives the locks: every pair of accesses to the same bytes of which one writes, by two queues,
// is an edge.
//
//   in0 writes bytes [0, 64)   core reads [0, 64)   in0 writes [0, 64) again
//        \__ token in0->core __/      \__ token core->in0 __/
//
// Accesses are told in one sequential order that would compute the right result; the tokens keep
// the order of every pair that matters and nothing else. So the parallel program computes the same,
// and since every queue keeps that order too, it cannot deadlock: the sequential order is a
// schedule of it.
#pragma once
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "heddle/program/program.h"

namespace heddle {

// An instruction in its queue, and which of its ends makes the access (0 source or only one, 1..
// destinations).
struct AccessPoint {
  std::int32_t queue = -1;  // dense number of the engine
  std::int32_t op = -1;     // position in its queue
  std::int32_t end = 0;
};

struct Edge {  // `to` waits for `from`, through a lock of the tile
  AccessPoint from, to;
};

// The memory of one tile. Queues that touch it are told apart by the dense numbers in AccessPoint.
class TileAccesses {
 public:
  void read(std::int64_t first, std::int64_t end, AccessPoint by, std::vector<Edge>& edges);
  void write(std::int64_t first, std::int64_t end, AccessPoint by, std::vector<Edge>& edges);

 private:
  struct Stretch {
    std::int64_t end = 0;
    AccessPoint writer;                // queue -1: never written
    std::vector<AccessPoint> readers;  // since then, the latest of each queue
  };
  std::map<std::int64_t, Stretch>::iterator split(std::int64_t at);
  void require(const AccessPoint& from, const AccessPoint& to, std::vector<Edge>& edges);

  std::map<std::int64_t, Stretch>
      stretches_;  // by first byte; together they cover what was touched
  // From queue << 32 | to queue -> latest op already waited for.
  std::unordered_map<std::uint64_t, std::int32_t> known_;
};

}  // namespace heddle
