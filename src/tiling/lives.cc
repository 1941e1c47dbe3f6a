#include "heddle/tiling/lives.h"

#include <algorithm>
#include <ranges>

#include "heddle/tiling/geometry.h"
#include "heddle/tiling/views.h"

namespace heddle {
namespace {

class LifeOfRows {
 public:
  LifeOfRows(const CanonicalGraph& graph, const Plan& plan)
      : graph_(graph), plan_(plan), lives_(graph.tensors.size()), whole_(graph.tensors.size()) {
    for (std::size_t t = 0; t < graph.tensors.size(); ++t)
      if (plan.views[t].root.at() == t)
        lives_[t].resize(static_cast<std::size_t>(graph.tensors[t].shape.height));
  }

  RowLives run() {
    std::vector<bool> written(graph_.tensors.size());
    std::vector<std::int64_t> lastWrite(graph_.tensors.size(), -1);
    for (std::size_t s = 0; s < plan_.schedule.size(); ++s) {
      const ScheduleStep& step = plan_.schedule[s];
      if (plan_.layers[step.layer.at()].inPlace()) continue;
      const CanonicalOp& op = graph_.ops[step.layer.at()];
      for (std::size_t i = 0; i < op.inputs.size(); ++i) reads(s, op, i, step.rows);
      const std::size_t root = rootOf(op.output);
      touch(root, step.rows, s);
      written[root] = true;
      lastWrite[root] = static_cast<std::int64_t>(s);
    }
    // What comes or leaves whole.
    for (std::size_t t = 0; t < lives_.size(); ++t)
      if (!written[t])
        for (StepRange& life : lives_[t]) life.add({whole_[t].first, whole_[t].first});
    for (const Port& port : graph_.outputs) {
      const std::size_t t = rootOf(port.tensor);
      if (written[t])
        for (StepRange& life : lives_[t]) life.add({lastWrite[t], lastWrite[t]});
    }
    return std::move(lives_);
  }

 private:
  std::size_t rootOf(TensorId t) const { return plan_.views[t.at()].root.at(); }

  void touch(std::size_t root, Interval rows, std::size_t step) {
    const StepRange now{static_cast<std::int64_t>(step), static_cast<std::int64_t>(step)};
    whole_[root].add(now);
    for (std::int64_t y = rows.first; y < rows.end(); ++y)
      lives_[root][static_cast<std::size_t>(y)].add(now);
  }

  void reads(std::size_t step, const CanonicalOp& op, std::size_t operand, Interval rows) {
    const OperandGeometry geometry(graph_, op, operand);
    const Interval kernelRows{0, windowOf(op) ? windowOf(op)->kernelY : 1};
    Interval all;
    for (std::int64_t y = rows.first; y < rows.end(); ++y) {
      const Interval read = geometry.rows(y, kernelRows);
      if (read.empty()) continue;
      const std::int64_t first = all.empty() ? read.first : std::min(all.first, read.first),
                         end = all.empty() ? read.end() : std::max(all.end(), read.end());
      all = {first, end - first};
    }
    const TensorId tensor = op.inputs[operand];
    touch(rootOf(tensor), pixelMapOf(graph_, plan_, tensor).reachOfRows(all), step);
  }

  const CanonicalGraph& graph_;
  const Plan& plan_;
  RowLives lives_;
  std::vector<StepRange> whole_;  // per tensor: from its first touch to its last
};

}  // namespace

void StepRange::add(const StepRange& other) {
  if (other.empty()) return;
  *this = empty() ? other : StepRange{std::min(first, other.first), std::max(last, other.last)};
}

RowLives rowLives(const CanonicalGraph& graph, const Plan& plan) {
  return LifeOfRows(graph, plan).run();
}

Home cutByLife(const Home& home, const std::vector<StepRange>& lives) {
  Home parts;
  for (const HomeBox& box : home)
    for (std::int64_t y = box.y.first; y < box.y.end();) {
      const StepRange& life = lives[static_cast<std::size_t>(y)];
      HomeBox part = box;
      part.y = {y, 1};
      while (part.y.end() < box.y.end() && lives[static_cast<std::size_t>(part.y.end())] == life)
        ++part.y.count;
      y = part.y.end();
      parts.push_back(part);
    }
  return parts;
}

}  // namespace heddle
