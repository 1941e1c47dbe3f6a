#include "heddle/memory/allocate.h"

#include <algorithm>
#include <map>

#include "heddle/packing/pack.h"
#include "heddle/support/check.h"
#include "heddle/tiling/geometry.h"
#include "heddle/tiling/views.h"

namespace heddle {

// A stretch of memtile memory that is needed over some steps.
struct MemoryRequest {
  std::int64_t bytes = 0;
  StepRange life;
  std::int64_t address = -1;
  // Whose it is: a stream of the step `life.first`, by its operand, behind these the output; else
  // `boxes` of a tensor's home; of records that stay their layer.
  std::size_t owner = 0;
  std::vector<std::size_t> boxes;
  bool meets(const MemoryRequest& o) const {
    return life.first <= o.life.last && o.life.first <= life.last;
  }
  bool isHome() const { return !boxes.empty(); }
};

namespace {

using Request = MemoryRequest;

constexpr std::int64_t kDdrAlignment = 64;
constexpr std::int64_t kFewestPlaces = 3;  // of a stream: one read, one written, one on its way
constexpr std::int64_t kAheadPart = 64;    // of a memtile: at most that much for rows told ahead
constexpr std::int64_t kPackingWork = 2'000'000;  // to find a home its place: some milliseconds

// Those that it meets in time, from the lowest address on.
std::vector<const Request*> neighboursOf(const Request& request,
                                         const std::vector<Request>& placed) {
  std::vector<const Request*> neighbours;
  for (const Request& p : placed)
    if (p.meets(request)) neighbours.push_back(&p);
  std::sort(neighbours.begin(), neighbours.end(),
            [](auto* a, auto* b) { return a->address < b->address; });
  return neighbours;
}

// Lowest address where `request` fits beside all placed ones that it meets in time, below
// `capacity`.
bool place(Request& request, std::vector<Request>& placed, std::int64_t capacity) {
  std::int64_t address = 0;
  for (const Request* n : neighboursOf(request, placed)) {
    if (address + request.bytes <= n->address) break;
    address = std::max(address, n->address + n->bytes);
  }
  if (address + request.bytes > capacity) return false;
  request.address = address;
  placed.push_back(request);
  return true;
}

// Bytes of the longest stretch in which `request` could lie.
std::int64_t longestStretch(const Request& request, const std::vector<Request>& placed,
                            std::int64_t capacity) {
  std::int64_t most = 0, address = 0;
  for (const Request* n : neighboursOf(request, placed)) {
    most = std::max(most, n->address - address);
    address = std::max(address, n->address + n->bytes);
  }
  return std::max(most, capacity - address);
}

// Bytes that boxes of a home take of the memtile that keeps most of them.
std::int64_t largestPart(const Home& boxes) {
  std::map<std::int64_t, std::int64_t> bytes;
  std::int64_t largest = 0;
  for (const HomeBox& box : boxes) largest = std::max(largest, bytes[box.memtile] += box.bytes());
  return largest;
}

std::int64_t weightStagingAddress(const Plan& plan, const Device& device) {
  return (device.memtile.memory.raw() - plan.weightStaging) / kBlock * kBlock;
}

// Of one stream: each may be full, and a lock counts them; one that leaves may give back, beside
// its own place, all those that nobody fills any more.
std::int64_t mostPlaces(const Device& device) {
  return std::max<std::int64_t>(1, device.limits.lockMaximum.value_or(INT64_MAX) - 1);
}

}  // namespace

class MemoryAllocator {
 public:
  MemoryAllocator(const CanonicalGraph& graph, const Plan& plan, const Device& device)
      : graph_(graph), plan_(plan), device_(device) {}

  Result<Allocation> run() {
    placeHomesAndRows();
    if (!errors_.empty()) return std::move(errors_);
    for (const Request& request : placeRecordHomes(placed_, recordsWithoutPlace_))
      tellRecordHomes(request);
    placeRecords();
    if (!errors_.empty()) return std::move(errors_);
    placeDdr();
    placeCores();
    return Allocation{std::move(memory_), std::move(withoutPlace_), std::move(recordsWithoutPlace_),
                      std::move(recordRooms_)};
  }

