#include "heddle/planner/count_work.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "alike.h"
#include "heddle/canon/fuse_adds.h"
#include "heddle/tiling/nest.h"

namespace heddle {

namespace {

using N = std::int64_t;

// Rows of an operand that the calls of a sweep ask for.
struct SweepRows {
  std::vector<Interval> window;  // per call
  std::vector<N> fresh;          // per call: those that no call before it had
  struct Stretch {
    Interval y, x;  // rows of the operand, columns of the output
  };
  std::vector<Stretch> told;  // all of them
};

// A lane's share of what takes turns on several; `plus` less than `lanes` rounds.
void add(Transfers& to, const Transfers& more, N lanes, N plus) {
  for (const TransferCount& t : more) {
    const N times = (t.times + plus) / lanes,
            acquires = std::min(times, (t.acquires + plus) / lanes);
    heddle::add(to, t.size, acquires, true);
    heddle::add(to, t.size, times - acquires, false);
  }
}

// What a step does wherever it stands in the schedule and in memory.
class StepCounter {
 public:
  StepCounter(const CanonicalGraph& graph, const Plan& plan, const Device& device, std::size_t step)
      : plan_(plan),
        device_(device),
        rows_(plan.schedule[step].rows),
        op_(graph.ops[plan.schedule[step].layer.at()]),
        m_(plan.layers[plan.schedule[step].layer.at()]),
        nest_(graph, OpId(plan.schedule[step].layer.at()), m_),
        isDense_(!leavesBlocksOut(op_)),
        alike_(reducesChannels(op_) && isDense_) {}

  StepWork run() {
    work_.wires.resize(device_.wires.size());
    work_.ddrRead.resize(at(device_.memtiles(), device_.memtile.ddrChannelsIn));
    work_.ddrWrite.resize(at(device_.memtiles(), device_.memtile.ddrChannelsOut));
    work_.weightSlots = m_.weightSlots;
    work_.passes = m_.order[0] == NestLoop::Pass ? m_.passes : 1;
    for (std::size_t i = 0; i < op_.inputs.size(); ++i)
      for (const Route& route : m_.inputs[i]) countRows(i, route);
    for (const Route& route : m_.weights) countRecords(route);
    countCores();
    return std::move(work_);
  }

 private:
  static std::size_t at(N a, N b) { return static_cast<std::size_t>(a * b); }

  TensorId root(TensorId t) const { return plan_.views[t.at()].root; }
  const Home& home(TensorId t) const { return plan_.homes[root(t).at()]; }

  Transfers& ddrRead(const Route& route, Transfers ChannelWork::*what) {
    return work_.ddrRead[static_cast<std::size_t>(route.memtile * device_.memtile.ddrChannelsIn +
                                                  route.ddrChannel)].*
           what;
  }
  Transfers& ddrWrite(N memtile, N channel) {
    return work_
        .ddrWrite[static_cast<std::size_t>(memtile * device_.memtile.ddrChannelsOut + channel)]
        .activations;
  }

  std::vector<RowCall> calls(const CoreShare& share, const Iteration& i) const {
    return nest_.calls(share, rows_, i);
  }

  SweepRows rowsOf(const std::vector<RowCall>& calls, std::size_t operand,
                   const Iteration& i) const {
    SweepRows out;
    const Interval kernelRows = nest_.loadedKernelRows(i);
    N next = 0;
    std::optional<std::size_t> box;
    for (const RowCall& call : calls) {
      const Interval rows = nest_.operand(operand).rows(call.y, kernelRows);
      out.window.push_back(rows);
      if (box != call.box && !rows.empty()) {
        box = call.box;
        next = rows.first;
      }
      const N first = std::max(next, rows.first), fresh = std::max<N>(rows.end() - first, 0);
      out.fresh.push_back(rows.empty() ? 0 : fresh);
      if (out.fresh.back() == 0) continue;
      next = rows.end();
      if (!out.told.empty() && out.told.back().y.end() == first && out.told.back().x == call.x)
        out.told.back().y.count += fresh;
      else
        out.told.push_back({{first, fresh}, call.x});
    }
    return out;
  }

