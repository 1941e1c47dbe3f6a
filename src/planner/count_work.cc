#include "heddle/planner/count_work.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory_resource>
#include <optional>
#include <tuple>

#include "heddle/canon/fuse_operators.h"
#include "heddle/tiling/nest.h"
#include "heddle/tiling/views.h"
#include "known_layers.h"
#include "row_sources.h"
#include "row_sweeps.h"

namespace heddle {

namespace {

using N = std::int64_t;

// `again`: how often they come; they wait for locks `waits` times.
void addAll(Transfers& to, const Transfers& more, N again, N waits) {
  for (const TransferCount& t : more) {
    heddle::add(to, t.size, waits * t.acquires, true);
    heddle::add(to, t.size, again * t.times - waits * t.acquires, false);
  }
}
void addAll(Transfers& to, const Transfers& more) { addAll(to, more, 1, 1); }

// By operand: whether no operator before reads its tensor.
std::vector<bool> firstReads(const CanonicalGraph& graph, const Plan& plan, const CanonicalOp& op) {
  const auto rootOf = [&](TensorId tensor) { return plan.views[tensor.at()].root; };
  std::vector<bool> first;
  for (const TensorId input : op.inputs)
    first.push_back(std::find_if(graph.ops.data(), &op, [&](const CanonicalOp& before) {
                      return std::ranges::any_of(before.inputs, [&](TensorId other) {
                        return rootOf(other) == rootOf(input);
                      });
                    }) == &op);
  return first;
}

// How many of the numbers [0, n) leave `turn` when divided by `turns`.
N ofTurn(N n, N turn, N turns) { return (n + turns - 1 - turn) / turns; }

}  // namespace

// What a step does wherever it stands in the schedule and in memory.
class StepCounter {
 public:
  StepCounter(const CanonicalGraph& graph, const Plan& plan, const Device& device, std::size_t step,
              const BlockCounts& kept)
      : device_(device),
        plan_(plan),
        step_(step),
        rows_(plan.schedule[step].rows),
        op_(graph.ops[plan.schedule[step].layer.at()]),
        m_(plan.layers[plan.schedule[step].layer.at()]),
        nest_(graph, OpId(plan.schedule[step].layer.at()), m_),
        kept_(kept),
        recordLengths_(op_),
        inputHeight_(graph.tensors[op_.inputs[0].at()].shape.height),
        outputHeight_(graph.tensors[op_.output.at()].shape.height),
        isDense_(!leavesBlocksOut(op_)),
        homes_(homesOf(graph, plan, op_)),
        blocksAlike_(isDense_ && std::all_of(homes_.begin() + (reducesChannels(op_) ? 1 : 0),
                                             homes_.end(), keepsAllChannels)),
        alike_(reducesChannels(op_) && blocksAlike_),
        sweeps_(nest_, rows_, cutsOf()),
        sources_(device, nest_, sweeps_, homes_, columnsBetween(graph, plan, op_),
                 firstReads(graph, plan, op_)) {
    for (std::size_t i = 0; i < op_.inputs.size(); ++i)
      isOnePixel_.push_back(isBroadcast(graph, op_, i));
    wholeBlocks_ = std::ranges::all_of(homes_.begin(), homes_.end() - 1, keepsAllChannels);
    partClasses_ = classesOfParts();
    partsAlike_.resize(m_.parts.size());
    for (const std::size_t first : partClasses_) ++partsAlike_[first];
  }

  const StepCounts& upTo(StepCounting::Part part) {
    using enum StepCounting::Part;
    if (!counted_) countEngines();
    if (part > Engines && *counted_ < FirstCore) countCalls(m_.shares[0]);
    if (part > FirstCore && *counted_ < AllCores) countOtherCores();
    counted_ = std::max(counted_.value_or(Engines), part);
    return work_;
  }

  std::vector<Bytes> recordBytesOfRoutes() {
    std::vector<Bytes> bytes;
    for (const Route& route : m_.weights) {
      Bytes& sum = bytes.emplace_back();
      if (m_.recordsAtHome > 0)
        forEachLoad(route, [&](N, Bytes size) { sum += size; });
      else
        for (const RecordRun& run : recordsOf(route)) sum += Bytes(run.times * run.size.raw());
    }
    return bytes;
  }

 private:
  void countEngines() {
    work_.wires.resize(device_.wires.size());
    work_.ddrRead.resize(at(device_.memtiles(), device_.memtile.ddrChannelsIn));
    work_.ddrWrite.resize(at(device_.memtiles(), device_.memtile.ddrChannelsOut));
    work_.weightSlots = m_.weightSlots;
    work_.height = inputHeight_;
    if (rows_.first > 0) {
      rowsDone_ = rowsReadUpTo(rows_.first);
      work_.height = std::max<N>(rowsReadUpTo(rows_.end()) - rowsDone_, 1);
    }
    work_.writing = writing();
    work_.lastRows = firstOfLastRows();
    for (std::size_t i = 0; i < op_.inputs.size(); ++i)
      for (const Route& route : m_.inputs[i]) countRows(i, route);
    for (const Route& route : m_.weights) countRecords(route);
    if (homeOfOutput().empty())
      for (const CoreShare& share : m_.shares) countSpill(share);
    counted_ = StepCounting::Part::Engines;
  }

