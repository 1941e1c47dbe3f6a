#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "heddle/canon/fold_columns.h"
#include "heddle/support/text_lines.h"
#include "heddle/tiling/pixel_map.h"
#include "heddle/tiling/plan.h"

namespace heddle {
namespace {

const std::string kVersion = "heddle.plan/2";
const std::string kCode = "PLAN010";
const std::vector<std::string> kLoopWords = {"pass", "chunk", "band", "part"};  // of NestLoop
constexpr std::int64_t kMost = std::int64_t{1} << 40;  // of any number: sums stay in 64 bits

// ---- print --------------------------------------------------------------------------------------

std::ostream& operator<<(std::ostream& out, const Interval& i) {
  return out << i.first << ".." << i.end();
}

class PlanPrinter {
 public:
  PlanPrinter(const Plan& plan, const CanonicalGraph& graph, const PlanOrigin& origin,
              const std::vector<StepTime>& times)
      : plan_(plan), graph_(graph), origin_(origin), times_(times) {}

  std::string run() {
    out_ << kVersion << "\nmodel " << quotedText(origin_.modelSha256) << "\ndevice "
         << quotedText(origin_.deviceSha256) << "\n";
    if (graph_.batch > 1) out_ << "batch " << graph_.batch << "\n";
    out_ << "staging " << plan_.weightStaging << "\n";
    if (plan_.frames > 1) out_ << "frames " << plan_.frames << "\n";
    out_ << "\n";
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      const CanonicalTensor& tensor = graph_.tensors[t];
      if (tensor.blockOrder.empty()) continue;
      out_ << "order " << t;
      for (const std::int64_t block : tensor.blockOrder) out_ << " " << block;
      out_ << "  # " << quotedText(tensor.name) << "\n";
    }
    const std::vector<std::int64_t> columns = foldedColumns(graph_);
    for (std::size_t t = 0; t < columns.size(); ++t)
      if (columns[t] > 1)
        out_ << "folded " << t << " by " << columns[t] << "  # "
             << quotedText(graph_.tensors[t].name) << "\n";
    for (std::size_t t = 0; t < plan_.views.size(); ++t)
      if (const View& v = plan_.views[t]; v.root.at() != t) view(t, v);
    for (std::size_t t = 0; t < plan_.homes.size(); ++t) {
      if (plan_.homes[t].empty()) continue;
      out_ << "home " << t << "  # " << quotedText(graph_.tensors[t].name) << "\n";
      for (const HomeBox& box : plan_.homes[t])
        out_ << "  at memtile " << box.memtile << " y " << box.y << " x " << box.x << " blocks "
             << box.blocks << "\n";
    }
    for (std::size_t i = 0; i < plan_.layers.size(); ++i) layer(i);
    out_ << "\n";
    for (std::size_t s = 0; s < plan_.schedule.size(); ++s) {
      const ScheduleStep& step = plan_.schedule[s];
      out_ << "step layer " << step.layer.index << " rows " << step.rows;
      if (s < times_.size() && !plan_.layers[step.layer.at()].inPlace()) time(times_[s]);
      out_ << "\n";
    }
    return out_.str();
  }

 private:
  void view(std::size_t tensor, const View& view) {
    out_ << "view " << tensor << " root " << view.root.index << " block " << view.block;
    if (view.sampling) out_ << " " << toText(*view.sampling);
    out_ << "\n";
  }

