#include "wires.h"

#include <algorithm>
#include <optional>

namespace heddle {
namespace {

class WireChoice {
 public:
  explicit WireChoice(const Device& device) : device_(device), used_(device.wires.size(), false) {}

  Result<DataflowWires> run() {
    DataflowWires wires;
    for (std::int64_t c = 0; c < device_.columns; ++c) {
      const std::string what = "column " + std::to_string(c);
      HEDDLE_TRY(const std::int64_t wire, take({0, c, device_.rows, 1}, what));
      wires.columns.push_back(wire);
    }
    for (std::int64_t r = 0; r < device_.rows; ++r) {
      const std::string what = "row " + std::to_string(r);
      HEDDLE_TRY(const std::int64_t wire, take({r, 0, 1, device_.columns}, what));
      if (const auto fault = feeds(weightMemtile(device_, r), wire, what)) return *fault;
      wires.rows.push_back(wire);
    }
    // A row of an input lies where its producer left it: in any memtile.
    for (std::int64_t c = 0; c < device_.columns; ++c)
      for (std::int64_t m = 0; m < device_.memtiles(); ++m)
        if (const auto fault =
                feeds(m, wires.columns[static_cast<std::size_t>(c)], "column " + std::to_string(c)))
          return *fault;
    wires.rowChannel = std::min<std::int64_t>(1, device_.core.channelsIn - 1);
    wires.rowsTakeAll =
        std::ranges::all_of(wires.rows, [&](std::int64_t wire) { return takesAll(wire); });
    for (std::int64_t w = 0; w < std::ssize(device_.wires); ++w)
      if (reaches(w, {0, 0, device_.rows, device_.columns}) && takesAll(w))
        wires.anywhere.push_back(w);
    if (wires.anywhere.size() < 2) wires.anywhere.clear();
    return wires;
  }

 private:
  bool reaches(std::int64_t wire, const CoreRange& cores) const {
    const CoreRange& r = device_.wires[static_cast<std::size_t>(wire)].reach;
    return r.contains(cores.row, cores.column) &&
           r.contains(cores.row + cores.rows - 1, cores.column + cores.columns - 1);
  }

  // Whether every memtile feeds it.
  bool takesAll(std::int64_t wire) const {
    const std::vector<std::int64_t>& feeders =
        device_.wires[static_cast<std::size_t>(wire)].feeders;
    for (std::int64_t m = 0; m < device_.memtiles(); ++m)
      if (std::ranges::find(feeders, m) == feeders.end()) return false;
    return true;
  }

  // The narrowest wire that reaches all of `cores` and that nothing else uses yet, else the
  // narrowest of all.
  Result<std::int64_t> take(const CoreRange& cores, const std::string& what) {
    std::optional<std::pair<std::pair<bool, std::int64_t>, std::int64_t>> best;
    for (std::size_t w = 0; w < device_.wires.size(); ++w) {
      const CoreRange& r = device_.wires[w].reach;
      if (!reaches(static_cast<std::int64_t>(w), cores)) continue;
      const std::pair<std::pair<bool, std::int64_t>, std::int64_t> candidate{
          {used_[w], r.rows * r.columns}, static_cast<std::int64_t>(w)};
      if (!best || candidate < *best) best = candidate;
    }
    if (!best)
      return Diagnostic{"PLAN002",
                        "device '" + device_.name + "'",
                        "no wire reaches all cores of " + what,
                        std::to_string(device_.wires.size()) + " wires, none with this reach",
                        "describe a wire for each column and for each row",
                        Severity::DoesNotFit};
    used_[static_cast<std::size_t>(best->second)] = true;
    return best->second;
  }

  std::optional<Diagnostic> feeds(std::int64_t memtile, std::int64_t index,
                                  const std::string& what) const {
    const Wire& wire = device_.wires[static_cast<std::size_t>(index)];
    if (std::find(wire.feeders.begin(), wire.feeders.end(), memtile) != wire.feeders.end())
      return std::nullopt;
    return Diagnostic{"PLAN002",
                      "device '" + device_.name + "'",
                      "a memtile cannot feed the wire of " + what,
                      "memtile " + std::to_string(memtile) + " is not among the feeders of wire '" +
                          wire.name + "'",
                      "let any memtile feed the wires",
                      Severity::DoesNotFit};
  }

  const Device& device_;
  std::vector<bool> used_;
};

}  // namespace

std::int64_t weightMemtile(const Device& device, std::int64_t row) {
  return row % device.memtiles();
}

Result<DataflowWires> chooseWires(const Device& device) { return WireChoice(device).run(); }

}  // namespace heddle
