// Proves of a Program what can be proved without timing: that every number is in its range over all
// iterations, that the device's limits are kept, and that all queues run to their ends whatever the
// times are. docs/asm.md has the argument: every lock has one producer queue and one consumer
// queue, so one untimed run stands for every timed one.
//
// | code    | when                                                                       |
// |---------|----------------------------------------------------------------------------|
// | PROG001 | an engine, tile, layer, tensor or kernel that is not there                 |
// | PROG002 | a loop that cannot be executed, a counter outside its loop, too long a run |
// | PROG003 | an instruction in the queue of an engine that does not execute it          |
// | PROG004 | a number out of range                                                      |
// | PROG005 | an address outside of its memory, or of every buffer declared there        |
// | PROG006 | sizes that do not agree: a part, its two ends, a ring, a weight record     |
// | PROG007 | a limit of the device does not suffice                                     |
// | PROG008 | a way that the device does not have: of a wire, or of a core's write       |
// | PROG009 | a lock not declared, or used by neither its producer nor its consumer      |
// | PROG010 | sender and receiver that do not mean the same part                         |
// | PROG011 | a deadlock, with the queues that wait for each other                       |
// | PROG012 | tokens left or never taken, entries started that are not there             |
// | PROG013 | an input or output whose axes are not those of its tensor                  |
#pragma once
#include <string>
#include <vector>

#include "heddle/device/device.h"
#include "heddle/program/program.h"
#include "heddle/support/result.h"

namespace heddle {

// Empty where nothing is wrong; else up to 20 faults, and then FILE004. Those of severity
// DoesNotFit are right on another device or in another heddle; the others are wrong anywhere. Safe
// for any Program that parseAsm returns.
Diagnostics verify(const Program& program, const Device& device);

// A limit of the device that does not suffice: the program would be right on another device.
struct Shortage {
  std::string key;  // of the device's description: "limits.core.locks"
  std::string where, summary;
  std::int64_t needed = 0, there = 0;
  std::string unit;  // " B", or nothing for a count
};

// What verify finds of limits: of each that does not suffice the greatest need. The program must be
// right otherwise.
std::vector<Shortage> shortages(const Program& program, const Device& device);

}  // namespace heddle
