// Why a node cannot become integer operators; caught where nodes are lowered, within canon/.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

namespace heddle::canon {

class Unsupported : public std::runtime_error {
 public:
  explicit Unsupported(const std::string& why, std::string code = "CANON001")
      : std::runtime_error(why), code_(std::move(code)) {}
  const std::string& code() const { return code_; }

 private:
  std::string code_;
};

}  // namespace heddle::canon