  void layer(std::size_t i) {
    const Mapping& m = plan_.layers[i];
    out_ << "\nlayer " << i << " " << quotedText(graph_.ops[i].name) << "  # "
         << graph_.ops[i].onnxOp << ", " << splitText(m) << "\n";
    if (m.inPlace()) return;
    out_ << "  loops";
    for (const NestLoop loop : m.order) out_ << " " << kLoopWords[static_cast<std::size_t>(loop)];
    out_ << " passes " << m.passes << " of " << m.blocksPerPass << " chunks " << m.chunks
         << " bands " << m.bands << (m.resident ? " resident" : "");
    if (m.callRows != 1) out_ << " rows " << m.callRows;
    if (m.innerCallRows != 1) out_ << " inner " << m.innerCallRows;
    out_ << "\n";
    for (const ReductionPart& part : m.parts)
      out_ << "  part blocks " << part.inputBlocks << " rows " << part.kernelRows << "\n";
    out_ << "  buffers weights " << m.weightSlots << " by " << m.weightBytes
         << (m.equalRecords ? " equal" : "");
    if (m.recordsAtHome > 0) out_ << " at-home " << m.recordsAtHome;
    out_ << " output " << m.outputSlots << " by " << m.outputRowBytes << " sums "
         << m.accumulatorBytes << "  # core " << m.coreBytes() << " B\n";
    for (const RingPlan& ring : m.rings) {
      out_ << "  ring " << ring.length << " by " << ring.rowBytes;
      if (ring.together != 1) out_ << " together " << ring.together;
      if (ring.onlyBetween) out_ << " between";
      out_ << "\n";
    }
    if (m.pooled.length > 0)
      out_ << "  pooled " << m.pooled.length << " by " << m.pooled.rowBytes << "\n";
    out_ << "  score " << m.score.raw() << " bound " << quotedText(m.boundBy) << "\n";
    for (std::size_t s = 0; s < m.shares.size(); ++s) {
      const CoreShare& share = m.shares[s];
      if (s == 0 || share.boxes != m.shares[s - 1].boxes) {
        out_ << "  pixels";
        for (const PixelBox& box : share.boxes) out_ << " y " << box.y << " x " << box.x;
        out_ << "\n";
      }
      out_ << "    core " << share.core.row << " " << share.core.column << " blocks "
           << share.blocks << " out " << share.output.channel << " memtile " << share.output.memtile
           << " ddr " << share.output.ddrChannel << "\n";
    }
    for (std::size_t k = 0; k < m.inputs.size(); ++k)
      for (const Route& route : m.inputs[k]) this->route("input " + std::to_string(k), route);
    for (const Route& route : m.weights) this->route("weights", route);
  }

  // What the counts of a step come to.
  void time(const StepTime& t) {
    out_ << "  # +" << t.cycles.raw() << " cycles, done at " << t.end.raw() << "; busy:";
    const char* before = " ";
    for (std::size_t r = 0; r < kResources; ++r) {
      if (t.busy[r].raw() == 0) continue;
      out_ << before << name(static_cast<Resource>(r)) << " " << t.busy[r].raw();
      before = ", ";
    }
  }

  void route(const std::string& stream, const Route& r) {
    out_ << "  route " << stream << " cores";
    for (std::size_t i = 0; i < r.cores.size();) {
      // As many as follow in the order of a rectangle's rows.
      const CoreAt first = r.cores[i];
      std::size_t columns = 1, rows = 1;
      const auto there = [&](std::size_t at, std::size_t row, std::size_t column) {
        return i + at < r.cores.size() &&
               r.cores[i + at] == CoreAt{first.row + static_cast<std::int64_t>(row),
                                         first.column + static_cast<std::int64_t>(column)};
      };
      while (there(columns, 0, columns)) ++columns;
      for (bool whole = true; whole; rows += whole)
        for (std::size_t c = 0; c < columns && whole; ++c)
          whole = there(rows * columns + c, rows, c);
      out_ << " " << Interval{first.row, static_cast<std::int64_t>(rows)} << " "
           << Interval{first.column, static_cast<std::int64_t>(columns)};
      i += rows * columns;
    }
    out_ << " lanes";
    for (const Lane& lane : r.lanes) out_ << " " << lane.wire << " " << lane.channel;
    out_ << " memtile " << r.memtile << " ddr " << r.ddrChannel;
    if (r.ddrTurns > 1) out_ << " turns " << r.ddrTurns;
    out_ << " lead " << r.lead << "\n";
  }

  const Plan& plan_;
  const CanonicalGraph& graph_;
  const PlanOrigin& origin_;
  const std::vector<StepTime>& times_;
  std::ostringstream out_;
};

// ---- parse --------------------------------------------------------------------------------------

class PlanParser {
 public:
  explicit PlanParser(const CanonicalGraph& graph) : graph_(graph) {
    plan_.layers.resize(graph.ops.size());
    plan_.homes.resize(graph.tensors.size());
    columns_.assign(graph.tensors.size(), 1);
    isNamed_.assign(graph.ops.size(), false);
    for (std::size_t t = 0; t < graph.tensors.size(); ++t)
      plan_.views.push_back({.root = TensorId(t), .block = 0, .sampling = {}});
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
      plan_.layers[i].inputs.resize(graph.ops[i].inputs.size());
  }

