// What a user asks of a sweep: which points there are (--where), columns of his own (--define),
// what a design has to keep (--require) and what is wanted of it (--maximize, --minimize).
//
// A design is one device with the points of all networks on it. A name in an expression is
//
//   cores, ms, ...          a column (columns.h); with several networks a result stands in brackets
//                           of geomean(...) or has a network before it
//   resnet50.ms             of one network; letters that a name cannot have read '_'
//   links.ddr.read          a key of the device, in its unit
//   area                    what --define says
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "expression.h"
#include "heddle/support/result.h"
#include "heddle/sweep/options.h"
#include "point.h"

namespace heddle {

// The points of one device, in the order of the networks; null where one is missing.
struct Design {
  std::vector<const Point*> points;
  const Point* any() const;
};

// How far a design is from what is required.
struct Missed {
  std::string requirement;
  double left = 0, right = 0;  // its two sides
  double share = 0;            // by how much it is missed, of the right side
};

class Questions {
 public:
  // Errors: SWEEP005; SWEEP006 a name that there is not, or not there (a result in --where, of
  // several networks without saying which), or that is taken; SWEEP007 a requirement that does not
  // compare two sides.
  static Result<Questions> read(const SweepOptions& options, std::vector<std::string> networks);

  bool asked() const { return goal_ || !required_.empty(); }
  bool hasGoal() const { return goal_.has_value(); }
  const std::string& goalText() const { return goalText_; }
  std::vector<std::string> definitions() const;
  const std::vector<std::string>& networks() const { return networks_; }
  std::vector<std::string> requirements() const;  // each once
  // What is left between the sides of the requirement, of the right one: less than 0 where it is
  // missed. `network` counts where plain results stand in it. Nothing where a figure is missing.
  std::optional<double> slack(const std::string& requirement, const Design& design,
                              std::size_t network) const;

  bool wanted(const Point& point) const;  // --where
  // Of any name above but those of networks.
  std::optional<double> number(const Point& point, const std::string& name) const;

  // Requirements that the design misses, or nothing where a figure is missing.
  std::optional<std::vector<Missed>> missed(const Design& design) const;
  // The requirement that cannot be kept for network `network` whatever is compiled: its time is at
  // least the lower bound. Needs only what addNeeds fills in.
  std::optional<std::string> brokenByFloor(const Design& design, std::size_t network) const;
  // Larger is better, whatever was asked. Nothing where a figure is missing.
  std::optional<double> score(const Design& design) const;
  double shown(double score) const { return maximize_ ? score : -score; }

 private:
  struct Requirement {
    std::string text;
    DesignExpression left, right;  // left <= right, or left < right
    bool strict = false;
    bool eachNetwork = false;  // plain results in it: of every network by itself
    bool byFloor = false;      // the time of a network stands alone on the left, keys on the right
  };

  Result<void> readDefinitions(const SweepOptions& options);
  Result<void> readRequirement(const Argument& text);
  Result<void> readGoal(const SweepOptions& options);
  Result<void> checkNames(const Argument& text, const DesignExpression& expression,
                          bool eachNetwork) const;
  Diagnostic unknown(const Argument& text, const std::string& name) const;

  bool isNumber(const std::string& name) const;
  bool isKey(const std::string& name) const;  // the same for all networks of a design
  // The network of "resnet50.ms", and "ms".
  std::optional<std::pair<std::size_t, std::string>> ofNetwork(const std::string& name) const;

  std::optional<double> valueOf(const DesignExpression& expression, const Design& design,
                                std::optional<std::size_t> network) const;
  std::optional<Missed> missedBy(const Requirement& requirement, const Design& design,
                                 std::optional<std::size_t> network) const;
  bool holds(const Requirement& requirement, const Missed& sides) const;

  std::vector<std::string> networks_, identifiers_;
  std::optional<Expression> where_;
  std::vector<std::pair<std::string, Expression>> definitions_;
  std::vector<Requirement> required_;
  std::optional<DesignExpression> goal_;
  std::string goalText_;
  bool maximize_ = true;
};

// As a point that takes no longer than its lower bound.
Point atFloor(const Point& point);

}  // namespace heddle
