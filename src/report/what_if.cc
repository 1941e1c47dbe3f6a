#include "heddle/report/what_if.h"

#include <algorithm>

#include "variants.h"

namespace heddle {
namespace {

std::vector<Resource> resourcesOf(const std::vector<LeafFacts>& leaves) {
  std::vector<Resource> used;
  for (std::size_t r = 0; r < kResources; ++r) {
    const auto resource = static_cast<Resource>(r);
    const bool isUsed = resource != Resource::Sequencer &&
                        std::any_of(leaves.begin(), leaves.end(), [&](const LeafFacts& leaf) {
                          return leaf.resource == resource;
                        });
    if (isUsed) used.push_back(resource);
  }
  return used;
}

}  // namespace

Result<std::vector<WhatIf>> whatIf(const VerifiedProgram& program) {
  const std::vector<LeafFacts> leaves = leafFacts(*program);
  const std::vector<Resource> resources = resourcesOf(leaves);
  std::vector<Variant> variants;
  for (const Resource resource : resources) {
    Variant& variant = variants.emplace_back(Variant{program.device(), {}});
    for (const LeafFacts& leaf : leaves) variant.oneCycle.push_back(leaf.resource == resource);
  }
  HEDDLE_TRY(const std::vector<Cycles> cycles, runVariants(program, variants));
  std::vector<WhatIf> out;
  for (std::size_t i = 0; i < resources.size(); ++i) out.push_back({resources[i], cycles[i]});
  return out;
}

}  // namespace heddle