  // The pieces in which rows `y` of an operand's held part come from where it is at home.
  void addPieces(Transfers& to, std::size_t operand, const Held& h, const Interval& y) const {
    const TensorId tensor = op_.inputs[operand];
    const Interval blocks{plan_.views[tensor.at()].block + h.blocks.first, h.blocks.count};
    if (home(tensor).empty())
      heddle::add(to, Bytes(h.blocks.count * h.columns.count * kBlock), y.count);
    Interval last;
    for (const HomeBox& box : home(tensor)) {
      const N cells = common(box.x, h.columns).count * common(box.blocks, blocks).count;
      if (common(box.x, h.columns).empty() || common(box.blocks, blocks).empty()) continue;
      const Interval rows = common(box.y, y);
      if (rows.empty()) continue;
      heddle::add(to, Bytes(cells * kBlock), rows.count, rows != last);
      last = rows;
    }
  }

  // The first of a route's cores that takes rows in an iteration; null where none does.
  const CoreShare* taker(std::size_t operand, const Route& route, const Iteration& i) const {
    for (const CoreAt& core : route.cores) {
      const CoreShare& share = *m_.shareOf(core);
      if (nest_.takesRows(share, operand, i) && !calls(share, i).empty()) return &share;
    }
    return nullptr;
  }

  void countRows(std::size_t operand, const Route& route) {
    N key = -1;
    for (const Iteration& i : nest_.iterations()) {
      if (nest_.stays(operand) && nest_.inputKey(i) == key) continue;
      const CoreShare* share = taker(operand, route, i);
      if (!share) continue;
      key = nest_.inputKey(i);
      const std::vector<RowCall> due = calls(*share, i);
      Transfers pieces;
      for (const auto& [y, x] : rowsOf(due, operand, i).told)
        if (const Held h = nest_.held(*share, operand, i, x); !h.blocks.empty())
          addPieces(pieces, operand, h, y);
      const auto lanes = static_cast<N>(route.lanes.size());
      if (home(op_.inputs[operand]).empty())
        add(ddrRead(route, &ChannelWork::activations), pieces, 1, 0);
      for (N l = 0; l < lanes; ++l)
        add(work_.wires[static_cast<std::size_t>(route.lanes[static_cast<std::size_t>(l)].wire)]
                .activations,
            pieces, lanes, lanes - 1 - l);
    }
  }

  void countRecords(const Route& route) {
    const CoreShare& any = *m_.shareOf(route.cores[0]);
    const auto lanes = static_cast<N>(route.lanes.size());
    N key = -1, records = 0;
    for (const Iteration& i : nest_.iterations()) {
      if (m_.passBlocks(any, i.pass).empty() || nest_.recordKey(i) == key) continue;
      if (std::none_of(route.cores.begin(), route.cores.end(),
                       [&](const CoreAt& core) { return !calls(*m_.shareOf(core), i).empty(); }))
        continue;
      key = nest_.recordKey(i);
      const Bytes size(nest_.recordBytes(any, i));
      const Lane& lane = route.lanes[static_cast<std::size_t>(records % lanes)];
      ChannelWork& wire = work_.wires[static_cast<std::size_t>(lane.wire)];
      add(ddrRead(route, &ChannelWork::weights), size, 1);
      if (records == 0) add(ddrRead(route, &ChannelWork::firstWeights), size, 1);
      add(wire.weights, size, 1);
      if (records < lanes) add(wire.firstWeights, size, 1);
      ++records;
      work_.record = std::max(work_.record, size);
    }
    work_.records = std::max(work_.records, records);
  }

