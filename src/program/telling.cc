#include <algorithm>

#include "generation.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/program/visit.h"
#include "heddle/support/check.h"
#include "records.h"

namespace heddle {
namespace {

using N = std::int64_t;
using Flat = FlatInstruction;

// A stream of rows on its way: what was told, and where in the cores' rings it lies.
struct RowStream {
  std::array<N, kMaxBoxes> offset{};  // per box: row a lies in place (a + offset) mod length
  N next = 0;                         // first row not told yet in this sweep
  N end = 0;                          // place behind the last row told
  N pieces = 0;                       // rows told so far
  N key = -1;                         // LayerNest::inputKey of what the rings hold
  bool telling = false;               // rows are told in this iteration
  std::vector<CoreAt> cores;          // that take them
  std::size_t calls = 0;              // of this iteration whose rows have been told
  std::optional<std::size_t> box;     // of the sweep
};

// A stream of weight records: the iterations that begin with a new one.
struct RecordStream {
  std::vector<std::size_t> due;  // index of iterations
  N told = 0, current = -1;      // number of records told; the one that calls read now
  N staged = 0;                  // of those told, how many came through places of the memtile
  std::vector<N> numbers;        // in Program::records, of each that is due
};

class StepTeller {
 public:
  StepTeller(Generation& g, StepId step)
      : g_(g),
        step_(step),
        layer_(g.plan.schedule[step.at()].layer.at()),
        op_(g.graph.ops[layer_]),
        m_(g.plan.layers[layer_]),
        nest_(g.graph, OpId(layer_), m_),
        where_(g.memory.steps[step.at()]) {
    for (const TensorId input : op_.inputs) pixels_.push_back(g.pixels(input));
  }

  void tell() {
    findStreams();
    placeBuffers();
    listRuns();
    const std::vector<Iteration>& iterations = nest_.iterations();
    for (std::size_t i = 0; i < iterations.size(); ++i) sweep(i);
  }

 private:
  // ---- who is fed by what -----------------------------------------------------------------------

  void findStreams() {
    const std::size_t cores = static_cast<std::size_t>(g_.device.cores());
    shareOf_.assign(cores, nullptr);
    outputCount_.assign(cores, 0);
    outputRank_.assign(cores, 0);
    for (const CoreShare& share : m_.shares) {
      shareOf_[index(share.core)] = &share;
      outputRank_[index(share.core)] = outputRank(m_, share);
    }
    rowRoute_.assign(op_.inputs.size(), std::vector<std::size_t>(cores, 0));
    for (std::size_t i = 0; i < m_.inputs.size(); ++i) {
      rows_.emplace_back(m_.inputs[i].size());
      for (std::size_t r = 0; r < m_.inputs[i].size(); ++r)
        for (const CoreAt& core : m_.inputs[i][r].cores) rowRoute_[i][index(core)] = r;
    }
    recordRoute_.assign(cores, 0);
    records_.resize(m_.weights.size());
    for (std::size_t r = 0; r < m_.weights.size(); ++r) {
      for (const CoreAt& core : m_.weights[r].cores) recordRoute_[index(core)] = r;
      records_[r].due = recordsDue(m_.weights[r]);
    }
    numberRecords();
  }

  // Iteration by iteration and then route by route, however far ahead each is told: so that the
  // numbers of what cores do alike differ by as much from one to the next.
  void numberRecords() {
    for (std::size_t i = 0; i < nest_.iterations().size(); ++i)
      for (std::size_t r = 0; r < records_.size(); ++r) {
        RecordStream& stream = records_[r];
        if (stream.numbers.size() == stream.due.size() || stream.due[stream.numbers.size()] != i)
          continue;
        const Iteration& at = nest_.iterations()[i];
        const Interval blocks = m_.passBlocks(shareAt(m_.weights[r].cores[0]), at.pass);
        stream.numbers.push_back(recordOf(blocks, at));
      }
  }

  std::vector<std::size_t> recordsDue(const Route& route) {
    std::vector<std::size_t> due;
    const CoreShare& any = shareAt(route.cores[0]);
    N key = -1;
    for (std::size_t i = 0; i < nest_.iterations().size(); ++i) {
      const Iteration& at = nest_.iterations()[i];
      if (m_.passBlocks(any, at.pass).empty() || nest_.recordKey(at) == key) continue;
      const bool read =
          std::any_of(route.cores.begin(), route.cores.end(),
                      [&](const CoreAt& core) { return !calls(shareAt(core), at).empty(); });
      if (!read) continue;
      key = nest_.recordKey(at);
      due.push_back(i);
    }
    return due;
  }

  std::size_t index(const CoreAt& core) const {
    return static_cast<std::size_t>(core.row * g_.device.columns + core.column);
  }
  const CoreShare& shareAt(const CoreAt& core) const { return *shareOf_[index(core)]; }

  // By LayerNest::inputKey, rows of a call.
  using CallsOfKey = std::map<std::pair<N, N>, std::vector<RowCall>>;

  // The calls of a core in an iteration; the same for all with equal boxes, whatever the pass.
  const std::vector<RowCall>& calls(const CoreShare& share, const Iteration& at) {
    for (auto& [boxes, perKey] : calls_)
      if (*boxes == share.boxes) return callsIn(perKey, share, at);
    calls_.push_back({&share.boxes, {}});
    return callsIn(calls_.back().second, share, at);
  }
  const std::vector<RowCall>& callsIn(CallsOfKey& perKey, const CoreShare& share,
                                      const Iteration& at) {
    const auto [entry, fresh] = perKey.try_emplace({nest_.inputKey(at), nest_.callRows(at)});
    if (fresh) entry->second = nest_.calls(share, g_.plan.schedule[step_.at()].rows, at);
    return entry->second;
  }

  // Neighbours in the mapping's order that compute the same pixels go row by row together: all
  // their rows of an operand are told, then those of the next, then their calls.
  void listRuns() {
    for (std::size_t i = 0; i < m_.shares.size();) {
      std::size_t end = i + 1;
      while (end < m_.shares.size() && m_.shares[end].boxes == m_.shares[i].boxes) ++end;
      runs_.push_back({i, end});
      i = end;
    }
  }

  // ---- buffers ----------------------------------------------------------------------------------