  Result<PlanText> run(const std::string& text, const std::string& name) {
    Diagnostics faults =
        readArtefact(text, name, {kVersion, "plan", kCode}, [&](LineReader& r) { line(r); });
    if (!faults.empty()) return faults;
    if (const std::optional<Diagnostic> fault = otherFold(name)) return *fault;
    if (const auto missing = std::ranges::find(isNamed_, false); missing != isNamed_.end()) {
      const CanonicalOp& op = graph_.ops[static_cast<std::size_t>(missing - isNamed_.begin())];
      return Diagnostic{kCode, name, "the plan has no layer '" + op.name + "'",
                        std::to_string(std::ranges::count(isNamed_, false)) + " of " +
                            std::to_string(isNamed_.size()) + " layers are not named",
                        "give the whole plan that was made for this network"};
    }
    for (std::size_t i = 0; i < plan_.layers.size(); ++i)
      if (plan_.layers[i].inPlace()) plan_.layers[i].inputs.clear();
    return PlanText{std::move(plan_), std::move(origin_), std::move(orders_)};
  }

 private:
  void line(LineReader& r) {
    static const std::vector<std::string> kWords = {
        "model", "device", "staging", "view",   "home",  "at",     "layer",
        "loops", "part",   "buffers", "ring",   "score", "pixels", "core",
        "route", "step",   "frames",  "pooled", "order", "batch",  "folded"};
    static constexpr std::array<void (PlanParser::*)(LineReader&), 21> kReaders = {
        &PlanParser::model,  &PlanParser::device,  &PlanParser::staging, &PlanParser::view,
        &PlanParser::home,   &PlanParser::at,      &PlanParser::layer,   &PlanParser::loops,
        &PlanParser::part,   &PlanParser::buffers, &PlanParser::ring,    &PlanParser::score,
        &PlanParser::pixels, &PlanParser::core,    &PlanParser::route,   &PlanParser::step,
        &PlanParser::frames, &PlanParser::pooled,  &PlanParser::order,   &PlanParser::batch,
        &PlanParser::folded};
    (this->*kReaders[r.oneOf(kWords)])(r);
  }

  // A plan of a network whose images are folded in another way is of other shapes.
  std::optional<Diagnostic> otherFold(const std::string& name) const {
    const std::vector<std::int64_t> network = foldedColumns(graph_);
    for (std::size_t t = 0; t < network.size(); ++t)
      if (network[t] != columns_[t])
        return Diagnostic{kCode, name, "the plan folds another number of columns than the network",
                          "tensor " + std::to_string(t) + " '" + graph_.tensors[t].name + "' by " +
                              std::to_string(columns_[t]) + ", the network's by " +
                              std::to_string(network[t]),
                          "give the plan that was made for this network, by this version"};
    return std::nullopt;
  }

  static std::int64_t number(LineReader& r) { return r.number(0, kMost); }
  static Interval interval(LineReader& r) {
    const auto [first, end] = r.interval();
    if (end > kMost) r.fail("an interval out of range", "end it below 2^40");
    return {first, end - first};
  }
  std::int64_t named(LineReader& r, std::string_view word) {
    r.expect(word);
    return number(r);
  }
  Interval namedInterval(LineReader& r, std::string_view word) {
    r.expect(word);
    return interval(r);
  }
  std::size_t tensor(LineReader& r) {
    return static_cast<std::size_t>(r.number(0, std::ssize(graph_.tensors) - 1));
  }
  Mapping& mapping(LineReader& r) {
    if (!layer_)
      r.fail("no layer is named above this line", "begin with a line 'layer 0 \"name\"'");
    return plan_.layers[*layer_];
  }

