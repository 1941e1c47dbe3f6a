// Buffers as the solver sees them: time is told in cliques, sets of buffers that live at one time
// and that no such set contains. Two buffers meet exactly if a clique holds both, and each is in
// cliques one behind another.
#pragma once
#include <cstdint>
#include <vector>

#include "heddle/packing/pack.h"

namespace heddle::packing {

struct Span {  // cliques [first, end)
  std::int32_t first = 0, end = 0;
  bool meets(const Span& o) const { return first < o.end && o.first < end; }
  std::int32_t length() const { return end - first; }
};

struct Instance {
  std::vector<std::int64_t> sizes;
  std::vector<Span> spans;
  std::int32_t cliques = 0;
  std::vector<std::int64_t> live;  // per clique: bytes of its buffers

  std::size_t count() const { return sizes.size(); }
  std::int64_t mostLive() const;
  std::int64_t pairs() const;  // of buffers that meet; counted up to kMostPairs + 1
};

// `buffers` that have bytes. The order stays.
Instance describe(const std::vector<LiveBuffer>& buffers);

// The parts of an instance that share no clique with another, as indices into it, in time.
std::vector<std::vector<std::int32_t>> independentParts(const Instance& instance);
Instance partOf(const Instance& instance, const std::vector<std::int32_t>& members);

// Per buffer the buffers that it meets. Needs: pairs() <= kMostPairs.
std::vector<std::vector<std::int32_t>> neighboursOf(const Instance& instance);

}  // namespace heddle::packing