  // Buffers of a core, one after another from the step's base on; places of streams in memtiles.
  void placeBuffers() {
    std::vector<CoreAt> cores;
    for (const CoreShare& share : m_.shares) cores.push_back(share.core);
    const std::vector<CoreRange> tiles = rectanglesOf(std::move(cores));
    N next = where_.coreBase;
    const auto reserve = [&](const std::string& name, N bytes) {
      const N address = next;
      next += bytes;
      if (bytes > 0) declare(name, TileKind::Core, tiles, address, bytes);
      return address;
    };
    weightsAt_ = reserve("weights", m_.weightSlots * m_.weightBytes);
    for (std::size_t i = 0; i < m_.rings.size(); ++i)
      ringsAt_.push_back(
          reserve("input " + std::to_string(i), m_.rings[i].length * m_.rings[i].rowBytes));
    outputAt_ = reserve("output", m_.outputSlots * m_.outputRowBytes);
    accumulatorsAt_ = reserve("accumulators", m_.accumulatorBytes);
    pooledAt_ = reserve("rows before its end", m_.pooled.length * m_.pooled.rowBytes);
    for (std::size_t i = 0; i < where_.inputs.size(); ++i)
      if (const StreamPlan& s = where_.inputs[i]; s.slots > 0)
        declare("input " + std::to_string(i) + " stream", TileKind::Memtile,
                memtilesOf(m_.inputs[i]), s.address, s.slots * s.slotBytes);
    declareRecordHomes();
    if (!where_.output) return;
    std::vector<CoreAt> memtiles;
    N copies = 0;
    for (const CoreShare& share : m_.shares) {
      memtiles.push_back({0, share.output.memtile});
      copies = std::max(copies, outputRank_[index(share.core)] + 1);
    }
    declare("output stream", TileKind::Memtile, rectanglesOf(memtiles), where_.output->address,
            where_.output->slots * where_.output->slotBytes * copies);
  }

  // In the layer's first step, for all of them.
  void declareRecordHomes() {
    const auto isLayers = [&](const ScheduleStep& step) { return step.layer.at() == layer_; };
    const std::vector<ScheduleStep>& steps = g_.plan.schedule;
    const auto first = std::ranges::find_if(steps, isLayers);
    if (m_.recordsAtHome == 0 || first - steps.begin() != static_cast<std::ptrdiff_t>(step_.at()))
      return;
    const auto last = std::find_if(steps.rbegin(), steps.rend(), isLayers);
    std::map<N, ByteRange> bytes;  // by memtile
    for (std::size_t r = 0; r < m_.weights.size(); ++r) {
      const StreamPlan& home = where_.recordHomes[r];
      const ByteRange of{home.address, home.address + home.slots * home.slotBytes};
      ByteRange& all = bytes.try_emplace(m_.weights[r].memtile, of).first->second;
      all = {std::min(all.first, of.first), std::max(all.end, of.end)};
    }
    std::map<std::pair<N, N>, std::vector<CoreAt>> memtiles;  // that keep the same bytes
    for (const auto& [memtile, range] : bytes)
      memtiles[{range.first, range.end}].push_back({0, memtile});
    for (auto& [range, same] : memtiles)
      for (const CoreRange& tiles : rectanglesOf(std::move(same)))
        g_.out.program.buffers.push_back({op_.name + " weights", TileKind::Memtile, tiles,
                                          range.first, range.second - range.first, step_,
                                          StepId(static_cast<std::size_t>(steps.rend() - last) - 1),
                                          TensorId()});
  }

  static std::vector<CoreRange> memtilesOf(const std::vector<Route>& routes) {
    std::vector<CoreAt> memtiles;
    for (const Route& route : routes) memtiles.push_back({0, route.memtile});
    return rectanglesOf(std::move(memtiles));
  }

  void declare(const std::string& name, TileKind kind, const std::vector<CoreRange>& tiles,
               N address, N bytes) {
    for (const CoreRange& range : tiles)
      g_.out.program.buffers.push_back(
          {op_.name + " " + name, kind, range, address, bytes, step_, step_, TensorId()});
  }

  // ---- the loop nest ----------------------------------------------------------------------------

  // One iteration of the loops over time, on all cores.
  void sweep(std::size_t i) {
    const Iteration& at = nest_.iterations()[i];
    beginRecords(i);
    beginRows(at);
    std::size_t longest = 0;
    for (const CoreShare& share : m_.shares) longest = std::max(longest, calls(share, at).size());
    for (std::size_t k = 0; k < longest; ++k) {
      for (const auto& [first, end] : runs_) {
        const std::vector<RowCall>& due = calls(m_.shares[first], at);
        if (k >= due.size()) continue;
        for (std::size_t operand = 0; operand < op_.inputs.size(); ++operand)
          for (std::size_t s = first; s < end; ++s)
            tellRowsUpTo(m_.shares[s], operand, at, due, k, k);
        for (std::size_t s = first; s < end; ++s) {
          const CoreShare& share = m_.shares[s];
          if (m_.passBlocks(share, at.pass).empty()) continue;
          compute(share, due, k, at);
        }
      }
      tellRowsAhead(at, k);
      // After the rows of all cores: on a wire that carries both, none waits behind a record that
      // is for later.
      for (const CoreShare& share : m_.shares)
        if (k < calls(share, at).size()) tellRecordsAhead(share, i, k);
    }
  }

  // ---- weights ----------------------------------------------------------------------------------

  void beginRecords(std::size_t i) {
    for (std::size_t r = 0; r < records_.size(); ++r) {
      RecordStream& stream = records_[r];
      const auto next = static_cast<std::size_t>(stream.current + 1);
      if (next >= stream.due.size() || stream.due[next] != i) continue;
      ++stream.current;
      if (stream.told <= stream.current) tellRecord(r);
    }
  }

  // Records whose first reader on this core is at most `lead` calls away, as far as slots are free.
  void tellRecordsAhead(const CoreShare& share, std::size_t i, std::size_t k) {
    if (m_.weights.empty()) return;
    const std::size_t r = recordRoute_[index(share.core)];
    RecordStream& stream = records_[r];
    const N lead = m_.weights[r].lead;
    if (lead == 0 || m_.passBlocks(share, nest_.iterations()[i].pass).empty()) return;
    while (stream.told < std::ssize(stream.due) && stream.told < stream.current + m_.weightSlots &&
           callsUntil(share, i, k, stream.due[static_cast<std::size_t>(stream.told)]) <= lead)
      tellRecord(r);
  }