  // Cores with the same pixels and as many blocks do the same; of sparse weights, with the same
  // blocks.
  void countCores() {
    std::vector<const CoreShare*> counted;
    for (const CoreShare& share : m_.shares) {
      if (home(op_.output).empty()) countSpill(share);
      const auto like = std::ranges::find_if(counted, [&](const CoreShare* other) {
        return other->boxes == share.boxes && (isDense_ ? other->blocks.count == share.blocks.count
                                                        : other->blocks == share.blocks);
      });
      if (like == counted.end()) {
        counted.push_back(&share);
        countCalls(share);
      } else {
        ++work_.cores[static_cast<std::size_t>(like - counted.begin())].cores;
      }
    }
    std::erase_if(work_.cores, [](const CoreWork& core) { return core.calls.empty(); });
  }

  // ---- the calls of one core --------------------------------------------------------------------

  void countCalls(const CoreShare& share) {
    CoreWork& core = work_.cores.emplace_back();
    core.cores = 1;
    bool first = true;
    N key = -1, window = 0;
    std::map<std::tuple<N, N, N, N, N, bool, bool>, std::vector<CallWork>> known;
    for (const Iteration& i : nest_.iterations()) {
      const Interval blocks = m_.passBlocks(share, i.pass);
      if (blocks.empty()) continue;
      const bool telling = !m_.resident || nest_.inputKey(i) != key;
      key = nest_.inputKey(i);
      const ReductionPart& part = nest_.part(i);
      const auto [entry, fresh] = known.try_emplace(
          {key, part.kernelRows.first, part.inputBlocks.first, part.inputBlocks.count,
           alike_ ? blocks.count : blocks.first, telling, first});
      if (fresh) entry->second = callsOf(share, i, telling, first, window, core);
      for (const CallWork& call : entry->second) addCall(core, call);
      first = first && entry->second.empty();
    }
    if (!m_.weights.empty() && !m_.resident) addRecordsAmongRows(core, share, window);
  }

  void addRecordsAmongRows(CoreWork& core, const CoreShare& share, N window) {
    const auto records = [&](const Lane& lane) -> const Transfers& {
      return work_.wires[static_cast<std::size_t>(lane.wire)].weights;
    };
    for (const Lane& lane : routeOf(0, share.core).lanes)
      add(core.recordsAmongRows, records(lane), 1, 0);
    const N stride = windowOf(op_) ? windowOf(op_)->strideY : 1;
    core.callsAhead = std::max<N>(0, m_.rings[0].length - window) / stride;
    for (const Route& route : m_.weights) {
      if (route.lanes.size() < 2 || std::ranges::find(route.cores, share.core) == route.cores.end())
        continue;
      for (const Lane& lane : route.lanes)
        if (bytesOf(records(lane)) > bytesOf(core.recordsByTurns))
          core.recordsByTurns = records(lane);
    }
  }

  static void addCall(CoreWork& core, const CallWork& call) {
    // The last call goes last: what it writes ends the step.
    const auto same = std::find_if(core.calls.begin(), core.calls.end(), [&](const CallWork& c) {
      return c.kernel == call.kernel && c.pace == call.pace && c.ahead == call.ahead &&
             c.waited == call.waited && c.out == call.out;
    });
    if (same == core.calls.end()) {
      core.calls.push_back(call);
      return;
    }
    same->times += call.times;
    std::rotate(same, same + 1, core.calls.end());
  }

