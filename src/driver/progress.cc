#include "heddle/driver/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace heddle {
namespace {

constexpr int kBarWidth = 24;
constexpr std::chrono::milliseconds kQuiet{1000};  // shorter steps are not worth a bar
constexpr std::chrono::milliseconds kRedraw{100};
constexpr const char* kClearLine = "\r\033[K";

double seconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double>(d).count();
}

std::string timeLeft(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  if (whole < 60) return std::to_string(whole) + " s left";
  return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s left";
}

}  // namespace

std::string progressLine(const std::string& step, double fraction, double secondsLeft) {
  const double f = std::clamp(fraction, 0.0, 1.0);
  const int filled = static_cast<int>(f * kBarWidth);
  std::string bar(static_cast<std::size_t>(filled), '=');
  if (filled < kBarWidth) bar += '>';
  bar.resize(kBarWidth, ' ');
  const std::string percent = std::to_string(static_cast<int>(f * 100));
  return step + "  [" + bar + "]  " + percent + " %  " + timeLeft(secondsLeft);
}

void TerminalProgress::begin(const std::string& step) {
  end();
  step_ = step;
  started_ = drawn_ = Clock::now();
}

void TerminalProgress::advance(double fraction) {
  if (!style_.bars || step_.empty() || fraction <= 0) return;
  const Clock::time_point now = Clock::now();
  if (now - started_ < kQuiet || (shown_ && now - drawn_ < kRedraw)) return;
  drawn_ = now;
  shown_ = true;
  const double elapsed = seconds(now - started_);
  const std::string line = progressLine(step_, fraction, elapsed / fraction - elapsed);
  if (style_.colour) {
    std::fprintf(stderr, "%s\033[36m%s\033[0m", kClearLine, line.c_str());
  } else {
    std::fprintf(stderr, "%s%s", kClearLine, line.c_str());
  }
  std::fflush(stderr);
}

void TerminalProgress::end() {
  clear();
  if (!step_.empty() && style_.verbose)
    std::fprintf(stderr, "%-28s %8.3f s\n", step_.c_str(), seconds(Clock::now() - started_));
  step_.clear();
}

void TerminalProgress::clear() {
  if (shown_) std::fputs(kClearLine, stderr);
  shown_ = false;
}

}  // namespace heddle
