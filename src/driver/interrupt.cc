#include "heddle/driver/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

namespace heddle {
namespace {

constexpr int kInterrupted = 130;

// Signals belong to the process, and so does this: what an interrupt has to clear away.
struct Registry {
  std::recursive_mutex mutex;
  std::list<std::filesystem::path> paths;
};
Registry& registry() {
  static Registry* const leaked = new Registry;  // outlives the thread that waits
  return *leaked;
}

}  // namespace

void watchForInterrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals,
                  nullptr);  // inherited by all threads: only the waiting one takes them
  registry();
  std::thread([signals] {
    int signal = 0;
    sigwait(&signals, &signal);
    const auto held = holdInterrupts();
    for (const std::filesystem::path& path : registry().paths) {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    const char message[] = "\ninterrupted\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message, sizeof message - 1);
    ::_exit(kInterrupted);
  }).detach();
}

RemovedOnInterrupt::RemovedOnInterrupt(std::filesystem::path path) {
  const auto held = holdInterrupts();
  entry_ = registry().paths.insert(registry().paths.end(), std::move(path));
}

RemovedOnInterrupt::~RemovedOnInterrupt() {
  const auto held = holdInterrupts();
  registry().paths.erase(entry_);
}

std::unique_lock<std::recursive_mutex> holdInterrupts() {
  return std::unique_lock(registry().mutex);
}

}  // namespace heddle
