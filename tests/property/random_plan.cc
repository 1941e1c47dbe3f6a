#include "random_plan.h"

#include <algorithm>
#include <set>

#include "heddle/canon/fuse_operators.h"
#include "heddle/support/check.h"
#include "heddle/tiling/lives.h"
#include "heddle/tiling/nest.h"
#include "heddle/tiling/views.h"
#include "random.h"

namespace heddle::property {
namespace {

constexpr std::int64_t kMostRings = 12;

// A cuboid of output cells.
struct Cuboid {
  Interval y, x, blocks;
};

Interval part(const Interval& whole, std::int64_t parts, std::int64_t index) {
  Interval i = evenPart(whole.count, parts, index);
  i.first += whole.first;
  return i;
}

class PlanMaker {
 public:
  PlanMaker(const CanonicalGraph& graph, const Device& device, std::uint64_t seed)
      : graph_(graph), device_(device), random_(seed ^ 0x706c616e) {}

  std::optional<RandomPlan> run() {
    const bool shared = !random_.chance(25);
    const Views views = shared ? findViews(graph_) : noViews(graph_);
    plan_.views = views.tensors;
    const bool couldShare = [&] {
      const Views found = findViews(graph_);
      return std::count(found.inPlace.begin(), found.inPlace.end(), true) > 0;
    }();
    if (couldShare)
      say(shared ? "concat, split or slice in place" : "concat, split or slice copied");
    homes();
    plan_.layers.resize(graph_.ops.size());
    schedule(views.inPlace);
    for (layer_ = 0; layer_ < graph_.ops.size(); ++layer_)
      if (!views.inPlace[layer_] && !mapping()) return std::nullopt;
    staging();
    if (!routesForAll(views.inPlace)) return std::nullopt;
    if (!roomForRecords()) return std::nullopt;
    sayHomes();
    stretches();
    if (random_.chance(33)) plan_.frames = random_.between(2, 3);
    if (plan_.frames > 1) say("several frames");
    return RandomPlan{std::move(plan_), std::move(kinds_)};
  }

 private:
  const CanonicalOp& op() const { return graph_.ops[layer_]; }
  const Shape& shapeOf(TensorId t) const { return graph_.tensors[t.at()].shape; }
  Mapping& m() { return plan_.layers[layer_]; }
  void say(const std::string& kind) { ++kinds_[kind]; }

  template <class T>
  void shuffle(std::vector<T>& v) {
    for (std::size_t i = v.size(); i > 1; --i)
      std::swap(v[i - 1], v[static_cast<std::size_t>(random_.between(0, std::ssize(v) - 1) %
                                                     static_cast<std::int64_t>(i))]);
  }

  // ---- homes ------------------------------------------------------------------------------------

  // Cuts a cuboid at random places until there are `pieces` or nothing is left to cut.
  std::vector<Cuboid> guillotine(const Shape& shape, std::int64_t pieces) {
    std::vector<Cuboid> out{{{0, shape.height}, {0, shape.width}, {0, blocksOf(shape)}}};
    for (std::int64_t tries = 4 * pieces; tries > 0 && std::ssize(out) < pieces; --tries) {
      Cuboid& c = out[static_cast<std::size_t>(random_.between(0, std::ssize(out) - 1))];
      Interval Cuboid::*axis = std::vector{
          &Cuboid::y, &Cuboid::x, &Cuboid::blocks}[static_cast<std::size_t>(random_.between(0, 2))];
      if ((c.*axis).count < 2) continue;
      const std::int64_t at = random_.between(1, (c.*axis).count - 1);
      Cuboid rest = c;
      (rest.*axis) = {(c.*axis).first + at, (c.*axis).count - at};
      (c.*axis).count = at;
      out.push_back(rest);
    }
    return out;
  }

  void homes() {
    plan_.homes.resize(graph_.tensors.size());
    std::set<std::size_t> inCores;  // alone
    for (const CanonicalOp& op : graph_.ops)
      if (fusedWindowOf(op)) inCores.insert(computedTensor(op).at());
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      if (plan_.views[t].root.at() != t || inCores.contains(t) || random_.chance(30)) continue;
      for (const Cuboid& c : guillotine(graph_.tensors[t].shape, random_.between(1, 5)))
        plan_.homes[t].push_back({random_.between(0, device_.memtiles() - 1), c.y, c.x, c.blocks});
    }
  }