  std::vector<CallWork> callsOf(const CoreShare& share, const Iteration& i, bool telling,
                                bool first, N& window, CoreWork& core) {
    const std::vector<RowCall> due = calls(share, i);
    std::vector<SweepRows> rows;
    for (std::size_t operand = 0; operand < op_.inputs.size(); ++operand)
      rows.push_back(rowsOf(due, operand, i));
    const ReductionPart& part = nest_.part(i);
    const Interval blocks = m_.passBlocks(share, i.pass);
    const N kernelX = windowOf(op_) ? windowOf(op_)->kernelX : 1;
    const N computed = blocksComputed(op_, blocks, part),
            most = telling ? mostComputed(share, i) : computed;
    const N added = fusedAddOf(op_) && nest_.last(i) ? blocks.count : 0;
    std::vector<CallWork> out;
    for (std::size_t k = 0; k < due.size(); ++k) {
      CallWork call;
      call.times = 1;
      const N taps = part.kernelRows.count * kernelX;
      call.kernel = kernelWork(op_.kind(), computed, taps, due[k].x.count, added);
      call.pace = kernelWork(op_.kind(), most, taps, due[k].x.count, added);
      for (std::size_t operand = 0; operand < rows.size(); ++operand) {
        if (isAddend(op_, operand) ? !nest_.last(i) : !telling) continue;
        const N fresh = rows[operand].fresh[k];
        const N before = isAddend(op_, operand) ? 1 : window;
        const N ahead = std::min(fresh, std::max<N>(m_.rings[operand].length - before, 0));
        const Interval& all = rows[operand].window[k];
        if (first && k == 0) {
          addRows(core.first, share, operand, i, due[k], {all.first, all.count});
          continue;
        }
        addRows(call.ahead, share, operand, i, due[k], {all.end() - fresh, ahead});
        addRows(call.waited, share, operand, i, due[k], {all.end() - fresh + ahead, fresh - ahead});
      }
      window = rows[0].window[k].count;
      if (nest_.last(i)) addOutput(call.out, blocks, due[k]);
      addMerged(out, std::move(call));
    }
    return out;
  }

  // Blocks that a core computes of the cores which get the same rows at the same time: of sparse
  // weights that with most, for the others wait for it.
  N mostComputed(const CoreShare& share, const Iteration& i) {
    N most = blocksComputed(op_, m_.passBlocks(share, i.pass), nest_.part(i));
    if (isDense_) return most;
    for (const CoreAt& core : routeOf(0, share.core).cores)
      most = std::max(most,
                      blocksComputed(op_, m_.passBlocks(*m_.shareOf(core), i.pass), nest_.part(i)));
    return most;
  }

  static void addMerged(std::vector<CallWork>& calls, CallWork call) {
    CallWork* last = calls.empty() ? nullptr : &calls.back();
    if (last && last->kernel == call.kernel && last->pace == call.pace &&
        last->ahead == call.ahead && last->waited == call.waited && last->out == call.out)
      ++last->times;
    else
      calls.push_back(std::move(call));
  }

  // A route whose rows go over a wire, or out of a DDR channel, that another's rows take, too.
  struct Neighbour {
    const CoreShare* share = nullptr;  // of its first core
    N lanes = 1;
    std::vector<std::size_t> shared;  // lanes of the other that it takes
    bool sameChannel = false;
  };

  const std::vector<Neighbour>& neighboursOf(std::size_t operand, const Route& own) {
    const auto [known, fresh] = neighbours_.try_emplace({operand, &own});
    if (!fresh) return known->second;
    const bool spilled = home(op_.inputs[operand]).empty();
    for (const Route& route : m_.inputs[operand]) {
      Neighbour other{m_.shareOf(route.cores[0]), static_cast<N>(route.lanes.size()), {}, false};
      other.sameChannel =
          spilled && route.memtile == own.memtile && route.ddrChannel == own.ddrChannel;
      for (std::size_t l = 0; l < own.lanes.size(); ++l)
        if (std::ranges::find(route.lanes, own.lanes[l].wire, &Lane::wire) != route.lanes.end())
          other.shared.push_back(l);
      if (other.sameChannel || !other.shared.empty()) known->second.push_back(std::move(other));
    }
    return known->second;
  }

  // Rows for a core, and those of other cores that come over the same wire or DDR channel, as if
  // these asked for the same rows and columns.
  void addRows(RowTransfers& to, const CoreShare& share, std::size_t operand, const Iteration& i,
               const RowCall& call, const Interval& y) {
    if (y.empty()) return;
    const Route& own = routeOf(operand, share.core);
    std::vector<Transfers> wires(own.lanes.size());
    Held last;
    Transfers pieces;
    for (const Neighbour& other : neighboursOf(operand, own)) {
      const Held h = nest_.held(*other.share, operand, i, call.x);
      if (h.blocks.empty()) continue;
      if (pieces.empty() || h != last) {
        pieces.clear();
        addPieces(pieces, operand, h, y);
        last = h;
      }
      for (const std::size_t l : other.shared) addShares(wires[l], pieces, other.lanes);
      if (other.sameChannel) add(to.ddr, pieces, 1, 0);
    }
    const auto longest = std::ranges::max_element(wires, {}, bytesOf);
    add(to.wire, *longest, 1, 0);
  }