  // Of StepCounts::lastRows. Where the window is higher than the output, parts of it see rows of
  // their own.
  N firstOfLastRows() const {
    const std::vector<Iteration>& iterations = nest_.iterations();
    if (m_.resident) return std::ssize(iterations) - 1;
    const std::optional<Window> window = windowOf(op_);
    const auto lastRowOf = [&](const ReductionPart& part) {
      N last = 0;
      for (N y = 0; y < outputHeight_; ++y)
        last = std::max(last, nest_.operand(0).rows(y, part.kernelRows).end());
      return last;
    };
    N most = 0;
    const bool partsApart = window && window->kernelY > outputHeight_;
    for (const ReductionPart& part : m_.parts)
      if (partsApart) most = std::max(most, lastRowOf(part));
    const auto readsThem = [&](const Iteration& i) {
      return i.band == m_.bands - 1 && (!partsApart || lastRowOf(nest_.part(i)) == most);
    };
    return std::ranges::find_if(iterations, readsThem) - iterations.begin();
  }

  // Behind the last row of the first operand that output rows before `end` need.
  N rowsReadUpTo(N end) const {
    N read = 0;
    for (const ReductionPart& part : m_.parts)
      for (N y = end - 1; y >= 0; --y) {
        const Interval rows = nest_.operand(0).rows(y, part.kernelRows);
        read = std::max(read, rows.end());
        if (!rows.empty()) break;
      }
    return read;
  }

  StepCounts::Writing writing() const {
    const std::vector<Iteration>& iterations = nest_.iterations();
    const N lastPass = m_.order[0] == NestLoop::Pass ? m_.passes - 1 : 0;
    StepCounts::Writing w{.iterations = std::ssize(iterations), .all = 0, .ofLastPass = 0};
    for (N i = 0; i < w.iterations; ++i) {
      const Iteration& at = iterations[static_cast<std::size_t>(i)];
      if (!nest_.last(at)) continue;
      if (w.all++ == 0) w.first = i;
      if (at.pass >= lastPass && w.ofLastPass++ == 0) w.last = i;
    }
    return w;
  }

  static std::size_t at(N a, N b) { return static_cast<std::size_t>(a * b); }

  std::vector<RowCuts> cutsOf() const { return {homes_.begin(), homes_.end()}; }

  // Of the inputs, then of the output, in rows, columns and blocks of their own.
  static std::vector<Home> homesOf(const CanonicalGraph& graph, const Plan& plan,
                                   const CanonicalOp& op) {
    std::vector<Home> homes;
    for (const TensorId input : op.inputs) homes.push_back(homeOf(graph, plan, input));
    homes.push_back(homeOf(graph, plan, op.output));
    return homes;
  }
  static std::vector<N> columnsBetween(const CanonicalGraph& graph, const Plan& plan,
                                       const CanonicalOp& op) {
    std::vector<N> between;
    for (const TensorId input : op.inputs)
      between.push_back(pixelMapOf(graph, plan, input).columnStep() - 1);
    return between;
  }

  const Home& homeOfOutput() const { return homes_.back(); }

  ChannelWork& ddrRead(const Route& route, N piece) {
    return work_.ddrRead[static_cast<std::size_t>(route.memtile * device_.memtile.ddrChannelsIn +
                                                  route.ddrChannelOf(piece, device_))];
  }
  Transfers& ddrWrite(N memtile, N channel) {
    return work_
        .ddrWrite[static_cast<std::size_t>(memtile * device_.memtile.ddrChannelsOut + channel)]
        .activations;
  }

  // The first of a route's cores that takes rows in an iteration; null where none does.
  const CoreShare* taker(std::size_t operand, const Route& route, const Iteration& i) {
    for (const CoreAt& core : route.cores) {
      const CoreShare& share = sources_.shareAt(core);
      if (nest_.takesRows(share, operand, i) && sweeps_.hasCalls(share, i)) return &share;
    }
    return nullptr;
  }

  // Passes in which some core of a route computes, where all of them outside the other loops bring
  // the same rows; 0 where they may differ.
  N alikePasses(std::size_t operand, const Route& route) const {
    if (!sharesInput(op_, operand) || nest_.stays(operand) || m_.order[0] != NestLoop::Pass)
      return 0;
    N most = 0;
    for (const CoreAt& core : route.cores)
      most = std::max(most, sources_.shareAt(core).blocks.count);
    return std::min(m_.passes, divideRoundUp(most, m_.blocksPerPass));
  }

  void countRows(std::size_t operand, const Route& route) {
    N key = -1;
    Transfers pieces, all, loads, allLoads;
    const bool spilled = sources_.areOutOfDdr(operand);
    const N alike = alikePasses(operand, route), passes = std::max<N>(1, alike);
    const bool stays = nest_.stays(operand), partly = !stays && sharesInput(op_, operand);
    for (const Iteration& i : nest_.iterations()) {
      if (alike > 0 && i.pass > 0) break;
      if (stays && nest_.inputKey(i) == key) continue;
      const N again = passes * (partly ? partsAlike_[static_cast<std::size_t>(i.part)] : 1);
      if (again == 0) continue;
      const CoreShare* share = taker(operand, route, i);
      if (!share) continue;
      key = nest_.inputKey(i);
      pieces.clear();
      loads.clear();
      for (const auto& [y, box] : sweeps_.of(*share, i).told[operand]) {
        const Held h = nest_.held(*share, operand, i, sweeps_.columns(*share, box, i));
        if (h.blocks.empty()) continue;
        sources_.addPieces(pieces, operand, i, h, y);
        if (spilled) sources_.addLoads(loads, operand, h, y);
      }
      addAll(all, pieces, again, spilled ? again : 1);
      addAll(allLoads, loads, again, again);
    }
    if (spilled)
      for (N turn = 0; turn < route.ddrTurns; ++turn)
        addTurn(ddrRead(route, turn), allLoads, turn, route.ddrTurns, stays);
    const auto lanes = static_cast<N>(route.lanes.size());
    for (N l = 0; l < lanes; ++l)
      addTurn(work_.wires[static_cast<std::size_t>(route.lanes[static_cast<std::size_t>(l)].wire)],
              all, l, lanes, stays);
  }

