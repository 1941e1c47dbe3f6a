#include "questions.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "grid.h"
#include "heddle/support/words.h"

namespace heddle {
namespace {

// "resnet50-50" as a name of an expression: resnet50_50.
std::string identifierOf(const std::string& network) {
  std::string name = network;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front()))) name = "_" + name;
  return name;
}

bool isNumberColumn(const std::string& name) {
  const Column* column = fixedColumn(name);
  return column != nullptr && !column->text;
}

struct Comparison {
  std::size_t at, length;
  bool atMost, strict;  // left <= right, left < right
};

// The one comparison outside of brackets, or nothing.
std::optional<Comparison> findComparison(const std::string& text) {
  std::optional<Comparison> found;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if ((text[i] != '<' && text[i] != '>') || depth != 0) continue;
    const bool orEqual = i + 1 < text.size() && text[i + 1] == '=';
    if (found) return std::nullopt;
    found = Comparison{i, orEqual ? 2U : 1U, text[i] == '<', !orEqual};
  }
  return found;
}

std::string trimmed(std::string text) {
  const auto isSpace = [](unsigned char c) { return std::isspace(c) != 0; };
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), isSpace));
  text.erase(std::find_if_not(text.rbegin(), text.rend(), isSpace).base(), text.end());
  return text;
}

// Falls where the time rises: ms and cycles on the smaller side, ips on the larger one.
bool growsWithTime(const std::string& column) { return column == "ms" || column == "cycles"; }

}  // namespace

const Point* Design::any() const {
  for (const Point* point : points)
    if (point != nullptr) return point;
  return nullptr;
}

Result<Questions> Questions::read(const SweepOptions& options, std::vector<std::string> networks) {
  Questions questions;
  questions.networks_ = std::move(networks);
  for (const std::string& network : questions.networks_)
    questions.identifiers_.push_back(identifierOf(network));
  HEDDLE_DO(questions.readDefinitions(options));
  if (options.where) {
    HEDDLE_TRY(Expression where, Expression::read(*options.where));
    for (const std::string& name : where.names()) {
      if (questions.isKey(name)) continue;
      if (!questions.isNumber(name)) return questions.unknown(*options.where, name);
      return faultAt(options.where->where, "SWEEP006", "'" + name + "' is a result",
                     "--where says which points are compiled at all",
                     "use it in --require, or a key here");
    }
    questions.where_ = std::move(where);
  }
  for (const Argument& text : options.required) HEDDLE_DO(questions.readRequirement(text));
  HEDDLE_DO(questions.readGoal(options));
  return questions;
}

Result<void> Questions::readDefinitions(const SweepOptions& options) {
  for (const Definition& definition : options.definitions) {
    const Argument& text = definition.expression;
    const std::string& name = definition.name;
    const bool plain = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
      return std::isalnum(c) || c == '_';
    }) && !std::isdigit(static_cast<unsigned char>(name.front()));
    if (!plain)
      return faultAt(text.where, "SWEEP006", "'" + name + "' is no name", "",
                     "write it like 'area=cores + memtiles', with letters, digits and _");
    if (isNumber(name) || fixedColumn(name) != nullptr)
      return faultAt(text.where, "SWEEP006", "the name '" + name + "' is taken", "",
                     "choose another one");
    HEDDLE_TRY(Expression expression, Expression::read(text));
    for (const std::string& used : expression.names())
      if (!isNumber(used)) return unknown(text, used);
    definitions_.emplace_back(name, std::move(expression));
  }
  return {};
}

