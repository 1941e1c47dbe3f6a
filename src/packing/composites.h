// Buffers that nearly fill a rectangle of time and bytes, as one: an instance of fewer buffers.
//
//   [ a        ]                  a and b live at the same time, so b lies on a; c comes behind
//   [ b        ][ c       ]       them and is as large as both. The three are one composite.
//
// A packing of the composites is one of their buffers. That composites have no packing says nothing
// of the buffers: what shares an edge by chance need not lie side by side.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "first_fit.h"
#include "instance.h"

namespace heddle::packing {

inline constexpr std::int64_t kWholeEdge = 1024;

class Composites {
 public:
  // Joins each with the one whose common edge with it differs least, where that is by at most
  // `tolerance` of kWholeEdge and no clique comes to have more than `capacity` bytes; again and
  // again, until `work` is done or `stop`, as in PackLimits, says so.
  Composites(const Instance& instance, std::int64_t tolerance, std::int64_t capacity,
             std::int64_t work, const std::function<bool()>& stop);

  const Instance& instance() const { return instance_; }
  Offsets offsetsOfBuffers(const Offsets& composites) const;
  std::int64_t workDone() const { return workDone_; }

 private:
  struct Member {
    std::int32_t buffer;
    std::int64_t offset;  // in its composite
  };
  struct Join {
    std::int64_t difference;  // of the edges, of kWholeEdge
    std::int32_t first, second;
  };

  std::int64_t differenceOf(std::int32_t a, std::int32_t b) const;
  std::vector<Join> mostAlike(std::int64_t tolerance) const;
  bool join(const Join& join, std::int64_t capacity);
  void dropJoined();

  Instance instance_;
  std::vector<std::vector<Member>> members_;  // per composite; none: joined to another
  std::vector<bool> joined_;                  // per composite, in this round of joins
  std::size_t buffers_;
  std::int64_t workDone_ = 0;
};

}  // namespace heddle::packing
