// Where the rows of a layer's operands come from: in which pieces a core gets them, over which
// wires and out of which DDR channels, and what rows of other cores take of these at the same time.
//
//   an operand at home in two memtiles that keep 4 of 8 columns each; a core of columns 2..6:
//     each row comes in two pieces of 2 columns, over the wire of the core's route
//   a core of columns 6..8 beside it on the same wire:
//     for each row that the first core waits for a third piece, of 2 columns
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "heddle/cost/work.h"
#include "heddle/device/device.h"
#include "heddle/tiling/nest.h"
#include "heddle/tiling/plan.h"
#include "row_sweeps.h"

namespace heddle {

// What rows of all operands of a call take of each wire.
class BusiestWire {
 public:
  Transfers& of(std::int64_t wire);
  // Of the one with most bytes.
  Transfers transfers();

 private:
  std::vector<std::pair<std::int64_t, Transfers>> wires_;  // few
};

class RowSources {
 public:
  // `homes`: first those of the operands, in rows, columns and blocks of their own.
  // `columnsBetween`: of each operand's root, between two columns of its own. `firstReads`: by
  // operand, whether no operator before reads its tensor. Needs: what is not moved outlives it.
  RowSources(const Device& device, const LayerNest& nest, RowSweeps& sweeps,
             const std::vector<Home>& homes, std::vector<std::int64_t> columnsBetween,
             std::vector<bool> firstReads);

  // Of the core's rows of an operand.
  const Route& routeOf(std::size_t operand, const CoreAt& core);
  const CoreShare& shareAt(const CoreAt& core) const { return *shareAt_[place(core)]; }
  bool areOutOfDdr(std::size_t operand) const { return homes_[operand].empty(); }

  // The pieces in which rows `y` of an operand's held part come from where it is at home. Each has
  // locks of its own, and waits for them where nobody before has waited for these rows.
  void addPieces(Transfers& to, std::size_t operand, const Iteration& i, const Held& held,
                 const Interval& y) const;
  // Those out of DDR, with the columns between its own.
  void addLoads(Transfers& to, std::size_t operand, const Held& held, const Interval& y) const;
  // Rows for a core's calls in one of its boxes, and those of other cores that come over the same
  // wire or DDR channel, as if these asked for the same rows; where cores have several boxes, for
  // the same columns.
  void addRows(RowTransfers& to, BusiestWire& wires, const CoreShare& share, std::size_t operand,
               const Iteration& i, std::size_t box, const Interval& y);

 private:
  // A route whose rows go over a wire, or out of a DDR channel, that another's rows take, too.
  struct Neighbour {
    const CoreShare* share = nullptr;  // of its first core
    std::int64_t lanes = 1;
    std::vector<std::int64_t> wires;  // of the other's lanes, those that it takes
    bool sameChannel = false;
    std::int64_t ddrTurns = 1;
  };
  // Columns in one memtile, of some rows and blocks.
  struct Source {
    Interval y, blocks;
    std::int64_t columns = 0;
  };
  // What a neighbour brings for a core's calls.
  struct Brought {
    const Neighbour* by = nullptr;
    Interval columns;                  // held by its cores
    std::size_t first = 0, count = 0;  // among sources_
  };
  struct BroughtAt {  // of brought_; count where they are known
    std::size_t first = SIZE_MAX, count = 0;
  };

  std::size_t place(const CoreAt& core) const {
    return static_cast<std::size_t>(core.row * device_.columns + core.column);
  }
  std::int64_t columnsOutOfDdr(std::size_t operand, const Interval& columns) const;
  const std::vector<Neighbour>& neighboursOf(std::size_t operand, const Route& own);
  std::vector<const Route*> routesNear(std::size_t operand, const Route& own);
  std::span<const Brought> broughtTo(const CoreShare& share, std::size_t operand,
                                     const Iteration& i, std::size_t box);

  const Device& device_;
  const LayerNest& nest_;
  const Mapping& m_;
  RowSweeps& sweeps_;
  const std::vector<Home>& homes_;  // by operand, as the next two
  std::vector<std::int64_t> columnsBetween_;
  std::vector<bool> isFirstReader_;
  std::vector<const CoreShare*> shareAt_;                          // per core
  std::map<std::pair<std::size_t, CoreAt>, const Route*> routes_;  // per operand and core
  std::map<const Route*, std::vector<Neighbour>> neighbours_;
  std::vector<std::vector<std::vector<const Route*>>> routesOfWires_;  // per operand and wire
  // What is known of one share: per operand, chunk and box, which of brought_.
  const CoreShare* broughtFor_ = nullptr;
  std::vector<BroughtAt> broughtAt_;
  std::vector<Brought> brought_;
  std::vector<Source> sources_;
};

}  // namespace heddle
