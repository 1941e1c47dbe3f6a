#include "roll.h"

#include <algorithm>
#include <array>

#include "heddle/program/visit.h"
#include "merge_engines.h"

namespace heddle {
namespace {

// Instructions of a loop body that is looked for, sweep by sweep.
constexpr std::array<std::size_t, 3> kLongestPeriods{4, 16, 128};
constexpr std::int64_t kPlainlyALoop = 4;  // repetitions that end the search for a longer period

std::size_t valueCount(const FlatInstruction& instruction) {
  std::size_t n = 0;
  forEachValue(instruction, [&](std::int64_t) { ++n; });
  return n;
}

}  // namespace

Roller::Roller(const std::vector<FlatInstruction>& prototypes) : prototypes_(prototypes) {}

std::int32_t Roller::leaf(std::int32_t shape) {
  const auto at = static_cast<std::size_t>(shape);
  if (leaves_.size() <= at) leaves_.resize(prototypes_.size(), -1);
  if (leaves_[at] < 0) {
    leaves_[at] = static_cast<std::int32_t>(structures_.size());
    Structure s;
    s.shape = shape;
    s.values = valueCount(prototypes_[at]);
    structures_.push_back(std::move(s));
  }
  return leaves_[at];
}

std::int32_t Roller::loop(std::int64_t count, std::vector<std::int32_t> body,
                          std::vector<std::int64_t> strides) {
  std::vector<std::int64_t> key{count, std::ssize(body)};
  key.insert(key.end(), body.begin(), body.end());
  key.insert(key.end(), strides.begin(), strides.end());
  const auto [at, fresh] =
      loops_.try_emplace(std::move(key), static_cast<std::int32_t>(structures_.size()));
  if (fresh) {
    Structure s;
    s.count = count;
    for (std::int32_t b : body) {
      s.values += structures_[static_cast<std::size_t>(b)].values;
      s.depth = std::max(s.depth, structures_[static_cast<std::size_t>(b)].depth + 1);
    }
    s.body = std::move(body);
    s.strides = std::move(strides);
    structures_.push_back(std::move(s));
  }
  return at->second;
}

void Roller::add(StepId step, const Engine& engine, std::span<const FlatOp> ops,
                 const std::vector<std::int64_t>& values) {
  Sequence sequence;
  sequence.tokens.reserve(ops.size());
  std::size_t count = 0;
  for (const FlatOp& op : ops)
    count += structures_[static_cast<std::size_t>(leaf(op.shape))].values;
  sequence.values.reserve(count);
  for (const FlatOp& op : ops) {
    const std::int32_t structure = leaf(op.shape);
    sequence.tokens.push_back({structure, sequence.values.size()});
    const std::size_t n = structures_[static_cast<std::size_t>(structure)].values;
    sequence.values.insert(sequence.values.end(),
                           values.begin() + static_cast<std::ptrdiff_t>(op.firstValue),
                           values.begin() + static_cast<std::ptrdiff_t>(op.firstValue + n));
  }
  // From the inside out: rows before the passes over them.
  for (const std::size_t longest : kLongestPeriods)
    while (rollOnce(sequence, longest)) {
    }
  groups_[{step.index, {engine.kind, engine.channel}}].push_back({engine, std::move(sequence)});
}

// How often the `period` tokens from `at` on stand there one after another, numbers growing by the
// same steps.
std::int64_t Roller::repetitions(const Sequence& s, std::size_t at, std::size_t period) const {
  auto sameStructure = [&](std::size_t a, std::size_t b) {
    for (std::size_t k = 0; k < period; ++k)
      if (s.tokens[a + k].structure != s.tokens[b + k].structure) return false;
    return true;
  };
  if (at + 2 * period > s.tokens.size() || !sameStructure(at, at + period)) return 1;
  std::int64_t count = 2;
  for (std::size_t next = at + 2 * period; next + period <= s.tokens.size();
       next += period, ++count) {
    if (!sameStructure(at, next)) break;
    bool steady = true;
    for (std::size_t k = 0; k < period && steady; ++k) {
      const std::int64_t* v0 = &s.values[s.tokens[at + k].firstValue];
      const std::int64_t* v1 = &s.values[s.tokens[at + period + k].firstValue];
      const std::int64_t* before = &s.values[s.tokens[next - period + k].firstValue];
      const std::int64_t* now = &s.values[s.tokens[next + k].firstValue];
      const std::size_t n =
          structures_[static_cast<std::size_t>(s.tokens[at + k].structure)].values;
      for (std::size_t v = 0; v < n && steady; ++v) steady = now[v] - before[v] == v1[v] - v0[v];
    }
    if (!steady) break;
  }
  return count;
}

// The loop at `at` with a body of up to `longest` items that saves most; period 0 where there is
// none.
Roller::Found Roller::longestLoop(const Sequence& s, std::size_t at, std::size_t longest) const {
  Found best;
  const std::size_t farthest = std::min(longest, (s.tokens.size() - at) / 2);
  std::int32_t depth = 0;
  for (std::size_t period = 1; period <= farthest; ++period) {
    depth = std::max(
        depth, structures_[static_cast<std::size_t>(s.tokens[at + period - 1].structure)].depth);
    if (depth + 1 > static_cast<std::int32_t>(kMaxLoopDepth)) break;
    if (s.tokens[at + period].structure != s.tokens[at].structure) continue;
    const Found found{period, repetitions(s, at, period)};
    if (found.gain() > best.gain()) best = found;
    if (found.count >= kPlainlyALoop) break;
  }
  return best;
}

// A short loop may be the misaligned start of a long one: head, A, B, A, B, A, B begins with (head
// A) only by its shape.
bool Roller::betterSoon(const Sequence& s, std::size_t at, std::size_t longest,
                        const Found& found) const {
  if (found.count >= kPlainlyALoop) return false;
  for (std::size_t next = at + 1; next <= at + found.period && next + 1 < s.tokens.size(); ++next)
    if (const Found later = longestLoop(s, next, longest);
        later.count >= kPlainlyALoop && later.gain() > found.gain())
      return true;
  return false;
}

// One sweep: replaces repetitions by loops with bodies of up to `longest` items, leftmost first.
// Returns whether it found any.
bool Roller::rollOnce(Sequence& s, std::size_t longest) {
  Sequence out;
  bool found = false;
  for (std::size_t at = 0; at < s.tokens.size();) {
    const Found best = longestLoop(s, at, longest);
    auto copyValues = [&](const Token& t) {
      const std::size_t n = structures_[static_cast<std::size_t>(t.structure)].values;
      out.values.insert(out.values.end(),
                        s.values.begin() + static_cast<std::ptrdiff_t>(t.firstValue),
                        s.values.begin() + static_cast<std::ptrdiff_t>(t.firstValue + n));
    };
    const std::size_t first = out.values.size();
    if (best.period == 0 || betterSoon(s, at, longest, best)) {
      copyValues(s.tokens[at]);
      out.tokens.push_back({s.tokens[at].structure, first});
      ++at;
      continue;
    }
    found = true;
    std::vector<std::int32_t> body;
    std::vector<std::int64_t> strides;
    for (std::size_t k = 0; k < best.period; ++k) {
      const Token &a = s.tokens[at + k], &b = s.tokens[at + best.period + k];
      body.push_back(a.structure);
      const std::size_t n = structures_[static_cast<std::size_t>(a.structure)].values;
      for (std::size_t v = 0; v < n; ++v)
        strides.push_back(s.values[b.firstValue + v] - s.values[a.firstValue + v]);
      copyValues(a);
    }
    out.tokens.push_back({loop(best.count, std::move(body), std::move(strides)), first});
    at += best.period * static_cast<std::size_t>(best.count);
  }
  if (found) s = std::move(out);
  return found;
}

std::vector<Section> Roller::sections() {
  std::vector<Section> all;
  for (const auto& [key, engines] : groups_) {
    std::vector<EngineCode> codes;
    for (const Rolled& r : engines) {
      EngineCode& code = codes.emplace_back(EngineCode{r.engine.row, r.engine.column, {}, {}});
      for (const Token& token : r.sequence.tokens) code.structure.push_back(token.structure);
      code.numbers = r.sequence.values;
    }
    for (MergedCode& merged : mergeEngines(codes)) {
      const auto& [engine, sequence] = engines[merged.first];
      Section& section =
          all.emplace_back(Section{StepId(static_cast<std::size_t>(key.first)),
                                   {engine.kind, engine.channel, std::move(merged.engines)},
                                   {}});
      std::vector<Enclosing> loops;
      for (const Token& token : sequence.tokens)
        section.items.push_back(item(token.structure, merged.numbers, token.firstValue, loops));
    }
  }
  return all;
}

Item Roller::item(std::int32_t structure, const std::vector<Affine>& values, std::size_t offset,
                  std::vector<Enclosing>& loops) {
  const Structure& s = structures_[static_cast<std::size_t>(structure)];
  if (s.shape >= 0) {
    Instruction instruction = constant(prototypes_[static_cast<std::size_t>(s.shape)]);
    std::size_t v = offset;
    forEachValue(instruction, [&](Affine& a) {
      a = values[v];
      for (std::size_t k = 0; k < loops.size(); ++k)
        a.loop[k] = (*loops[k].strides)[v - loops[k].offset];
      ++v;
    });
    return {std::move(instruction)};
  }
  Loop loop{s.count, {}};
  loops.push_back({&s.strides, offset});
  for (std::int32_t b : s.body) {
    loop.body.push_back(item(b, values, offset, loops));
    offset += structures_[static_cast<std::size_t>(b)].values;
  }
  loops.pop_back();
  return {std::move(loop)};
}

}  // namespace heddle
