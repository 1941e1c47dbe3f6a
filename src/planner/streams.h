// By which wires a layer's inputs and weights reach the cores of a cut.
//
//   columns x W/4, rows x C/4:   inputs down the columns, weights along the rows (the paper's)
//                                or inputs along the rows (each carries all of them), weights down
//                                the columns
//   an Add of the same cut:      one operand down the columns, the other along the rows
//   pixels over all cores:       rows of the input by turns down the column and along the row
//   wires that reach all cores:  rows over some of them, records over the others
#pragma once
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "mesh_cut.h"
#include "wires.h"

namespace heddle {

// Load of one wire in shares of a stream: how often the largest route's bytes go over it. A route
// over several lanes loads each with its part.
struct WireLoad {
  std::vector<double> inputs;  // per operand
  double weights = 0;
  bool carriesBoth() const {
    return weights > 0 && std::ranges::any_of(inputs, [](double n) { return n > 0; });
  }
  friend bool operator==(const WireLoad&, const WireLoad&) = default;
};

using Routes = std::shared_ptr<const std::vector<Route>>;  // that ways of the streams share

struct Streams {
  std::vector<Routes> inputs;                               // per operand
  Routes weights;                                           // empty where the operator has none
  std::vector<WireLoad> wires;                              // those that differ
  std::int64_t routesOfAMemtile = 0, routesOfAChannel = 0;  // most weight routes of each in DDR
  bool anywhere = false;                                    // over wires that reach every core
};

// What of a layer's inputs comes out of DDR: rows as the cores take them; bytes that a memtile gets
// whole before, by its first channel.
struct DdrInputs {
  bool rows = false;
  std::int64_t wholeBytes = 0;
};

inline constexpr std::int64_t kFewestRoundsOfDdr = 2;  // of records that take turns over channels

// Which DDR channel of its memtile brings what each route sends: all by turns, or, `apart`, rows
// keep to the first and records to the others. Rows of a layer without records have all channels.
void shareDdrChannels(Mapping& mapping, bool apart, const Device& device);

// Whether records are less than what they would wait behind, or rows would wait behind records that
// have no place yet since a memtile can't stage all (`staged`: of a route).
bool keepDdrChannelsApart(const Mapping& mapping, const DdrInputs& inputs, std::int64_t staged,
                          const Device& device);

// The menus of a device's wires. All ways that differ, the paper's first, those over wires that
// reach every core last; layers that ask the same of the same cores share one.
class StreamMenus {
 public:
  // Needs: both outlive it.
  StreamMenus(const DataflowWires& wires, const Device& device) : wires_(wires), device_(device) {}
  StreamMenus(const DataflowWires& wires, const Device&& device) = delete;
  StreamMenus(const DataflowWires&& wires, const Device& device) = delete;
  const std::vector<Streams>& of(const CanonicalOp& op, bool hasWeights, const MeshCut& cut);

 private:
  struct Asked {
    std::vector<bool> sharesInput;  // per operand
    bool hasWeights = false, addsAtItsEnd = false;
    MeshCut::Family family = MeshCut::Family::Lines;
    std::vector<MeshCut::Share> shares;
    friend auto operator<=>(const Asked&, const Asked&) = default;
  };
  const DataflowWires& wires_;
  const Device& device_;
  std::map<Asked, std::vector<Streams>> known_;
};

}  // namespace heddle
