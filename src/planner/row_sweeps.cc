#include "row_sweeps.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace heddle {
namespace {

using N = std::int64_t;

constexpr std::size_t kUnknown = SIZE_MAX;

}  // namespace

RowCuts::RowCuts(const Home& home) {
  for (const HomeBox& box : home) cuts_.insert(cuts_.end(), {box.y.first, box.y.end()});
  std::ranges::sort(cuts_);
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
}

bool RowCuts::same(const Interval& a, const Interval& b) const {
  if (cuts_.size() <= 2 || a.empty()) return true;
  return sameOfAll(a, b);
}

bool RowCuts::sameOfAll(const Interval& a, const Interval& b) const {
  if (cuts_.size() <= 2) return true;
  const auto at = stretch(a.first);
  return at == stretch(a.end() - 1) && at == stretch(b.first) && at == stretch(b.end() - 1);
}

std::ptrdiff_t RowCuts::stretch(N row) const {
  return std::ranges::upper_bound(cuts_, row) - cuts_.begin();
}

RowSweeps::RowSweeps(const LayerNest& nest, const Interval& rows, std::vector<RowCuts> cuts)
    : nest_(nest),
      m_(nest.mapping()),
      rows_(rows),
      cuts_(std::move(cuts)),
      shareRows_(m_.shares.size(), kUnknown) {}

std::size_t RowSweeps::rowsOf(const CoreShare& share) {
  std::vector<N> y;
  for (const PixelBox& box : share.boxes) y.insert(y.end(), {box.y.first, box.y.count});
  return rowsAlike_.try_emplace(std::move(y), rowsAlike_.size()).first->second;
}

const RowSweep& RowSweeps::of(const CoreShare& share, const Iteration& i) {
  std::size_t& rows = shareRows_[static_cast<std::size_t>(&share - m_.shares.data())];
  if (rows == kUnknown) rows = rowsOf(share);
  N busy = 0;  // boxes with columns in this chunk
  for (std::size_t b = 0; b < share.boxes.size(); ++b)
    if (!columns(share, b, i).empty()) busy |= N{1} << b;
  const Interval kernelRows = nest_.loadedKernelRows(i);
  const N callRows = nest_.callRows(i);
  const std::size_t place =
      rows * static_cast<std::size_t>(m_.bands) + static_cast<std::size_t>(i.band);
  if (place >= known_.size()) known_.resize(place + 1);
  for (const std::unique_ptr<Known>& known : known_[place])
    if (known->busy == busy && known->kernelRows == kernelRows && known->callRows == callRows)
      return known->sweep;
  known_[place].push_back(std::make_unique<Known>(
      Known{busy, kernelRows, callRows, sweepOf(nest_.calls(share, rows_, i), kernelRows)}));
  RowSweep& sweep = known_[place].back()->sweep;
  sweep.kind = kindOf(sweep);
  return sweep;
}

std::size_t RowSweeps::kindOf(const RowSweep& sweep) {
  const auto alikeRuns = [](const CallRun& a, const CallRun& b) {
    return a.first == b.first && a.box == b.box && a.rows == b.rows && a.computed == b.computed &&
           a.times == b.times;
  };
  const auto alikeRows = [](const AskedRows& a, const AskedRows& b) {
    return a.operand == b.operand && a.window.count == b.window.count && a.fresh == b.fresh;
  };
  std::vector<Interval> extents = extentsOf(sweep);
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    const RowSweep& other = *kinds_[k].first;
    if (other.ends != sweep.ends || !std::ranges::equal(other.runs, sweep.runs, alikeRuns) ||
        !std::ranges::equal(other.asked, sweep.asked, alikeRows))
      continue;
    bool same = true;
    for (std::size_t c = 0; c < cuts_.size() && same; ++c) {
      const Interval &a = extents[c], &b = kinds_[k].extents[c];
      same = a.empty() ? b.empty() : !b.empty() && cuts_[c].sameOfAll(a, b);
    }
    if (same) return k;
  }
  kinds_.push_back({&sweep, std::move(extents)});
  return kinds_.size() - 1;
}

// By operand, then of the output: from its first row in a sweep to the last.
std::vector<Interval> RowSweeps::extentsOf(const RowSweep& sweep) const {
  std::vector<Interval> extents(cuts_.size());
  const auto add = [&](std::size_t of, const Interval& rows) {
    Interval& all = extents[of];
    if (rows.empty()) return;
    if (all.empty()) {
      all = rows;
      return;
    }
    const N end = std::max(all.end(), rows.end());
    all.first = std::min(all.first, rows.first);
    all.count = end - all.first;
  };
  for (const AskedRows& asked : sweep.asked) add(asked.operand, asked.window);
  for (const CallRun& run : sweep.runs) add(extents.size() - 1, {run.y, run.times * run.rows});
  return extents;
}

bool RowSweeps::hasCalls(const CoreShare& share, const Iteration& i) {
  const auto number = static_cast<std::size_t>(&share - m_.shares.data());
  const auto place = static_cast<std::size_t>(i.band * m_.chunks + i.chunk);
  if (hasCalls_.empty())
    hasCalls_.resize(m_.shares.size() * static_cast<std::size_t>(m_.bands * m_.chunks));
  std::optional<bool>& known = hasCalls_[place * m_.shares.size() + number];
  if (!known) known = findsCalls(share, i);
  return *known;
}

