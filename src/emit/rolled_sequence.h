// Sequences of integers with their loops found: what repeats is written once, with its count.
//
//   3 1 2 1 2 1 2 9  ->  [3,[3,1,2],9]        a number stands for itself,
//                                             [n, items...] for its items n times; loops nest
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace heddle {

class SequenceRoller {
 public:
  // The text of `values`; unrolling it gives them back.
  std::string roll(std::span<const std::int64_t> values);

 private:
  struct Symbol {
    std::int64_t value = 0;          // of a number; of a loop: its count
    std::vector<std::int32_t> body;  // empty for a number
  };
  std::int32_t number(std::int64_t value);
  std::int32_t loop(std::int64_t count, std::span<const std::int32_t> body);
  static std::vector<std::int32_t> stretches(std::vector<std::int32_t> sequence,
                                             std::size_t stretch);
  std::vector<std::int32_t> pass(const std::vector<std::int32_t>& sequence, std::size_t stretch);
  void append(std::string& out, std::int32_t symbol) const;

  std::vector<Symbol> symbols_;
  std::vector<std::int32_t> small_;  // symbols of the numbers 0, 1, ...; -1 where not met yet
  std::unordered_map<std::int64_t, std::int32_t> numbers_;
  std::map<std::vector<std::int64_t>, std::int32_t> loops_;
  std::vector<std::int32_t>
      last_;  // per symbol, or stretch of them: where it last began in the sequence at hand, or -1
};

}  // namespace heddle