  // Calls of a core from number k of iteration `from` to the first of iteration `to`, each of
  // Mapping::callRows rows (with a window at the end, of one that is written): a longer one counts
  // as so many.
  N callsUntil(const CoreShare& share, std::size_t from, std::size_t k, std::size_t to) {
    N count = 0;
    const N usual = callsOneRow(op_) ? 1 : m_.callRows;
    for (std::size_t i = from; i < to; ++i, k = 0) {
      const Iteration& at = nest_.iterations()[i];
      if (m_.passBlocks(share, at.pass).empty()) continue;
      const std::vector<RowCall>& due = calls(share, at);
      if (nest_.callRows(at) <= usual)
        count += std::ssize(due) - static_cast<N>(k);
      else
        for (; k < due.size(); ++k) count += divideRoundUp(due[k].rows, usual);
    }
    return count;
  }

  N keyOf(const RecordStream& stream, N number) const {
    return nest_.recordKey(nest_.iterations()[stream.due[static_cast<std::size_t>(number)]]);
  }

  void tellRecord(std::size_t r) {
    RecordStream& stream = records_[r];
    const Route& route = m_.weights[r];
    const N number = stream.told++;

    const Tile tile{TileKind::Memtile, 0, small(route.memtile)};
    const Part<N> part{.content = Content::Weights,
                       .y = stream.numbers[static_cast<std::size_t>(number)]};
    const N key = keyOf(stream, number);
    const bool atHome = key < m_.recordsAtHome;
    // A record has its place to itself, however much of it it fills: that way records of different
    // lengths wait for each other alike.
    const StreamPlan& places = atHome ? where_.recordHomes[r] : where_.weights[r];
    const Address<N> staging{places.address, atHome ? key : stream.staged, places.slotBytes,
                             places.slots};
    const N place = byteAddress(staging);
    if (!atHome || g_.recordsAtHome.emplace(layer_, r, key).second)
      g_.emission.push(channelOf(route, number), step_,
                       Flat{Transfer<N>{TransferKind::Load, {}, {staging, {}, {}, {}}, part}},
                       {{tile, place, place + places.slotBytes, true, 1}});
    if (!atHome) ++stream.staged;
    const Lane& lane = laneOf(route, number);
    const Address<N> slot{weightsAt_, number, m_.weightBytes, m_.weightSlots};
    reads_.assign({{tile, place, place + places.slotBytes, false, 0}});
    send(route.cores, lane, route.memtile, {staging, {}, {}, {}}, part);
    receive(route.cores, lane, {slot, {}, {}, {}}, part, byteAddress(slot), m_.weightBytes);
  }

  // The number of a record in the program, packed now if it is the first time.
  N recordOf(const Interval& blocks, const Iteration& at) {
    std::vector<WeightRecord>& table = g_.out.program.records;
    std::vector<std::uint8_t>& image = g_.out.weights.bytes;
    const auto [entry, fresh] =
        g_.records.try_emplace({layer_, blocks.first, blocks.count, at.part}, std::ssize(table));
    if (!fresh) return entry->second;
    const N offset = std::ssize(image);
    appendRecord(g_.graph, op_, blocks, nest_.part(at), nest_.last(at), image);
    const N used = std::ssize(image) - offset, bytes = m_.equalRecords ? m_.weightBytes : used;
    image.resize(static_cast<std::size_t>(offset + bytes));
    const bool conv = op_.kind() == OpKind::Conv;
    table.push_back({.offset = offset,
                     .bytes = bytes,
                     .kept = conv ? blocksComputed(op_, blocks, nest_.part(at)) : 0,
                     .padding = bytes - used});
    return entry->second;
  }

  // ---- transfers --------------------------------------------------------------------------------

  static const Lane& laneOf(const Route& route, N piece) {
    return route.lanes[static_cast<std::size_t>(piece % std::ssize(route.lanes))];
  }

  Engine channelOf(const Route& route, N piece) const {
    return {EngineKind::DdrIn, 0, small(route.memtile),
            small(route.ddrChannelOf(piece, g_.device))};
  }

  // The wire's end of a transfer: what it reads of the memtile is `reads_`.
  void send(const std::vector<CoreAt>& cores, const Lane& lane, N memtile, const End<N>& source,
            const Part<N>& part) {
    std::vector<SendTo<N>> to;
    const auto [known, fresh] = rectangles_.try_emplace(cores);
    if (fresh) known->second = rectanglesOf(cores);
    for (const CoreRange& r : known->second)
      to.push_back({r.row, r.column, r.rows, r.columns, lane.channel});
    g_.emission.push(
        {EngineKind::Wire, 0, small(lane.wire), 0}, step_,
        Flat{Transfer<N>{TransferKind::Send, source, {}, part, memtile, {}, std::move(to)}},
        reads_);
  }

  // The cores' ends of a transfer: each writes within so many bytes from `first` on, each row of
  // activations.
  void receive(const std::vector<CoreAt>& cores, const Lane& lane, const End<N>& destination,
               const Part<N>& part, N first, N bytes) {
    receivers_.clear();
    for (const CoreAt& core : cores)
      receivers_.push_back(
          {EngineKind::CoreIn, small(core.row), small(core.column), small(lane.channel)});
    writes_.clear();
    const N rows = part.content == Content::Activation ? part.rows : 1;
    for (N row = 0; row < rows; ++row)
      writes_.push_back({{}, first + row * bytes, first + (row + 1) * bytes, true, 1, small(row)});
    g_.emission.push(receivers_, step_,
                     Flat{Transfer<N>{.kind = TransferKind::Receive,
                                      .destination = destination,
                                      .part = part,
                                      .wire = lane.wire}},
                     writes_);
  }

  // ---- inputs -----------------------------------------------------------------------------------

  void beginRows(const Iteration& at) {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (std::size_t r = 0; r < rows_[i].size(); ++r) {
        RowStream& stream = rows_[i][r];
        stream.cores = participants(i, m_.inputs[i][r], at);
        stream.telling =
            !stream.cores.empty() && (!nest_.stays(i) || stream.key != nest_.inputKey(at));
        if (!stream.telling) continue;
        stream.key = nest_.inputKey(at);
        stream.calls = 0;
        stream.box.reset();
      }
  }

  // Cores of a route that take its rows in this iteration.
  std::vector<CoreAt> participants(std::size_t operand, const Route& route, const Iteration& at) {
    std::vector<CoreAt> cores;
    for (const CoreAt& core : route.cores) {
      const CoreShare& share = shareAt(core);
      if (nest_.takesRows(share, operand, at) && !calls(share, at).empty()) cores.push_back(core);
    }
    return cores;
  }