  // All that does not depend on which records stay.
  void placeHomesAndRows() {
    memory_.weightStaging = weightStagingAddress(plan_, device_);
    describeTensors();
    for (std::size_t s = 0; s < plan_.schedule.size(); ++s)
      if (!mapping(s).inPlace()) placeStreams(s);
    if (!errors_.empty()) return;
    placeHomes();
    placeAhead();
    findLivesOfRecords();
  }

  // Of RecordHomes.
  std::int64_t longestFor(LayerId layer) const {
    std::vector<Request> placed = placed_;
    std::vector<LayerId> withoutPlace;
    placeRecordHomes(placed, withoutPlace, layer);
    const StepRange& life = livesOfRecords_[layer.at()];
    return longestStretch({.life = life, .boxes = {}}, placed, belowRecords(life));
  }
  bool allRecordHomesFit() const {
    std::vector<Request> placed = placed_;
    std::vector<LayerId> withoutPlace;
    placeRecordHomes(placed, withoutPlace);
    return withoutPlace.empty();
  }

 private:
  std::size_t rootIndex(TensorId t) const { return plan_.views[t.at()].root.at(); }
  const Mapping& mapping(std::size_t step) const {
    return plan_.layers[plan_.schedule[step].layer.at()];
  }
  const CanonicalOp& op(std::size_t step) const {
    return graph_.ops[plan_.schedule[step].layer.at()];
  }

  void describeTensors() {
    memory_.tensors.resize(graph_.tensors.size());
    for (std::size_t s = 0; s < plan_.schedule.size(); ++s) {
      if (mapping(s).inPlace()) continue;
      const auto now = static_cast<std::int64_t>(s);
      for (const TensorId t : op(s).inputs) memory_.tensors[rootIndex(t)].life.add({now, now});
      memory_.tensors[rootIndex(op(s).output)].life.add({now, now});
    }
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      TensorMemory& tensor = memory_.tensors[t];
      if (!atHome(t) || tensor.life.empty()) continue;
      tensor.slices.resize(plan_.homes[t].size());
      tensor.lives.assign(plan_.homes[t].size(), tensor.life);
    }
    // Where each layer is one step, all rows of a tensor live as long.
    if (plan_.schedule.size() == graph_.ops.size()) return;
    const RowLives ofRows = rowLives(graph_, plan_);
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      for (std::size_t b = 0; b < memory_.tensors[t].lives.size(); ++b) {
        StepRange& life = memory_.tensors[t].lives[b];
        life = {};
        const Interval& y = plan_.homes[t][b].y;
        for (std::int64_t row = y.first; row < y.end(); ++row)
          life.add(ofRows[t][static_cast<std::size_t>(row)]);
      }
  }

  bool atHome(std::size_t root) const { return !plan_.homes[root].empty(); }

  // Rows on their way in and out of DDR, in as many places as there is room for; at worst each
  // input in one.
  void placeStreams(std::size_t s) {
    memory_.steps.resize(plan_.schedule.size());
    const auto others = static_cast<std::ptrdiff_t>(placed_.size());
    std::int64_t needed = 0;
    bool fits = false;
    for (const bool onePlaceEach : {false, true}) {
      if (fits) break;
      placed_.erase(placed_.begin() + others, placed_.end());
      memory_.steps[s] = {};
      needed = 0;
      fits = tryStreams(s, onePlaceEach, needed);
    }
    if (fits) return;
    errors_.push_back(
        {"MEM001", graph_.name + ", node '" + op(s).name + "' (" + op(s).onnxOp + ")",
         "the rows on their way from and to DDR do not fit a memtile",
         "they need " + std::to_string(needed) + " B of the " +
             std::to_string(memory_.weightStaging) + " B that a memtile has beside its weights",
         "give the memtiles more memory (--set memtile.memory=...)", Severity::DoesNotFit});
  }

