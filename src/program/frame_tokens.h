// Locks between a frame and the next: where a program runs again and again (Program::frames), what
// the next frame overwrites waits for those who still touch what this one left there.
//
// The frame is told twice, one right after the other. In the second telling an edge from the first
// one that nothing else implies becomes a token; since all frames are alike, the locks hold between
// any two that follow each other.
//
//   core      | ... read row 9, release L7 |                  | ... read row 9, release L7
//   core-in   | acquire L7, write row 0 ...| acquire L7, write row 0 ...        L7 begins with 1
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "tokens.h"

namespace heddle {

class FrameTokens {
 public:
  // `tokens`: of one frame, finished. `lengths`: by queue, its instructions in a frame.
  FrameTokens(Tokens& tokens, std::vector<std::int32_t> lengths);

  // As of Tokens, of the frame's second telling: instructions count on behind those of the first.
  void begin(std::span<const Operation> together, std::int32_t step);
  void require(std::int32_t tile, const Edge& edge);
  void end() { order_.end(); }

  // After the last instruction: adds the locks, and who takes and gives their tokens, to the
  // frame's own.
  void finish();

 private:
  struct Taken {  // by an instruction of the frame: the tokens of `lock` up to number `upTo`
    std::int32_t op = 0, lock = 0;
    std::int64_t upTo = 0;
  };
  struct Given {
    std::int32_t op = 0;
    std::int64_t upTo = 0;
  };
  struct Demand {
    AccessPoint from, to;  // both within a frame
  };
  using Pair = std::tuple<std::int32_t, std::int32_t, std::int32_t>;  // tile, from, to

  std::int32_t length(std::int32_t queue) const {
    return lengths_[static_cast<std::size_t>(queue)];
  }
  void readUses();
  void awaitTokens(const Operation& operation);
  static std::vector<Demand> tokensOf(const std::vector<Demand>& demands);

  Tokens& tokens_;
  KnownOrder& order_;
  std::vector<std::int32_t> lengths_;
  std::vector<std::vector<Taken>> taken_;  // by queue, in order
  std::vector<std::size_t> next_;          // by queue: of taken_, not yet told again
  std::vector<std::vector<Given>> given_;  // by lock, in order
  std::map<Pair, std::vector<Demand>> demands_;
};

}  // namespace heddle
