// HEDDLE_CHECK(cond) << facts: a promise that only a bug of ours can break. Alive in every build;
// says which promise broke, where and with what facts, by throwing InternalError (the command line
// turns it into exit status 70).
#pragma once
#include <sstream>
#include <stdexcept>
#include <string>

namespace heddle {

class InternalError : public std::logic_error {
  using std::logic_error::logic_error;
};

namespace detail {
class CheckFailure {
 public:
  CheckFailure(const char* condition, const char* file, int line) {
    text_ << file << ':' << line << ": broken promise: " << condition << ' ';
  }
  template <class T>
  CheckFailure& operator<<(const T& fact) {
    text_ << fact;
    return *this;
  }
  [[noreturn]] ~CheckFailure() noexcept(false) { throw InternalError(text_.str()); }

 private:
  std::ostringstream text_;
};
}  // namespace detail
}  // namespace heddle

#define HEDDLE_CHECK(cond) \
  if (cond) {              \
  } else                   \
    ::heddle::detail::CheckFailure(#cond, __FILE__, __LINE__)