  void model(LineReader& r) { origin_.modelSha256 = r.string(); }
  void device(LineReader& r) { origin_.deviceSha256 = r.string(); }
  void staging(LineReader& r) { plan_.weightStaging = number(r); }
  void frames(LineReader& r) { plan_.frames = r.number(1, kMaxFrames); }
  void batch(LineReader& r) {
    origin_.batch = r.number(1, kMaxBatch);
    if (origin_.batch != graph_.batch)
      r.fail("a batch of " + std::to_string(origin_.batch) + ", the network's is " +
                 std::to_string(graph_.batch),
             "let the line stand behind that of the device");
  }
  void order(LineReader& r) {
    orders_.resize(graph_.tensors.size());
    const std::size_t t = tensor(r);
    const std::int64_t blocks = blocksOf(graph_.tensors[t].shape);
    orders_[t].clear();
    for (std::int64_t b = 0; b < blocks; ++b) orders_[t].push_back(r.number(0, blocks - 1));
  }
  void folded(LineReader& r) {
    std::int64_t& columns = columns_[tensor(r)];
    r.expect("by");
    columns = r.number(2, kMost);
  }
  void view(LineReader& r) {
    View& view = plan_.views[tensor(r)];
    r.expect("root");
    view.root = TensorId(tensor(r));
    view.block = named(r, "block");
    view.sampling.reset();
    if (r.take("rows")) {
      view.sampling.emplace().rows = steps(r);
      r.expect("columns");
      view.sampling->columns = steps(r);
    }
  }
  Steps steps(LineReader& r) {
    const std::int64_t first = number(r);
    r.expect("by");
    return {first, r.number(1, kMost)};
  }
  void home(LineReader& r) { home_ = tensor(r); }
  void at(LineReader& r) {
    if (!home_) r.fail("no home is named above this line", "begin with a line 'home 0'");
    HomeBox box;
    box.memtile = named(r, "memtile");
    box.y = namedInterval(r, "y");
    box.x = namedInterval(r, "x");
    box.blocks = namedInterval(r, "blocks");
    plan_.homes[*home_].push_back(box);
  }

  void layer(LineReader& r) {
    layer_ = static_cast<std::size_t>(r.number(0, std::ssize(graph_.ops) - 1));
    pixels_.clear();
    isNamed_[*layer_] = true;
    const std::string name = r.string();
    if (name != graph_.ops[*layer_].name)
      r.fail("the layer has another name in the network: " + quotedText(graph_.ops[*layer_].name),
             "give the plan that was made for this network");
  }
  void loops(LineReader& r) {
    Mapping& m = mapping(r);
    for (NestLoop& loop : m.order) loop = static_cast<NestLoop>(r.oneOf(kLoopWords));
    m.passes = named(r, "passes");
    m.blocksPerPass = named(r, "of");
    m.chunks = named(r, "chunks");
    m.bands = named(r, "bands");
    m.resident = r.take("resident");
    if (r.take("rows")) m.callRows = number(r);
    if (r.take("inner")) m.innerCallRows = number(r);
  }
  void part(LineReader& r) {
    ReductionPart part;
    part.inputBlocks = namedInterval(r, "blocks");
    part.kernelRows = namedInterval(r, "rows");
    mapping(r).parts.push_back(part);
  }
  void buffers(LineReader& r) {
    Mapping& m = mapping(r);
    m.weightSlots = named(r, "weights");
    m.weightBytes = named(r, "by");
    m.equalRecords = r.take("equal");
    if (r.take("at-home")) m.recordsAtHome = number(r);
    m.outputSlots = named(r, "output");
    m.outputRowBytes = named(r, "by");
    m.accumulatorBytes = named(r, "sums");
  }
  void ring(LineReader& r) {
    RingPlan& ring = mapping(r).rings.emplace_back(ringPlan(r));
    if (r.take("together")) ring.together = number(r);
    ring.onlyBetween = r.take("between");
  }
  void pooled(LineReader& r) { mapping(r).pooled = ringPlan(r); }
  RingPlan ringPlan(LineReader& r) {
    RingPlan ring;
    ring.length = number(r);
    ring.rowBytes = named(r, "by");
    return ring;
  }
  void score(LineReader& r) {
    Mapping& m = mapping(r);
    m.score = Cycles(number(r));
    r.expect("bound");
    m.boundBy = r.string();
  }
  void pixels(LineReader& r) {
    mapping(r);
    pixels_.clear();
    while (!r.done()) {
      PixelBox box;
      box.y = namedInterval(r, "y");
      box.x = namedInterval(r, "x");
      pixels_.push_back(box);
    }
  }
  void core(LineReader& r) {
    CoreShare share;
    share.core.row = number(r);
    share.core.column = number(r);
    share.boxes = pixels_;
    share.blocks = namedInterval(r, "blocks");
    share.output.channel = named(r, "out");
    share.output.memtile = named(r, "memtile");
    share.output.ddrChannel = named(r, "ddr");
    mapping(r).shares.push_back(std::move(share));
  }
  void route(LineReader& r) {
    Mapping& m = mapping(r);
    std::vector<Route>* routes = &m.weights;
    if (!r.take("weights")) {
      r.expect("input");
      routes = &m.inputs[static_cast<std::size_t>(r.number(0, std::ssize(m.inputs) - 1))];
    }
    Route route;
    r.expect("cores");
    while (r.nextIs(TextToken::Kind::Interval)) {
      const Interval rows = interval(r), columns = interval(r);
      if (rows.count > kMostCores || columns.count > kMostCores ||
          rows.count * columns.count > kMostCores)
        r.fail("a route to more cores than an array has", "name cores of the device");
      for (std::int64_t row = rows.first; row < rows.end(); ++row)
        for (std::int64_t column = columns.first; column < columns.end(); ++column)
          route.cores.push_back({row, column});
    }
    r.expect("lanes");
    while (r.nextIs(TextToken::Kind::Number)) {
      const std::int64_t wire = number(r);
      route.lanes.push_back({wire, number(r)});
    }
    route.memtile = named(r, "memtile");
    route.ddrChannel = named(r, "ddr");
    if (r.take("turns")) route.ddrTurns = number(r);
    route.lead = named(r, "lead");
    routes->push_back(std::move(route));
  }
  void step(LineReader& r) {
    r.expect("layer");
    const auto layer = static_cast<std::size_t>(r.number(0, std::ssize(graph_.ops) - 1));
    plan_.schedule.push_back({LayerId(layer), namedInterval(r, "rows")});
  }