bool RowSweeps::findsCalls(const CoreShare& share, const Iteration& i) const {
  N count = 0, before = 0;
  for (const PixelBox& box : share.boxes) count += rowsIn(box);
  const Interval band = evenPart(count, m_.bands, i.band);
  for (std::size_t b = 0; b < share.boxes.size(); ++b) {
    const N rows = rowsIn(share.boxes[b]);
    if (!common({before, rows}, band).empty() && !columns(share, b, i).empty()) return true;
    before += rows;
  }
  return false;
}

N RowSweeps::rowsIn(const PixelBox& box) const {
  return std::max<N>(common(box.y, rows_).count, 0);
}

Interval RowSweeps::columns(const CoreShare& share, std::size_t box, const Iteration& i) const {
  const Interval& all = share.boxes[box].x;
  const Interval part = evenPart(all.count, m_.chunks, i.chunk);
  return {all.first + part.first, part.count};
}

AskedRows RowSweep::of(std::size_t call, std::size_t operand) const {
  const std::span<const AskedRows> all = of(call);
  const auto found = std::ranges::lower_bound(all, operand, {}, &AskedRows::operand);
  return found != all.end() && found->operand == operand ? *found : AskedRows{operand, {}, 0};
}

RowSweep RowSweeps::sweepOf(const std::vector<RowCall>& calls, const Interval& kernelRows) const {
  RowSweep sweep;
  askRows(calls, kernelRows, sweep);
  for (std::size_t k = 0; k < calls.size(); ++k)
    if (k > 1 && areAlike(calls, sweep, k))
      ++sweep.runs.back().times;
    else
      sweep.runs.push_back(
          {k, calls[k].y, calls[k].box, calls[k].rows, nest_.rowsComputed(calls, k).count, 1});
  return sweep;
}

// Whether call k asks for as much as the one before, and it is in the same places.
bool RowSweeps::areAlike(const std::vector<RowCall>& calls, const RowSweep& sweep,
                         std::size_t k) const {
  const auto outputs = [&](std::size_t call) { return Interval{calls[call].y, calls[call].rows}; };
  if (calls[k].box != calls[k - 1].box || calls[k].rows != calls[k - 1].rows ||
      !cuts_.back().same(outputs(k - 1), outputs(k)))
    return false;
  if (sweep.of(k - 1, 0).window.count != sweep.of(k - 2, 0).window.count) return false;
  if (nest_.rowsComputed(calls, k).count != sweep.runs.back().computed) return false;
  const auto fresh = [](const AskedRows& rows) {
    return Interval{rows.window.end() - rows.fresh, rows.fresh};
  };
  const auto isNew = [](const AskedRows& rows) { return rows.fresh > 0; };
  const std::span<const AskedRows> own = sweep.of(k), before = sweep.of(k - 1);
  auto b = std::ranges::find_if(before, isNew);
  for (const AskedRows& a : own) {
    if (!isNew(a)) continue;
    if (b == before.end() || b->operand != a.operand || b->fresh != a.fresh ||
        !cuts_[a.operand].same(fresh(*b), fresh(a)))
      return false;
    b = std::find_if(b + 1, before.end(), isNew);
  }
  return b == before.end();
}

// Per output row up to the last of the calls, operands that give something to it.
std::vector<std::vector<std::size_t>> RowSweeps::givingTo(const std::vector<RowCall>& calls) const {
  N end = 0;
  for (const RowCall& call : calls) end = std::max(end, call.y + call.rows);
  std::vector<std::vector<std::size_t>> giving(static_cast<std::size_t>(end));
  for (std::size_t operand = 0; operand < nest_.op().inputs.size(); ++operand)
    for (const N y : nest_.operand(operand).outputRows())
      if (y < end) giving[static_cast<std::size_t>(y)].push_back(operand);
  return giving;
}

// A call that moves is of one row.
void RowSweeps::askRows(const std::vector<RowCall>& calls, const Interval& kernelRows,
                        RowSweep& sweep) const {
  struct Before {  // of an operand, in the box
    N next = 0;
    std::optional<std::size_t> box;
  };
  std::vector<Before> before(nest_.op().inputs.size());
  sweep.told.resize(before.size());
  sweep.ends.reserve(calls.size());
  std::vector<std::size_t> all(before.size());
  std::iota(all.begin(), all.end(), 0);
  const bool moves = nest_.op().kind() == OpKind::Assemble;
  const std::vector<std::vector<std::size_t>> giving =
      moves ? givingTo(calls) : std::vector<std::vector<std::size_t>>();
  for (const RowCall& call : calls) {
    for (const std::size_t operand : moves ? giving[static_cast<std::size_t>(call.y)] : all) {
      AskedRows asked{operand, nest_.rowsOf(operand, call, kernelRows), 0};
      if (moves && asked.window.empty()) continue;  // else it says where its border is
      auto& [next, box] = before[operand];
      std::vector<ToldRows>& told = sweep.told[operand];
      for (N y = call.y; y < call.y + call.rows; ++y) {
        const Interval rows = nest_.operand(operand).rows(y, kernelRows);
        if (rows.empty()) continue;
        if (box != call.box) {
          box = call.box;
          next = rows.first;
        }
        const N first = std::max(next, rows.first), fresh = std::max<N>(rows.end() - first, 0);
        if (fresh == 0) continue;
        asked.fresh += fresh;
        next = rows.end();
        if (!told.empty() && told.back().y.end() == first && told.back().box == call.box)
          told.back().y.count += fresh;
        else
          told.push_back({{first, fresh}, call.box});
      }
      sweep.asked.push_back(asked);
    }
    sweep.ends.push_back(sweep.asked.size());
  }
}

}  // namespace heddle