Result<void> Questions::readRequirement(const Argument& text) {
  const std::optional<Comparison> comparison = findComparison(text.text);
  if (!comparison)
    return faultAt(text.where, "SWEEP007", "'" + text.text + "' does not compare two sides", "",
                   "write it like 'resnet50.ms <= 2', and one --require for each");
  std::string left = trimmed(text.text.substr(0, comparison->at));
  std::string right = trimmed(text.text.substr(comparison->at + comparison->length));
  if (!comparison->atMost) std::swap(left, right);
  HEDDLE_TRY(DesignExpression smaller, DesignExpression::read({left, text.where}));
  HEDDLE_TRY(DesignExpression larger, DesignExpression::read({right, text.where}));
  HEDDLE_DO(checkNames(text, smaller, true));
  HEDDLE_DO(checkNames(text, larger, true));
  Requirement requirement{.text = text.text,
                          .left = std::move(smaller),
                          .right = std::move(larger),
                          .strict = comparison->strict};
  const auto isResult = [&](const std::string& name) { return !isKey(name) && !ofNetwork(name); };
  const auto onlyKeys = [&](const DesignExpression& side) {
    return side.pooledNames().empty() &&
           std::ranges::all_of(side.plainNames(), [&](const auto& name) { return isKey(name); });
  };
  const auto timeAlone = [&](const std::string& side, bool growing) {
    const auto of = ofNetwork(side);
    const std::string column = of ? of->second : side;
    return growing ? growsWithTime(column) : column == "ips";
  };
  requirement.eachNetwork = std::ranges::any_of(requirement.left.plainNames(), isResult) ||
                            std::ranges::any_of(requirement.right.plainNames(), isResult);
  requirement.byFloor = (timeAlone(left, true) && onlyKeys(requirement.right)) ||
                        (timeAlone(right, false) && onlyKeys(requirement.left));
  required_.push_back(std::move(requirement));
  return {};
}

Result<void> Questions::readGoal(const SweepOptions& options) {
  if (options.maximized && options.minimized)
    return faultAt(options.minimized->where, "SWEEP007", "there are two goals",
                   "--maximize " + options.maximized->text, "name one of them");
  const std::optional<Argument>& goal = options.maximized ? options.maximized : options.minimized;
  if (!goal) return {};
  maximize_ = options.maximized.has_value();
  HEDDLE_TRY(DesignExpression expression, DesignExpression::read(*goal));
  HEDDLE_DO(checkNames(*goal, expression, networks_.size() <= 1));
  goalText_ = goal->text;
  goal_ = std::move(expression);
  return {};
}

Result<void> Questions::checkNames(const Argument& text, const DesignExpression& expression,
                                   bool eachNetwork) const {
  for (const std::string& name : expression.pooledNames())
    if (!isNumber(name)) return unknown(text, name);
  for (const std::string& name : expression.plainNames()) {
    if (isKey(name) || ofNetwork(name)) continue;
    if (!isNumber(name)) return unknown(text, name);
    if (!eachNetwork)
      return faultAt(
          text.where, "SWEEP006", "'" + name + "' differs from network to network", "",
          "write '" + identifiers_.front() + "." + name + "' or 'geomean(" + name + ")'");
  }
  return {};
}

Diagnostic Questions::unknown(const Argument& text, const std::string& name) const {
  std::vector<std::string> names = definitions();
  for (const Column& column : fixedColumns())
    if (!column.text) names.push_back(column.name);
  for (const DeviceNumber& number : numbersOf({})) names.push_back(number.key);
  const std::size_t columns = names.size();
  for (const std::string& network : identifiers_)
    for (std::size_t i = 0; i < columns; ++i) names.push_back(network + "." + names[i]);
  const auto nearest = nearestWord(name, names);
  return faultAt(text.where, "SWEEP006", "there is no figure '" + name + "'",
                 identifiers_.empty() ? "" : "networks: " + joinWords(identifiers_),
                 nearest ? "write '" + *nearest + "'" : "docs/sweep.md lists the columns");
}

std::vector<std::string> Questions::definitions() const {
  std::vector<std::string> names;
  for (const auto& [name, expression] : definitions_) names.push_back(name);
  return names;
}

bool Questions::isNumber(const std::string& name) const {
  if (isNumberColumn(name) || unitOf(name)) return true;
  return std::ranges::any_of(definitions_, [&](const auto& one) { return one.first == name; });
}

bool Questions::isKey(const std::string& name) const {
  if (isNumberColumn(name)) return fixedColumn(name)->role == Role::Key;
  if (unitOf(name)) return true;
  for (const auto& [defined, expression] : definitions_)
    if (defined == name)
      return std::ranges::all_of(expression.names(),
                                 [&](const std::string& used) { return isKey(used); });
  return false;
}

std::optional<std::pair<std::size_t, std::string>> Questions::ofNetwork(
    const std::string& name) const {
  for (std::size_t i = 0; i < identifiers_.size(); ++i) {
    const std::string begin = identifiers_[i] + ".";
    if (name.starts_with(begin) && isNumber(name.substr(begin.size())))
      return std::pair{i, name.substr(begin.size())};
  }
  return std::nullopt;
}