  void sayHomes() {
    std::set<std::size_t> read;
    for (const CanonicalOp& op : graph_.ops)
      for (const TensorId t : op.inputs) read.insert(plan_.views[t.at()].root.at());
    for (const std::size_t t : read) {
      const Home& home = plan_.homes[t];
      if (home.empty()) {
        say("home in DDR");
        continue;
      }
      const bool cut = std::any_of(home.begin(), home.end(), [&](const HomeBox& box) {
        return box.blocks.count < blocksOf(graph_.tensors[t].shape);
      });
      say(home.size() == 1 ? "home in one memtile" : cut ? "home cut by channels" : "home cut");
      std::set<std::int64_t> memtiles;
      for (const HomeBox& box : home) memtiles.insert(box.memtile);
      if (memtiles.size() < home.size()) say("home with two boxes in a memtile");
    }
  }

  // ---- schedule ---------------------------------------------------------------------------------

  // Tiles of layers in any order that their operands allow; now and then depth first, all in tiles.
  void schedule(const std::vector<bool>& inPlace) {
    const bool depthFirst = random_.chance(30);
    if (depthFirst) say("depth first in tiles");
    std::vector<ScheduleStep> left;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      if (inPlace[i]) continue;
      const std::int64_t height = shapeOf(graph_.ops[i].output).height;
      const std::int64_t tiles =
          random_.chance(depthFirst ? 90 : 30)
              ? random_.between(1, std::min<std::int64_t>(depthFirst ? 8 : 3, height))
              : 1;
      for (std::int64_t k = 0; k < tiles; ++k)
        left.push_back({LayerId(i), evenPart(height, tiles, k)});
    }
    std::vector<std::vector<bool>> done;
    for (const CanonicalOp& op : graph_.ops)
      done.emplace_back(static_cast<std::size_t>(shapeOf(op.output).height), false);
    while (!left.empty()) {
      std::vector<std::size_t> ready;
      for (std::size_t i = 0; i < left.size(); ++i)
        if (isReady(left[i], inPlace, done)) ready.push_back(i);
      HEDDLE_CHECK(!ready.empty()) << "no step is ready";
      const std::size_t next = depthFirst           ? ready.back()
                               : random_.chance(50) ? ready[0]
                                                    : random_.pick(ready);
      const ScheduleStep step = left[next];
      for (std::int64_t y = step.rows.first; y < step.rows.end(); ++y)
        done[step.layer.at()][static_cast<std::size_t>(y)] = true;
      plan_.schedule.push_back(step);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
    }
    for (std::size_t i = 1; i < plan_.schedule.size(); ++i) {
      const auto layer = [&](std::size_t s) { return plan_.schedule[s].layer; };
      if (layer(i) < layer(i - 1)) say("steps out of the layers' order");
      for (std::size_t j = 0; j + 1 < i; ++j)
        if (layer(j) == layer(i) && layer(i - 1) != layer(i)) {
          say("a layer that comes back");
          break;
        }
    }
  }

  // ---- stretches of rows ------------------------------------------------------------------------

  // Cuts homes into stretches of rows, some of which live for fewer steps than others.
  void stretches() {
    const RowLives lives = rowLives(graph_, plan_);
    for (std::size_t t = 0; t < plan_.homes.size(); ++t) {
      if (plan_.homes[t].empty() || random_.chance(30)) continue;
      plan_.homes[t] =
          random_.chance(50) ? cutByLife(plan_.homes[t], lives[t]) : cutRows(plan_.homes[t]);
      const auto lifeOf = [&](const HomeBox& box) {
        StepRange life;
        for (std::int64_t y = box.y.first; y < box.y.end(); ++y)
          life.add(lives[t][static_cast<std::size_t>(y)]);
        return life;
      };
      if (std::ranges::any_of(plan_.homes[t], [&](const HomeBox& box) {
            return lifeOf(box) != lifeOf(plan_.homes[t][0]);
          }))
        say("home whose rows live for different steps");
    }
  }

  Home cutRows(const Home& home) {
    Home parts;
    for (const HomeBox& box : home) {
      const std::int64_t pieces = random_.between(1, std::min<std::int64_t>(4, box.y.count));
      for (std::int64_t k = 0; k < pieces; ++k) {
        HomeBox part = box;
        part.y = evenPart(box.y.count, pieces, k);
        part.y.first += box.y.first;
        parts.push_back(part);
      }
    }
    return parts;
  }