  // Of rows that take turns, piece by piece, those of one turn.
  static void addTurn(ChannelWork& to, const Transfers& all, N turn, N turns, bool stays) {
    N before = 0;
    for (const TransferCount& t : all) {
      const N times = ofTurn(before + t.times, turn, turns) - ofTurn(before, turn, turns),
              acquires = t.acquires * times / t.times;
      heddle::add(to.activations, t.size, acquires, true);
      heddle::add(to.activations, t.size, times - acquires, false);
      before += t.times;
    }
    to.passes = to.passes || (!stays && !all.empty());
  }

  struct RecordRun {  // records of one size, one after another
    Bytes size;
    N times = 0;
  };

  // The records that come by a route, in order; the same for routes to cores that compute as many
  // blocks (of sparse weights: the same), and that have calls at the same times.
  const std::vector<RecordRun>& recordsOf(const Route& route) {
    const CoreShare& any = sources_.shareAt(route.cores[0]);
    const N first = isDense_ ? 0 : any.blocks.first;
    const auto [known, fresh] = records_.try_emplace({first, any.blocks.count, busyWith(route)});
    if (fresh) known->second = recordsOf(any, std::get<2>(known->first));
    return known->second;
  }

  // Per chunk and band whether some core of the route has calls.
  std::vector<bool> busyWith(const Route& route) {
    std::vector<bool> busy(at(m_.bands, m_.chunks));
    for (Iteration i; i.band < m_.bands; ++i.band)
      for (i.chunk = 0; i.chunk < m_.chunks; ++i.chunk)
        busy[static_cast<std::size_t>(nest_.inputKey(i))] = std::ranges::any_of(
            route.cores,
            [&](const CoreAt& core) { return sweeps_.hasCalls(sources_.shareAt(core), i); });
    return busy;
  }

  // The iterations that begin with a new record.
  template <typename Visit>
  void forEachRecord(const CoreShare& share, const std::vector<bool>& busy, Visit visit) {
    N key = -1;
    for (const Iteration& i : nest_.iterations()) {
      if (nest_.recordKey(i) == key || !busy[static_cast<std::size_t>(nest_.inputKey(i))] ||
          m_.passBlocks(share, i.pass).empty())
        continue;
      key = nest_.recordKey(i);
      visit(i);
    }
  }

  // `busy`: of busyWith.
  std::vector<RecordRun> recordsOf(const CoreShare& share, const std::vector<bool>& busy) {
    std::vector<RecordRun> runs;
    forEachRecord(share, busy, [&](const Iteration& i) {
      const Bytes size(recordBytesOf(share, i));
      if (runs.empty() || runs.back().size != size) runs.push_back({size});
      ++runs.back().times;
    });
    return runs;
  }

  void countRecords(const Route& route) {
    const auto lanes = static_cast<N>(route.lanes.size());
    N before = 0;
    for (const auto& [size, times] : recordsOf(route)) {
      for (N l = 0; l < lanes; ++l)
        addRecords(
            work_.wires[static_cast<std::size_t>(route.lanes[static_cast<std::size_t>(l)].wire)],
            size, {before, times}, l, lanes);
      for (N turn = 0; turn < route.ddrTurns && m_.recordsAtHome == 0; ++turn)
        addRecords(ddrRead(route, turn), size, {before, times}, turn, route.ddrTurns);
      work_.record = std::max(work_.record, size);
      before += times;
    }
    work_.records = std::max(work_.records, before);
    if (m_.recordsAtHome > 0) countLoads(route);
  }

  // Where some records stay in the memtile: of those that come out of DDR, one by one, the number
  // among all of the route's in the step, and the size.
  template <typename Visit>
  void forEachLoad(const Route& route, Visit visit) {
    const CoreShare& any = sources_.shareAt(route.cores[0]);
    std::vector<bool> there(static_cast<std::size_t>(m_.recordsAtHome),
                            !isFirstToBring(plan_, step_, route));
    N number = 0;
    forEachRecord(any, busyWith(route), [&](const Iteration& i) {
      const N n = number++, key = nest_.recordKey(i);
      if (key < m_.recordsAtHome) {
        if (there[static_cast<std::size_t>(key)]) return;
        there[static_cast<std::size_t>(key)] = true;
      }
      visit(n, Bytes(recordBytesOf(any, i)));
    });
  }

  void countLoads(const Route& route) {
    std::vector<N> first(static_cast<std::size_t>(route.ddrTurns), -1);
    forEachLoad(route, [&](N n, Bytes size) {
      const N turn = n % route.ddrTurns;
      // As if the first that comes by a turn were the first of all that do.
      N& before = first[static_cast<std::size_t>(turn)];
      if (before < 0) before = n - turn;
      addRecords(ddrRead(route, turn), size, {n - before, 1}, turn, route.ddrTurns);
    });
  }

  // Of records of one size, which are those `numbers` of a route, the ones of a turn.
  static void addRecords(ChannelWork& to, Bytes size, const Interval& numbers, N turn, N turns) {
    if (numbers.first <= turn && turn < numbers.end()) {
      to.firstRecord = to.firstWeights.empty() ? turn : std::min(to.firstRecord, turn);
      heddle::add(to.firstWeights, size, 1);
      if (turn == 0) heddle::add(to.firstOfRoutes, size, 1);
    }
    heddle::add(to.weights, size,
                ofTurn(numbers.end(), turn, turns) - ofTurn(numbers.first, turn, turns));
    to.turns = std::max(to.turns, turns);
  }

