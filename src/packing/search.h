// A packing below a capacity, or the proof that there is none, or neither within a budget.
//
// Buffers are placed from the bottom up: a placed one lies below all that meet it and are not
// placed, so each comes to lie on the floor or on another (canonical solutions: others are no
// better). A node of the search takes one buffer and either places it as low as it goes, or
// postpones it: one that meets it will lie below it. Where buffers that are left fall into parts
// that do not meet, each part is searched alone.
//
//   what is left of a clique, by lowest offset r:   r1 <= r2 <= ...
//   a top that it must reach:                       max(max(r1 + s1, r2) + s2, ...) <= capacity
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "first_fit.h"
#include "instance.h"

namespace heddle::packing {

enum class SearchEnd { Found, Nothing, Stopped };

// Which clique's lowest buffer a node takes, and which buffer of those that lie equally low.
struct SearchStyle {
  bool lowestFirst = true;  // the clique with the lowest floor; else the one that fails most
  bool leastWaste = false;  // of equally low buffers the one over the fewest bytes left empty
  int order = 0;            // else the first of orderBy(order)
};

class Search {
 public:
  // `instance` and `neighbours` must outlive it. `memory`: entries for nodes seen to fail.
  Search(const Instance& instance, const std::vector<Order>& neighbours, std::size_t memory);

  // One attempt from the root. `work` is spent; `stop` as in PackLimits. What fails is remembered
  // from attempt to attempt, and directs the next.
  SearchEnd run(std::int64_t capacity, const SearchStyle& style, std::int64_t work,
                const std::function<bool()>& stop);

  const Offsets& offsets() const { return offsets_; }  // after Found
  std::int64_t workDone() const { return workDone_; }
  std::int64_t workOfANode() const;  // at the root

 private:
  struct Change {
    std::int32_t buffer;
    std::int64_t lowest;
    bool postponed;
  };
  struct FloorChange {
    std::int32_t clique;
    std::int64_t floor;
  };
  struct Mark {
    std::size_t changes, floors, placed;
  };

  SearchEnd searchParts(const Order& left);
  SearchEnd searchPart(Order left);
  SearchEnd place(const Order& left, std::int32_t buffer);
  bool spend(const Order& left);
  std::uint64_t hashOf(const Order& left) const;
  bool raisePostponed(const Order& left);
  bool raiseByNeighbours(const Order& left, bool& raised);
  void sortByLowest(Order& left) const;
  bool everyCliqueFits(const Order& left);
  bool blocksNothing(std::int32_t buffer) const;
  std::int32_t forced(const Order& left) const;
  std::int32_t choose(const Order& left) const;
  std::int64_t wasteBelow(std::int32_t buffer) const;
  void blame(Span span);
  Span extentOf(const Order& left) const;
  Mark mark() const { return {changes_.size(), floorChanges_.size(), placedInOrder_.size()}; }
  void undo(const Mark& mark);
  void relaxWeights();

  const Instance& instance_;
  const std::vector<Order>& neighbours_;
  std::int64_t capacity_ = 0, workLeft_ = 0, workDone_ = 0, nodes_ = 0;
  int wasteShift_ = 0;
  SearchStyle style_;
  const std::function<bool()>* stop_ = nullptr;
  bool stopped_ = false;

  // Per buffer. `lowest_`: top of what is placed below it; `release_`: where it can lie at best.
  Offsets offsets_, lowest_, release_;
  std::vector<char> placed_, postponed_;
  Order rank_;
  // Per clique, of buffers that are left: the floor, the top that they must reach, the lowest two
  // releases and the lowest two tops, and whose the lowest are.
  std::vector<std::int64_t> floor_, reach_, firstRelease_, secondRelease_, firstTop_, secondTop_;
  Order firstReleased_, firstTopped_;
  std::vector<std::int64_t> weights_;  // per clique: how much and how lately it failed
  std::int64_t blame_ = 0;

  std::vector<Change> changes_;
  std::vector<FloorChange> floorChanges_;
  Order placedInOrder_;
  std::vector<std::uint64_t> failed_;  // by hash: nodes from which no packing was found
};

}  // namespace heddle::packing