  bool isReady(const ScheduleStep& step, const std::vector<bool>& inPlace,
               const std::vector<std::vector<bool>>& done) const {
    const CanonicalOp& op = graph_.ops[step.layer.at()];
    const Interval kernelRows{0, windowOf(op) ? windowOf(op)->kernelY : 1};
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const OperandGeometry g(graph_, op, i);
      const View& view = plan_.views[op.inputs[i].at()];
      const PixelMap pixels = pixelMapOf(graph_, plan_, op.inputs[i]);
      const Interval blocks{view.block, blocksOf(shapeOf(op.inputs[i]))};
      for (std::size_t p = 0; p < graph_.ops.size(); ++p) {
        const TensorId output = graph_.ops[p].output;
        const View& made = plan_.views[output.at()];
        if (inPlace[p] || made.root != view.root ||
            common(blocks, {made.block, blocksOf(shapeOf(output))}).empty())
          continue;
        for (std::int64_t y = step.rows.first; y < step.rows.end(); ++y) {
          const Interval rows = g.rows(y, kernelRows);
          for (std::int64_t a = rows.first; a < rows.end(); ++a)
            if (!done[p][static_cast<std::size_t>(pixels.row(a))]) return false;
        }
      }
    }
    return true;
  }

  // ---- mapping ----------------------------------------------------------------------------------

  bool mapping() {
    for (int tries = 0; tries < 12; ++tries) {
      m() = {};
      PlanKinds before = kinds_;
      shares();
      loops(tries);
      if (buffers(tries)) return true;
      kinds_ = std::move(before);
    }
    return false;
  }

  std::vector<CoreAt> someCores() {
    std::vector<CoreAt> cores;
    for (std::int64_t r = 0; r < device_.rows; ++r)
      for (std::int64_t c = 0; c < device_.columns; ++c) cores.push_back({r, c});
    shuffle(cores);
    cores.resize(static_cast<std::size_t>(random_.between(1, std::ssize(cores))));
    return cores;
  }

  void addShare(const CoreAt& core, std::vector<PixelBox> boxes, const Interval& blocks) {
    m().shares.push_back({core,
                          std::move(boxes),
                          blocks,
                          {random_.between(0, device_.core.channelsOut - 1),
                           random_.between(0, device_.memtiles() - 1),
                           random_.between(0, device_.memtile.ddrChannelsOut - 1)}});
  }

  void shares() {
    const Shape& shape = shapeOf(op().output);
    const std::vector<CoreAt> cores = someCores();
    switch (random_.between(0, 3)) {
      case 0: {  // any cuboids
        const std::vector<Cuboid> pieces = guillotine(shape, std::ssize(cores));
        for (std::size_t i = 0; i < pieces.size(); ++i)
          addShare(cores[i], {{pieces[i].y, pieces[i].x}}, pieces[i].blocks);
        say("cut anywhere");
        return;
      }
      case 1:
        flattened(shape, cores);
        return;
      default:
        product(shape, cores);
    }
  }

  // Pixels in the order of rows, cut where it falls: a head, whole rows, a tail.
  void flattened(const Shape& shape, const std::vector<CoreAt>& cores) {
    const std::int64_t n = shape.height * shape.width;
    const std::int64_t byBlocks =
        random_.between(1, std::min<std::int64_t>(std::ssize(cores), blocksOf(shape)));
    const std::int64_t byPixels = std::min<std::int64_t>(std::ssize(cores) / byBlocks, n);
    std::size_t next = 0;
    for (std::int64_t p = 0; p < byPixels; ++p) {
      const Interval run = evenPart(n, byPixels, p);
      std::vector<PixelBox> boxes;
      std::int64_t at = run.first;
      const std::int64_t w = shape.width;
      if (at % w != 0) {
        const std::int64_t end = std::min(run.end(), (at / w + 1) * w);
        boxes.push_back({{at / w, 1}, {at % w, end - at}});
        at = end;
      }
      if (run.end() - at >= w) {
        const std::int64_t rows = (run.end() - at) / w;
        boxes.push_back({{at / w, rows}, {0, w}});
        at += rows * w;
      }
      if (at < run.end()) boxes.push_back({{at / w, 1}, {0, run.end() - at}});
      if (boxes.size() > 1) say("flattened pixels");
      for (std::int64_t b = 0; b < byBlocks; ++b)
        addShare(cores[next++], boxes, evenPart(blocksOf(shape), byBlocks, b));
    }
  }

  void product(const Shape& shape, const std::vector<CoreAt>& cores) {
    const std::int64_t n = std::ssize(cores);
    const std::int64_t b = random_.between(1, std::min(n, blocksOf(shape)));
    const std::int64_t w = random_.between(1, std::min(n / b, shape.width));
    const std::int64_t h = std::min(n / b / w, shape.height);
    if (h > 1) say("cut by H");
    if (w > 1) say("cut by W");
    if (b > 1) say("cut by COUT");
    std::size_t next = 0;
    const bool blocksInside = random_.chance(70);
    const auto add = [&](std::int64_t y, std::int64_t x, std::int64_t c) {
      addShare(cores[next++], {{part({0, shape.height}, h, y), part({0, shape.width}, w, x)}},
               part({0, blocksOf(shape)}, b, c));
    };
    for (std::int64_t o = 0; o < (blocksInside ? 1 : b); ++o)
      for (std::int64_t y = 0; y < h; ++y)
        for (std::int64_t x = 0; x < w; ++x)
          for (std::int64_t i = 0; i < (blocksInside ? b : 1); ++i) add(y, x, blocksInside ? i : o);
  }

  void loops(int tries) {
    const Shape& shape = shapeOf(op().output);
    std::vector<NestLoop> order{NestLoop::Pass, NestLoop::Chunk, NestLoop::Band, NestLoop::Part};
    shuffle(order);
    std::copy(order.begin(), order.end(), m().order.begin());
    std::int64_t most = 1;
    for (const CoreShare& share : m().shares) most = std::max(most, share.blocks.count);
    m().blocksPerPass = tries < 6 && random_.chance(75) ? random_.between(1, most) : 1;
    m().passes = divideRoundUp(most, m().blocksPerPass);
    const std::int64_t fine = 1 + tries / 2;
    m().chunks = random_.between(1, std::min<std::int64_t>(2 + fine, shape.width));
    m().bands = random_.between(1, std::min<std::int64_t>(2 + fine, shape.height));
    const auto window = windowOf(op());
    const std::int64_t kernel = window ? window->kernelY : 1;
    const std::int64_t blocks = reducesChannels(op()) ? blocksOf(shapeOf(op().inputs[0])) : 1;
    const bool cut = window && random_.chance(50);
    const bool byRows = cut && !fusedWindowOf(op());
    const std::int64_t k = byRows ? random_.between(1, std::min<std::int64_t>(3, kernel)) : 1;
    const std::int64_t c = cut ? random_.between(1, std::min<std::int64_t>(2 + fine, blocks)) : 1;
    for (std::int64_t i = 0; i < c * k; ++i)
      m().parts.push_back({reducesChannels(op()) ? evenPart(blocks, c, i / k) : Interval{},
                           evenPart(kernel, k, i % k)});
    m().resident = reducesChannels(op()) && random_.chance(fusedAddOf(op()) ? 70 : 35);
    if (op().kind() != OpKind::Assemble && random_.chance(tries < 6 ? 35 : 5))
      m().callRows = random_.between(2, 6);
    if (op().kind() != OpKind::Assemble && random_.chance(tries < 6 ? 40 : 5))
      m().innerCallRows = random_.between(2, 12);
    sayLoops();
  }

  static std::string endOf(const FusedWindow& window) {
    return window.depthwise() ? "a depth-wise convolution" : "a pool";
  }

  void sayLoops() {
    const Mapping& map = m();
    const auto place = [&](NestLoop loop) {
      return std::find(map.order.begin(), map.order.end(), loop) - map.order.begin();
    };
    const bool parts = map.parts.size() > 1;
    if (parts) say("reduction cut over time");
    if (map.callRows > 1) {
      say("calls of several rows");
      if (parts) say("calls of several rows of a reduction cut over time");
      if (fusedWindowOf(op())) say("calls of several rows before " + endOf(*fusedWindowOf(op())));
      if (graph_.batch > 1) say("calls of several rows of one of several images");
    }
    if (map.innerCallRows > map.callRows && map.parts.size() > 2)
      say("longer calls between the first part of a reduction and the last");
    if (map.innerCallRows > map.callRows && parts && map.passes > 1)
      say("longer calls in the first part of a later pass");
    if (map.innerCallRows > map.callRows && !parts && map.passes > 2)
      say("longer calls in passes between the first and the last");
    if (fusedTableOf(op()))
      say(reducesChannels(op()) ? "a table at the end of a convolution"
                                : "a table at the end of a depth-wise convolution");
    if (fusedTableOf(op()) && parts) say("a table after the last part of a reduction");
    if (fusedTableOf(op()) && fusedAddOf(op())) say("a table before an addition");
    if (tableOfEnd(op())) say("a table at the end of a depth-wise convolution at an end");
    if (isBroadcast(graph_, op(), op().inputs.size() - 1)) {
      say("one pixel that meets all others");
      if (map.callRows > 1) say("calls of several rows that all meet one pixel");
    }
    if (fusedAddOf(op())) say("an addition at the end of a convolution");
    if (operandsAtStart(op()) > 0) {
      const std::string start = fusedMulOf(op()) ? "a multiplication" : "lines";
      say(start + " before a convolution");
      if (parts) say(start + " before each part of a reduction");
      if (map.resident && map.passes > 1) say(start + " for kept inputs over several passes");
      if (fusedAddOf(op())) say(start + " before a convolution that adds");
    }
    if (fusedAddOf(op()) && isBroadcast(graph_, op(), op().inputs.size() - 1))
      say("an addition of one pixel at the end of a convolution");
    if (fusedAddOf(op()) && map.passes > 1 && map.resident)
      say("an addition over several passes of kept inputs");
    if (fusedAddOf(op()) && parts) say("an addition after the last part of a reduction");
    if (const FusedWindow* window = fusedWindowOf(op())) {
      const std::string end = endOf(*window);
      say(end + " at the end of a convolution");
      if (window->window().kernelY > window->window().strideY) say(end + " of rows that are kept");
      if (parts) say(end + " after the last part of a reduction");
      if (map.innerCallRows >= 2 * window->window().strideY && parts)
        say("calls that sum several rows for a window at the end");
      if (map.bands > 1) say(end + " in bands");
    }
    if (map.resident && map.passes > 1) say("inputs kept over passes");
    if (map.passes > 1 && map.chunks * map.bands > 1 &&
        place(NestLoop::Pass) > place(NestLoop::Band) && map.bands > 1)
      say("passes inside bands");
    if (map.passes > 1 && map.bands > 1 && place(NestLoop::Pass) < place(NestLoop::Band))
      say("weights kept over bands");
    if (parts && (place(NestLoop::Part) < place(NestLoop::Pass) && map.passes > 1))
      say("sums of several passes kept");
    if (parts && place(NestLoop::Part) < place(NestLoop::Band) && map.bands > 1)
      say("sums of several bands kept");
    if (parts && place(NestLoop::Part) < place(NestLoop::Chunk) && map.chunks > 1)
      say("sums of several chunks kept");
  }

  // The smallest buffers that do, and now and then a little more; whether a core holds them.
  bool buffers(int tries) {
    Mapping& map = m();
    map.inputs.resize(op().inputs.size());
    map.rings.assign(op().inputs.size(), {});
    const LayerNest nest(graph_, OpId(layer_), map);
    std::int64_t sums = 0;
    for (const CoreShare& share : map.shares)
      for (const ScheduleStep& step : plan_.schedule) {
        if (step.layer.at() != layer_) continue;
        for (const Iteration& at : nest.iterations()) {
          const std::vector<RowCall> calls = nest.calls(share, step.rows, at);
          const Interval blocks = map.passBlocks(share, at.pass);
          if (blocks.empty() && !map.resident) continue;
          map.weightBytes = std::max(map.weightBytes, nest.usedBytes(share, at));
          for (const RowCall& call : calls) {
            map.outputRowBytes = std::max(map.outputRowBytes, blocks.count * call.x.count * kBlock);
            if (fusedWindowOf(op())) pooledRow(nest, blocks, call);
          }
          sums = std::max(sums, nest.cellsComputed(calls) * blocks.count * kBlock * 4);
          for (std::size_t i = 0; i < op().inputs.size(); ++i)
            ring(nest, share, i, at, calls, map.rings[i]);
        }
      }
    if (map.pooled.length > 0 && random_.chance(50)) map.pooled.length += random_.between(0, 2);
    for (RingPlan& ring : map.rings) {
      if (random_.chance(50) && ring.length < kMostRings) ring.length += random_.between(0, 3);
    }
    rowsTogether();
    if (recordBytes(op(), {0, 1}, map.parts[0], true) == 0) map.weightBytes = 0;
    map.equalRecords = map.weightBytes > 0 && (device_.limits.recordLengths || random_.chance(10));
    map.weightSlots = map.weightBytes > 0 ? random_.between(1, tries < 6 ? 3 : 1) : 0;
    const std::int64_t written = map.parts.size() == 1 && map.passes > 2
                                     ? std::max(map.callRows, map.innerCallRows)
                                     : map.callRows;
    map.outputSlots = random_.between(1, 3) + (callsOneRow(op()) ? 0 : written - 1);
    if (map.parts.size() > 1) map.accumulatorBytes = sums * nest.accumulatorBands();
    return map.coreBytes() <= device_.core.operandMemory().raw();
  }

  void rowsTogether() {
    Mapping& map = m();
    for (std::size_t i = 0; i < map.rings.size(); ++i) {
      RingPlan& ring = map.rings[i];
      if (ring.length < 2 || !random_.chance(40)) continue;
      ring.together = random_.between(2, ring.length);
      ring.onlyBetween = random_.chance(50);
      const std::int64_t iterations = map.passes * std::max<std::int64_t>(1, std::ssize(map.parts));
      if (iterations > (ring.onlyBetween ? 2 : 1) &&
          !plan_.homes[plan_.views[op().inputs[i].at()].root.at()].empty())
        say(ring.length % ring.together == 0
                ? "rows that come together"
                : "rows that come together, in rings that are no multiple of them");
      if (ring.onlyBetween && iterations > 2)
        say("rows that come together but for those of the last iteration");
    }
  }

  void pooledRow(const LayerNest& nest, const Interval& blocks, const RowCall& call) {
    RingPlan& pooled = m().pooled;
    pooled.length = std::max(pooled.length, nest.pooled().rows(call.y).count);
    pooled.rowBytes =
        std::max(pooled.rowBytes, blocks.count * nest.pooled().columns(call.x).count * kBlock);
  }

  void ring(const LayerNest& nest, const CoreShare& share, std::size_t operand, const Iteration& at,
            const std::vector<RowCall>& calls, RingPlan& ring) const {
    std::int64_t most = calls.empty() ? 0 : 1, all = most;
    std::map<std::size_t, Interval> whole;
    for (const RowCall& call : calls) {
      const Held h = nest.held(share, operand, at, call.x);
      if (!h.blocks.empty())
        ring.rowBytes = std::max(ring.rowBytes, h.blocks.count * h.columns.count * kBlock);
      const Interval rows = nest.rowsOf(operand, call, nest.loadedKernelRows(at));
      if (rows.empty()) continue;
      most = std::max(most, rows.count);
      Interval& box = whole.try_emplace(call.box, rows).first->second;
      box.count = std::max(box.end(), rows.end()) - box.first;
    }
    std::int64_t rowsOfAll = 0;
    for (const auto& [box, rows] : whole) rowsOfAll += rows.count;
    all = std::max(all, rowsOfAll);
    ring.length = std::max(ring.length, nest.stays(operand) ? all : most);
  }

  // ---- routes -----------------------------------------------------------------------------------

  void staging() {
    channelOf_.resize(graph_.ops.size());
    for (std::vector<std::int64_t>& channels : channelOf_)
      for (std::size_t w = 0; w < device_.wires.size(); ++w)
        channels.push_back(random_.between(0, device_.core.channelsIn - 1));
  }

  // Where a tensor's home cannot feed the wires of its readers, it moves to DDR.
  bool routesForAll(const std::vector<bool>& inPlace) {
    for (int tries = 0; tries < 30; ++tries) {
      std::optional<std::size_t> moved;
      for (layer_ = 0; layer_ < graph_.ops.size() && !moved; ++layer_)
        if (!inPlace[layer_]) moved = inputRoutes();
      if (moved) {
        if (plan_.homes[*moved].empty()) return false;
        plan_.homes[*moved].clear();
        continue;
      }
      for (layer_ = 0; layer_ < graph_.ops.size(); ++layer_)
        if (!inPlace[layer_] && m().weightSlots > 0 && !weightRoutes()) return false;
      return true;
    }
    return false;
  }

  // A root whose home cannot be read, or nothing.
  std::optional<std::size_t> inputRoutes() {
    Mapping& map = m();
    for (std::size_t i = 0; i < op().inputs.size(); ++i) {
      map.inputs[i].clear();
      const std::size_t root = plan_.views[op().inputs[i].at()].root.at();
      if (const PixelMap pixels = pixelMapOf(graph_, plan_, op().inputs[i]); !pixels.isWhole())
        say(!plan_.homes[root].empty() ? "some pixels of a tensor"
            : pixels.columnStep() > 1  ? "every n-th column of a tensor in DDR"
                                       : "some pixels of a tensor in DDR");
      std::set<std::int64_t> sources;  // all of the home: more than needed is still legal
      for (const HomeBox& box : plan_.homes[root]) sources.insert(box.memtile);
      for (const std::vector<CoreAt>&group : groups([&](const CoreShare&a, const CoreShare&b) {
             return sharesInput(op(), i) && a.boxes == b.boxes;
           }))
        if (!addRoutes(group, sources, map.inputs[i])) return root;
    }
    return std::nullopt;
  }

  bool weightRoutes() {
    Mapping& map = m();
    map.weights.clear();
    for (const std::vector<CoreAt>&group :
         groups([](const CoreShare&a, const CoreShare&b) { return a.blocks == b.blocks; }))
      if (!addRoutes(group, {}, map.weights)) return false;
    return true;
  }

  // Cores that need the same, some of them parted all the same.
  template <class Same>
  std::vector<std::vector<CoreAt>> groups(Same same) {
    std::vector<std::vector<CoreAt>> out;
    std::vector<const CoreShare*> first;
    const int parted = random_.chance(30) ? 50 : 0;
    for (const CoreShare& share : m().shares) {
      bool found = false;
      for (std::size_t g = 0; g < out.size() && !found; ++g)
        if (same(*first[g], share) && !random_.chance(parted)) {
          out[g].push_back(share.core);
          found = true;
        }
      if (found) continue;
      out.push_back({share.core});
      first.push_back(&share);
    }
    return out;
  }

  // One route to all of the group where a wire does that, else one to each core; false where one
  // core has none.
  bool addRoutes(const std::vector<CoreAt>& group, const std::set<std::int64_t>& sources,
                 std::vector<Route>& routes) {
    if (addRoute(group, sources, routes)) {
      if (group.size() > 1) say("multicast");
      return true;
    }
    return std::all_of(group.begin(), group.end(),
                       [&](const CoreAt& core) { return addRoute({core}, sources, routes); });
  }

  bool addRoute(const std::vector<CoreAt>& cores, const std::set<std::int64_t>& sources,
                std::vector<Route>& routes) {
    std::vector<std::int64_t> wires;
    for (std::size_t w = 0; w < device_.wires.size(); ++w) {
      const Wire& wire = device_.wires[w];
      const bool reaches = std::all_of(cores.begin(), cores.end(), [&](const CoreAt& c) {
        return wire.reach.contains(c.row, c.column);
      });
      const bool fed = std::all_of(sources.begin(), sources.end(), [&](std::int64_t memtile) {
        return std::find(wire.feeders.begin(), wire.feeders.end(), memtile) != wire.feeders.end();
      });
      if (reaches && fed) wires.push_back(static_cast<std::int64_t>(w));
    }
    if (wires.empty()) return false;
    shuffle(wires);
    Route route;
    route.cores = cores;
    route.memtile = random_.pick(device_.wires[static_cast<std::size_t>(wires[0])].feeders);
    route.ddrChannel = random_.between(0, device_.memtile.ddrChannelsIn - 1);
    if (random_.chance(30)) route.ddrTurns = random_.between(1, device_.memtile.ddrChannelsIn);
    if (route.ddrTurns > 1) say("DDR channels by turns");
    route.lead = random_.chance(40) ? random_.between(1, 9) : 0;
    if (random_.chance(3)) route.lead = INT32_MAX;  // as far as there are places, or a sweep goes
    const std::size_t most = random_.chance(40) ? 3 : 1;
    for (const std::int64_t wire : wires) {
      const std::vector<std::int64_t>& feeders =
          device_.wires[static_cast<std::size_t>(wire)].feeders;
      const bool fed = std::find(feeders.begin(), feeders.end(), route.memtile) != feeders.end();
      if (route.lanes.size() < most && fed)
        route.lanes.push_back({wire, channelOf_[layer_][static_cast<std::size_t>(wire)]});
    }
    if (route.lanes.size() > 1) say("stream split between wires");
    if (route.lead > 0) say("lead");
    routes.push_back(std::move(route));
    return true;
  }

  // Whether a memtile has room for the records on their way, or may have.
  bool roomForRecords() {
    std::int64_t bytes = kBlock;
    bool any = false;
    for (const Mapping& map : plan_.layers) {
      bytes = std::max(bytes, mostRoutesOfAMemtile(map.weights) * map.weightBytes);
      any = any || !map.weights.empty();
    }
    plan_.weightStaging =
        random_.chance(25) ? random_.between(0, bytes - 1) : bytes * random_.between(1, 3);
    if (any && plan_.weightStaging < bytes) say("records larger than what is set aside");
    if (random_.chance(40)) recordsAtHome();
    return plan_.weightStaging <= device_.memtile.memory.raw();
  }

  // Of some layers, all or some of their records, of use or not.
  void recordsAtHome() {
    for (std::size_t layer = 0; layer < plan_.layers.size(); ++layer) {
      Mapping& map = plan_.layers[layer];
      if (map.weights.empty() || random_.chance(40)) continue;
      const std::int64_t different = differentRecords(map);
      map.recordsAtHome = random_.chance(50) ? different : random_.between(1, different);
      const bool again =
          recordsOf(map) > different ||
          std::ranges::count(plan_.schedule, LayerId(layer), &ScheduleStep::layer) > 1;
      if (again && map.recordsAtHome == different) say("all records at home");
      if (again && map.recordsAtHome < different) say("some records at home");
    }
  }

  const CanonicalGraph& graph_;
  const Device& device_;
  Random random_;
  Plan plan_;
  PlanKinds kinds_;
  std::size_t layer_ = 0;
  std::vector<std::vector<std::int64_t>> channelOf_;  // per layer and wire
};

}  // namespace