  // A lane's share of pieces that take turns on several, as if each went in parts over all.
  static void addShares(Transfers& to, const Transfers& pieces, N lanes) {
    for (const TransferCount& t : pieces) {
      const Bytes size(divideRoundUp(t.size.raw(), lanes));
      heddle::add(to, size, t.acquires, true);
      heddle::add(to, size, t.times - t.acquires, false);
    }
  }

  const Route& routeOf(std::size_t operand, const CoreAt& core) {
    const auto [known, fresh] = routes_.try_emplace({operand, core}, &m_.inputs[operand][0]);
    if (fresh)
      for (const Route& route : m_.inputs[operand])
        if (std::ranges::find(route.cores, core) != route.cores.end()) {
          known->second = &route;
          break;
        }
    return *known->second;
  }

  // ---- outputs ----------------------------------------------------------------------------------

  void addOutput(Transfers& to, const Interval& blocks, const RowCall& call) const {
    const Interval written{plan_.views[op_.output.at()].block + blocks.first, blocks.count};
    if (home(op_.output).empty()) heddle::add(to, Bytes(blocks.count * call.x.count * kBlock), 1);
    for (const HomeBox& box : home(op_.output)) {
      const Interval x = common(box.x, call.x), b = common(box.blocks, written);
      if (!x.empty() && !b.empty() && call.y >= box.y.first && call.y < box.y.end())
        heddle::add(to, Bytes(x.count * b.count * kBlock), 1, to.empty());
    }
  }

  // Output rows of a core that pass through its memtile to DDR.
  void countSpill(const CoreShare& share) {
    for (const Iteration& i : nest_.iterations()) {
      if (!nest_.last(i)) continue;
      const N blocks = m_.passBlocks(share, i.pass).count;
      for (const RowCall& call : calls(share, i))
        add(ddrWrite(share.output.memtile, share.output.ddrChannel),
            Bytes(blocks * call.x.count * kBlock), 1);
    }
  }

  const Plan& plan_;
  const Device& device_;
  Interval rows_;
  const CanonicalOp& op_;
  const Mapping& m_;
  LayerNest nest_;
  bool isDense_;
  bool alike_;  // passes of equally many blocks ask for the same
  std::map<std::pair<std::size_t, CoreAt>, const Route*> routes_;  // per operand and core
  std::map<std::pair<std::size_t, const Route*>, std::vector<Neighbour>> neighbours_;
  StepWork work_;
};

}  // namespace

WholeTensors::WholeTensors(const CanonicalGraph& graph, const Plan& plan, const MemoryPlan& memory)
    : writers(graph.tensors.size()), loads(plan.schedule.size()), stores(plan.schedule.size()) {
  for (std::size_t s = 0; s < plan.schedule.size(); ++s) {
    const std::size_t layer = plan.schedule[s].layer.at();
    if (plan.layers[layer].inPlace()) continue;
    writers[plan.views[graph.ops[layer].output.at()].root.at()].push_back(static_cast<N>(s));
  }
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const TensorMemory& tensor = memory.tensors[t];
    if (!tensor.ddr || tensor.slices.empty()) continue;
    if (writers[t].empty())
      loads[static_cast<std::size_t>(tensor.first)].push_back(t);
    else
      stores[static_cast<std::size_t>(writers[t].back())].push_back(t);
  }
}

WorkCounter::WorkCounter(const CanonicalGraph& graph, const Device& device)
    : graph_(graph), device_(device), alike_(firstAlike(graph)), known_(graph.ops.size()) {}