  N recordBytesOf(const CoreShare& share, const Iteration& i) {
    if (m_.equalRecords) return m_.weightBytes;
    const Interval blocks = m_.passBlocks(share, i.pass);
    const auto bytes = [&] {
      return roundUpTo(recordLengths_.bytes(blocks.count, nest_.part(i), nest_.last(i),
                                            computedOf(blocks, nest_.part(i))),
                       kBlock);
    };
    if (!isDense_) return bytes();
    denseRecords_.resize(m_.parts.size());
    auto& [ofBlocks, known] = denseRecords_[static_cast<std::size_t>(i.part)];
    if (ofBlocks != blocks.count) {
      ofBlocks = blocks.count;
      known = bytes();
    }
    return known;
  }

  // Cores with the same pixels and as many blocks do the same; of sparse weights, with the same
  // blocks.
  void countOtherCores() {
    std::vector<const CoreShare*> counted{&m_.shares[0]};
    for (std::size_t s = 1; s < m_.shares.size(); ++s) {
      const CoreShare& share = m_.shares[s];
      // What moves channels, a Concat say, reads other operands for other blocks.
      const bool anyBlocks = blocksAlike_ && op_.kind() != OpKind::Assemble;
      const auto like = std::ranges::find_if(counted, [&](const CoreShare* other) {
        return other->boxes == share.boxes && (anyBlocks ? other->blocks.count == share.blocks.count
                                                         : other->blocks == share.blocks);
      });
      if (like == counted.end()) {
        counted.push_back(&share);
        countCalls(share);
      } else {
        CoreWork& core = work_.cores[static_cast<std::size_t>(like - counted.begin())];
        ++core.cores;
        addRowWires(core, share);
      }
    }
    std::erase_if(work_.cores, [](const CoreWork& core) { return core.calls.empty(); });
  }

  // ---- the calls of one core --------------------------------------------------------------------

  // What the calls of an iteration depend on beside its rows, columns and part of the reduction.
  struct SameCalls {
    N blocks = 0;  // how many; of passes that are not alike the first
    N rows = 1, kernelRows = 1;
    bool telling = true, first = false;
    friend auto operator<=>(const SameCalls&, const SameCalls&) = default;
  };
  struct CallsKey {
    N chunk = 0;
    std::size_t sweep = 0, part = 0;  // kind and class of them
    SameCalls same;
    bool firstPass = false;
    N window = 0;  // rows of the call before
    friend auto operator<=>(const CallsKey&, const CallsKey&) = default;
  };
  struct KnownCalls {
    std::vector<CallWork> calls;
    N window = 0;  // rows of the last call's
    N uses = 0, lastUse = 0;
    bool loads = false;  // what stays in the core
    N rows = 0;          // of the first operand that come
  };
  // Of one chunk, band and part, in a list: later passes do what the first of them did.
  struct CallsAgain {
    SameCalls same;
    KnownCalls* calls = nullptr;
    std::size_t next = kNone;
  };
  static constexpr std::size_t kNone = SIZE_MAX;

  // Null where they are new.
  KnownCalls*& callsAgain(std::size_t& first, const SameCalls& same) {
    for (std::size_t i = first; i != kNone; i = callsAgain_[i].next)
      if (callsAgain_[i].same == same) return callsAgain_[i].calls;
    callsAgain_.push_back({same, nullptr, first});
    first = callsAgain_.size() - 1;
    return callsAgain_.back().calls;
  }

  void countCalls(const CoreShare& share) {
    CoreWork& core = work_.cores.emplace_back();
    core.cores = 1;
    addRowWires(core, share);
    bool first = true;
    N key = -1, window = 0, use = 0;
    // All whole passes behind the first do what the second does.
    const Interval second = m_.passBlocks(share, 1);
    const bool grouped = alike_ && m_.order[0] == NestLoop::Pass && m_.innerCallRows <= m_.callRows;
    // Its nodes live as long as this function, and come out of one stretch of memory.
    std::pmr::monotonic_buffer_resource memory;
    std::pmr::map<CallsKey, KnownCalls> known(&memory);
    callsAgain_.clear();
    againAt_.assign(at(m_.bands * m_.chunks, std::ssize(m_.parts)), kNone);
    for (const Iteration& i : nest_.iterations()) {
      const Interval blocks = m_.passBlocks(share, i.pass);
      if (blocks.empty()) continue;
      if (grouped && i.pass > 1 && blocks.count == second.count) continue;
      const bool telling = !m_.resident || nest_.inputKey(i) != key;
      key = nest_.inputKey(i);
      const SameCalls same{alike_ ? blocks.count : blocks.first, nest_.callRows(i),
                           nest_.kernelCallRows(i), telling, first};
      const auto part = static_cast<std::size_t>(i.part);
      KnownCalls*& entry = callsAgain(againAt_[at(key, std::ssize(m_.parts)) + part], same);
      if (!entry) {
        const RowSweep& due = sweeps_.of(share, i);
        const auto [alike, fresh] =
            known.try_emplace({i.chunk, due.kind, partClasses_[part], same, i.pass == 0, window});
        entry = &alike->second;
        if (fresh) {
          entry->calls = callsOf(share, i, due, telling, first, window, core);
          entry->loads = m_.resident && telling;
          if (telling) entry->rows = rowsTold(due);
          entry->window = window;
        }
        window = entry->window;
      }
      KnownCalls& calls = *entry;
      const N uses = grouped && i.pass == 1 ? wholePasses(share, second) : 1;
      if (m_.resident && telling) core.stays += uses;
      core.rows += uses * calls.rows;
      calls.uses += uses;
      calls.lastUse = use++;
      first = first && calls.calls.empty();
    }
    std::vector<KnownCalls*> inOrder;
    for (auto& [of, calls] : known) inOrder.push_back(&calls);
    std::ranges::sort(inOrder, {}, &KnownCalls::lastUse);
    for (KnownCalls* calls : inOrder)
      for (CallWork& call : calls->calls) {
        call.times *= calls->uses;
        if (calls->loads) core.loading.push_back(call);
        addCall(core, std::move(call));
      }
    core.places = m_.rings[0].length;
    if (m_.weights.empty()) return;
    if (!m_.resident) addRecordsAmongRows(core, share, window);
    findTurnsWire(core, share);
  }

