// Names that occur once: the second "conv" becomes "conv_2".
//
//   UniqueNames names;
//   names.take("conv");  // conv
//   names.take("conv");  // conv_2
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace heddle {

class UniqueNames {
 public:
  // Whether `name` was still free; it is taken now.
  bool takeExactly(const std::string& name) { return taken_.insert(name).second; }

  // `base`, or `base` with the first number from 2 on that makes it new. Each base remembers how
  // far it has counted, so that n equal names take n steps.
  std::string take(const std::string& base) {
    if (takeExactly(base)) return base;
    std::int64_t& next = next_.try_emplace(base, 2).first->second;
    std::string name;
    do {
      name = base + "_" + std::to_string(next++);
    } while (!takeExactly(name));
    return name;
  }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::int64_t> next_;
};

}  // namespace heddle
