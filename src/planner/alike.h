// Layers that are alike have the same mappings to choose from and, mapped alike, the same work.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/support/bits.h"

namespace heddle {

// Numbers the kinds of layers of any networks.
class LayerKinds {
 public:
  // Per operator of the network the number of its kind: the same operator, window, shapes, size of
  // weights and blocks that these keep. An Assemble has a kind of its own, each time.
  std::vector<std::size_t> of(const CanonicalGraph& graph);

 private:
  struct Key {
    std::vector<std::int64_t> numbers;
    Bits kept;  // blocks of weights; none: all
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  static Key keyOf(const CanonicalGraph& graph, const CanonicalOp& op);

  std::map<Key, std::size_t> known_;
  std::size_t count_ = 0;
};

}  // namespace heddle
