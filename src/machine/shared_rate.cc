#include "shared_rate.h"

#include <algorithm>

namespace heddle::machine {

Int128 SharedRate::perCycle(const Transfer& transfer) const {
  const auto count = static_cast<std::int64_t>(transfers_.size());
  const Int128 share = Int128{total_} * (kShares / count);
  return std::min(share, Int128{transfer.cap} * kShares);
}

void SharedRate::moveTo(std::int64_t now) {
  for (Transfer& t : transfers_) t.left = std::max<Int128>(0, t.left - perCycle(t) * (now - last_));
  last_ = now;
}

void SharedRate::setEnds(std::int64_t now) {
  for (Transfer& t : transfers_) {
    if (t.left == 0) continue;  // moved already; it waits for its lock latency
    const Int128 rate = perCycle(t);
    t.end = now + static_cast<std::int64_t>((t.left + rate - 1) / rate);
  }
}

bool SharedRate::start(std::int32_t engine, Bytes size, BytesPerSecond cap, std::int64_t now) {
  if (static_cast<std::int64_t>(transfers_.size()) == kMostTransfers) return false;
  moveTo(now);
  transfers_.push_back({engine, 0, Int128{size.raw()} * clock_ * kShares, cap.raw});
  setEnds(now);
  return true;
}

void SharedRate::end(std::int32_t engine, std::int64_t now) {
  moveTo(now);
  std::erase_if(transfers_, [&](const Transfer& t) { return t.engine == engine; });
  setEnds(now);
}

}  // namespace heddle::machine