  void addRowWires(CoreWork& core, const CoreShare& share) {
    std::vector<N> wires;
    for (std::size_t operand = 0; operand < op_.inputs.size(); ++operand)
      for (const Lane& lane : sources_.routeOf(operand, share.core).lanes)
        wires.push_back(lane.wire);
    std::ranges::sort(wires);
    wires.erase(std::unique(wires.begin(), wires.end()), wires.end());
    if (std::ranges::find(core.rowWires, wires) == core.rowWires.end())
      core.rowWires.push_back(std::move(wires));
  }

  static N rowsTold(const RowSweep& due) {
    N rows = 0;
    for (const CallRun& run : due.runs) rows += run.times * due.of(run.first, 0).fresh;
    return rows;
  }

  // Passes behind the first with as many blocks as the second.
  N wholePasses(const CoreShare& share, const Interval& second) const {
    const N most = std::min(m_.passes - 1, divideRoundUp(share.blocks.count, m_.blocksPerPass) - 1);
    return second.count < m_.blocksPerPass
               ? 1
               : std::min(most, share.blocks.count / m_.blocksPerPass - 1);
  }

  // Which parts of the reduction ask for the same, but for where in the channels: per part, the
  // first of them.
  std::vector<std::size_t> classesOfParts() const {
    const auto alike = [&](const ReductionPart& a, const ReductionPart& b) {
      return a.kernelRows == b.kernelRows && a.inputBlocks.count == b.inputBlocks.count;
    };
    std::vector<std::size_t> classes;
    for (std::size_t i = 0; i < m_.parts.size(); ++i) {
      std::size_t of = i;
      for (std::size_t j = 0; alike_ && wholeBlocks_ && i + 1 < m_.parts.size() && j < i; ++j)
        if (classes[j] == j && alike(m_.parts[i], m_.parts[j])) {
          of = j;
          break;
        }
      classes.push_back(of);
    }
    return classes;
  }

  // Whether each memtile that keeps some of a tensor's pixels keeps all of their channels.
  static bool keepsAllChannels(const Home& boxes) {
    return std::ranges::all_of(boxes,
                               [&](const HomeBox& b) { return b.blocks == boxes[0].blocks; });
  }

  void addRecordsAmongRows(CoreWork& core, const CoreShare& share, N window) {
    const auto records = [&](const Lane& lane) -> const Transfers& {
      return work_.wires[static_cast<std::size_t>(lane.wire)].weights;
    };
    for (const Lane& lane : sources_.routeOf(0, share.core).lanes)
      addAll(core.recordsAmongRows, records(lane));
    const N stride = windowOf(op_) ? windowOf(op_)->strideY : 1;
    const N callRows = callsOneRow(op_) ? 1 : m_.callRows;
    core.callsAhead = std::max<N>(0, m_.rings[0].length - window) / (stride * callRows);
  }

  void findTurnsWire(CoreWork& core, const CoreShare& share) const {
    const auto isHis = [&](const Route& route) {
      return std::ranges::find(route.cores, share.core) != route.cores.end();
    };
    const auto isByTurns = [&](const Route& route) {
      return route.lanes.size() > 1 && isHis(route);
    };
    const bool rowsByTurns = std::ranges::any_of(m_.inputs, [&](const std::vector<Route>& routes) {
      return std::ranges::any_of(routes, isByTurns);
    });
    core.recordsByTurns = std::ranges::any_of(m_.weights, isByTurns);
    if (core.recordsByTurns ? m_.resident : !rowsByTurns) return;
    Bytes most;
    for (const Route& route : m_.weights) {
      if (!isHis(route)) continue;
      for (const Lane& lane : route.lanes) {
        const ChannelWork& wire = work_.wires[static_cast<std::size_t>(lane.wire)];
        const Bytes bytes = bytesOf(wire.weights) + bytesOf(wire.activations);
        if ((wire.activations.empty() && !core.recordsByTurns) || bytes <= most) continue;
        most = bytes;
        core.turnsWire = lane.wire;
      }
    }
  }

  static void addCall(CoreWork& core, CallWork call) {
    // The last call goes last: what it writes ends the step.
    const auto same = std::find_if(core.calls.begin(), core.calls.end(), [&](const CallWork& c) {
      return c.kernel == call.kernel && c.pace == call.pace && c.ahead == call.ahead &&
             c.waited == call.waited && c.out == call.out;
    });
    if (same == core.calls.end()) {
      core.calls.push_back(std::move(call));
      return;
    }
    same->times += call.times;
    std::rotate(same, same + 1, core.calls.end());
  }

