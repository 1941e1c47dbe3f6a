#include "heddle/canon/table_lines.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heddle/support/requantize.h"

namespace heddle {
namespace {

// A line in the plane of lines: value at 0, and rise from x to x + 1.
struct Point {
  double slope = 0, offset = 0;
};

// Steeper or farther than any that has two of a table's values on it.
constexpr double kMostSlope = 1 << 9, kMostOffset = 1 << 17;
// What may be lost when edges are cut, of a value.
constexpr double kSlack = 1e-9;
constexpr int kMostShift = 22;
constexpr double kMostFixed = 1 << 30;

// Leaves of a convex polygon what has sign * (slope * x + offset - most) <= 0.
void cut(std::vector<Point>& polygon, double x, double most, double sign) {
  const auto excess = [&](const Point& p) {
    return sign * (p.slope * x + p.offset - most) - kSlack;
  };
  if (std::ranges::all_of(polygon, [&](const Point& p) { return excess(p) <= 0; })) return;
  std::vector<Point> left;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Point &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
    const double atA = excess(a), atB = excess(b);
    if (atA <= 0) left.push_back(a);
    if ((atA <= 0) == (atB <= 0)) continue;
    const double part = atA / (atA - atB);
    left.push_back({a.slope + part * (b.slope - a.slope), a.offset + part * (b.offset - a.offset)});
  }
  polygon = std::move(left);
}

// One of the lines that round to these values where they are between the smallest and the largest,
// and are beyond these elsewhere.
std::optional<Point> lineThrough(const Table256& table, const Clamp& clamp) {
  std::vector<Point> polygon{{-kMostSlope, -kMostOffset},
                             {kMostSlope, -kMostOffset},
                             {kMostSlope, kMostOffset},
                             {-kMostSlope, kMostOffset}};
  // Those far from each other first, so that most of the others leave all of it. Between two of one
  // value a line is between what it is there.
  const auto isWithin = [&](std::size_t i) {
    return i > 0 && i + 1 < table.size() && table[i - 1] == table[i] && table[i] == table[i + 1];
  };
  for (std::size_t step = table.size(); step > 0 && !polygon.empty(); step /= 2)
    for (std::size_t i = step - 1; i < table.size(); i += 2 * step) {
      if (isWithin(i)) continue;
      const double x = static_cast<double>(i) - 128, value = table[i];
      if (table[i] < clamp.high) cut(polygon, x, value + 0.5, 1);
      if (table[i] > clamp.low) cut(polygon, x, value - 0.5, -1);
    }
  if (polygon.empty()) return std::nullopt;
  Point middle;
  for (const Point& p : polygon) {
    middle.slope += p.slope / static_cast<double>(polygon.size());
    middle.offset += p.offset / static_cast<double>(polygon.size());
  }
  return middle;
}

bool isLineOf(const TableLine& line, const Table256& table) {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (valueOnLine(line, static_cast<std::int8_t>(static_cast<int>(i) - 128)) != table[i])
      return false;
  return true;
}

std::vector<TableLine> linesOf(const std::vector<Table256>& tables) {
  std::vector<TableLine> lines;
  for (const Table256& table : tables) {
    const std::optional<TableLine> line = lineOf(table);
    if (!line) return {};
    lines.push_back(*line);
  }
  return lines;
}

}  // namespace

std::optional<TableLine> lineOf(const Table256& table) {
  const auto [low, high] = std::ranges::minmax(table);
  TableLine line{.clamp = {low, high}};
  const std::optional<Point> middle = lineThrough(table, line.clamp);
  if (!middle) return std::nullopt;
  const double largest = std::max({std::abs(middle->slope), std::abs(middle->offset), 1.0});
  line.shift = std::clamp(std::ilogb(kMostFixed / largest) - 1, 0, kMostShift);
  line.slope = static_cast<std::int32_t>(std::llrint(std::ldexp(middle->slope, line.shift)));
  line.offset = static_cast<std::int32_t>(std::llrint(std::ldexp(middle->offset, line.shift)));
  if (!isLineOf(line, table)) return std::nullopt;
  return line;
}

std::shared_ptr<CanonicalGraph> findTableLines(const CanonicalGraph& graph) {
  std::shared_ptr<CanonicalGraph> found;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Table* table = std::get_if<Table>(&graph.ops[i].attributes);
    if (!table || table->tables.size() < 2 || !table->lines.empty()) continue;
    std::vector<TableLine> lines = linesOf(table->tables);
    if (lines.empty()) continue;
    if (!found) found = std::make_shared<CanonicalGraph>(graph);
    std::get<Table>(found->ops[i].attributes).lines = std::move(lines);
  }
  return found;
}

}  // namespace heddle
