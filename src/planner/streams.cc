#include "streams.h"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <map>

#include "heddle/canon/fuse_operators.h"
#include "heddle/tiling/geometry.h"

namespace heddle {
namespace {

// Turns: piece by piece down the column and along the row; Mostly..: two of three pieces over that
// kind, for what shares the other with much else. Quarters: one of the two for each core, the same
// in two quarters of the mesh that lie across from each other, so that each wire serves half of its
// cores; the next record is on its way with two places in the core, where by turns it takes more.
// Lines: where the mesh is cut in quarters, the kind of wire that reaches those of a quarter which
// need the same.
// Anywhere: over some of the wires that reach every core, all of them into one receiving channel.
enum class Way { Columns, Rows, Turns, Quarters, MostlyRows, MostlyColumns, Lines, Anywhere };

struct Receiver {
  CoreAt core;
  bool inRow = false;  // those of its quarter that need the same lie in its mesh row
};
using Groups = std::vector<std::vector<Receiver>>;  // cores that need the same

class StreamMenu {
 public:
  StreamMenu(const CanonicalOp& op, bool hasWeights, const MeshCut& cut, const DataflowWires& wires,
             const Device& device)
      : op_(op), hasWeights_(hasWeights), family_(cut.family), wires_(wires), device_(device) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      inputGroups_.push_back(groupsOf(cut, sharesInput(op, i)));
    inputWays_.resize(op.inputs.size());
    weightGroups_.resize(cut.blocks.size());
    for (const MeshCut::Share& share : cut.shares)
      weightGroups_[share.blocks].push_back({share.core, !share.turned});
  }

  std::vector<Streams> run() {
    if (family_ != MeshCut::Family::Anywhere) addLines();
    if (family_ != MeshCut::Family::Quarters && !wires_.anywhere.empty()) addAnywhere();
    return std::move(menu_);
  }

 private:
  // By wires of mesh columns and rows.
  void addLines() {
    const std::size_t operands = op_.inputs.size();
    std::vector<std::vector<Way>> inputs;
    if (family_ == MeshCut::Family::Quarters) {
      for (const Way added : {Way::Columns, Way::Turns}) {
        inputs.emplace_back(operands, Way::Lines);
        if (!fusedAddOf(op_)) break;
        inputs.back().back() = added;
      }
      for (const std::vector<Way>& in : inputs) add(in, Way::Lines);
      return;
    }
    if (fusedAddOf(op_)) {
      for (const Way way : waysOf(inputGroups_[0]))
        for (const Way added : waysOf(inputGroups_.back())) {
          inputs.emplace_back(operands, way);
          inputs.back().back() = added;
        }
    } else {
      for (const Way way : waysOf(inputGroups_[0])) {
        inputs.emplace_back(operands, way);
        if (way != Way::Columns || operands < 2 || fusedMulOf(op_) || !wires_.rowsTakeAll) continue;
        std::vector<Way>& byTurns = inputs.emplace_back();
        for (std::size_t i = 0; i < operands; ++i)
          byTurns.push_back(i % 2 == 0 ? Way::Columns : Way::Rows);
      }
    }
    std::vector<Way> weights{Way::Rows};
    if (hasWeights_) {
      weights.push_back(Way::Columns);
      if (wires_.rowsTakeAll && areSingle(weightGroups_)) {
        weights.push_back(Way::Quarters);
        weights.push_back(Way::Turns);
        weights.push_back(Way::MostlyRows);
        weights.push_back(Way::MostlyColumns);
      }
    }
    for (const std::vector<Way>& in : inputs)
      for (const Way way : weights) add(in, way);
  }

  // Rows over some of the wires, records over the others: neither waits for the other, and as many
  // wires for each as their bytes ask for. Two operands without weights take half of them each.
  void addAnywhere() {
    const std::size_t all = wires_.anywhere.size(), operands = op_.inputs.size();
    const auto over = [&](std::size_t first, std::size_t end, std::int64_t channel) {
      return StreamWay{Way::Anywhere, first, end - first, channel};
    };
    if (!hasWeights_ && operands == 1) return add({over(0, all, 0)}, over(0, all, 0));
    if (!hasWeights_) {
      std::vector<StreamWay> inputs;
      for (std::size_t i = 0; i < operands; ++i)
        inputs.push_back(i % 2 == 0 ? over(0, all / 2, 0) : over(all / 2, all, wires_.rowChannel));
      return add(inputs, over(0, all, 0));
    }
    const std::size_t most = std::min(all - 1, inputGroups_[0].size());
    for (std::size_t rows = 1; rows <= most; ++rows) {
      std::vector<StreamWay> inputs(operands, over(0, rows, 0));
      for (std::size_t i = 1; i < operands; ++i) inputs[i].besideFirst = true;
      add(inputs, over(rows, all, wires_.rowChannel));
    }
  }

  static Groups groupsOf(const MeshCut& cut, bool shared) {
    Groups groups(shared ? cut.pixels.size() : 0);
    for (const MeshCut::Share& share : cut.shares) {
      if (!shared) groups.emplace_back();
      (shared ? groups[share.pixels] : groups.back()).push_back({share.core, share.turned});
    }
    return groups;
  }

