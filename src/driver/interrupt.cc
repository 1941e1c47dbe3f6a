#include "heddle/driver/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <system_error>
#include <thread>

#include "own_files.h"

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

// A terminal that closes is none to a process that was started to outlive it (nohup).
bool outlivesItsTerminal() {
  struct sigaction action {};
  return ::sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

sigset_t interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT}) sigaddset(&signals, signal);
  if (!outlivesItsTerminal()) sigaddset(&signals, SIGHUP);
  return signals;
}

// The lock is never given back: nothing is made after it was cleared away.
[[noreturn]] void endOnInterrupt(const sigset_t& signals) {
  int signal = 0;
  sigwait(&signals, &signal);
  const auto held = holdInterrupts();
  for (const std::filesystem::path& path : registry().paths) removeOwn(path);
  const char message[] = "\ninterrupted\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message, sizeof message - 1);
  ::_exit(kInterrupted);
}

}  // namespace

void watchForInterrupts() {
  const sigset_t signals = interrupts();
  pthread_sigmask(SIG_BLOCK, &signals,
                  nullptr);  // inherited by all threads: only the waiting one takes them
  registry();
  try {
    std::thread([signals] { endOnInterrupt(signals); }).detach();
  } catch (const std::system_error&) {
    // No thread to be had: an interrupt ends the process as ever, and the next run clears away.
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  }
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