  // Whether all streams of a step found their places; `needed`: bytes of those asked for.
  bool tryStreams(std::size_t s, bool onePlaceEach, std::int64_t& needed) {
    const Mapping& m = mapping(s);
    StepMemory& memory = memory_.steps[s];
    const auto step = static_cast<std::int64_t>(s);
    const auto stream = [&](std::size_t owner, std::int64_t slotBytes, std::int64_t slots,
                            std::int64_t copies) {
      Request request{
          .bytes = slotBytes * slots * copies, .life = {step, step}, .owner = owner, .boxes = {}};
      needed += request.bytes;
      place(request, placed_, memory_.weightStaging);
      return StreamPlan{request.address, slotBytes, slots};
    };
    bool fits = true;
    for (std::size_t i = 0; i < op(s).inputs.size(); ++i) {
      StreamPlan& input = memory.inputs.emplace_back();
      const std::int64_t bytes = streamedRowBytes(graph_, plan_, m.rings[i], op(s).inputs[i]);
      if (atHome(rootIndex(op(s).inputs[i])) || bytes == 0) continue;
      if (!onePlaceEach) input = stream(i, bytes, places(m, i, bytes), 1);
      if (onePlaceEach || input.address < 0) input = stream(i, bytes, 1, 1);
      fits = fits && input.address >= 0;
    }
    if (!atHome(rootIndex(op(s).output))) {
      memory.output =
          stream(op(s).inputs.size(), m.outputRowBytes, m.outputSlots, outputsOfAMemtile(m));
      fits = fits && memory.output->address >= 0;
    }
    return fits;
  }

  // How many rows of an operand are on their way where there is room: enough for those told ahead,
  // so that one route's rows that wait for a wire do not keep another's from their places.
  std::int64_t places(const Mapping& m, std::size_t operand, std::int64_t rowBytes) const {
    const std::int64_t routes = mostRoutesOfAMemtile(m.inputs[operand]);
    std::int64_t lead = 0, lanes = 1;
    for (const Route& route : m.inputs[operand]) {
      lead = std::max(lead, route.lead);
      lanes = std::max(lanes, std::ssize(route.lanes));
    }
    const std::int64_t ahead =
        std::min(routes * (lead + 1), device_.memtile.memory.raw() / kAheadPart / rowBytes);
    const std::int64_t wanted = std::max({kFewestPlaces, routes * lanes + 1, ahead});
    // One lock counts those of all operands.
    return std::clamp<std::int64_t>(mostPlaces(device_) / std::ssize(m.inputs), 1, wanted);
  }

  // The boxes of a tensor, those together that live as long.
  std::vector<Request> requestsOf(std::size_t t) const {
    std::vector<Request> requests;
    const TensorMemory& tensor = memory_.tensors[t];
    for (std::size_t b = 0; b < tensor.lives.size(); ++b) {
      auto same = std::ranges::find(requests, tensor.lives[b], &Request::life);
      if (same == requests.end())
        same = requests.insert(requests.end(), {.life = tensor.lives[b], .owner = t, .boxes = {}});
      same->boxes.push_back(b);
    }
    for (Request& request : requests) {
      Home boxes;
      for (const std::size_t b : request.boxes) boxes.push_back(plan_.homes[t][b]);
      request.bytes = largestPart(boxes);
    }
    return requests;
  }

