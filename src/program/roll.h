// Finds loops in queues, and has engines that do the same share sections (merge_engines.h): a
// lossless re-rolling of flat instructions.
//
//   RECV slot 0, RECV slot 1, RECV slot 2, CONV ...   ->   loop 3 { RECV slot i0 }, CONV ...
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "heddle/program/program.h"

namespace heddle {

// Instructions of one queue in one layer, as structure and numbers: `shape` indexes Roller's
// prototypes, `values` are the numbers in the order of forEachValue on the prototype with its
// locks.
struct FlatOp {
  std::int32_t shape = 0;
  std::size_t firstValue = 0;
};

class Roller {
 public:
  // Prototypes by shape number; numbers in them are ignored. The vector may grow while the Roller
  // is in use.
  explicit Roller(const std::vector<FlatInstruction>& prototypes);

  // Adds one engine's instructions of a layer.
  void add(StepId step, const Engine& engine, std::span<const FlatOp> ops,
           const std::vector<std::int64_t>& values);

  // Sections by layer, then kind of engine and channel, then rectangle.
  std::vector<Section> sections();

 private:
  // A leaf (an instruction of `shape`) or a loop; base numbers lie apart, so equal structures are
  // one entry.
  struct Structure {
    std::int32_t shape = -1;            // leaf
    std::int64_t count = 1;             // loop
    std::vector<std::int32_t> body;     // loop: structures
    std::vector<std::int64_t> strides;  // loop: per number of the body, what one iteration adds
    std::size_t values = 0;             // how many numbers it has
    std::int32_t depth = 0;             // loops nested in it
  };
  struct Token {
    std::int32_t structure = 0;
    std::size_t firstValue = 0;
  };
  struct Sequence {
    std::vector<Token> tokens;
    std::vector<std::int64_t> values;
  };
  struct Rolled {
    Engine engine;
    Sequence sequence;
  };

  struct Found {  // a loop that starts at a token
    std::size_t period = 0;
    std::int64_t count = 1;
    std::int64_t gain() const {
      return (count - 1) * static_cast<std::int64_t>(period);
    }  // tokens saved
  };
  bool rollOnce(Sequence& sequence, std::size_t longest);
  Found longestLoop(const Sequence& s, std::size_t at, std::size_t longest) const;
  bool betterSoon(const Sequence& s, std::size_t at, std::size_t longest, const Found& found) const;
  std::int64_t repetitions(const Sequence& s, std::size_t at, std::size_t period) const;
  std::int32_t leaf(std::int32_t shape);
  std::int32_t loop(std::int64_t count, std::vector<std::int32_t> body,
                    std::vector<std::int64_t> strides);
  struct Enclosing {
    const std::vector<std::int64_t>* strides;
    std::size_t offset;
  };
  Item item(std::int32_t structure, const std::vector<Affine>& values, std::size_t offset,
            std::vector<Enclosing>& loops);

  const std::vector<FlatInstruction>& prototypes_;
  std::vector<Structure> structures_;
  std::vector<std::int32_t> leaves_;  // structure by shape, -1 where there is none yet
  std::map<std::vector<std::int64_t>, std::int32_t> loops_;
  std::map<std::pair<std::int32_t, std::pair<EngineKind, std::int32_t>>, std::vector<Rolled>>
      groups_;
};

}  // namespace heddle