std::vector<std::string> planKindNames() {
  return {"concat, split or slice in place",
          "concat, split or slice copied",
          "some pixels of a tensor",
          "some pixels of a tensor in DDR",
          "every n-th column of a tensor in DDR",
          "home in DDR",
          "several frames",
          "home in one memtile",
          "home cut",
          "home cut by channels",
          "home with two boxes in a memtile",
          "home whose rows live for different steps",
          "depth first in tiles",
          "steps out of the layers' order",
          "a layer that comes back",
          "cut anywhere",
          "flattened pixels",
          "cut by H",
          "cut by W",
          "cut by COUT",
          "reduction cut over time",
          "calls of several rows",
          "calls of several rows of a reduction cut over time",
          "calls of several rows before a pool",
          "calls of several rows before a depth-wise convolution",
          "calls of several rows of one of several images",
          "longer calls between the first part of a reduction and the last",
          "longer calls in the first part of a later pass",
          "longer calls in passes between the first and the last",
          "rows that come together",
          "rows that come together, in rings that are no multiple of them",
          "rows that come together but for those of the last iteration",
          "calls that sum several rows for a window at the end",
          "a table at the end of a convolution",
          "a table at the end of a depth-wise convolution",
          "a table after the last part of a reduction",
          "a table before an addition",
          "a table at the end of a depth-wise convolution at an end",
          "one pixel that meets all others",
          "calls of several rows that all meet one pixel",
          "an addition at the end of a convolution",
          "an addition of one pixel at the end of a convolution",
          "a multiplication before a convolution",
          "a multiplication before each part of a reduction",
          "a multiplication for kept inputs over several passes",
          "a multiplication before a convolution that adds",
          "lines before a convolution",
          "lines before each part of a reduction",
          "lines for kept inputs over several passes",
          "lines before a convolution that adds",
          "an addition over several passes of kept inputs",
          "an addition after the last part of a reduction",
          "a pool at the end of a convolution",
          "a pool of rows that are kept",
          "a pool after the last part of a reduction",
          "a pool in bands",
          "a depth-wise convolution at the end of a convolution",
          "a depth-wise convolution of rows that are kept",
          "a depth-wise convolution after the last part of a reduction",
          "a depth-wise convolution in bands",
          "inputs kept over passes",
          "passes inside bands",
          "weights kept over bands",
          "sums of several passes kept",
          "sums of several bands kept",
          "sums of several chunks kept",
          "multicast",
          "stream split between wires",
          "lead",
          "DDR channels by turns",
          "records larger than what is set aside",
          "all records at home",
          "some records at home"};
}