  void placeHomes() {
    std::vector<std::pair<bool, Request>> order;
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      std::vector<Request> requests = requestsOf(t);
      const bool lifeIsOne = requests.size() == 1;
      for (Request& request : requests) order.emplace_back(lifeIsOne, std::move(request));
    }
    // What lives row by row first: few bytes of what is large. Then short lives: a byte kept for
    // one step saves as much traffic as a byte kept for ten.
    std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
      const StepRange &x = a.second.life, &y = b.second.life;
      return std::pair(a.first, x.last - x.first) < std::pair(b.first, y.last - y.first);
    });
    std::vector<Request> left;
    for (auto& [lifeIsOne, request] : order)
      if (!place(request, placed_, memory_.weightStaging)) left.push_back(std::move(request));
    // Whatever first fit places keeps a place, so that packing never spills more.
    for (Request& request : left)
      if (std::ranges::find(withoutPlace_, TensorId(request.owner)) == withoutPlace_.end() &&
          !place(request, placed_, memory_.weightStaging) && !packWith(request))
        giveUp(request.owner);
    for (const Request& request : placed_) tellAddress(request);
    std::int64_t peak = 0;
    for (const Request& p : placed_) peak = std::max(peak, p.address + p.bytes);
    memory_.memtilePeak = device_.memtile.memory.raw() - memory_.weightStaging + peak;
  }

  void giveUp(std::size_t tensor) {
    std::erase_if(placed_, [&](const Request& p) { return p.isHome() && p.owner == tensor; });
    memory_.tensors[tensor].slices.clear();
    memory_.tensors[tensor].lives.clear();
    withoutPlace_.emplace_back(tensor);
  }

  // Moves what is placed so that `request` fits too, where its bytes and theirs do at each step.
  bool packWith(const Request& request) {
    for (std::int64_t step = request.life.first; step <= request.life.last; ++step) {
      std::int64_t live = request.bytes;
      for (const Request& p : placed_)
        if (p.life.holds(step)) live += p.bytes;
      if (live > memory_.weightStaging) return false;
    }
    placed_.push_back(request);
    std::vector<LiveBuffer> buffers;
    for (const Request& p : placed_) buffers.push_back({p.life.first, p.life.last + 1, p.bytes});
    const Packing packing =
        pack(buffers, memory_.weightStaging, {.work = kPackingWork, .stop = {}, .lower = false});
    if (packing.outcome != PackOutcome::Found) {
      placed_.pop_back();
      return false;
    }
    for (std::size_t i = 0; i < placed_.size(); ++i) placed_[i].address = packing.offsets[i];
    return true;
  }

  void tellAddress(const Request& request) {
    if (!request.isHome()) {
      StepMemory& step = memory_.steps[static_cast<std::size_t>(request.life.first)];
      const bool isInput = request.owner < step.inputs.size();
      (isInput ? step.inputs[request.owner] : *step.output).address = request.address;
      return;
    }
    std::map<std::int64_t, std::int64_t> next;  // per memtile: its boxes one behind another
    for (const std::size_t b : request.boxes) {
      const HomeBox& box = plan_.homes[request.owner][b];
      std::int64_t& address = next.try_emplace(box.memtile, request.address).first->second;
      memory_.tensors[request.owner].slices[b] = {box.memtile,      address,         box.y.first,
                                                  box.y.count,      box.x.first,     box.x.count,
                                                  box.blocks.first, box.blocks.count};
      address += box.bytes();
    }
  }

  // Above all that lives in a step or the one before it, in which the first of them come: room for
  // weight records, and at the memtile's end rows out of DDR.
  void placeAhead() {
    recordRooms_.resize(plan_.schedule.size());
    belowRows_.assign(plan_.schedule.size(), memtileEnd());
    std::vector<std::int64_t> top(plan_.schedule.size());
    for (const Request& p : placed_)
      for (std::int64_t s = p.life.first; s <= p.life.last; ++s)
        top[static_cast<std::size_t>(s)] =
            std::max(top[static_cast<std::size_t>(s)], p.address + p.bytes);
    for (std::size_t s = top.size(); s-- > 1;) top[s] = std::max(top[s], top[s - 1]);
    std::int64_t free = memtileEnd();  // what the next step leaves below its records
    for (std::size_t s = top.size(); s-- > 0;) {
      if (mapping(s).inPlace()) continue;
      const std::int64_t own = memtileEnd() - top[s] - wantedByRecords(mapping(s));
      belowRows_[s] = memtileEnd() - placeRows(s, std::min(own, free));
      if (!mapping(s).weights.empty()) recordRooms_[s] = {top[s], belowRows_[s]};
      free = own;
    }
  }

  std::int64_t memtileEnd() const { return device_.memtile.memory.raw() / kBlock * kBlock; }

  // From the step before the layer's first on, so that they come ahead.
  void findLivesOfRecords() {
    livesOfRecords_.resize(plan_.layers.size());
    for (std::size_t s = 0; s < plan_.schedule.size(); ++s) {
      const auto now = static_cast<std::int64_t>(s);
      livesOfRecords_[plan_.schedule[s].layer.at()].add({std::max<std::int64_t>(now - 1, 0), now});
    }
  }

  // Up to where what stays in these steps leaves room for records on their way, theirs and the next
  // step's: with fewer places than these want, or than rows have, they would come too late.
  std::int64_t belowRecords(const StepRange& life) const {
    std::int64_t end = memtileEnd();
    const std::int64_t last = std::min(life.last + 1, std::ssize(plan_.schedule) - 1);
    for (auto s = static_cast<std::size_t>(life.first); s <= static_cast<std::size_t>(last); ++s) {
      const Mapping& m = mapping(s);
      end = std::min(end, belowRows_[s] - (allRecordsAtHome(m) ? 0 : wantedByRecords(m)));
    }
    return end;
  }

  // Beside `placed`, where homes leave room: what comes out of DDR again costs less than a tensor
  // that spills. But for those of `without`. Returns those that have a place.
  std::vector<Request> placeRecordHomes(std::vector<Request>& placed,
                                        std::vector<LayerId>& withoutPlace,
                                        std::optional<LayerId> without = std::nullopt) const {
    std::vector<Request> homes;
    for (std::size_t layer = 0; layer < plan_.layers.size(); ++layer) {
      const Mapping& m = plan_.layers[layer];
      if (m.inPlace() || m.recordsAtHome == 0 || without == LayerId(layer)) continue;
      Request request{.bytes = recordBytes(m, m.recordsAtHome),
                      .life = livesOfRecords_[layer],
                      .owner = layer,
                      .boxes = {}};
      if (place(request, placed, belowRecords(request.life)))
        homes.push_back(request);
      else
        withoutPlace.emplace_back(layer);
    }
    return homes;
  }

  void tellRecordHomes(const Request& request) {
    const Mapping& m = plan_.layers[request.owner];
    const std::int64_t end = request.address + request.bytes;
    for (std::size_t s = 0; s < plan_.schedule.size(); ++s) {
      const auto now = static_cast<std::int64_t>(s);
      const bool isBeside = request.life.first <= now && now <= request.life.last + 1;
      if (isBeside && !recordRooms_[s].empty())
        recordRooms_[s].first = std::max(recordRooms_[s].first, end);
      if (plan_.schedule[s].layer.at() != request.owner) continue;
      for (std::size_t r = 0; r < m.weights.size(); ++r)
        memory_.steps[s].recordHomes.push_back(
            {request.address + weightRank(m, r) * m.recordsAtHome * m.weightBytes, m.weightBytes,
             m.recordsAtHome});
    }
  }

  static std::int64_t wantedByRecords(const Mapping& m) {
    return recordBytes(m, std::min(recordsOf(m), kMostStaged));
  }

  // Rows that pass through a step come as far ahead as there is room for them at the memtile's end.
  // Returns the bytes that they take of it.
  std::int64_t placeRows(std::size_t s, std::int64_t room) {
    std::int64_t taken = 0;
    for (std::size_t i = 0; i < memory_.steps[s].inputs.size(); ++i) {
      StreamPlan& rows = memory_.steps[s].inputs[i];
      if (rows.slots == 0) continue;
      const std::int64_t slots =
          std::min({rowsThrough(graph_, plan_, s, i), (room - taken) / rows.slotBytes,
                    mostPlaces(device_) / std::ssize(memory_.steps[s].inputs)});
      if (slots <= rows.slots) continue;
      taken += slots * rows.slotBytes;
      rows = {memtileEnd() - taken, rows.slotBytes, slots};
    }
    return taken;
  }

  static std::int64_t outputsOfAMemtile(const Mapping& m) {
    std::int64_t most = 0;
    for (const CoreShare& share : m.shares) most = std::max(most, outputRank(m, share) + 1);
    return most;
  }

  void placeRecords() {
    RecordSpread spread(recordRooms_);
    std::map<std::size_t, std::size_t> withoutRecords;  // by layer, its step with the least room
    for (std::size_t s = 0; s < plan_.schedule.size(); ++s) {
      const Mapping& m = mapping(s);
      if (m.inPlace() || m.weights.empty()) continue;
      if (allRecordsAtHome(m)) {
        memory_.steps[s].weights.resize(m.weights.size(), {0, m.weightBytes, 0});
        continue;
      }
      const std::int64_t places = recordPlaces(recordRooms_[s].bytes(), m, device_);
      if (places < 1) {
        const auto [least, fresh] = withoutRecords.try_emplace(plan_.schedule[s].layer.at(), s);
        if (recordRooms_[s].bytes() < recordRooms_[least->second].bytes()) least->second = s;
        continue;
      }
      const ByteRange at = spread.placeOf(s, recordBytes(m, places));
      spread.take(at);
      for (std::size_t r = 0; r < m.weights.size(); ++r)
        memory_.steps[s].weights.push_back(
            {at.first + weightRank(m, r) * places * m.weightBytes, m.weightBytes, places});
    }
    for (const auto& [layer, step] : withoutRecords) noPlaceForRecords(step);
  }

  void noPlaceForRecords(std::size_t s) {
    errors_.push_back(
        {"MEM007", graph_.name + ", node '" + op(s).name + "' (" + op(s).onnxOp + ")",
         "the layer's weight records do not fit a memtile",
         "one of each route needs " + std::to_string(recordBytes(mapping(s), 1)) + " B of the " +
             std::to_string(recordRooms_[s].bytes()) +
             " B that homes and rows leave in its step and the one before it",
         "set more aside for weights ('staging' of the plan), leave homes out so that tensors live "
         "in DDR, or give the memtiles more memory (--set memtile.memory=...)",
         Severity::DoesNotFit});
  }

  // Ports and constants are in DDR, and what lives and has no home.
  void placeDdr() {
    std::vector<bool> inDdr(graph_.tensors.size());
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      inDdr[t] = !memory_.tensors[t].life.empty() && !atHome(t);
    std::vector<bool> isPort(graph_.tensors.size());
    for (const Port& p : graph_.inputs) isPort[rootIndex(p.tensor)] = true;
    for (const Port& p : graph_.outputs) isPort[rootIndex(p.tensor)] = true;
    std::int64_t next = 0;
    const auto reserve = [&](std::size_t t, std::int64_t base) {
      const Shape& shape = graph_.tensors[t].shape;
      const std::int64_t bytes =
          roundUpTo(shape.height * shape.width * blocksOf(shape) * kBlock, kDdrAlignment);
      TensorMemory& memory = memory_.tensors[t];
      memory.ddr = base + next;
      const bool perFrame = isPort[t] && plan_.frames > 1;
      if (perFrame) memory.frameStride = bytes;
      next += perFrame ? bytes * plan_.frames : bytes;
    };
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      if (rootIndex(TensorId(t)) == t && (inDdr[t] || isPort[t]) &&
          graph_.tensors[t].constant.empty())
        reserve(t, 0);
    memory_.weightsAddress = next;
    next = 0;
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      if (rootIndex(TensorId(t)) == t && !graph_.tensors[t].constant.empty())
        reserve(t, memory_.weightsAddress);
  }

  void placeCores() {
    memory_.steps.resize(plan_.schedule.size());
    std::int64_t next = 0;
    for (std::size_t s = 0; s < plan_.schedule.size(); ++s) {
      if (mapping(s).inPlace()) continue;
      memory_.steps[s].coreBase = coreBaseAfter(next, mapping(s), device_);
      next = memory_.steps[s].coreBase + mapping(s).coreBytes();
    }
  }

  const CanonicalGraph& graph_;
  const Plan& plan_;
  const Device& device_;
  MemoryPlan memory_;
  std::vector<Request> placed_;
  std::vector<TensorId> withoutPlace_;
  std::vector<LayerId> recordsWithoutPlace_;
  std::vector<ByteRange> recordRooms_;
  std::vector<std::int64_t> belowRows_;    // per step: where rows that come ahead begin
  std::vector<StepRange> livesOfRecords_;  // per layer, were they to stay
  Diagnostics errors_;
};