  // What up to `lead` calls after call k need, call by call: no core's rows wait behind those of
  // another that are for later.
  void tellRowsAhead(const Iteration& at, std::size_t k) {
    N most = 0, longest = 0;
    for (std::size_t operand = 0; operand < m_.inputs.size(); ++operand)
      for (const Route& route : m_.inputs[operand])
        most = std::max(most, isTogether(operand, at) ? INT64_MAX : route.lead);
    for (const CoreShare& share : m_.shares)
      longest = std::max<N>(longest, std::ssize(calls(share, at)));
    most = std::min(most, longest);  // a plan may name any lead
    for (N ahead = 1; ahead <= most; ++ahead)
      for (std::size_t operand = 0; operand < m_.inputs.size(); ++operand)
        for (const CoreShare& share : m_.shares) {
          const std::vector<RowCall>& due = calls(share, at);
          if (k < due.size() && ahead <= leadOf(share, operand, at))
            tellRowsUpTo(share, operand, at, due, k, k + static_cast<std::size_t>(ahead));
        }
  }

  // Rows that come together are told as far ahead as there are places, for they are in the memtiles
  // already. None of what is added in the sweep that brings an input which stays: its rows would
  // come behind.
  N leadOf(const CoreShare& share, std::size_t operand, const Iteration& at) const {
    const std::size_t core = index(share.core);
    if (isAddend(op_, operand) && nest_.stays(0) && rows_[0][rowRoute_[0][core]].telling) return 0;
    return isTogether(operand, at) ? INT64_MAX : m_.inputs[operand][rowRoute_[operand][core]].lead;
  }

  // Whether several rows of an operand come in one piece.
  bool isTogether(std::size_t operand, const Iteration& at) const {
    const RingPlan& ring = m_.rings[operand];
    return (ring.onlyBetween ? nest_.isBetween(at) : LayerNest::isLater(at)) && ring.together > 1 &&
           !nest_.stays(operand) && !g_.home(op_.inputs[operand]).slices.empty();
  }

  // Of the calls from k to `last` in the same box, as far as places of the rings are free.
  void tellRowsUpTo(const CoreShare& share, std::size_t operand, const Iteration& at,
                    const std::vector<RowCall>& due, std::size_t k, std::size_t last) {
    RowStream& stream = rows_[operand][rowRoute_[operand][index(share.core)]];
    if (!stream.telling) return;
    last = std::min(due.size() - 1, last);
    for (; stream.calls <= last && due[stream.calls].box == due[k].box; ++stream.calls)
      if (!tellRowsOf(share, operand, at, due, k, stream.calls)) return;
  }

  // False where a row finds no free place while call k is still to come.
  bool tellRowsOf(const CoreShare& share, std::size_t operand, const Iteration& at,
                  const std::vector<RowCall>& due, std::size_t k, std::size_t call) {
    const std::size_t r = rowRoute_[operand][index(share.core)];
    const Route& route = m_.inputs[operand][r];
    RowStream& stream = rows_[operand][r];
    const OperandGeometry& g = nest_.operand(operand);
    const std::vector<CoreAt>& cores = stream.cores;
    const Interval kernelRows = nest_.loadedKernelRows(at),
                   rows = nest_.rowsOf(operand, due[call], kernelRows);
    if (rows.empty()) return true;
    const Held h = nest_.held(shareAt(cores[0]), operand, at, due[call].x);
    if (h.blocks.empty()) return true;
    const N together = isTogether(operand, at) ? m_.rings[operand].together : 1;
    N& offset = stream.offset[due[call].box];
    if (stream.box != due[call].box) {
      // A new sweep goes on in the ring where the last one ended, so that its first rows need not
      // wait.
      offset = nest_.stays(operand) && stream.pieces == 0
                   ? 0
                   : roundUpTo(stream.end, together) - rows.first;
      stream.box = due[call].box;
      stream.next = rows.first;
    }
    const N oldest = call == k ? rows.first : oldestNeeded(operand, at, due, k, call),
            length = m_.rings[operand].length;
    // With what comes together with the last of them.
    const N end = rowsWith(g, due, call, rows.end(),
                           roundUpTo(rows.end() + offset, together) - offset, kernelRows);
    if (call > k && stream.next < rows.end() && end - oldest > length) return false;
    const auto tell = [&](const Interval& one) {
      tellRows(cores, route, stream.pieces, operand, one, h, offset, together);
    };
    Interval told;  // rows one after another
    for (N y = due[call].y; y < due[call].y + due[call].rows; ++y) {
      const Interval ofRow = g.rows(y, kernelRows);
      if (ofRow.empty()) continue;
      const Interval fresh = common({stream.next, INT64_MAX / 2}, ofRow);
      stream.next = std::max(stream.next, ofRow.end());
      if (told.end() != fresh.first) {
        tell(told);
        told = {fresh.first, 0};
      }
      told.count += fresh.count;
    }
    if (!told.empty()) {
      told.count = std::clamp(end, told.end(), std::max(told.end(), oldest + length)) - told.first;
      stream.next = std::max(stream.next, told.end());
      tell(told);
    }
    stream.end = stream.next + offset;
    return true;
  }

  // Behind which row those end that come with rows up to `end` of a call: the calls behind it in
  // its box need them without a gap; none from `most` on.
  static N rowsWith(const OperandGeometry& g, const std::vector<RowCall>& due, std::size_t call,
                    N end, N most, const Interval& kernelRows) {
    for (std::size_t next = call + 1;
         end < most && next < due.size() && due[next].box == due[call].box; ++next)
      for (N y = due[next].y; y < due[next].y + due[next].rows && end < most; ++y) {
        const Interval rows = g.rows(y, kernelRows);
        if (rows.empty()) continue;
        if (rows.first > end) return end;
        end = std::clamp(rows.end(), end, most);
      }
    return end;
  }

  // The first row that one of the calls k .. call needs.
  N oldestNeeded(std::size_t operand, const Iteration& at, const std::vector<RowCall>& due,
                 std::size_t k, std::size_t call) const {
    for (std::size_t i = k; i < call; ++i) {
      const Interval rows = nest_.rowsOf(operand, due[i], nest_.loadedKernelRows(at));
      if (!rows.empty()) return rows.first;
    }
    return nest_.rowsOf(operand, due[call], nest_.loadedKernelRows(at)).first;
  }

  struct Piece {  // of a row of a root tensor, or of several from it on
    TensorId tensor;
    N row;
    Interval x, blocks;
    N rows = 1;
  };

