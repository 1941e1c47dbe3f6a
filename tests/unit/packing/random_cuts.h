// Buffers of which a perfect packing is known: a rectangle of time and bytes, cut into pieces.
#pragma once
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "heddle/packing/pack.h"

namespace heddle {

// What is cut next, and how.
//
//   +-----+---+      +-------------+
//   |     |   |      +--+          |     Pinwheel: four pieces around a fifth, which cuts through a
//   +-+---+   |      |  |----------+     whole piece cannot make. Stair: pieces that stand, and
//   | |   |   |      |  +----+-----+     pieces that lie on them.
//   | +---+---+      |  |    |-----+
//   | |       |      |  |    |     |
//   +-+-------+      +--+----+-----+
enum class CutStyle {
  Mixed,       // any piece in two; one in five, where there is room, as a pinwheel
  Guillotine,  // any piece in two
  Pinwheels,   // pinwheels wherever there is room
  Stairs,      // stairs of up to eight steps wherever there is room
  ShortLives,  // the largest of four pieces, nine of ten times across time
  LongLives,   // the largest of four pieces, nine of ten times across bytes
  Even,        // the largest of all pieces in two halves, nearly
};
inline constexpr CutStyle kCutStyles[] = {
    CutStyle::Mixed,      CutStyle::Guillotine, CutStyle::Pinwheels, CutStyle::Stairs,
    CutStyle::ShortLives, CutStyle::LongLives,  CutStyle::Even};

struct Cuts {
  std::vector<LiveBuffer> buffers;    // shuffled
  std::vector<std::int64_t> offsets;  // of the perfect packing
};

class RectangleCutter {
 public:
  RectangleCutter(std::uint64_t seed, std::size_t count, CutStyle style)
      : random_(seed), count_(count), style_(style) {}

  Cuts cut(std::int64_t time, std::int64_t bytes) {
    pieces_ = {{0, time, 0, bytes}};
    while (pieces_.size() < count_) cutOne();
    for (std::size_t k = pieces_.size(); k > 1; --k)
      std::swap(pieces_[k - 1], pieces_[below(static_cast<std::int64_t>(k))]);
    Cuts cuts;
    for (const Piece& p : pieces_) {
      cuts.buffers.push_back({p.left, p.right, p.high - p.low});
      cuts.offsets.push_back(p.low);
    }
    return cuts;
  }

 private:
  struct Piece {
    std::int64_t left, right, low, high;
    std::int64_t wide() const { return right - left; }
    std::int64_t tall() const { return high - low; }
    std::int64_t area() const { return wide() * tall(); }
  };

  // The standard says its generators' numbers, and not its distributions'.
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }
  bool oneOf(std::int64_t n) { return below(n) == 0; }

  std::size_t next() {
    std::size_t at = below(std::ssize(pieces_));
    const bool largest = style_ == CutStyle::Even;
    const std::size_t tries = largest ? pieces_.size() : style_ < CutStyle::ShortLives ? 0 : 4;
    for (std::size_t k = 0; k < tries; ++k) {
      const std::size_t other = largest ? k : below(std::ssize(pieces_));
      if (pieces_[other].area() > pieces_[at].area()) at = other;
    }
    return at;
  }

  void cutOne() {
    const std::size_t at = next();
    const Piece p = pieces_[at];
    const std::vector<Piece> parts = partsOf(p);
    pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(at));
    pieces_.insert(pieces_.end(), parts.begin(), parts.end());
  }

  std::vector<Piece> partsOf(const Piece& p) {
    const std::size_t room = count_ - pieces_.size() + 1;
    const bool pinwheel = style_ == CutStyle::Pinwheels ||
                          (style_ == CutStyle::Mixed && p.wide() >= 3 && p.tall() >= 3 && oneOf(5));
    if (pinwheel && p.wide() >= 3 && p.tall() >= 3 && room >= 5) return pinwheelOf(p);
    if (style_ == CutStyle::Stairs && p.wide() >= 4 && p.tall() >= 4 && room >= 5)
      return stairOf(p, std::min<std::int64_t>({p.wide(), p.tall(), 8, std::ssize(pieces_) + 1,
                                                static_cast<std::int64_t>(room) / 2}));
    const bool across = style_ == CutStyle::ShortLives  ? !oneOf(10)
                        : style_ == CutStyle::LongLives ? oneOf(10)
                                                        : oneOf(2);
    if (p.wide() >= 2 && (p.tall() < 2 || across)) {
      const std::int64_t x = between(p.left, p.right);
      return {{p.left, x, p.low, p.high}, {x, p.right, p.low, p.high}};
    }
    if (p.tall() < 2) return {p};
    const std::int64_t y = between(p.low, p.high);
    return {{p.left, p.right, p.low, y}, {p.left, p.right, y, p.high}};
  }

  std::int64_t between(std::int64_t low, std::int64_t high) {
    if (style_ != CutStyle::Even) return low + 1 + below(high - low - 1);
    const std::int64_t third = (high - low) / 3;
    return std::clamp(low + third + below(third + 1), low + 1, high - 1);
  }

  std::vector<Piece> pinwheelOf(const Piece& p) {
    const std::int64_t x1 = p.left + 1 + below(p.wide() - 2), x2 = between(x1, p.right);
    const std::int64_t y1 = p.low + 1 + below(p.tall() - 2), y2 = between(y1, p.high);
    return {{p.left, x2, p.low, y1},
            {x2, p.right, p.low, y2},
            {x1, p.right, y2, p.high},
            {p.left, x1, y1, p.high},
            {x1, x2, y1, y2}};
  }

  // Numbers within (low, high), growing.
  std::vector<std::int64_t> steps(std::int64_t low, std::int64_t high, std::int64_t count) {
    std::vector<std::int64_t> all;
    while (std::ssize(all) < count) {
      const std::int64_t x = between(low, high);
      if (std::ranges::find(all, x) == all.end()) all.push_back(x);
    }
    std::ranges::sort(all);
    return all;
  }

  std::vector<Piece> stairOf(const Piece& p, std::int64_t count) {
    std::vector<std::int64_t> x = steps(p.left, p.right, count - 1);
    std::vector<std::int64_t> y = steps(p.low, p.high, count - 1);
    x.insert(x.begin(), p.left);
    y.insert(y.begin(), p.low);
    std::ranges::reverse(y);  // tops of those that stand; the last lies on the floor alone
    std::vector<Piece> parts;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const std::int64_t above = k == 0 ? p.high : y[k - 1];
      parts.push_back({x[k], p.right, y[k], above});
      if (k + 1 < x.size()) parts.push_back({x[k], x[k + 1], p.low, y[k]});
    }
    return parts;
  }

  std::mt19937_64 random_;
  std::size_t count_;
  CutStyle style_;
  std::vector<Piece> pieces_;
};

// `count` pieces of `time` x `bytes`, which has room for them.
inline Cuts cutRectangle(std::uint64_t seed, std::size_t count, std::int64_t time,
                         std::int64_t bytes, CutStyle style = CutStyle::Mixed) {
  return RectangleCutter(seed, count, style).cut(time, bytes);
}

}  // namespace heddle
