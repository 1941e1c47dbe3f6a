// Small quantized models whose weights are told element by element.
#pragma once
#include <rapidcheck.h>

#include <vector>

#include "heddle/canon/canonicalize.h"
#include "model_builder.h"

namespace heddle::testing {

struct Model {
  Graph graph;
  Canonicalized canonical;
};

inline Model modelOf(const ModelBuilder& builder) {
  Result<Graph> graph = builder.import();
  HEDDLE_CHECK(graph) << toText(graph.diagnostics());
  Result<Canonicalized> canonical = canonicalize(*graph);
  HEDDLE_CHECK(canonical) << toText(canonical.diagnostics());
  return {std::move(*graph), std::move(*canonical)};
}

// Never zero, and each unlike its neighbours.
inline std::vector<std::int8_t> someWeights(std::int64_t count) {
  std::vector<std::int8_t> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<std::int8_t>(i * 37 % 127 + 1));
  return values;
}

// One convolution of `values` (COUT x CIN/group x K x K) on an 8x8 image.
inline ModelBuilder convModel(const Dims& shape, const std::vector<std::int8_t>& values,
                              std::int64_t group = 1) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, shape[1] * group, 8, 8}), 0.25F);
  auto& node = m.node("Conv", {x, m.weights(shape, values, 0.5F)});
  ModelBuilder::set(node, "group", group);
  m.output(m.requantized(node.output(0), 2.F));
  return m;
}

// From `from` to `end` - 1, whatever the size that RapidCheck is at.
inline std::int64_t number(std::int64_t from, std::int64_t end) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(from, end));
}

}  // namespace heddle::testing