StepWork WorkCounter::operator()(const Plan& plan, const MemoryPlan& memory,
                                 const WholeTensors& whole, std::size_t step) {
  const std::size_t layer = plan.schedule[step].layer.at();
  const Mapping& mapping = plan.layers[layer];
  if (mapping.inPlace()) return {};
  StepWork work = counted(plan, step);
  const StepMemory& placed = memory.steps[step];
  const N first = placed.coreBase;
  N rings = 0;
  for (const RingPlan& ring : mapping.rings) rings += ring.length * ring.rowBytes;
  work.all = {first, first + mapping.coreBytes()};
  work.weights = {first, first + mapping.weightSlots * mapping.weightBytes};
  work.rings = {work.weights.end, work.weights.end + rings};
  for (const StreamPlan& staged : placed.weights)
    work.recordsStaged = std::max(work.recordsStaged, staged.slots);
  addWholeTensors(work, memory, whole, step);
  for (const TensorId input : graph_.ops[layer].inputs) {
    const std::size_t root = plan.views[input.at()].root.at();
    for (const N writer : whole.writers[root])
      if (writer < static_cast<N>(step))
        work.producers.push_back({writer, plan.homes[root].empty()});
  }
  return work;
}

// What goes whole between DDR and its home: ports and constants.
void WorkCounter::addWholeTensors(StepWork& work, const MemoryPlan& memory,
                                  const WholeTensors& whole, std::size_t step) const {
  const auto add = [&](std::vector<ChannelWork>& channels, N ofEach, std::size_t tensor) {
    for (const Slice& s : memory.tensors[tensor].slices)
      heddle::add(channels[static_cast<std::size_t>(s.memtile * ofEach)].activations,
                  Bytes(s.blocks * s.columns * kBlock), s.rows);
  };
  for (const std::size_t t : whole.loads[step]) add(work.ddrRead, device_.memtile.ddrChannelsIn, t);
  for (const std::size_t t : whole.stores[step])
    add(work.ddrWrite, device_.memtile.ddrChannelsOut, t);
}

const StepWork& WorkCounter::counted(const Plan& plan, std::size_t step) {
  const std::size_t layer = plan.schedule[step].layer.at();
  const CanonicalOp& op = graph_.ops[layer];
  const Mapping& mapping = plan.layers[layer];
  std::vector<Home> homes;
  std::vector<std::int64_t> firstBlocks;
  const auto addHome = [&](TensorId tensor) {
    const View& view = plan.views[tensor.at()];
    homes.push_back(plan.homes[view.root.at()]);
    firstBlocks.push_back(view.block);
  };
  for (const TensorId input : op.inputs) addHome(input);
  addHome(op.output);
  std::deque<Known>& known = known_[alike_[layer]];
  const auto same = std::ranges::find_if(known, [&](const Known& k) {
    return k.rows == plan.schedule[step].rows && k.firstBlocks == firstBlocks &&
           k.mapping.score == mapping.score && k.mapping == mapping && k.homes == homes;
  });
  if (same != known.end()) return same->work;
  StepWork work = StepCounter(graph_, plan, device_, step).run();
  return known
      .emplace_back(Known{mapping, plan.schedule[step].rows, std::move(homes),
                          std::move(firstBlocks), std::move(work)})
      .work;
}

std::vector<StepWork> countWork(const CanonicalGraph& graph, const Plan& plan,
                                const MemoryPlan& memory, const Device& device) {
  WorkCounter count(graph, device);
  const WholeTensors whole(graph, plan, memory);
  std::vector<StepWork> steps;
  for (std::size_t s = 0; s < plan.schedule.size(); ++s)
    steps.push_back(count(plan, memory, whole, s));
  return steps;
}

std::vector<Cycles> layerCycles(const Plan& plan, const std::vector<StepTime>& steps) {
  std::vector<Cycles> cycles(plan.layers.size());
  for (std::size_t s = 0; s < steps.size(); ++s)
    cycles[plan.schedule[s].layer.at()] += steps[s].cycles;
  return cycles;
}

}  // namespace heddle