  static Part<N> partOf(const Piece& p) {
    return {Content::Activation, p.tensor, p.row,          p.blocks.first,
            p.x.first,           p.rows,   p.blocks.count, p.x.count};
  }

  // Rows of an operand in pieces of its stream, each of as many as lie in `together` places from a
  // multiple of that on.
  void tellRows(const std::vector<CoreAt>& cores, const Route& route, N& pieces,
                std::size_t operand, const Interval& rows, const Held& h, N offset, N together) {
    const N length = m_.rings[operand].length;
    for (N a = rows.first; a < rows.end();) {
      const N place = a + offset,
              end = std::min(roundUpTo(place + 1, together), roundUpTo(place + 1, length));
      const Interval next{a, pixels_[operand].evenRows(a, std::min(end - place, rows.end() - a))};
      tellRows(cores, route, pieces++, operand, next, h, offset);
      a = next.end();
    }
  }

  // Rows whose places lie one behind the other, as piece `number` of their stream.
  void tellRows(const std::vector<CoreAt>& cores, const Route& route, N number, std::size_t operand,
                const Interval& rows, const Held& h, N offset) {
    const RingPlan& ring = m_.rings[operand];
    const PixelMap& pixels = pixels_[operand];
    const TensorId tensor = op_.inputs[operand];
    const TensorMemory& from = g_.home(tensor);
    const N inNamed = g_.blockInNamed(tensor), inRoot = g_.rootBlock(tensor);
    const Held wanted{h.columns, {inNamed + h.blocks.first, h.blocks.count}};
    if (from.slices.empty()) {
      streamRow(cores, route, number, operand, rows.first, wanted,
                {ringsAt_[operand], rows.first + offset, ring.rowBytes, ring.length});
      return;
    }
    for (const Slice& s : from.slices) {
      const Interval y = common(pixels.rowsIn({s.y, s.rows}), rows),
                     x = common(pixels.columnsIn({s.x, s.columns}), h.columns),
                     b = common({s.block + inNamed - inRoot, s.blocks}, wanted.blocks);
      if (y.empty() || x.empty() || b.empty()) continue;
      sendRows(cores, laneOf(route, number), operand, s, {g_.named(tensor), y.first, x, b, y.count},
               {ringsAt_[operand], y.first + offset, ring.rowBytes, ring.length}, wanted);
    }
  }

  // Out of a slice into the rings from `place` on; row by row, or block by block, where a
  // descriptor has too few dimensions for several.
  void sendRows(const std::vector<CoreAt>& cores, const Lane& lane, std::size_t operand,
                const Slice& s, const Piece& piece, const Address<N>& place, const Held& wanted) {
    const PixelMap& pixels = pixels_[operand];
    const Pattern from = rowsOf(
                      cellsApart(piece.blocks.count, piece.x.count, s.columns, pixels.columnStep()),
                      piece.rows, pixels.rowStep() * s.rowBytes()),
                  to =
                      rowsOf(blocksOfCells(piece.blocks.count, piece.x.count, wanted.columns.count),
                             piece.rows, place.slotStride);
    const bool fits = hasDimensionsFor(from, to);
    if (piece.rows > 1 && !fits) {
      Piece row = piece;
      Address<N> its = place;
      for (row.rows = 1; row.row < piece.row + piece.rows; ++row.row, ++its.slot)
        sendRows(cores, lane, operand, s, row, its, wanted);
      return;
    }
    if (piece.blocks.count > 1 && !fits) {
      Piece block = piece;
      for (block.blocks.count = 1; block.blocks.first < piece.blocks.end(); ++block.blocks.first)
        sendRows(cores, lane, operand, s, block, place, wanted);
      return;
    }
    const N block = piece.blocks.first - g_.blockInNamed(op_.inputs[operand]) +
                    g_.rootBlock(op_.inputs[operand]);
    reads_.clear();
    const Interval columns = pixels.reachOfColumns(piece.x);
    for (N a = piece.row; a < piece.row + piece.rows; ++a)
      addCells(reads_, s, pixels.row(a), {block, piece.blocks.count}, columns, false, 0);
    const End<N> source{
        inSlice(s, pixels.row(piece.row), block, pixels.column(piece.x.first)), from, {}, {}};
    send(cores, lane, s.memtile, source, partOf(piece));
    receiveRows(cores, lane, to, place, wanted, piece);
  }

  // Cells of a row in a slice, of all blocks at once where they touch: who reads or writes columns
  // of these blocks need not wait for those of others. Strided columns with those between.
  static void addCells(std::vector<Access>& to, const Slice& s, N row, const Interval& blocks,
                       const Interval& columns, bool writes, std::int32_t point,
                       std::int32_t ofInstruction = 0) {
    const N stretches = columns.count < s.columns ? blocks.count : 1,
            bytes = blocks.count / stretches * columns.count * kBlock;
    for (N b = 0; b < stretches; ++b) {
      const N first = byteAddress(inSlice(s, row, blocks.first + b, columns.first));
      to.push_back({Tile{TileKind::Memtile, 0, small(s.memtile)}, first, first + bytes, writes,
                    point, ofInstruction});
    }
  }

  bool hasDimensionsFor(const Pattern& ofMemtile, const Pattern& ofCore) const {
    const auto fits = [](const Pattern& pattern, const std::optional<N>& most) {
      return !most || std::ssize(pattern.dimensions) <= *most;
    };
    return fits(ofMemtile, g_.device.limits.memtileDimensions) &&
           fits(ofCore, g_.device.limits.coreDimensions);
  }

  // Where a row of a slice lies, from a block and a column on.
  static Address<N> inSlice(const Slice& s, N row, N block, N x) {
    return at(s.address + (row - s.y) * s.rowBytes() +
              ((block - s.block) * s.columns + x - s.x) * kBlock);
  }

