// From the pixels of a tensor to those of its root, where it has some of them (Sampling): a Slice
// with steps whose output lies in its input.
//
//   rows from 1 by 2 of 7:  0 1 2  ->  1 3 5        rowsIn([2, 6)) = [1, 3): rows 3 and 5
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "heddle/canon/canonical_graph.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// Whether a tensor of shape `own` can have such pixels of a root of shape `root`, each of `batch`
// images one below the other; without a sampling all of them.
inline bool pixelsFit(const std::optional<Sampling>& sampling, const Shape& own, const Shape& root,
                      std::int64_t batch) {
  if (!sampling) return own.height == root.height && own.width == root.width;
  return sampling->rows.areInside(own.height / batch, root.height / batch) &&
         sampling->columns.areInside(own.width, root.width);
}

// "rows 0 by 2 columns 1 by 1", as plans, programs and faults say it.
inline std::string toText(const Sampling& sampling) {
  const auto steps = [](const Steps& axis) {
    return std::to_string(axis.first) + " by " + std::to_string(axis.step);
  };
  return "rows " + steps(sampling.rows) + " columns " + steps(sampling.columns);
}

class PixelMap {
 public:
  // Of a tensor of shape `own` in a root of shape `root`, each of `batch` images one below the
  // other; without a sampling all its pixels.
  PixelMap(const std::optional<Sampling>& sampling, const Shape& own, const Shape& root,
           std::int64_t batch)
      : isWhole_(!sampling), rows_(own.height), columns_(own.width) {
    if (isWhole_) return;
    sampling_ = *sampling;
    height_ = own.height / batch;
    rootHeight_ = root.height / batch;
  }

  bool isWhole() const { return isWhole_; }
  std::int64_t rowStep() const { return sampling_.rows.step; }
  std::int64_t columnStep() const { return sampling_.columns.step; }

  // Of the root.
  std::int64_t row(std::int64_t y) const {
    if (isWhole_) return y;
    const std::int64_t image = y / height_;
    return image * rootHeight_ + sampling_.rows.at(y - image * height_);
  }
  std::int64_t column(std::int64_t x) const { return sampling_.columns.at(x); }
  // From the first of the root's to the last that these are; empty where these are none.
  Interval reachOfRows(const Interval& y) const {
    return y.empty() ? Interval{} : between(row(y.first), row(y.end() - 1));
  }
  Interval reachOfColumns(const Interval& x) const {
    return x.empty() ? Interval{} : between(column(x.first), column(x.end() - 1));
  }
  // Those that lie among the root's.
  Interval rowsIn(const Interval& ofRoot) const {
    if (isWhole_) return ofRoot;
    const std::int64_t first = rowFrom(ofRoot.first);
    return {first, rowFrom(ofRoot.end()) - first};
  }
  Interval columnsIn(const Interval& ofRoot) const {
    if (isWhole_) return ofRoot;
    const std::int64_t first = indexFrom(sampling_.columns, ofRoot.first, columns_);
    return {first, indexFrom(sampling_.columns, ofRoot.end(), columns_) - first};
  }
  // How many of `count` rows from y on lie in the root at the distance of a step.
  std::int64_t evenRows(std::int64_t y, std::int64_t count) const {
    if (isWhole_ || height_ * rowStep() == rootHeight_) return count;
    return std::min(count, height_ - y % height_);
  }

 private:
  static Interval between(std::int64_t first, std::int64_t last) {
    return {first, last + 1 - first};
  }
  // The first index whose place is `place` or behind it; `count` where there is none.
  static std::int64_t indexFrom(const Steps& steps, std::int64_t place, std::int64_t count) {
    const std::int64_t behind = place - steps.first;
    return behind <= 0 ? 0 : std::min((behind + steps.step - 1) / steps.step, count);
  }
  std::int64_t rowFrom(std::int64_t ofRoot) const {
    const std::int64_t image = ofRoot / rootHeight_;
    return std::min(
        rows_, image * height_ + indexFrom(sampling_.rows, ofRoot - image * rootHeight_, height_));
  }

  bool isWhole_ = true;
  Sampling sampling_;
  std::int64_t rows_ = 0, columns_ = 0;       // of the tensor
  std::int64_t height_ = 1, rootHeight_ = 1;  // of an image
};

}  // namespace heddle
