// Ctrl-C at any moment, SIGTERM, SIGQUIT or the end of the terminal: what is half done is removed
// and the process ends with status 130.
#pragma once
#include <filesystem>
#include <list>
#include <mutex>

namespace heddle {

// Starts the thread that waits for these signals. Called once, by main, before any other thread
// exists. Where no thread can be had they end the process, as they do by default.
void watchForInterrupts();

// While it lives, an interrupt removes `path`, a file or a folder that holds nothing foreign.
class RemovedOnInterrupt {
 public:
  explicit RemovedOnInterrupt(std::filesystem::path path);
  RemovedOnInterrupt(const RemovedOnInterrupt&) = delete;
  RemovedOnInterrupt& operator=(const RemovedOnInterrupt&) = delete;
  ~RemovedOnInterrupt();

 private:
  std::list<std::filesystem::path>::iterator entry_;
};

// An interrupt waits for as long as the lock is held: for making a file that it has to remove, and
// for renaming a finished result into its place.
std::unique_lock<std::recursive_mutex> holdInterrupts();

}  // namespace heddle
