// Breaks a correct program in one place, at random: what the Machine and the comparison of tensors
// must notice.
//
//   const Mutation m = mutate(program, 42);     // m.what: "instruction 17 (RECV): slot of the
//   destination + 1"
//
// The mutated program always executes something else than the original: other numbers, another
// order, other lock counts. It may still be correct (a WAIT that nothing depends on, one token more
// where a buffer has room): those survive, and tests/mutation/mutation_test.cc looks at each kind
// of survivor.
#pragma once
#include <cstdint>
#include <string>

#include "heddle/program/program.h"

namespace heddle::mutation {

struct Mutation {
  Program program;
  std::string kind;  // "lock count", "address", ...
  std::string what;  // where and how
};

Mutation mutate(const Program& program, std::uint64_t seed);

// The same of the weights that a program comes with: a bit of a CONV record's gamma flips, two
// different ones change places (so that as many blocks are kept), or a bit of a weight flips.
struct ImageMutation {
  WeightImage image;
  std::string kind;  // "gamma", "gamma, as many kept", "weight"
  std::string what;  // where and how
};

ImageMutation mutateImage(const Program& program, const WeightImage& image, std::uint64_t seed);

}  // namespace heddle::mutation
