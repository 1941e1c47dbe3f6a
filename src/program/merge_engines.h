// Engines of a kind that do the same, so that one section speaks for all of them (SPMD): their
// instructions and loops are the same, and each number is affine in row and column.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "heddle/program/program.h"

namespace heddle {

// What an engine executes in a step.
struct EngineCode {
  std::int64_t row = 0, column = 0;
  std::vector<std::int32_t> structure;    // equal where code is but for its numbers
  std::span<const std::int64_t> numbers;  // as many where structures are equal
};

struct MergedCode {
  std::vector<CoreRange> engines;  // none of them in two
  std::size_t first = 0;           // place of one of them among the codes
  std::vector<Affine> numbers;     // of row and column
};

// Rectangles, greedy from the top left, of which each joins the first before it that it can. Each
// engine is in one, and finds its numbers there. No two codes are of one place.
std::vector<MergedCode> mergeEngines(std::span<const EngineCode> codes);

}  // namespace heddle
