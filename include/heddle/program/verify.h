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
// | PROG005 | an address outside of its memory or of every declared buffer, or no cell's |
// | PROG006 | sizes that do not agree: a part, its two ends, a ring, a weight record     |
// | PROG007 | a limit of the device does not suffice                                     |
// | PROG008 | a way that the device does not have: of a wire, or of a core's write       |
// | PROG009 | a lock not declared, or used by neither its producer nor its consumer      |
// | PROG010 | sender and receiver that do not mean the same part                         |
// | PROG011 | a deadlock, with the queues that wait for each other                       |
// | PROG012 | tokens left or never taken, entries started that are not there             |
// | PROG013 | an input or output whose axes are not those of its tensor                  |
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heddle/device/device.h"
#include "heddle/program/program.h"
#include "heddle/support/result.h"

namespace heddle {

// Empty where nothing is wrong; else up to 20 faults, and then FILE004. Those of severity
// DoesNotFit are right on another device or in another heddle; the others are wrong anywhere. Safe
// for any Program that parseAsm returns.
Diagnostics verify(const Program& program, const Device& device);

// A program that verify has found right on a device. It is what is executed: whoever takes one need
// not ask again. Copies share it.
class VerifiedProgram {
 public:
  VerifiedProgram() = default;  // none
  explicit operator bool() const { return program_ != nullptr; }
  const Program& operator*() const { return *program_; }
  const Program* operator->() const { return program_.get(); }
  const Device& device() const { return *device_; }
  // The same on another device. Needs: that differs in nothing but how long things take, and may
  // let a lock hold any value.
  VerifiedProgram on(Device device) const;

 private:
  VerifiedProgram(std::shared_ptr<const Program> program, Device device)
      : program_(std::move(program)), device_(std::make_shared<const Device>(std::move(device))) {}
  friend Result<VerifiedProgram> verified(Program program, const Device& device);
  friend struct ProgramFit fitOf(Program program, const Device& device);
  std::shared_ptr<const Program> program_;
  std::shared_ptr<const Device> device_;
};

// Errors: those of verify.
Result<VerifiedProgram> verified(Program program, const Device& device);

// A limit of the device that does not suffice: the program would be right on another device.
struct Shortage {
  std::string key;  // of the device's description: "limits.core.locks"
  std::string where, summary;
  std::int64_t needed = 0, there = 0;
  std::string unit;  // " B", or nothing for a count
};

// Of a program that is right but for its size: of each limit that does not suffice the greatest
// need; where all do, the program, unless it is too large to be proved.
struct ProgramFit {
  std::vector<Shortage> shortages;
  VerifiedProgram program;
};
ProgramFit fitOf(Program program, const Device& device);

}  // namespace heddle