  // A row out of DDR, through places of the route's memtile, with the columns between its own.
  void streamRow(const std::vector<CoreAt>& cores, const Route& route, N number,
                 std::size_t operand, N a, const Held& h, const Address<N>& place) {
    const TensorId tensor = op_.inputs[operand], root = g_.root(tensor);
    const PixelMap& pixels = pixels_[operand];
    const Shape& shape = g_.shape(root);
    const StreamPlan& stream = where_.inputs[operand];
    const Address<N> slot{stream.address, inputCount_[{route.memtile, operand}]++, stream.slotBytes,
                          stream.slots};
    const Piece whole{
        root,
        pixels.row(a),
        pixels.reachOfColumns(h.columns),
        {h.blocks.first - g_.blockInNamed(tensor) + g_.rootBlock(tensor), h.blocks.count}};
    const N bytes = whole.blocks.count * whole.x.count * kBlock, first = byteAddress(slot);
    const N ddr =
        *g_.memory.tensors[root.at()].ddr +
        ((whole.row * blocksOf(shape) + whole.blocks.first) * shape.width + whole.x.first) * kBlock;
    g_.emission.push(
        channelOf(route, number), step_,
        Flat{Transfer<N>{
            TransferKind::Load,
            {at(ddr), blocksOfCells(whole.blocks.count, whole.x.count, shape.width), {}, {}},
            {slot, contiguous(bytes), {}, {}},
            partOf(whole)}},
        {{Tile{TileKind::Memtile, 0, small(route.memtile)}, first, first + bytes, true, 1}});
    reads_.assign(
        {{Tile{TileKind::Memtile, 0, small(route.memtile)}, first, first + bytes, false, 0}});
    const auto cells = [&](N blocks) {
      return cellsApart(blocks, h.columns.count, whole.x.count, pixels.columnStep());
    };
    const bool fits = hasDimensionsFor(cells(h.blocks.count), contiguous(bytes));
    Piece piece{g_.named(tensor), a, h.columns, {h.blocks.first, fits ? h.blocks.count : 1}};
    for (; piece.blocks.first < h.blocks.end(); piece.blocks.first = piece.blocks.end()) {
      Address<N> from = slot;
      from.base += (piece.blocks.first - h.blocks.first) * whole.x.count * kBlock;
      const Lane& lane = laneOf(route, number);
      send(cores, lane, route.memtile, {from, cells(piece.blocks.count), {}, {}}, partOf(piece));
      receiveRows(cores, lane, contiguous(piece.blocks.count * piece.x.count * kBlock), place, h,
                  piece);
    }
  }

  // The cores' ends of rows whose first has `place` in the rings, which hold `h` of each.
  void receiveRows(const std::vector<CoreAt>& cores, const Lane& lane, const Pattern& pattern,
                   Address<N> place, const Held& h, const Piece& piece) {
    const N first = byteAddress(place);
    place.base += ((piece.blocks.first - h.blocks.first) * h.columns.count + piece.x.first -
                   h.columns.first) *
                  kBlock;
    receive(cores, lane, {place, pattern, {}, {}}, partOf(piece), first, place.slotStride);
  }

  // ---- kernels ----------------------------------------------------------------------------------

  // Kernels differ with these alone, but for what the parts of an Assemble move.
  KernelId kernel(const CoreShare& share, const Iteration& at, const Interval& x) {
    if (op_.kind() == OpKind::Assemble) return kernelFor(g_, nest_, layer_, share, at, x);
    const auto [entry, fresh] = kernels_.try_emplace(
        {m_.passBlocks(share, at.pass).count, at.part, nest_.pooled().columns(x).count});
    if (fresh) entry->second = kernelFor(g_, nest_, layer_, share, at, x);
    return entry->second;
  }

  // What a core does for the rows of a call: its kernel; before a row is pooled, as often as that
  // takes.
  void compute(const CoreShare& share, const std::vector<RowCall>& due, std::size_t k,
               const Iteration& at) {
    const Interval blocks = m_.passBlocks(share, at.pass);
    const TensorId root = g_.root(op_.output);
    Piece piece{root,
                due[k].y,
                due[k].x,
                {g_.rootBlock(op_.output) + blocks.first, blocks.count},
                due[k].rows};
    if (!fusedWindowOf(op_)) {
      computeRows(share, due, k, at, piece, outputOf(share));
      if (!nest_.last(at)) return;
      finishRows(share, piece, nest_.isInner(at));
      return;
    }
    const Interval rows = nest_.rowsComputed(due, k), x = nest_.pooled().columns(due[k].x);
    const N most = nest_.kernelCallRows(at);
    for (N y = rows.first; y < rows.end(); y += most)
      computeRows(share, due, k, at,
                  {computedTensor(op_), y, x, blocks, std::min(most, rows.end() - y)},
                  pooledRow(y));
    if (!nest_.last(at)) return;
    const Address<N> output = outputOf(share);
    computeEnd(share, due[k], at, piece, output);
    finish(share, output, piece);
  }

  // Where a core's next output row goes.
  Address<N> outputOf(const CoreShare& share) const {
    return {outputAt_, outputCount_[index(share.core)], m_.outputRowBytes, m_.outputSlots};
  }
  void finish(const CoreShare& share, const Address<N>& output, const Piece& piece) {
    outputCount_[index(share.core)] += piece.rows;
    writeBack(share, output, piece);
  }

  // `together`: as many rows in one transfer as lie one behind the other.
  void finishRows(const CoreShare& share, const Piece& rows, bool together) {
    const bool joined = together && !g_.memory.tensors[rows.tensor.at()].slices.empty();
    for (Piece next = rows; next.row < rows.row + rows.rows; next.row += next.rows) {
      const Address<N> output = outputOf(share);
      const N upToWrap = output.slots - output.slot % output.slots;
      next.rows = joined ? std::min(upToWrap, rows.row + rows.rows - next.row) : 1;
      finish(share, output, next);
    }
  }

  Address<N> pooledRow(N y) const { return {pooledAt_, y, m_.pooled.rowBytes, m_.pooled.length}; }

  // One run of the kernel: rows `piece` of what it writes, from `output` on if the reduction ends
  // here.
  void computeRows(const CoreShare& share, const std::vector<RowCall>& due, std::size_t k,
                   const Iteration& at, const Piece& piece, const Address<N>& output) {
    const RowCall& row = due[k];
    const Tile tile{TileKind::Core, small(share.core.row), small(share.core.column)};
    const bool first = nest_.first(at), last = nest_.last(at);
    std::vector<Access>& accesses = accesses_;
    accesses.clear();
    Call<N> call;
    call.kernel = kernel(share, at, row.x);
    for (std::size_t i = 0; i < op_.inputs.size(); ++i)
      addInput(call, accesses, tile, share, i, row, {{piece.row, piece.rows}, piece.x}, at);
    if (!m_.weights.empty() && readsRecord(call.kernel)) readRecord(call, accesses, tile, share);
    call.init = first;
    call.finish = last;
    const N rowBytes = piece.blocks.count * piece.x.count * kBlock;
    if (m_.parts.size() > 1) {
      const N place = sumsOf(due, k, piece, at);
      call.accumulator = place;
      if (first || last)
        accesses.push_back({tile, place, place + 4 * rowBytes * piece.rows, true, 0});
    }
    call.part = partOf(piece);
    if (last) {
      call.output = output;
      Address<N> place = output;
      for (N y = 0; y < piece.rows; ++y, ++place.slot)
        accesses.push_back(
            {tile, byteAddress(place), byteAddress(place) + rowBytes, true, 0, small(y)});
    }
    g_.emission.push({EngineKind::Core, tile.row, tile.column, 0}, step_, Flat{std::move(call)},
                     accesses);
  }

