#include "expression.h"

#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <regex>
#include <set>

#include "grid.h"

namespace heddle {
namespace {

constexpr std::size_t kMostLetters = 2000;
constexpr const char* kLetters = "0123456789_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr const char* kPoolWords = "geomean|mean|smallest|largest|total";

Diagnostic unreadable(const Argument& text, const std::string& what) {
  return faultAt(text.where, "SWEEP005", "the expression '" + text.text + "' cannot be read", what,
                 "see docs/sweep.md for names and functions");
}

// The ')' that closes the '(' before `begin`, or npos.
std::size_t closing(const std::string& text, std::size_t begin) {
  int depth = 1;
  for (std::size_t i = begin; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i;
  }
  return std::string::npos;
}

}  // namespace

struct Expression::Parser {
  mu::Parser parser;
  std::vector<double> places;
};

Result<Expression> Expression::read(const Argument& text) {
  Expression expression;
  expression.text_ = text.text;
  expression.parser_ = std::make_shared<Parser>();
  if (text.text.size() > kMostLetters)
    return unreadable({text.text.substr(0, 40) + "...", text.where}, "it is too long");
  try {
    mu::Parser& parser = expression.parser_->parser;
    parser.DefineNameChars(kLetters);
    parser.SetExpr(text.text);
    for (const auto& [name, place] : parser.GetUsedVar()) expression.names_.push_back(name);
    expression.parser_->places.resize(expression.names_.size());
    for (std::size_t i = 0; i < expression.names_.size(); ++i)
      parser.DefineVar(expression.names_[i], &expression.parser_->places[i]);
    parser.Eval();
  } catch (const mu::ParserError& e) {
    return unreadable(text, e.GetMsg());
  }
  return expression;
}

std::optional<double> Expression::value(const Lookup& lookup) const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const std::optional<double> number = lookup(names_[i]);
    if (!number) return std::nullopt;
    parser_->places[i] = *number;
  }
  try {
    const double value = parser_->parser.Eval();
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  } catch (const mu::ParserError&) {
    return std::nullopt;  // of a domain: it read well
  }
}

std::optional<DesignExpression::Pool> DesignExpression::poolNamed(const std::string& name) {
  if (name == "geomean") return Pool::GeometricMean;
  if (name == "mean") return Pool::Mean;
  if (name == "smallest") return Pool::Smallest;
  if (name == "largest") return Pool::Largest;
  if (name == "total") return Pool::Total;
  return std::nullopt;
}

Result<DesignExpression> DesignExpression::read(const Argument& text) {
  static const std::regex word(std::string("(^|[^\\w.])(") + kPoolWords + ")\\s*\\(");
  std::vector<Pooled> pooled;
  std::string rest = text.text;
  if (rest.size() > kMostLetters) return unreadable({"...", text.where}, "it is too long");
  std::smatch match;
  while (std::regex_search(rest, match, word)) {
    const auto begin = static_cast<std::size_t>(match.position(2));
    const auto inside = static_cast<std::size_t>(match.position(0) + match.length(0));
    const std::size_t end = closing(rest, inside);
    if (end == std::string::npos) return unreadable(text, "a bracket is not closed");
    HEDDLE_TRY(Expression inner, Expression::read({rest.substr(inside, end - inside), text.where}));
    const std::string name = "pooled" + std::to_string(pooled.size());
    pooled.push_back({*poolNamed(match[2]), std::move(inner), name});
    rest.replace(begin, end + 1 - begin, name);
  }
  HEDDLE_TRY(Expression whole, Expression::read({rest, text.where}));
  return DesignExpression(std::move(whole), std::move(pooled));
}

std::vector<std::string> DesignExpression::plainNames() const {
  std::vector<std::string> names;
  for (const std::string& name : whole_.names())
    if (std::ranges::find(pooled_, name, &Pooled::name) == pooled_.end()) names.push_back(name);
  return names;
}

std::vector<std::string> DesignExpression::pooledNames() const {
  std::set<std::string> names;
  for (const Pooled& pool : pooled_)
    names.insert(pool.inner.names().begin(), pool.inner.names().end());
  return {names.begin(), names.end()};
}

std::optional<double> DesignExpression::pooledValue(Pool pool, const std::vector<double>& all) {
  if (all.empty()) return std::nullopt;
  const auto count = static_cast<double>(all.size());
  switch (pool) {
    case Pool::GeometricMean: {
      double logarithms = 0;
      for (const double number : all) {
        if (number <= 0) return std::nullopt;
        logarithms += std::log(number);
      }
      return std::exp(logarithms / count);
    }
    case Pool::Mean:
      return std::accumulate(all.begin(), all.end(), 0.0) / count;
    case Pool::Smallest:
      return *std::ranges::min_element(all);
    case Pool::Largest:
      return *std::ranges::max_element(all);
    case Pool::Total:
      return std::accumulate(all.begin(), all.end(), 0.0);
  }
  return std::nullopt;
}

std::optional<double> DesignExpression::value(
    const Lookup& plain,
    const std::function<std::optional<double>(std::size_t, const std::string&)>& pooled,
    std::size_t count) const {
  return whole_.value([&](const std::string& name) -> std::optional<double> {
    const auto found = std::ranges::find(pooled_, name, &Pooled::name);
    if (found == pooled_.end()) return plain(name);
    std::vector<double> numbers;
    for (std::size_t network = 0; network < count; ++network) {
      const std::optional<double> number =
          found->inner.value([&](const std::string& inner) { return pooled(network, inner); });
      if (!number) return std::nullopt;
      numbers.push_back(*number);
    }
    return pooledValue(found->pool, numbers);
  });
}

}  // namespace heddle