  std::vector<Way> waysOf(const Groups& groups) const {
    if (!wires_.rowsTakeAll) return {Way::Columns};
    if (areSingle(groups)) return {Way::Columns, Way::Turns, Way::Rows};
    return {Way::Columns, Way::Rows};
  }

  static bool areSingle(const Groups& groups) {
    return std::ranges::all_of(groups, [](const auto& group) { return group.size() == 1; });
  }

  Lane columnLane(std::int64_t column) const {
    return {wires_.columns[static_cast<std::size_t>(column)], 0};
  }
  // A wire keeps to one receiving channel: one that serves a column, too, to the columns'.
  Lane rowLane(std::int64_t row) const {
    const std::int64_t wire = wires_.rows[static_cast<std::size_t>(row)];
    const bool both = std::ranges::find(wires_.columns, wire) != wires_.columns.end();
    return {wire, both ? 0 : wires_.rowChannel};
  }

  std::vector<Lane> lanesTo(const CoreAt& core, Way way) const {
    const Lane column = columnLane(core.column), row = rowLane(core.row);
    const bool upper = 2 * core.row < device_.rows, left = 2 * core.column < device_.columns;
    if (column.wire == row.wire) return {column};
    switch (way) {
      case Way::Columns:
        return {column};
      case Way::Rows:
        return {row};
      case Way::Turns:
        return {column, row};
      case Way::Quarters:
        return {upper == left ? column : row};
      case Way::MostlyRows:
        return {row, row, column};
      case Way::MostlyColumns:
        return {column, column, row};
      case Way::Lines:  // each of its routes is of one kind
      case Way::Anywhere:
        break;
    }
    return {};
  }

  // A way, and of Anywhere the wires and the channel of a core that they lead to; besideFirst: each
  // core's over the wire of its rows of the first operand.
  struct StreamWay {
    Way way = Way::Columns;
    std::size_t firstWire = 0, wires = 0;
    std::int64_t channel = 0;
    bool besideFirst = false;
    friend auto operator<=>(const StreamWay&, const StreamWay&) = default;
  };

  // A route for each group, over one wire. A channel of a core stays behind one wire, too: one that
  // takes turns between wires would let each wait for the others.
  std::vector<Route> routesAnywhere(const Groups& groups, const StreamWay& way) const {
    std::vector<Route> routes;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::size_t turn = way.besideFirst ? groupOf(groups[g][0].core) : g;
      Route route{.cores = {},
                  .lanes = {{wires_.anywhere[way.firstWire + turn % way.wires], way.channel}},
                  .memtile = weightMemtile(device_, static_cast<std::int64_t>(g))};
      for (const Receiver& to : groups[g]) route.cores.push_back(to.core);
      routes.push_back(std::move(route));
    }
    return routes;
  }

  // Of the first operand.
  std::size_t groupOf(const CoreAt& core) const {
    const auto has = [&](const std::vector<Receiver>& group) {
      return std::ranges::find(group, core, &Receiver::core) != group.end();
    };
    return static_cast<std::size_t>(std::ranges::find_if(inputGroups_[0], has) -
                                    inputGroups_[0].begin());
  }

  // A route for each column, or row, in which a group has cores.
  std::vector<Route> routesOf(const Groups& groups, const StreamWay& streamWay) const {
    if (streamWay.way == Way::Anywhere) return routesAnywhere(groups, streamWay);
    const Way way = streamWay.way;
    std::vector<Route> routes;
    for (const std::vector<Receiver>& group : groups) {
      std::map<std::pair<Way, std::int64_t>, std::vector<CoreAt>> lines;
      for (const Receiver& to : group) {
        const Way kind = way != Way::Lines ? way : to.inRow ? Way::Rows : Way::Columns;
        lines[{kind, kind == Way::Rows ? to.core.row : to.core.column}].push_back(to.core);
      }
      for (auto& [along, cores] : lines) {
        const auto& [kind, line] = along;
        Route route{.cores = {},
                    .lanes = lanesTo(cores[0], kind),
                    .memtile = kind == Way::Rows ? weightMemtile(device_, line) : line};
        route.cores = std::move(cores);
        routes.push_back(std::move(route));
      }
    }
    return routes;
  }

  // What all of the menu have of one operand, or of the weights: its routes in one way, and how
  // often the largest route's bytes go over each wire.
  struct Stream {
    Routes routes;
    std::vector<double> load;  // per wire of the device
  };
  using Known = std::map<StreamWay, Stream>;

  const Stream& streamOf(Known& known, const Groups& groups, const StreamWay& way) const {
    const auto [entry, fresh] = known.try_emplace(way);
    Stream& stream = entry->second;
    if (!fresh) return stream;
    std::vector<Route> routes = routesOf(groups, way);
    for (const auto& [other, same] : known)
      if (same.routes && *same.routes == routes) return stream = same;
    stream.load.resize(device_.wires.size());
    for (const Route& route : routes)
      for (const Lane& lane : route.lanes)
        stream.load[static_cast<std::size_t>(lane.wire)] +=
            1.0 / static_cast<double>(route.lanes.size());
    stream.routes = std::make_shared<const std::vector<Route>>(std::move(routes));
    return stream;
  }