std::int64_t rowsThrough(const CanonicalGraph& graph, const Plan& plan, std::size_t step,
                         std::size_t operand) {
  const std::size_t layer = plan.schedule[step].layer.at();
  const CanonicalOp& op = graph.ops[layer];
  const OperandGeometry geometry(graph, op, operand);
  const Interval kernelRows{0, windowOf(op) ? windowOf(op)->kernelY : 1};
  std::int64_t first = INT64_MAX, end = 0;
  for (std::int64_t y = plan.schedule[step].rows.first; y < plan.schedule[step].rows.end(); ++y)
    if (const Interval rows = geometry.rows(y, kernelRows); !rows.empty()) {
      first = std::min(first, rows.first);
      end = std::max(end, rows.end());
    }
  return std::max<std::int64_t>(end - first, 0) *
         mostRoutesOfAMemtile(plan.layers[layer].inputs[operand]);
}

std::int64_t streamedRowBytes(const CanonicalGraph& graph, const Plan& plan, const RingPlan& ring,
                              TensorId tensor) {
  return ring.rowBytes * pixelMapOf(graph, plan, tensor).columnStep();
}

RecordHomes::RecordHomes(const CanonicalGraph& graph, const Plan& plan, const Device& device)
    : allocator_(std::make_unique<MemoryAllocator>(graph, plan, device)) {
  allocator_->placeHomesAndRows();
}
RecordHomes::~RecordHomes() = default;