  std::vector<CallWork> callsOf(const CoreShare& share, const Iteration& i, const RowSweep& due,
                                bool telling, bool first, N& window, CoreWork& core) {
    const ReductionPart& part = nest_.part(i);
    const Interval blocks = m_.passBlocks(share, i.pass);
    const N computed = computedOf(blocks, part), most = telling ? mostComputed(share, i) : computed;
    const N operands = operandBlocks(op_, blocks.count, part, nest_.last(i));
    const EarlyRows shared = first || !telling ? EarlyRows() : earlyRows(due, window);
    std::vector<CallWork> out;
    out.reserve(due.runs.size() + 1);
    for (const CallRun& run : cutAt(due.runs, due.calls() - shared.calls)) {
      CallWork call;
      call.times = run.times;
      const Interval x = sweeps_.columns(share, run.box, i);
      call.kernel = kernelWork(op_.kind(), computed, tapsOf(op_, part),
                               nest_.pooled().columns(x).count, operands);
      call.kernel.rows = run.computed;
      call.kernel.rowsOfACall = fusedWindowOf(op_) ? nest_.kernelCallRows(i) : run.rows;
      if (const FusedWindow* end = fusedWindowOf(op_); end && nest_.last(i))
        addEnd(*end, blocks.count, x.count, call.kernel);
      call.pace = call.kernel;
      call.pace.blocks = most;
      if (run.first > 0) window = due.of(run.first - 1, 0).window.count;
      BusiestWire firstRows, ahead, waited;
      if (first && run.first == 0 && telling)
        core.rowsBefore = std::max<N>(due.of(run.first, 0).window.end() - 1 - rowsDone_, 0);
      for (const auto& [operand, all, fresh] : due.of(run.first)) {
        if (isAddend(op_, operand) ? !nest_.last(i) : !telling) continue;
        const N before = isOnePixel_[operand]     ? 1
                         : isAddend(op_, operand) ? nest_.callRows(i)
                                                  : window;
        N early = std::min(fresh, std::max<N>(m_.rings[operand].length - before, 0));
        const N waits = fresh - early;
        if (first && run.first == 0) {
          sources_.addRows(core.first, firstRows, share, operand, i, run.box,
                           {all.first, all.count});
          continue;
        }
        if (operand == 0 && run.first == 0) early -= static_cast<N>(shared.calls) * shared.each;
        if (operand == 0 && run.first + shared.calls >= due.calls()) early = shared.each;
        sources_.addRows(call.ahead, ahead, share, operand, i, run.box,
                         {all.end() - waits - early, early});
        sources_.addRows(call.waited, waited, share, operand, i, run.box,
                         {all.end() - waits, waits});
      }
      if (first && run.first == 0) core.first.wire = firstRows.transfers();
      call.ahead.wire = ahead.transfers();
      call.waited.wire = waited.transfers();
      if (nest_.last(i))
        for (N y = run.y; y < run.y + run.rows; ++y) addOutput(call.out, blocks, y, x);
      addMerged(out, std::move(call));
    }
    if (!due.runs.empty()) window = due.of(due.calls() - 1, 0).window.count;
    return out;
  }

  // Rows that the first call of a sweep asks for and that come while the last calls of the one
  // before compute, which ask for none. That one is like it, with `window` rows in its last call:
  // of one band.
  struct EarlyRows {
    std::size_t calls = 0;
    N each = 0;  // rows while one of these computes
  };
  EarlyRows earlyRows(const RowSweep& due, N window) const {
    if (due.runs.empty() || due.runs.front().box != due.runs.back().box || m_.bands > 1) return {};
    const N rows = std::min(due.of(0, 0).fresh, std::max<N>(m_.rings[0].length - window, 0));
    std::size_t idle = 0;
    for (auto run = due.runs.rbegin(); run != due.runs.rend() && run->first > 0; ++run) {
      if (due.of(run->first, 0).fresh > 0) break;
      idle += static_cast<std::size_t>(run->times);
    }
    if (rows < 2 || idle == 0) return {};
    const N each = divideRoundUp(rows, static_cast<N>(idle) + 1);
    return {std::min(idle, static_cast<std::size_t>(rows / each)), each};
  }

  // With a run that begins at that call.
  static std::vector<CallRun> cutAt(const std::vector<CallRun>& runs, std::size_t call) {
    std::vector<CallRun> cut;
    cut.reserve(runs.size() + 1);
    for (const CallRun& run : runs) {
      cut.push_back(run);
      if (call <= run.first || call >= run.first + static_cast<std::size_t>(run.times)) continue;
      const N before = static_cast<N>(call - run.first);
      cut.back().times = before;
      cut.push_back(run);
      cut.back().first = call;
      cut.back().y += before * run.rows;
      cut.back().times -= before;
    }
    return cut;
  }

  // Blocks that a core computes of the cores which get the same rows at the same time: of sparse
  // weights that with most, for the others wait for it.
  N mostComputed(const CoreShare& share, const Iteration& i) {
    N most = computedOf(m_.passBlocks(share, i.pass), nest_.part(i));
    if (isDense_) return most;
    for (const CoreAt& core : sources_.routeOf(0, share.core).cores)
      most =
          std::max(most, computedOf(m_.passBlocks(sources_.shareAt(core), i.pass), nest_.part(i)));
    return most;
  }

  N computedOf(const Interval& blocks, const ReductionPart& part) const {
    return reducesChannels(op_) ? kept_.count(blocks, part.inputBlocks) : blocks.count;
  }

  static void addMerged(std::vector<CallWork>& calls, CallWork call) {
    CallWork* last = calls.empty() ? nullptr : &calls.back();
    if (last && last->kernel == call.kernel && last->pace == call.pace &&
        last->ahead == call.ahead && last->waited == call.waited && last->out == call.out)
      last->times += call.times;
    else
      calls.push_back(std::move(call));
  }

  // ---- outputs ----------------------------------------------------------------------------------

  void addOutput(Transfers& to, const Interval& blocks, N y, const Interval& columns) const {
    if (homeOfOutput().empty()) heddle::add(to, Bytes(blocks.count * columns.count * kBlock), 1);
    for (const HomeBox& box : homeOfOutput()) {
      const Interval x = common(box.x, columns), b = common(box.blocks, blocks);
      if (!x.empty() && !b.empty() && y >= box.y.first && y < box.y.end())
        heddle::add(to, Bytes(x.count * b.count * kBlock), 1, to.empty());
    }
  }

