// Which rows of its operands the calls of a core ask for, one sweep over its rows after another,
// and which of these calls differ in nothing but their row, so that they need be counted once.
//
//   3x3, pad 1, 8 rows, input and output in two memtiles that keep 4 rows each:
//     call         0     1     2     3     4     5     6     7
//     fresh rows   0 1   2     3     4     5     6     7     none
//     runs         [0]   [1]   [2]   [3]   [4               ] [7]
//
// Call 2 differs from 1 in the rows that it holds before, 3 in where its fresh row comes from, 4 in
// where its output goes.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heddle/tiling/nest.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// Rows of an operand that a call asks for.
struct AskedRows {
  std::size_t operand = 0;
  Interval window;
  std::int64_t fresh = 0;  // those that no call before it had
};

// Rows of an operand that a sweep asks for, in order.
struct ToldRows {
  Interval y;
  std::size_t box = 0;
};

// Calls one after another that differ in their row alone.
struct CallRun {
  std::size_t first = 0;  // of the sweep
  std::int64_t y = 0;     // of the first
  std::size_t box = 0;
  std::int64_t rows = 1;      // of the output, by each
  std::int64_t computed = 1;  // rows that the kernel writes for each
  std::int64_t times = 1;
};

// The calls of one chunk and band with the rows of a part of the kernel, wherever their columns
// are.
struct RowSweep {
  std::vector<std::vector<ToldRows>> told;  // per operand
  std::vector<CallRun> runs;

  std::size_t calls() const { return ends.size(); }
  // By operand; of those that are moved, which may be many, the few alone that give it something.
  std::span<const AskedRows> of(std::size_t call) const {
    const std::size_t first = call == 0 ? 0 : ends[call - 1];
    return std::span(asked).subspan(first, ends[call] - first);
  }
  // No rows where it asks for none.
  AskedRows of(std::size_t call, std::size_t operand) const;

  std::vector<AskedRows> asked;   // call by call
  std::vector<std::size_t> ends;  // per call: where the next one's begin
  // The same for sweeps that differ in nothing but which rows they are of: one band after another,
  // say.
  std::size_t kind = 0;
};

// The rows at which another memtile begins to keep a tensor.
class RowCuts {
 public:
  explicit RowCuts(const Home& home);
  // Whether nothing tells `a` from `b`, intervals of as many rows each.
  bool same(const Interval& a, const Interval& b) const;
  // The same of intervals of different length, both of some rows.
  bool sameOfAll(const Interval& a, const Interval& b) const;

 private:
  std::ptrdiff_t stretch(std::int64_t row) const;
  std::vector<std::int64_t> cuts_;
};

// The sweeps of a layer's mapping over the output rows of a step.
class RowSweeps {
 public:
  // `cuts`: of each operand's home, then of the output's. Needs: the nest outlives it.
  RowSweeps(const LayerNest& nest, const Interval& rows, std::vector<RowCuts> cuts);

  // Shares of the same rows have the same; the reference stays valid. Needs: `share` is one of the
  // mapping's.
  const RowSweep& of(const CoreShare& share, const Iteration& i);
  // Whether it has any call.
  bool hasCalls(const CoreShare& share, const Iteration& i);
  // Output columns of a core's calls in a box.
  Interval columns(const CoreShare& share, std::size_t box, const Iteration& i) const;

 private:
  bool findsCalls(const CoreShare& share, const Iteration& i) const;
  std::size_t rowsOf(const CoreShare& share);
  std::int64_t rowsIn(const PixelBox& box) const;
  RowSweep sweepOf(const std::vector<RowCall>& calls, const Interval& kernelRows) const;
  bool areAlike(const std::vector<RowCall>& calls, const RowSweep& sweep, std::size_t k) const;
  std::vector<std::vector<std::size_t>> givingTo(const std::vector<RowCall>& calls) const;
  void askRows(const std::vector<RowCall>& calls, const Interval& kernelRows,
               RowSweep& sweep) const;
  std::size_t kindOf(const RowSweep& sweep);
  std::vector<Interval> extentsOf(const RowSweep& sweep) const;

  const LayerNest& nest_;
  const Mapping& m_;
  Interval rows_;
  std::vector<RowCuts> cuts_;
  std::map<std::vector<std::int64_t>, std::size_t> rowsAlike_;
  std::vector<std::size_t> shareRows_;  // per share: which of these
  struct Known {
    std::int64_t busy = 0;  // bit by bit, boxes with columns in the chunk
    Interval kernelRows;
    std::int64_t callRows = 1;
    RowSweep sweep;
  };
  std::vector<std::vector<std::unique_ptr<Known>>> known_;  // per rows that are alike and band
  struct Kind {
    const RowSweep* first = nullptr;
    std::vector<Interval> extents;
  };
  std::vector<Kind> kinds_;
  std::vector<std::optional<bool>> hasCalls_;  // per band, chunk and share
};

}  // namespace heddle