std::int64_t RecordHomes::longestFor(LayerId layer) const { return allocator_->longestFor(layer); }

bool RecordHomes::allFit() const { return allocator_->allRecordHomesFit(); }

std::int64_t recordPlaces(std::int64_t staging, const Mapping& mapping, const Device& device) {
  if (mapping.weights.empty()) return 0;
  return std::min(
      {stagingPerRoute(staging, mapping) / mapping.weightBytes, kMostStaged, mostPlaces(device)});
}

std::int64_t recordBytes(const Mapping& mapping, std::int64_t places) {
  return mostRoutesOfAMemtile(mapping.weights) * places * mapping.weightBytes;
}

ByteRange RecordSpread::placeOf(std::size_t step, std::int64_t bytes) const {
  const ByteRange& room = rooms_[step];
  // Rows of the next step come while this one's records do.
  const auto next = std::find_if(rooms_.begin() + static_cast<std::ptrdiff_t>(step) + 1,
                                 rooms_.end(), [](const ByteRange& of) { return !of.empty(); });
  const std::int64_t belowRows = next == rooms_.end() ? room.end : std::min(room.end, next->end);
  for (const std::int64_t end : {belowRows, before_.first, room.end}) {
    const ByteRange higher{end - bytes, end};
    if (room.holds(higher) && !higher.meets(before_)) return higher;
  }
  return {room.first, room.first + bytes};
}