  static constexpr std::int64_t kMostCores = 65536;

  const CanonicalGraph& graph_;
  Plan plan_;
  PlanOrigin origin_;
  BlockOrders orders_;
  std::vector<std::int64_t> columns_;  // per tensor, of the image in one
  std::vector<bool> isNamed_;          // per layer
  std::optional<std::size_t> layer_, home_;
  std::vector<PixelBox> pixels_;
};

}  // namespace

std::string print(const Plan& plan, const CanonicalGraph& graph, const PlanOrigin& origin,
                  const std::vector<StepTime>& times) {
  return PlanPrinter(plan, graph, origin, times).run();
}

PlanOrigin readOrigin(const std::string& text) {
  std::size_t end = 0;  // of the first four lines
  for (int line = 0; line < 4 && end != std::string::npos; ++line) end = text.find('\n', end + 1);
  PlanOrigin origin;
  const Result<std::vector<TextLine>> lines = readTextLines(text.substr(0, end), "", kCode);
  if (!lines) return origin;
  for (const TextLine& line : *lines) {
    if (line.tokens.size() != 2) continue;
    if (line.tokens[0].text == "batch" && line.tokens[1].kind == TextToken::Kind::Number)
      origin.batch = std::clamp<std::int64_t>(line.tokens[1].first, 1, kMaxBatch);
    if (line.tokens[1].kind != TextToken::Kind::String) continue;
    if (line.tokens[0].text == "model") origin.modelSha256 = line.tokens[1].text;
    if (line.tokens[0].text == "device") origin.deviceSha256 = line.tokens[1].text;
  }
  return origin;
}

std::set<std::string> layersNamedIn(const std::string& text) {
  std::set<std::string> names;
  std::istringstream in(text);
  for (std::string row; std::getline(in, row);) {
    if (!row.starts_with("layer ")) continue;
    const Result<std::vector<TextLine>> lines = readTextLines(row, "", kCode);
    if (lines && lines->size() == 1 && lines->front().tokens.size() == 3)
      names.insert(lines->front().tokens[2].text);
  }
  return names;
}

Result<PlanText> parsePlan(const std::string& text, const std::string& name,
                           const CanonicalGraph& graph) {
  return PlanParser(graph).run(text, name);
}

}  // namespace heddle