Device randomArray(std::uint64_t seed) {
  Random random(seed ^ 0x61727261);
  const Result<Device> paper =
      readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml",
                 {.mesh = {{random.between(1, 5), random.between(1, 5)}}, .settings = {}});
  HEDDLE_CHECK(paper) << toText(paper.diagnostics());
  Device device = *paper;
  device.core.channelsIn = random.between(1, 3);
  device.core.channelsOut = random.between(1, 2);
  device.memtile.ddrChannelsIn = random.between(1, 3);
  device.memtile.ddrChannelsOut = random.between(1, 3);
  device.core.memory = Bytes(8 * 1024 * random.between(2, 12));
  device.memtile.memory = Bytes(8 * 1024 * random.between(4, 80));
  device.core.callOverhead = Cycles(random.between(0, 20));
  device.lockAcquire = Cycles(random.between(0, 5));
  device.wires.clear();
  const auto add = [&](const CoreRange& reach) {
    Wire wire{"wire" + std::to_string(device.wires.size()), reach, {}};
    for (std::int64_t t = 0; t < device.memtiles(); ++t)
      if (random.chance(75)) wire.feeders.push_back(t);
    if (wire.feeders.empty()) wire.feeders.push_back(random.between(0, device.memtiles() - 1));
    device.wires.push_back(std::move(wire));
  };
  const std::int64_t wires = random.between(1, 2 + device.rows + device.columns);
  for (std::int64_t i = 0; i < wires; ++i) {
    const std::int64_t r = random.between(0, device.rows - 1);
    const std::int64_t c = random.between(0, device.columns - 1);
    add({r, c, random.between(1, device.rows - r), random.between(1, device.columns - c)});
  }
  for (std::int64_t r = 0; r < device.rows; ++r)
    for (std::int64_t c = 0; c < device.columns; ++c)
      if (std::none_of(device.wires.begin(), device.wires.end(),
                       [&](const Wire& wire) { return wire.reach.contains(r, c); }))
        add({r, c, 1, 1});
  if (random.chance(20)) device.limits.lockMaximum = random.between(2, 24);
  if (random.chance(10)) device.limits.coreLocks = random.between(4, 16);
  if (random.chance(10)) device.limits.memtileLocks = random.between(8, 64);
  if (random.chance(10)) device.limits.locksPerDescriptor = random.between(1, 6);
  return device;
}

std::optional<RandomPlan> randomPlan(const CanonicalGraph& graph, const Device& device,
                                     std::uint64_t seed) {
  return PlanMaker(graph, device, seed).run();
}

}  // namespace heddle::property