void RecordSpread::take(const ByteRange& place) { before_ = place; }

std::int64_t coreBaseAfter(std::int64_t end, const Mapping& mapping, const Device& device) {
  return end + mapping.coreBytes() > device.core.operandMemory().raw() ? 0 : end;
}

std::int64_t outputRank(const Mapping& mapping, const CoreShare& share) {
  std::int64_t rank = 0;
  for (const CoreShare& other : mapping.shares) {
    if (other.core == share.core) break;
    rank += other.output.memtile == share.output.memtile;
  }
  return rank;
}

std::int64_t weightRank(const Mapping& mapping, std::size_t route) {
  std::int64_t rank = 0;
  for (std::size_t r = 0; r < route; ++r)
    rank += mapping.weights[r].memtile == mapping.weights[route].memtile;
  return rank;
}

Result<Allocation> placeInMemory(const CanonicalGraph& graph, const Plan& plan,
                                 const Device& device) {
  return MemoryAllocator(graph, plan, device).run();
}

Result<MemoryPlan> allocateMemory(const CanonicalGraph& graph, const Plan& plan,
                                  const Device& device) {
  HEDDLE_TRY(Allocation allocation, placeInMemory(graph, plan, device));
  Diagnostics errors;
  for (const TensorId t : allocation.withoutPlace)
    errors.push_back({"MEM003", graph.name + ", tensor '" + graph.tensors[t.at()].name + "'",
                      "the memtiles have no place for the tensor's home",
                      "it needs " + std::to_string(largestPart(plan.homes[t.at()])) +
                          " B of one memtile in steps " +
                          std::to_string(allocation.memory.tensors[t.at()].life.first) + " to " +
                          std::to_string(allocation.memory.tensors[t.at()].life.last),
                      "leave its home out of the plan, so that it lives in DDR, or give the "
                      "memtiles more memory (--set memtile.memory=...)",
                      Severity::DoesNotFit});
  for (const LayerId layer : allocation.recordsWithoutPlace) {
    const Mapping& mapping = plan.layers[layer.at()];
    const CanonicalOp& op = graph.ops[layer.at()];
    errors.push_back({"MEM008", graph.name + ", node '" + op.name + "' (" + op.onnxOp + ")",
                      "the memtiles have no place for weight records that are to stay",
                      std::to_string(mapping.recordsAtHome) + " of each route need " +
                          std::to_string(recordBytes(mapping, mapping.recordsAtHome)) +
                          " B of one memtile from the layer's first step to its last",
                      "name fewer behind 'at-home' of the plan, so that the others come out of DDR "
                      "again, or give the memtiles more memory (--set memtile.memory=...)",
                      Severity::DoesNotFit});
  }
  if (!errors.empty()) return errors;
  return std::move(allocation.memory);
}

}  // namespace heddle