  // Output rows of a core that pass through its memtile to DDR.
  void countSpill(const CoreShare& share) {
    for (const Iteration& i : nest_.iterations()) {
      if (!nest_.last(i)) continue;
      const N blocks = m_.passBlocks(share, i.pass).count;
      for (const CallRun& run : sweeps_.of(share, i).runs)
        add(ddrWrite(share.output.memtile, share.output.ddrChannel),
            Bytes(blocks * sweeps_.columns(share, run.box, i).count * kBlock),
            run.times * run.rows);
    }
  }

  const Device& device_;
  const Plan& plan_;
  std::size_t step_;
  Interval rows_;
  const CanonicalOp& op_;
  const Mapping& m_;
  LayerNest nest_;
  const BlockCounts& kept_;
  RecordLengths recordLengths_;
  N inputHeight_ = 1, outputHeight_ = 1;
  std::vector<bool> isOnePixel_;  // per operand
  bool isDense_;
  std::vector<Home> homes_;  // of inputs and output
  // No block of the output takes other pieces of what is written, or read with it.
  bool blocksAlike_;
  bool alike_;  // passes of equally many blocks ask for the same
  RowSweeps sweeps_;
  RowSources sources_;
  std::map<std::tuple<N, N, std::vector<bool>>, std::vector<RecordRun>> records_;
  std::vector<std::pair<N, N>> denseRecords_;  // per part: the bytes of one of so many blocks
  bool wholeBlocks_ = false;  // the inputs' memtiles keep all channels of their pixels
  std::vector<std::size_t> partClasses_;
  std::vector<N> partsAlike_;  // of the first of a class, how many; 0 of the others
  // Of countCalls.
  std::vector<CallsAgain> callsAgain_;
  std::vector<std::size_t> againAt_;  // per chunk, band and part: the first of its list
  N rowsDone_ = 0;  // of the first operand: those before are not of the last step that wrote some
  StepCounts work_;
  std::optional<StepCounting::Part> counted_;
};

StepCounting::StepCounting(std::unique_ptr<StepCounter> counter) : counter_(std::move(counter)) {}
StepCounting::StepCounting(StepCounting&&) noexcept = default;
StepCounting& StepCounting::operator=(StepCounting&&) noexcept = default;
StepCounting::~StepCounting() = default;

const StepCounts& StepCounting::upTo(Part part) {
  static const StepCounts nothing;
  return counter_ ? counter_->upTo(part) : nothing;
}

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
      loads[static_cast<std::size_t>(tensor.life.first)].push_back(t);
    else
      stores[static_cast<std::size_t>(writers[t].back())].push_back(t);
  }
}

WorkCounter::WorkCounter(const CanonicalGraph& graph, std::unique_ptr<KnownLayers> own)
    : graph_(graph), own_(std::move(own)), known_(*own_), device_(known_.device) {
  setLayers();
}
WorkCounter::WorkCounter(const CanonicalGraph& graph, const Device& device)
    : WorkCounter(graph, std::make_unique<KnownLayers>(device)) {}
WorkCounter::WorkCounter(const CanonicalGraph& graph, KnownLayers& known)
    : graph_(graph), known_(known), device_(known.device) {
  setLayers();
}
WorkCounter::~WorkCounter() = default;

void WorkCounter::setLayers() {
  kinds_ = known_.kinds.of(graph_);
  for (const CanonicalOp& op : graph_.ops) kept_.emplace_back(op);
}

StepCounting WorkCounter::begin(const Plan& plan, std::size_t step) const {
  const std::size_t layer = plan.schedule[step].layer.at();
  if (plan.layers[layer].inPlace()) return StepCounting(nullptr);
  return StepCounting(std::make_unique<StepCounter>(graph_, plan, device_, step, kept_[layer]));
}

std::vector<Bytes> WorkCounter::recordBytes(const Plan& plan, std::size_t step) const {
  const std::size_t layer = plan.schedule[step].layer.at();
  if (plan.layers[layer].weights.empty()) return {};
  return StepCounter(graph_, plan, device_, step, kept_[layer]).recordBytesOfRoutes();
}

StepCounts WorkCounter::counts(const Plan& plan, std::size_t step) const {
  return begin(plan, step).upTo(StepCounting::Part::AllCores);
}

std::size_t WorkCounter::placesOf(const Plan& plan, std::size_t step) {
  const ScheduleStep& of = plan.schedule[step];
  const CanonicalOp& op = graph_.ops[of.layer.at()];
  StepPlaces places{
      .rows = of.rows, .homes = {}, .views = {}, .firstReads = firstReads(graph_, plan, op)};
  const Mapping& mapping = plan.layers[of.layer.at()];
  if (mapping.recordsAtHome > 0)
    for (const Route& route : mapping.weights)
      places.recordsThere.push_back(!isFirstToBring(plan, step, route));
  const auto add = [&](TensorId tensor) {
    const View& view = plan.views[tensor.at()];
    places.homes.push_back(plan.homes[view.root.at()]);
    places.views.push_back(view.withoutRoot());
  };
  for (const TensorId input : op.inputs) add(input);
  add(op.output);
  return known_.steps.numberOf(kinds_[of.layer.at()], std::move(places));
}

const StepCycles& WorkCounter::cycles(const Plan& plan, std::size_t step, StepCounting* begun) {
  const std::size_t layer = plan.schedule[step].layer.at();
  const Mapping& mapping = plan.layers[layer];
  if (mapping.inPlace()) return nothing_;
  const std::size_t places = placesOf(plan, step);
  if (const StepCycles* cycles = known_.steps.find(places, mapping)) return *cycles;
  std::optional<StepCounting> own;
  const StepCounts& counts =
      (begun ? *begun : own.emplace(begin(plan, step))).upTo(StepCounting::Part::AllCores);
  return known_.steps.add(places, mapping, StepCycles(counts, device_));
}

