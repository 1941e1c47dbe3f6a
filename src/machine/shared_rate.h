// DDR channels that share one total rate in equal parts, recomputed at each start and end, in exact
// integers.
//
//   total 4 GB/s, clock 1 GHz: 400 B alone takes 100 cycles; a second 400 B that starts at 50
//   leaves each 2 B a cycle: the first ends at 150, the second, alone again, at 200.
#pragma once
#include <cstdint>
#include <vector>

#include "heddle/support/requantize.h"
#include "heddle/support/units.h"

namespace heddle::machine {

class SharedRate {
 public:
  struct Transfer {
    std::int32_t engine = -1;
    std::int64_t end = 0;  // if nothing else starts or ends before
    Int128 left = 0;       // in 1 / (clock * kShares) bytes
    std::int64_t cap = 0;  // B/s of the slowest end of its own
  };

  SharedRate(BytesPerSecond total, Hertz clock) : total_(total.raw), clock_(clock.raw) {}

  // False where more transfers run at once than shares can be told apart exactly.
  bool start(std::int32_t engine, Bytes size, BytesPerSecond cap, std::int64_t now);
  void end(std::int32_t engine, std::int64_t now);
  // All that run, with their ends as they are now.
  const std::vector<Transfer>& transfers() const { return transfers_; }

 private:
  // lcm(1..36): a byte is cut into so many parts that up to 36 equal shares of the rate are whole
  // numbers of them.
  static constexpr std::int64_t kMostTransfers = 36, kShares = 144403552893600;
  Int128 perCycle(const Transfer& transfer) const;
  void moveTo(std::int64_t now);
  void setEnds(std::int64_t now);

  std::int64_t total_, clock_, last_ = 0;
  std::vector<Transfer> transfers_;
};

}  // namespace heddle::machine
