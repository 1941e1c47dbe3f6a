// Arithmetic over columns, as a user writes it: muParser's grammar, with names of columns in it.
//
//   cores + memtiles*memtileKiB/256 + 0.1*ddrTotalGBps
//   geomean(ips) / area                   over the networks on one device
//   resnet50.ms <= 2
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/support/result.h"
#include "heddle/sweep/options.h"

namespace heddle {

// What a name stands for; nothing where a point has no such figure.
using Lookup = std::function<std::optional<double>(const std::string& name)>;

class Expression {
 public:
  // Errors: SWEEP005 it cannot be read, and why.
  static Result<Expression> read(const Argument& text);

  const std::string& text() const { return text_; }
  const std::vector<std::string>& names() const { return names_; }  // in it, each once

  // Nothing where a name has no value, or the result is no number (0/0).
  std::optional<double> value(const Lookup& lookup) const;

 private:
  struct Parser;  // muParser's, bound to places for the names
  std::string text_;
  std::vector<std::string> names_;
  std::shared_ptr<Parser> parser_;
};

// An expression over a design: one device, with the points of all networks on it. Beside plain
// names it knows geomean, mean, smallest, largest and total of what stands in their brackets, over
// the networks.
class DesignExpression {
 public:
  static Result<DesignExpression> read(const Argument& text);

  // Outside and inside of the brackets, each once.
  std::vector<std::string> plainNames() const;
  std::vector<std::string> pooledNames() const;

  // `plain` gives names outside of brackets; inside, `pooled` those of network 0 .. count-1.
  std::optional<double> value(
      const Lookup& plain,
      const std::function<std::optional<double>(std::size_t network, const std::string& name)>&
          pooled,
      std::size_t count) const;

 private:
  enum class Pool { GeometricMean, Mean, Smallest, Largest, Total };
  struct Pooled {
    Pool pool;
    Expression inner;
    std::string name;  // stands for it in the whole
  };
  static std::optional<double> pooledValue(Pool pool, const std::vector<double>& numbers);
  static std::optional<Pool> poolNamed(const std::string& name);

  explicit DesignExpression(Expression whole, std::vector<Pooled> pooled)
      : whole_(std::move(whole)), pooled_(std::move(pooled)) {}
  Expression whole_;
  std::vector<Pooled> pooled_;
};

}  // namespace heddle
