// Which key of a device holds a run back: found by running the program again, time only, with each
// key at twice its value (a time at half), and with those together that bound the same transfers.
//
//   links.ddr.read 4 GB/s -> 8 GB/s                    nothing gained: links.memtile.write is as
//                                                      small
//   links.ddr.read and links.memtile.write -> 8 GB/s   1 713 402 cycles of 2 013 554
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "heddle/program/verify.h"
#include "heddle/support/result.h"

namespace heddle {

struct RaisedKey {
  std::string key, from, to;  // "links.ddr.read", "4 GB/s", "8 GB/s"
  friend bool operator==(const RaisedKey&, const RaisedKey&) = default;
};

struct RaisedKeys {
  std::vector<RaisedKey> keys;  // all at the same time
  Cycles cycles;                // of the run
  // Where no transfer is faster with it, so that there was nothing to run: the keys that are as
  // small or smaller, and bound the same transfers.
  std::vector<std::string> heldBy;
  friend bool operator==(const RaisedKeys&, const RaisedKeys&) = default;
};

// Rates, and times of calls and locks, that instructions of the program depend on; those that gain
// most first. `cycles`: of the run as it is. The program stays as it was planned: another plan
// might gain more. Errors: those of simulateTime.
Result<std::vector<RaisedKeys>> raiseKeys(const VerifiedProgram& program, Cycles cycles);

}  // namespace heddle
