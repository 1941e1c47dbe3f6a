#include "heddle/support/fault_list.h"

namespace heddle {

void FaultList::add(Diagnostic fault) {
  ++count_;
  if (!full()) kept_.push_back(std::move(fault));
}

Diagnostics FaultList::take() {
  if (count_ > kept_.size() || (stopped_ && !kept_.empty()))
    kept_.push_back({.code = "FILE004",
                     .where = input_,
                     .summary = stopped_ ? "there may be more faults"
                                         : std::to_string(count_ - kept_.size()) + " more faults",
                     .what = "the first " + std::to_string(kept_.size()) + " are shown",
                     .mend = "mend these first",
                     .severity = kept_.front().severity});
  count_ = 0;
  stopped_ = false;
  return std::exchange(kept_, {});
}

}  // namespace heddle