  void add(const std::vector<Way>& inputs, Way weights) {
    std::vector<StreamWay> ways;
    for (const Way way : inputs) ways.push_back({way});
    add(ways, {weights});
  }
  void add(const std::vector<StreamWay>& inputs, const StreamWay& weights) {
    std::vector<const Stream*> of;
    Streams streams;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      of.push_back(&streamOf(inputWays_[i], inputGroups_[i], inputs[i]));
      streams.inputs.push_back(of.back()->routes);
    }
    const Stream& records = streamOf(weightWays_, hasWeights_ ? weightGroups_ : Groups{}, weights);
    streams.weights = records.routes;
    const auto same = [&](const Streams& other) {
      return other.inputs == streams.inputs && other.weights == streams.weights;
    };
    if (std::ranges::any_of(menu_, same)) return;
    streams.anywhere = weights.way == Way::Anywhere;
    streams.routesOfAMemtile = mostRoutesOfAMemtile(*streams.weights);
    streams.routesOfAChannel =
        divideRoundUp(streams.routesOfAMemtile, device_.memtile.ddrChannelsIn);
    for (std::size_t w = 0; w < device_.wires.size(); ++w) {
      WireLoad wire;
      for (const Stream* input : of) wire.inputs.push_back(input->load[w]);
      wire.weights = records.load[w];
      if (std::ranges::find(streams.wires, wire) == streams.wires.end())
        streams.wires.push_back(std::move(wire));
    }
    menu_.push_back(std::move(streams));
  }

  const CanonicalOp& op_;
  bool hasWeights_;
  MeshCut::Family family_;
  const DataflowWires& wires_;
  const Device& device_;
  std::vector<Groups> inputGroups_;  // per operand
  Groups weightGroups_;
  std::vector<Known> inputWays_;  // per operand
  Known weightWays_;
  std::vector<Streams> menu_;
};

// The routes of each memtile take the first, or the last, `count` of `channels` by turns. Where
// that gives some channels more than others, they take turns themselves if they `mayRotate`: rows
// that share the channels with records do not, as they would wait in each other's queues.
void takeTurns(std::vector<Route>& routes, std::int64_t count, const Device& device, bool last,
               bool mayRotate) {
  const std::int64_t channels = device.memtile.ddrChannelsIn;
  // Asked for each mapping that is tried: without memory from the heap for arrays of usual size.
  const boost::container::small_vector<std::int64_t, 32> none(
      static_cast<std::size_t>(device.memtiles()), 0);
  auto before = none, all = none;
  for (const Route& route : routes) ++all[static_cast<std::size_t>(route.memtile)];
  for (Route& route : routes) {
    const auto memtile = static_cast<std::size_t>(route.memtile);
    const std::int64_t turn = before[memtile]++ % count;
    route.ddrChannel = last ? channels - 1 - turn : turn;
    route.ddrTurns = mayRotate && count == channels && all[memtile] % count != 0 ? channels : 1;
  }
}

}  // namespace

bool keepDdrChannelsApart(const Mapping& mapping, const DdrInputs& inputs, std::int64_t staged,
                          const Device& device) {
  const std::int64_t records = recordsOf(mapping);
  const std::int64_t recordBytes =
      mostRoutesOfAMemtile(mapping.weights) * records * mapping.weightBytes;
  return device.memtile.ddrChannelsIn > 1 &&
         ((inputs.rows && records > staged) || recordBytes < inputs.wholeBytes);
}

void shareDdrChannels(Mapping& mapping, bool apart, const Device& device) {
  const std::int64_t channels = device.memtile.ddrChannelsIn;
  const bool hasRecords = !mapping.weights.empty();
  for (std::vector<Route>& routes : mapping.inputs)
    takeTurns(routes, apart && hasRecords ? 1 : channels, device, false, !hasRecords);
  takeTurns(mapping.weights, apart ? channels - 1 : channels, device, true, true);
  // Of few records the last would wait for one that another channel brings later.
  if (recordsOf(mapping) < kFewestRoundsOfDdr * channels)
    for (Route& route : mapping.weights) route.ddrTurns = 1;
}

const std::vector<Streams>& StreamMenus::of(const CanonicalOp& op, bool hasWeights,
                                            const MeshCut& cut) {
  Asked asked{.sharesInput = {},
              .hasWeights = hasWeights,
              .addsAtItsEnd = fusedAddOf(op) != nullptr,
              .family = cut.family,
              .shares = cut.shares};
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    asked.sharesInput.push_back(sharesInput(op, i));
  const auto [known, fresh] = known_.try_emplace(std::move(asked));
  if (fresh) known->second = StreamMenu(op, hasWeights, cut, wires_, device_).run();
  return known->second;
}

}  // namespace heddle
