#include "choices.h"

namespace heddle::property {
namespace {

using List = std::vector<std::int64_t>;

class Shrinker {
 public:
  Shrinker(List list, const std::function<bool(const List&)>& fails, int tries)
      : list_(std::move(list)), fails_(fails), tries_(tries) {}

  List run() {
    for (bool smaller = true; smaller && tries_ > 0;) {
      smaller = false;
      for (std::size_t length = list_.size() / 2; length > 0; length /= 2)
        smaller = without(length) || smaller;
      smaller = plainer() || smaller;
    }
    return list_;
  }

 private:
  bool keep(List candidate) {
    if (tries_-- <= 0 || candidate == list_ || !fails_(candidate)) return false;
    list_ = std::move(candidate);
    return true;
  }

  // Drops runs of `length` choices.
  bool without(std::size_t length) {
    bool smaller = false;
    for (std::size_t at = 0; at + length <= list_.size() && tries_ > 0;) {
      List shorter = list_;
      const auto first = shorter.begin() + static_cast<std::ptrdiff_t>(at);
      shorter.erase(first, first + static_cast<std::ptrdiff_t>(length));
      if (keep(std::move(shorter)))
        smaller = true;
      else
        at += length;
    }
    return smaller;
  }

  bool plainer() {
    bool smaller = false;
    for (std::size_t at = 0; at < list_.size() && tries_ > 0; ++at)
      for (const std::int64_t value : {std::int64_t{0}, list_[at] / 2, list_[at] - 1}) {
        if (at >= list_.size() || value < 0 || value >= list_[at]) continue;
        List changed = list_;
        changed[at] = value;
        smaller = keep(std::move(changed)) || smaller;
      }
    return smaller;
  }

  List list_;
  const std::function<bool(const List&)>& fails_;
  int tries_;
};

}  // namespace

List shrinkChoices(List list, const std::function<bool(const List&)>& fails, int maxTries) {
  return Shrinker(std::move(list), fails, maxTries).run();
}

}  // namespace heddle::property