bool Questions::wanted(const Point& point) const {
  if (!where_) return true;
  const auto value = where_->value([&](const std::string& name) { return number(point, name); });
  return value && *value != 0;
}

std::optional<double> Questions::number(const Point& point, const std::string& name) const {
  if (isNumberColumn(name)) return numberIn(point.values, name);
  for (const DeviceNumber& key : point.numbers)
    if (key.key == name) return key.number;
  for (const auto& [defined, expression] : definitions_)
    if (defined == name)
      return expression.value([&](const std::string& used) { return number(point, used); });
  return std::nullopt;
}

std::optional<double> Questions::valueOf(const DesignExpression& expression, const Design& design,
                                         std::optional<std::size_t> network) const {
  const auto ofPoint = [&](std::size_t at, const std::string& name) -> std::optional<double> {
    const Point* point = at < design.points.size() ? design.points[at] : nullptr;
    return point != nullptr ? number(*point, name) : std::nullopt;
  };
  const auto plain = [&](const std::string& name) -> std::optional<double> {
    if (const auto of = ofNetwork(name)) return ofPoint(of->first, of->second);
    if (isKey(name)) return design.any() ? number(*design.any(), name) : std::nullopt;
    return ofPoint(network.value_or(0), name);
  };
  return expression.value(plain, ofPoint, networks_.size());
}

std::optional<Missed> Questions::missedBy(const Requirement& requirement, const Design& design,
                                          std::optional<std::size_t> network) const {
  const auto left = valueOf(requirement.left, design, network),
             right = valueOf(requirement.right, design, network);
  if (!left || !right) return std::nullopt;
  const double scale = std::max(std::abs(*right), 1e-300);
  return Missed{.requirement = requirement.text,
                .left = *left,
                .right = *right,
                .share = (*left - *right) / scale};
}

std::vector<std::string> Questions::requirements() const {
  std::vector<std::string> texts;
  for (const Requirement& requirement : required_)
    if (std::ranges::find(texts, requirement.text) == texts.end())
      texts.push_back(requirement.text);
  return texts;
}

std::optional<double> Questions::slack(const std::string& requirement, const Design& design,
                                       std::size_t network) const {
  const auto found = std::ranges::find(required_, requirement, &Requirement::text);
  if (found == required_.end()) return std::nullopt;
  const std::optional<Missed> sides = missedBy(*found, design, network);
  return sides ? std::optional(-sides->share) : std::nullopt;
}

bool Questions::holds(const Requirement& requirement, const Missed& sides) const {
  return requirement.strict ? sides.left < sides.right : sides.left <= sides.right;
}

std::optional<std::vector<Missed>> Questions::missed(const Design& design) const {
  std::vector<Missed> all;
  for (const Requirement& requirement : required_) {
    const std::size_t times = requirement.eachNetwork ? networks_.size() : 1;
    for (std::size_t network = 0; network < times; ++network) {
      std::optional<Missed> sides = missedBy(requirement, design, network);
      if (!sides) return std::nullopt;
      if (holds(requirement, *sides)) continue;
      if (requirement.eachNetwork && networks_.size() > 1)
        sides->requirement += " (" + networks_[network] + ")";
      all.push_back(std::move(*sides));
    }
  }
  return all;
}

std::optional<std::string> Questions::brokenByFloor(const Design& design,
                                                    std::size_t network) const {
  for (const Requirement& requirement : required_) {
    if (!requirement.byFloor) continue;
    const std::optional<Missed> sides = missedBy(requirement, design, network);
    if (sides && !holds(requirement, *sides)) return requirement.text;
  }
  return std::nullopt;
}

std::optional<double> Questions::score(const Design& design) const {
  if (!goal_) return std::nullopt;
  const std::optional<double> value = valueOf(*goal_, design, 0);
  return value ? std::optional(maximize_ ? *value : -*value) : std::nullopt;
}

Point atFloor(const Point& point) {
  Point fast = point;
  const auto floor = numberIn(point.values, "floorMs"), clock = numberIn(point.values, "clockGHz");
  if (!floor || !clock || *floor <= 0) return fast;
  fast.values["ms"] = *floor;
  fast.values["cycles"] = *floor * *clock * 1e6;
  fast.values["ips"] = 1e3 / *floor;
  return fast;
}

}  // namespace heddle