  void readRecord(Call<N>& call, std::vector<Access>& accesses, const Tile& tile,
                  const CoreShare& share) const {
    const RecordStream& stream = records_[recordRoute_[index(share.core)]];
    call.weights = Address<N>{weightsAt_, stream.current, m_.weightBytes, m_.weightSlots};
    call.record = stream.numbers[static_cast<std::size_t>(stream.current)];
    accesses.push_back(
        {tile, byteAddress(*call.weights), byteAddress(*call.weights) + m_.weightBytes, false, 0});
  }

  // Where the sums of a row of call k lie, behind those of the rows before it in its band.
  N sumsOf(const std::vector<RowCall>& due, std::size_t k, const Piece& piece,
           const Iteration& at) const {
    const N band = m_.accumulatorBytes / nest_.accumulatorBands();
    N before = (piece.row - nest_.rowsComputed(due, k).first) * piece.x.count;
    for (std::size_t i = 0; i < k; ++i)
      before += nest_.rowsComputed(due, i).count * nest_.pooled().columns(due[i].x).count;
    return accumulatorsAt_ + nest_.accumulatorBand(at) * band +
           before * piece.blocks.count * kBlock * 4;
  }

  // An output row, of the rows that a core has computed for it: the largest, or what a depth-wise
  // convolution makes of them.
  void computeEnd(const CoreShare& share, const RowCall& row, const Iteration& at,
                  const Piece& piece, const Address<N>& output) {
    const Interval blocks = m_.passBlocks(share, at.pass), x = nest_.pooled().columns(row.x),
                   rows = nest_.pooled().rows(row.y);
    const Window& window = fusedWindowOf(op_)->window();
    const Tile tile{TileKind::Core, small(share.core.row), small(share.core.column)};
    std::vector<Access>& accesses = accesses_;
    accesses.clear();
    Call<N> call;
    const auto [known, fresh] = endKernels_.try_emplace({blocks.count, row.x.count});
    if (fresh) known->second = endKernelFor(g_, nest_, layer_, share, at, row.x);
    call.kernel = known->second;
    RowRing<N> in;
    in.tensor = computedTensor(op_);
    in.base = pooledAt_;
    in.rowBytes = m_.pooled.rowBytes;
    in.length = m_.pooled.length;
    in.columns = x.count;
    in.blocks = blocks.count;
    in.block = blocks.first;
    in.row = nest_.pooled().firstRow(row.y);
    in.origin = x.first;
    in.column = row.x.first * window.strideX - window.padLeft;
    call.inputs.push_back(in);
    for (N y = rows.first; y < rows.end(); ++y) {
      const N place = byteAddress(pooledRow(y));
      accesses.push_back({tile, place, place + in.rowBytes, false, 0});
    }
    if (fusedWindowOf(op_)->depthwise()) readRecord(call, accesses, tile, share);
    const N bytes = blocks.count * row.x.count * kBlock;
    accesses.push_back({tile, byteAddress(output), byteAddress(output) + bytes, true, 0});
    call.part = partOf(piece);
    call.output = output;
    g_.emission.push({EngineKind::Core, tile.row, tile.column, 0}, step_, Flat{std::move(call)},
                     accesses);
  }

  // A CONCAT whose operands here have no tables reads none.
  bool readsRecord(KernelId kernel) const {
    const std::vector<Kernel::Move>& moves = g_.out.program.kernels[kernel.at()].moves;
    return op_.kind() != OpKind::Assemble ||
           std::any_of(moves.begin(), moves.end(),
                       [](const Kernel::Move& move) { return move.table >= 0; });
  }

  struct Computed {  // rows of what the kernel writes
    Interval y, x;
  };

  void addInput(Call<N>& call, std::vector<Access>& accesses, const Tile& tile,
                const CoreShare& share, std::size_t operand, const RowCall& row,
                const Computed& computed, const Iteration& at) const {
    const OperandGeometry& g = nest_.kernelOperand(operand);
    const Held h = nest_.held(share, operand, at, row.x);
    if (h.blocks.empty()) return;
    const RowStream& stream = rows_[operand][rowRoute_[operand][index(share.core)]];
    const ReductionPart& part = nest_.part(at);
    const Interval kernelRows = kernelRowsOf(op_, part);
    const TensorId tensor = op_.inputs[operand];
    RowRing<N> in;
    in.tensor = g_.named(tensor);
    in.rowBytes = m_.rings[operand].rowBytes;
    in.length = m_.rings[operand].length;
    in.columns = h.columns.count;
    in.blocks = h.blocks.count;
    in.base = ringsAt_[operand];
    in.block = g_.blockInNamed(tensor) + h.blocks.first;
    if (nest_.stays(operand)) {  // the ring holds all channels, this call reads a part of them
      in.base += part.inputBlocks.first * h.columns.count * kBlock;
      in.block += part.inputBlocks.first;
      in.blocks = part.inputBlocks.count;
    }
    in.ringOffset = stream.offset[row.box];
    in.row = g.firstRow(computed.y.first, kernelRows);
    in.origin = h.columns.first;
    in.column = g.hasWindow() ? g.firstColumn(computed.x.first) : h.columns.first;
    in.absent = g.absent(computed.y.first);
    N next = 0;
    for (N y = computed.y.first; y < computed.y.end(); ++y) {
      const Interval rows = g.rows(y, kernelRows);
      for (N a = std::max(next, rows.first); a < rows.end(); ++a) {
        const N place =
            byteAddress(Address<N>{ringsAt_[operand], a + in.ringOffset, in.rowBytes, in.length});
        accesses.push_back({tile, place, place + in.rowBytes, false, 0});
      }
      next = std::max(next, rows.end());
    }
    call.inputs.push_back(in);
  }

