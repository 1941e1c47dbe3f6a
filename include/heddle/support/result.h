// What went wrong and how to mend it, and the value-or-diagnostics that every fallible stage
// returns.
//
//   error[MEM002] models/tiny.onnx, node 'conv3' (Conv): its buffers do not fit one memory tile
//     what:  655360 B live at step 14; tile (0,1) holds 524288 B
//     mend:  split output channels by 2 (then 393216 B)
#pragma once
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heddle/support/check.h"

namespace heddle {

// Exit status of the command line that a diagnostic leads to.
enum class Severity { BadInput = 1, Usage = 2, DoesNotFit = 3, Bug = 70 };

struct Diagnostic {
  std::string code;     // stable, listed in docs/diagnostics.md, e.g. "ONNX003"
  std::string where;    // file:line, or model and node
  std::string summary;  // one sentence
  std::string what;     // facts: numbers with units
  std::string mend;     // something that the reader can do
  Severity severity = Severity::BadInput;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};
using Diagnostics = std::vector<Diagnostic>;

// For a terminal: what others wrote (names, values) comes out as visible() shows it.
std::string toText(const Diagnostic& diagnostic);
std::string toText(const Diagnostics& diagnostics);
std::ostream& operator<<(std::ostream& out, const Diagnostics& diagnostics);

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT: so that a stage can return its value
  Result(Diagnostic diagnostic)
      : diagnostics_{std::move(diagnostic)} {}  // NOLINT: so that a stage can return one
  Result(Diagnostics diagnostics) : diagnostics_(std::move(diagnostics)) {  // NOLINT: or several
    HEDDLE_CHECK(!diagnostics_.empty()) << "a failed result must say why";
  }
  explicit operator bool() const { return value_.has_value(); }
  T& operator*() { return get(); }
  const T& operator*() const { return const_cast<Result*>(this)->get(); }
  T* operator->() { return &get(); }
  const T* operator->() const { return &const_cast<Result*>(this)->get(); }
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  T& get() {
    HEDDLE_CHECK(value_.has_value()) << toText(diagnostics_);
    return *value_;
  }
  std::optional<T> value_;
  Diagnostics diagnostics_;
};

// Done, or why not.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Diagnostic diagnostic)
      : diagnostics_{std::move(diagnostic)} {}  // NOLINT: so that a stage can return one
  Result(Diagnostics diagnostics) : diagnostics_(std::move(diagnostics)) {  // NOLINT: or several
    HEDDLE_CHECK(!diagnostics_.empty()) << "a failed result must say why";
  }
  explicit operator bool() const { return diagnostics_.empty(); }
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  Diagnostics diagnostics_;
};

}  // namespace heddle

#define HEDDLE_CONCAT_INNER(a, b) a##b
#define HEDDLE_CONCAT(a, b) HEDDLE_CONCAT_INNER(a, b)
// HEDDLE_TRY(auto plan, makePlan(...)): the value, or an early return of the diagnostics.
#define HEDDLE_TRY(declaration, expression) \
  HEDDLE_TRY_INNER(declaration, expression, HEDDLE_CONCAT(result_, __LINE__))
#define HEDDLE_TRY_INNER(declaration, expression, name) \
  auto name = (expression);                             \
  if (!name) return name.diagnostics();                 \
  declaration = std::move(*name)
// HEDDLE_DO(placeAll()): goes on where that is done, else an early return of its diagnostics.
#define HEDDLE_DO(expression) \
  if (const auto done = (expression); !done) return done.diagnostics()
