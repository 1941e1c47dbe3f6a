// A packing below a capacity by repair: a search that proves nothing, and finds much where some
// bytes may stay empty.
//
// What is packed is an order: of two buffers that meet, the earlier lies below. So each has a range
// of places, from where it lies if all sink to where it lies if all rise. One that is out comes in
// between any two others, if the tops of those below it as they sink, its own bytes, and those
// above it as they rise go together below the capacity:
//
//   capacity  [ c      ]     a and b leave a gap above a and one below b, neither large enough;
//                 [ b  ]     since b can rise and a can sink, x fits between them
//             [ a  ]
//
// Where it fits nowhere it drives out those of which the sum of weights is least; a buffer's weight
// grows each time that it has to.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "first_fit.h"
#include "instance.h"

namespace heddle::packing {

class Repair {
 public:
  // `instance` and `neighbours` must outlive it.
  Repair(const Instance& instance, const std::vector<Order>& neighbours)
      : instance_(instance), neighbours_(neighbours) {}

  // Begins with what lies below `capacity` in `start`. True: all buffers do, at offsets(). `seed`
  // draws whose turn it is, and odd ones begin with heavy large buffers; `work` is spent; `stop` as
  // in PackLimits. Needs: no buffer is larger than the capacity.
  bool run(std::int64_t capacity, const Offsets& start, int seed, std::int64_t work,
           const std::function<bool()>& stop);

  const Offsets& offsets() const { return sunk_; }  // after run() gave true
  std::int64_t workDone() const { return workDone_; }

 private:
  // Between which of `around_` a buffer goes. It then ends at most at `bottom` + its size, and what
  // of those below ends above `bottom`, or of those above begins too low, is driven out.
  struct Place {
    std::size_t cut = 0;
    std::int64_t bottom = 0;
  };

  void begin(const Offsets& start);
  void weigh();
  void settle();
  void mixOrder();
  void gatherAround(std::int32_t buffer);
  std::optional<Place> freePlace(std::int32_t buffer);
  Place cheapestPlace(std::int32_t buffer);
  void insert(std::int32_t buffer, const Place& place);
  std::int64_t above(std::int32_t buffer) const {  // from its bottom to the capacity if all rise
    return risen_[buffer] + instance_.sizes[buffer];
  }
  std::int64_t top(std::int32_t buffer) const { return sunk_[buffer] + instance_.sizes[buffer]; }
  std::uint64_t draw();

  const Instance& instance_;
  const std::vector<Order>& neighbours_;
  std::int64_t capacity_ = 0, workLeft_ = 0, workDone_ = 0;
  std::uint64_t random_ = 0;
  // Per buffer; of those that are in: the offset if all sink, and from the top to the capacity if
  // all rise.
  Offsets sunk_, risen_;
  std::vector<std::int64_t> weights_;
  Order rank_;                       // per buffer: in order_, or -1
  Order order_, out_;                // those that are in, from below; those that are out
  std::vector<std::int64_t> floor_;  // per clique
  Order around_, byTop_, byAbove_;   // of the buffer whose turn it is: neighbours that are in
};

}  // namespace heddle::packing