namespace {

// Through which places a step's records go on their way: where all stay, theirs.
const std::vector<StreamPlan>& recordPlacesOf(const StepMemory& step, const Mapping& mapping) {
  return allRecordsAtHome(mapping) ? step.recordHomes : step.weights;
}

// From the first byte of these to the last.
ByteRange stagingAt(const std::vector<StreamPlan>& places) {
  if (places.empty()) return {};
  ByteRange at{INT64_MAX, 0};
  for (const StreamPlan& records : places) {
    at.first = std::min(at.first, records.address);
    at.end = std::max(at.end, records.address + records.slots * records.slotBytes);
  }
  return at;
}

// Whether rows out of DDR are of the network's inputs alone, with a place for each.
bool comeAhead(const CanonicalGraph& graph, const Plan& plan, const MemoryPlan& memory,
               const WholeTensors& whole, std::size_t step) {
  const CanonicalOp& op = graph.ops[plan.schedule[step].layer.at()];
  bool any = false;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const std::size_t root = plan.views[op.inputs[i].at()].root.at();
    if (!plan.homes[root].empty()) continue;
    if (!whole.writers[root].empty() ||
        memory.steps[step].inputs[i].slots < rowsThrough(graph, plan, step, i))
      return false;
    any = true;
  }
  return any;
}

}  // namespace

StepPlace placeOf(const CanonicalGraph& graph, const Plan& plan, const MemoryPlan& memory,
                  const WholeTensors& whole, const Device& device, std::size_t step) {
  const std::size_t layer = plan.schedule[step].layer.at();
  if (plan.layers[layer].inPlace()) return {};
  StepPlace place;
  N staged = 0;
  const std::vector<StreamPlan>& records = recordPlacesOf(memory.steps[step], plan.layers[layer]);
  for (const StreamPlan& places : records) staged = std::max(staged, places.slots);
  place.staging = stagingAt(records);
  setBuffers(place, plan.layers[layer], memory.steps[step].coreBase, staged);
  const auto add = [&](std::vector<StepPlace::Whole>& to, N ofEach, std::size_t tensor) {
    for (const Slice& s : memory.tensors[tensor].slices)
      to.push_back({static_cast<std::size_t>(s.memtile * ofEach),
                    {Bytes(s.blocks * s.columns * kBlock), s.rows, s.rows}});
  };
  for (const std::size_t t : whole.loads[step]) add(place.reads, device.memtile.ddrChannelsIn, t);
  for (const std::size_t t : whole.stores[step])
    add(place.writes, device.memtile.ddrChannelsOut, t);
  place.rowsAhead = comeAhead(graph, plan, memory, whole, step);
  for (const TensorId input : graph.ops[layer].inputs) {
    const std::size_t root = plan.views[input.at()].root.at();
    for (const N writer : whole.writers[root])
      if (writer < static_cast<N>(step))
        place.producers.push_back({writer, plan.homes[root].empty()});
  }
  return place;
}

void setBuffers(StepPlace& place, const Mapping& mapping, std::int64_t coreBase,
                std::int64_t staged) {
  N rings = 0;
  for (const RingPlan& ring : mapping.rings) rings += ring.length * ring.rowBytes;
  place.all = {coreBase, coreBase + mapping.coreBytes()};
  place.weights = {coreBase, coreBase + mapping.weightSlots * mapping.weightBytes};
  place.rings = {place.weights.end, place.weights.end + rings};
  place.recordsStaged = staged;
}

std::vector<StepWork> countWork(const CanonicalGraph& graph, const Plan& plan,
                                const MemoryPlan& memory, const Device& device) {
  const WorkCounter count(graph, device);
  const WholeTensors whole(graph, plan, memory);
  std::vector<StepWork> steps;
  for (std::size_t s = 0; s < plan.schedule.size(); ++s)
    steps.push_back({count.counts(plan, s), placeOf(graph, plan, memory, whole, device, s)});
  return steps;
}

std::vector<StepTime> timesInClosedForm(const CanonicalGraph& graph, const Plan& plan,
                                        const MemoryPlan& memory, const Device& device) {
  WorkCounter count(graph, device);
  return timesInClosedForm(graph, plan, memory, device, count);
}

std::vector<StepTime> timesInClosedForm(const CanonicalGraph& graph, const Plan& plan,
                                        const MemoryPlan& memory, const Device& device,
                                        WorkCounter& count) {
  const WholeTensors whole(graph, plan, memory);
  StepClock clock(device);
  std::vector<StepTime> times;
  for (std::size_t s = 0; s < plan.schedule.size(); ++s)
    times.push_back(
        clock.next(count.cycles(plan, s), placeOf(graph, plan, memory, whole, device, s)));
  return times;
}

Result<Cycles> endInClosedForm(const CanonicalGraph& graph, const Plan& plan,
                               const Device& device) {
  KnownLayers known(device);
  return endInClosedForm(graph, plan, known);
}

Result<Cycles> endInClosedForm(const CanonicalGraph& graph, const Plan& plan, KnownLayers& known) {
  HEDDLE_TRY(const MemoryPlan memory, allocateMemory(graph, plan, known.device));
  WorkCounter count(graph, known);
  const std::vector<StepTime> times = timesInClosedForm(graph, plan, memory, known.device, count);
  return times.empty() ? Cycles() : times.back().end;
}

std::vector<Cycles> layerCycles(const Plan& plan, const std::vector<StepTime>& steps) {
  std::vector<Cycles> cycles(plan.layers.size());
  for (std::size_t s = 0; s < steps.size(); ++s)
    cycles[plan.schedule[s].layer.at()] += steps[s].cycles;
  return cycles;
}

}  // namespace heddle
