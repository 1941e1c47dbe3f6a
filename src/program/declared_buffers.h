// What a Program's buffers say about who may touch which bytes.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "iteration_space.h"
#include "verify_checks.h"

namespace heddle {

// The buffers of one layer, to look up what holds some bytes of a tile. They are names: a program
// that makes it look at very many is believed.
class DeclaredBuffers {
 public:
  void select(const Program& program, LayerId layer) {
    if (layer == layer_) return;
    layer_ = layer;
    for (OfKind& of : kinds_) of = {};
    for (const Buffer& b : program.buffers) {
      OfKind& of = kinds_[static_cast<std::size_t>(b.kind)];
      of.declared = true;
      const bool alive = (!b.first.valid() || b.first.index <= layer.index) &&
                         (!b.last.valid() || layer.index <= b.last.index);
      if (!alive) continue;
      of.byAddress.push_back(&b);
      of.longest = std::max(of.longest, b.size);
    }
    for (OfKind& of : kinds_)
      std::ranges::sort(of.byAddress, {}, [](const Buffer* b) { return b->address; });
  }

  // Whether the program names its buffers in such tiles at all.
  bool declares(TileKind kind) const { return kinds_[static_cast<std::size_t>(kind)].declared; }

  bool hold(TileKind kind, const Extremes& row, const Extremes& column, std::int64_t from,
            std::int64_t to) {
    const OfKind& of = kinds_[static_cast<std::size_t>(kind)];
    auto at = std::ranges::upper_bound(of.byAddress, from, {},
                                       [](const Buffer* b) { return b->address; });
    while (at != of.byAddress.begin()) {
      const Buffer& b = **--at;
      if (--looks_ < 0) return true;
      if (from - b.address >= of.longest) return false;
      const CoreRange& t = b.tiles;
      if (to <= b.address + b.size && t.contains(row.low, column.low) &&
          t.contains(row.high, column.high))
        return true;
    }
    return false;
  }

 private:
  struct OfKind {
    std::vector<const Buffer*> byAddress;
    std::int64_t longest = 0;
    bool declared = false;
  };
  LayerId layer_;
  std::int64_t looks_ = 4 * kMaxSteps;
  std::array<OfKind, 3> kinds_;
};

}  // namespace heddle
