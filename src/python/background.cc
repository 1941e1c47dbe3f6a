#include "background.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace heddle {

struct BackgroundState {
  mutable std::mutex mutex;
  std::condition_variable ended;
  Step step;
  bool stop = false, done = false;
  std::exception_ptr failure;
};

namespace {

struct Stopped {};  // thrown through the work, once nobody waits for it

struct Left {  // threads whose Background is gone
  std::mutex mutex;
  std::vector<std::thread> threads;
};
Left& left() {
  static Left all;
  return all;
}

class Heard : public Progress {
 public:
  explicit Heard(BackgroundState& state) : state_(state) {}
  void begin(const std::string& step) override { say({step, 0}); }
  void advance(double fraction) override {
    const std::lock_guard held(state_.mutex);
    if (state_.stop) throw Stopped{};
    state_.step.fraction = fraction;
  }
  void rename(const std::string& step) override {
    const std::lock_guard held(state_.mutex);
    state_.step.name = step;
  }
  void end() override {}

 private:
  void say(Step step) {
    const std::lock_guard held(state_.mutex);
    if (state_.stop) throw Stopped{};
    state_.step = std::move(step);
  }
  BackgroundState& state_;
};

}  // namespace

Background::Background(std::function<void(Progress&)> work)
    : state_(std::make_shared<BackgroundState>()) {
  thread_ = std::thread([state = state_, work = std::move(work)]() mutable {
    std::exception_ptr failure;
    try {
      Heard heard(*state);
      work(heard);
    } catch (const Stopped&) {  // as it was told
    } catch (...) {
      failure = std::current_exception();
    }
    work = nullptr;
    const std::lock_guard held(state->mutex);
    state->failure = std::move(failure);
    state->done = true;
    state->ended.notify_all();
  });
}

Background::~Background() {
  if (!thread_.joinable()) return;
  stop();
  const std::lock_guard held(left().mutex);
  left().threads.push_back(std::move(thread_));
}

bool Background::doneWithin(std::chrono::milliseconds time) const {
  std::unique_lock held(state_->mutex);
  return state_->ended.wait_for(held, time, [&] { return state_->done; });
}

Step Background::step() const {
  const std::lock_guard held(state_->mutex);
  return state_->step;
}

void Background::stop() {
  const std::lock_guard held(state_->mutex);
  state_->stop = true;
}

void Background::finish() {
  if (thread_.joinable()) thread_.join();
  if (std::exception_ptr failure = std::exchange(state_->failure, nullptr))
    std::rethrow_exception(failure);
}

void joinAllBackground() {
  const std::lock_guard held(left().mutex);
  for (std::thread& thread : left().threads) thread.join();
  left().threads.clear();
}

}  // namespace heddle
