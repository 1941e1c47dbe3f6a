// Work beside the interpreter: on a thread of its own, so that Ctrl-C is heard and the
// interpreter's other threads run. That thread never touches Python.
//
//   Background work([=](Progress& progress) { *result = compile(..., progress); });
//   while (!work.doneWithin(50ms)) ...   // look for signals
//   work.finish();
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "heddle/driver/progress.h"

namespace heddle {

// Where the work is: the step that it is in and how much of that is done, from 0 to 1.
struct Step {
  std::string name;
  double fraction = 0;
  friend bool operator==(const Step&, const Step&) = default;
};

struct BackgroundState;

class Background {
 public:
  // What `work` refers to has to outlive the thread: it owns it.
  explicit Background(std::function<void(Progress&)> work);
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  // Does not wait: work that is not done stops at its next word on progress, unheard.
  ~Background();

  bool doneWithin(std::chrono::milliseconds time) const;
  Step step() const;
  void stop();
  // Needs: it is done. Throws what the work threw, but for that it was stopped.
  void finish();

 private:
  std::shared_ptr<BackgroundState> state_;
  std::thread thread_;
};

// Waits for work that was left to itself: nothing may run on when the process takes itself down.
void joinAllBackground();

}  // namespace heddle
