// The faults of one input, as a reader finds them. A hostile file holds millions and nobody reads
// them: the first are kept, the others counted.
//
//   FaultList faults("d.yaml");  faults.add({...});  ...  if (!faults.empty()) return
//   faults.take();
#pragma once
#include <string>

#include "heddle/support/result.h"

namespace heddle {

class FaultList {
 public:
  static constexpr std::size_t kMostKept = 100;

  explicit FaultList(std::string input, std::size_t mostKept = kMostKept)
      : input_(std::move(input)), mostKept_(mostKept) {}

  void add(Diagnostic fault);
  // Where true, the next fault is only counted: whoever makes its text with much work may count it
  // by add({}) instead.
  bool full() const { return kept_.size() == mostKept_; }
  // Nobody looks for further ones, so that there may be more than were counted.
  void stop() { stopped_ = true; }
  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }  // of all, kept or not

  // Those kept, and where there are or may be others FILE004 an input has more faults than are
  // shown.
  Diagnostics take();

 private:
  std::string input_;
  Diagnostics kept_;
  std::size_t mostKept_, count_ = 0;
  bool stopped_ = false;
};

}  // namespace heddle