  // ---- outputs ----------------------------------------------------------------------------------

  void writeBack(const CoreShare& share, const Address<N>& from, const Piece& piece) {
    const TensorMemory& to = g_.memory.tensors[piece.tensor.at()];
    if (to.slices.empty()) {
      streamOut(share, from, piece);
      return;
    }
    for (const Slice& s : to.slices) {
      const Interval y = common({s.y, s.rows}, {piece.row, piece.rows}),
                     x = common({s.x, s.columns}, piece.x),
                     b = common({s.block, s.blocks}, piece.blocks);
      if (y.empty() || x.empty() || b.empty()) continue;
      Address<N> rows = from;
      rows.slot += y.first - piece.row;
      writeRows(share, rows, piece, s, {piece.tensor, y.first, x, b, y.count});
    }
  }

  // Rows of `piece` that go to a slice, of `whole`, whose part of them lies from `from` on; row by
  // row where a descriptor has too few dimensions for several.
  void writeRows(const CoreShare& share, const Address<N>& from, const Piece& whole, const Slice& s,
                 const Piece& piece) {
    const Pattern source = rowsOf(blocksOfCells(piece.blocks.count, piece.x.count, whole.x.count),
                                  piece.rows, from.slotStride),
                  destination = rowsOf(blocksOfCells(piece.blocks.count, piece.x.count, s.columns),
                                       piece.rows, s.rowBytes());
    if (piece.rows > 1 && !hasDimensionsFor(destination, source)) {
      Piece row = piece;
      Address<N> its = from;
      for (row.rows = 1; row.row < piece.row + piece.rows; ++row.row, ++its.slot)
        writeRows(share, its, whole, s, row);
      return;
    }
    accesses_.clear();
    const N first = byteAddress(from);
    const Tile core{TileKind::Core, small(share.core.row), small(share.core.column)};
    accesses_.push_back(
        {core, first,
         first + (piece.rows - 1) * from.slotStride + whole.blocks.count * whole.x.count * kBlock,
         false, 0});
    for (N a = piece.row; a < piece.row + piece.rows; ++a)
      addCells(accesses_, s, a, piece.blocks, piece.x, true, 1, small(a - piece.row));
    Address<N> cells = from;
    cells.base += ((piece.blocks.first - whole.blocks.first) * whole.x.count + piece.x.first -
                   whole.x.first) *
                  kBlock;
    writeFm(share, {cells, source, {}, {}}, s.memtile,
            {inSlice(s, piece.row, piece.blocks.first, piece.x.first), destination, {}, {}}, piece);
  }

  // Through places of the core's memtile to DDR.
  void streamOut(const CoreShare& share, const Address<N>& from, const Piece& piece) {
    const N bytes = piece.blocks.count * piece.x.count * kBlock, source = byteAddress(from);
    const StreamPlan& s = *where_.output;
    const N rank = outputRank_[index(share.core)], memtile = share.output.memtile;
    const Address<N> slot{s.address + rank * s.slots * s.slotBytes,
                          outputCount_[index(share.core)] - 1, s.slotBytes, s.slots};
    const N first = byteAddress(slot);
    accesses_.assign({{Tile{TileKind::Core, small(share.core.row), small(share.core.column)},
                       source, source + bytes, false, 0},
                      {Tile{TileKind::Memtile, 0, small(memtile)}, first, first + bytes, true, 1}});
    writeFm(share, {from, contiguous(bytes), {}, {}}, memtile, {slot, contiguous(bytes), {}, {}},
            piece);
    const Shape& shape = g_.shape(piece.tensor);
    const N ddr =
        *g_.memory.tensors[piece.tensor.at()].ddr +
        ((piece.row * blocksOf(shape) + piece.blocks.first) * shape.width + piece.x.first) * kBlock;
    g_.emission.push(
        {EngineKind::DdrOut, 0, small(memtile), small(share.output.ddrChannel)}, step_,
        Flat{Transfer<N>{
            TransferKind::Write,
            {slot, contiguous(bytes), {}, {}},
            {at(ddr), blocksOfCells(piece.blocks.count, piece.x.count, shape.width), {}, {}},
            partOf(piece)}},
        {{Tile{TileKind::Memtile, 0, small(memtile)}, first, first + bytes, false, 0}});
  }

  // What it reads and writes is `accesses_`.
  void writeFm(const CoreShare& share, const End<N>& source, N memtile, const End<N>& destination,
               const Piece& piece) {
    g_.emission.push(
        {EngineKind::CoreOut, small(share.core.row), small(share.core.column),
         small(share.output.channel)},
        step_,
        Flat{Transfer<N>{TransferKind::WriteFm, source, destination, partOf(piece), memtile}},
        accesses_);
  }

  Generation& g_;
  StepId step_;
  std::size_t layer_;
  const CanonicalOp& op_;
  const Mapping& m_;
  LayerNest nest_;
  const StepMemory& where_;
  std::vector<PixelMap> pixels_;  // per operand

  std::vector<const CoreShare*> shareOf_;                  // per core
  std::vector<std::vector<std::size_t>> rowRoute_;         // per operand and core
  std::vector<std::size_t> recordRoute_;                   // per core
  std::vector<std::vector<RowStream>> rows_;               // per operand and route
  std::vector<RecordStream> records_;                      // per weight route
  std::vector<std::pair<std::size_t, std::size_t>> runs_;  // of shares, [first, end)
  std::vector<N> outputCount_, outputRank_;                // per core
  std::map<std::pair<N, std::size_t>, N> inputCount_;      // memtile, operand: rows streamed
  N weightsAt_ = 0, outputAt_ = 0, accumulatorsAt_ = 0, pooledAt_ = 0;
  std::vector<N> ringsAt_;
  std::vector<Engine> receivers_;  // of the transfer that is being told
  std::vector<Access> accesses_;   // of the call
  std::vector<Access> reads_;      // of the sender that is being told
  std::vector<Access> writes_;     // of a receiver
  std::map<std::vector<CoreAt>, std::vector<CoreRange>> rectangles_;
  std::map<std::array<N, 3>, KernelId> kernels_;    // by blocks, part of the reduction, columns
  std::map<std::pair<N, N>, KernelId> endKernels_;  // by blocks, columns
  std::vector<std::pair<const std::vector<PixelBox>*, CallsOfKey>> calls_;  // per set of boxes
};

}  // namespace

void tellStep(Generation& generation, StepId step) { StepTeller(generation, step).tell(); }

}  // namespace heddle
