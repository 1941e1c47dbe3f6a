// Where no device keeps what is required: which key would have to go on.
//
//   at 2 GB/s missed by 80 %, at 4 GB/s by 30 %, and 4 GB/s is the most that was looked at:
//   links.ddr.read beyond 4 GB/s
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace heddle {

struct JudgedPlace {
  std::vector<std::optional<double>> keys;  // none: unlimited
  std::string others;                       // what else parts it from other places
  double missed = 0;                        // the largest share by which a requirement is missed
};

struct Relaxation {
  std::size_t key = 0;  // of JudgedPlace::keys
  std::optional<double> before, last;
  double missedBefore = 0, missedLast = 0;
};

// Of `nearest`, those keys whose step to its value, with everything else the same, made it miss
// less, and that have no value beyond it: the most useful first.
std::vector<Relaxation> keysToRelax(const std::vector<JudgedPlace>& places, std::size_t nearest);

}  // namespace heddle
