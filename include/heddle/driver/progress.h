// What a person sees while it takes long: one line on a terminal with a bar and the time that is
// left.
//
//   execute with data  [=========>          ]  46 %  4 s left
#pragma once
#include <chrono>
#include <functional>
#include <string>

namespace heddle {

// Told about every step of a command. Steps follow one another; the fraction of a step never falls.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void begin(const std::string& step) = 0;
  virtual void advance(double fraction) = 0;
  virtual void rename(const std::string&) {}  // the same step goes on under another name
  virtual void end() = 0;
};

// Says nothing.
class NoProgress : public Progress {
 public:
  void begin(const std::string&) override {}
  void advance(double) override {}
  void end() override {}
};

// Draws on stderr, for steps that have taken more than a second; the line is gone when the step
// ends.
class TerminalProgress : public Progress {
 public:
  struct Style {
    bool bars = false;     // stderr is a terminal
    bool colour = false;   // ... and NO_COLOR is not set
    bool verbose = false;  // one line a finished step, with its time
  };
  explicit TerminalProgress(Style style) : style_(style) {}
  ~TerminalProgress() override { clear(); }
  void begin(const std::string& step) override;
  void advance(double fraction) override;
  void rename(const std::string& step) override { step_ = step; }
  void end() override;

 private:
  using Clock = std::chrono::steady_clock;
  void clear();

  Style style_;
  std::string step_;
  Clock::time_point started_, drawn_;
  bool shown_ = false;
};

// The line for a step, without colour: a pure function, for tests.
std::string progressLine(const std::string& step, double fraction, double secondsLeft);

}  // namespace heddle
