#include "finalists.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>

#include "heddle/canon/fuse_operators.h"
#include "heddle/tiling/geometry.h"
#include "heddle/tiling/views.h"
#include "mesh_cut.h"
#include "spare_memory.h"
#include "streams.h"

namespace heddle {
namespace {

FusedWindow* endOf(CanonicalOp& op) {
  Conv* conv = std::get_if<Conv>(&op.attributes);
  return conv && conv->fusedWindow ? &*conv->fusedWindow : nullptr;
}

// A layer of a few of its output rows, as a network of its own: its tensors as high as these rows
// need, no row of border.
CanonicalGraph tileOf(const CanonicalGraph& graph, const CanonicalOp& op, std::int64_t rows) {
  CanonicalGraph tile{.name = graph.name, .tensors = {}, .ops = {op}, .inputs = {}, .outputs = {}};
  CanonicalOp& only = tile.ops[0];
  std::visit(
      [](auto& attributes) {
        if constexpr (requires { attributes.window; }) {
          attributes.window.padTop = attributes.window.padBottom = 0;
        }
      },
      only.attributes);
  FusedWindow* end = endOf(only);
  if (end) end->window().padTop = 0;
  const auto window = windowOf(only);
  const auto add = [&](TensorId& tensor, std::int64_t height) {
    CanonicalTensor part = graph.tensors[tensor.at()];
    part.shape.height = std::min(part.shape.height, height);
    tensor = TensorId(tile.tensors.size());
    tile.tensors.push_back(std::move(part));
  };
  for (std::size_t i = 0; i < only.inputs.size(); ++i) {
    const bool slides = window && !isAddend(only, i);
    add(only.inputs[i],
        slides ? (rows - 1) * window->strideY + (window->kernelY - 1) * window->dilationY + 1
               : rows);
  }
  add(only.output, rows);
  if (end) add(end->before, (rows - 1) * end->window().strideY + end->window().kernelY);
  return tile;
}

// In thousandths, of what the heaviest core computes, that bands have to save.
constexpr std::int64_t kWorthBands = 30;

constexpr std::size_t kMostNumbered = 4;  // beside the others, of those whose pixels are numbered

struct MappingOfCut {
  std::size_t cut = 0;
  FoundMapping found;
  friend bool operator==(const MappingOfCut&, const MappingOfCut&) = default;
};

bool isFaster(const MappingOfCut& a, const MappingOfCut& b) {
  return a.found.mapping.score < b.found.mapping.score;
}

// Of more mappings than the closed form need look at, those of the best scores; the first stays
// where it is.
void keepTheBest(std::vector<MappingOfCut>& candidates, std::size_t most) {
  if (candidates.size() <= most) return;
  std::stable_sort(candidates.begin() + 1, candidates.end(), isFaster);
  candidates.resize(most);
}

// The score that a mapping has to beat to be one of the `most` that are kept; none where there is
// room.
std::int64_t lastScore(const std::vector<MappingOfCut>& known, std::size_t most) {
  if (known.size() < most) return INT64_MAX;
  std::vector<std::int64_t> scores;
  for (auto one = known.begin() + 1; one != known.end(); ++one)
    scores.push_back(one->found.mapping.score.raw());
  const auto last = scores.begin() + (static_cast<std::ptrdiff_t>(most) - 2);
  std::ranges::nth_element(scores, last);
  return *last;
}

std::int64_t leastScore(const std::vector<MappingOfCut>& known) {
  if (known.empty()) return INT64_MAX;
  return std::ranges::min_element(known, isFaster)->found.mapping.score.raw();
}

using OfStagings = std::vector<std::vector<MappingOfCut>>;

std::vector<std::int64_t> lastScores(const OfStagings& known, std::size_t most) {
  std::vector<std::int64_t> scores;
  for (const std::vector<MappingOfCut>& ofStaging : known)
    scores.push_back(lastScore(ofStaging, most));
  return scores;
}

std::vector<std::int64_t> leastScores(const OfStagings& known) {
  std::vector<std::int64_t> scores;
  for (const std::vector<MappingOfCut>& ofStaging : known) scores.push_back(leastScore(ofStaging));
  return scores;
}

// How many ways of a menu keep to lines of the mesh: they stand before those that don't.
std::size_t wiresAlongLines(std::span<const Streams> streams) {
  return static_cast<std::size_t>(std::ranges::find(streams, true, &Streams::anywhere) -
                                  streams.begin());
}

// Behind the others those of numbered pixels which promise more than all of them.
void addNumbered(std::vector<MappingOfCut>& to, std::vector<MappingOfCut> numbered) {
  const auto best = std::ranges::min_element(to, isFaster);
  std::erase_if(numbered, [&](const MappingOfCut& one) { return !isFaster(one, *best); });
  std::ranges::stable_sort(numbered, isFaster);
  if (numbered.size() > kMostNumbered) numbered.resize(kMostNumbered);
  to.insert(to.end(), numbered.begin(), numbered.end());
}

void addNew(std::vector<MappingOfCut>& to, std::vector<MappingOfCut> more) {
  for (MappingOfCut& candidate : more)
    if (std::ranges::find(to, candidate) == to.end()) to.push_back(std::move(candidate));
}

// Pixels times kept blocks of a cut's core that has most. With a window at the end, those before
// that: parts that share some compute them both.
struct Heaviest {
  const BlockCounts& kept;
  Interval inputBlocks;
  PooledGeometry pooled;
  std::int64_t of(const MeshCut& cut) const {
    std::vector<std::int64_t> pixels, blocks;
    for (const std::vector<PixelBox>& boxes : cut.pixels) {
      pixels.push_back(0);
      for (const PixelBox& box : boxes)
        pixels.back() += pooled.mostRows(box.y.count) * pooled.mostColumns(box.x.count);
    }
    for (const Interval& outputs : cut.blocks) blocks.push_back(kept.count(outputs, inputBlocks));
    std::int64_t most = 0;
    for (const MeshCut::Share& share : cut.shares)
      most = std::max(most, pixels[share.pixels] * blocks[share.blocks]);
    return most;
  }
};

class FinalistSearch {
 public:
  FinalistSearch(const CanonicalGraph& graph, const Device& device, const DataflowWires& wires,
                 const SearchLimits& limits, bool menu, const WorkCounter& count,
                 KnownFinalists& known)
      : graph_(graph),
        device_(device),
        limits_(limits),
        menu_(menu),
        count_(count),
        known_(known),
        wires_(wires),
        menus_(wires, device) {}

  // With the only staging of the limits.
  const std::vector<Mapping>& ofTile(std::size_t layer, std::int64_t rows) {
    const auto [found, fresh] = known_.found.try_emplace(
        {.kind = count_.kind(layer), .limits = limits_, .rows = rows, .columnsApart = {}});
    if (fresh) found->second.mappings = searchTile(layer, rows);
    return found->second.mappings;
  }

  Result<Finalists> run() {
    const Views views = findViews(graph_);
    const ColumnsApart apart = columnsApart(views);
    Finalists finalists(graph_.ops.size());
    Diagnostics errors;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      if (views.inPlace[i]) continue;
      const KnownFinalists::Found& found = ofLayer(i, apart.at(count_.kind(i)));
      if (found.mappings.empty()) errors.push_back(doesNotFit(graph_.ops[i], found.shortage));
      for (const Mapping& mapping : found.mappings) finalists[i].push_back(&mapping);
    }
    if (!errors.empty()) return errors;
    return finalists;
  }

 private:
  const KnownFinalists::Found& ofLayer(std::size_t layer,
                                       const std::vector<std::int64_t>& columnsApart) {
    const auto [known, fresh] = known_.found.try_emplace(
        {.kind = count_.kind(layer), .limits = limits_, .rows = 0, .columnsApart = columnsApart});
    KnownFinalists::Found& found = known->second;
    if (!fresh) return found;
    const CanonicalOp& op = graph_.ops[layer];
    found.mappings =
        mappingsOf(graph_, op, count_.kept(layer), cutsOf(graph_.tensors[op.output.at()].shape));
    found.shortage = shortage_;
    addForDdr(op, columnsApart, layer, found.mappings);
    return found;
  }

  std::vector<Mapping> searchTile(std::size_t layer, std::int64_t rows) {
    const CanonicalGraph tile = tileOf(graph_, graph_.ops[layer], rows);
    const Shape& shape = tile.tensors[tile.ops[0].output.at()].shape;
    std::vector<MeshCut> cuts = cutsOf(shape);
    std::erase_if(cuts, [&](const MeshCut& cut) {
      return std::ranges::any_of(cut.pixels, [&](const std::vector<PixelBox>& boxes) {
        return boxes[0].y.count < shape.height;
      });
    });
    std::vector<Mapping> mappings = mappingsOf(tile, tile.ops[0], count_.kept(layer), cuts);
    const std::int64_t whole = graph_.tensors[graph_.ops[layer].output.at()].shape.height;
    for (Mapping& mapping : mappings)
      for (CoreShare& share : mapping.shares) share.boxes[0].y = {0, whole};
    return mappings;
  }

  // Per kind of layers, and operand: the most columns of its root from one of its own to the next.
  using ColumnsApart = std::map<std::size_t, std::vector<std::int64_t>>;

  ColumnsApart columnsApart(const Views& views) const {
    ColumnsApart apart;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      const std::vector<TensorId>& inputs = graph_.ops[i].inputs;
      std::vector<std::int64_t>& most = apart[count_.kind(i)];
      most.resize(inputs.size(), 1);
      for (std::size_t k = 0; k < inputs.size(); ++k)
        if (const auto& taken = views.tensors[inputs[k].at()].sampling)
          most[k] = std::max(most[k], taken->columns.step);
    }
    return apart;
  }

  // Where columns between an operand's own come with it out of DDR: those that bring it less often,
  // too. Nobody knows yet what will have a home.
  void addForDdr(const CanonicalOp& op, const std::vector<std::int64_t>& columnsApart,
                 std::size_t layer, std::vector<Mapping>& mappings) {
    if (!menu_ || std::ranges::all_of(columnsApart, [](std::int64_t n) { return n == 1; })) return;
    const Shape& shape = graph_.tensors[op.output.at()].shape;
    for (Mapping& mapping : mappingsOf(graph_, op, count_.kept(layer), cutsOf(shape), columnsApart))
      if (std::ranges::none_of(mappings,
                               [&](const Mapping& other) { return alike(mapping, other); }))
        mappings.push_back(std::move(mapping));
  }

  // But for what the search thought of them.
  static bool alike(Mapping mapping, const Mapping& other) {
    mapping.score = other.score;
    mapping.boundBy = other.boundBy;
    return mapping == other;
  }

  std::vector<MeshCut> cutsOf(const Shape& shape) const {
    return meshCuts(shape, device_, menu_ ? std::ssize(wires_.anywhere) : 0);
  }

  // What the heaviest core of a cut along lines has to compute at least, by groups of channels:
  // with so many or more.
  using LeastOfLines = std::map<std::size_t, std::int64_t>;

  static LeastOfLines leastOfLines(const std::vector<MeshCut>& cuts, const Heaviest& heaviest) {
    LeastOfLines least;
    for (const MeshCut& cut : cuts)
      if (cut.family == MeshCut::Family::Lines) {
        auto& of = least.try_emplace(cut.blocks.size(), INT64_MAX).first->second;
        of = std::min(of, heaviest.of(cut));
      }
    std::int64_t beyond = INT64_MAX;
    for (auto of = least.rbegin(); of != least.rend(); ++of)
      of->second = beyond = std::min(beyond, of->second);
    return least;
  }

  // Quarters and bands are for layers that reduce channels, where wires of mesh rows bring rows
  // too; and bands where they leave less to the heaviest core than lines do that have no fewer
  // groups of channels, and so no longer records.
  bool isFor(const CanonicalOp& op, const MeshCut& cut, const Heaviest& heaviest,
             const LeastOfLines& lines) const {
    using enum MeshCut::Family;
    if (cut.family == Lines || cut.family == Anywhere) return true;
    if (!wires_.rowsTakeAll || !reducesChannels(op)) return false;
    if (cut.family == Quarters) return true;
    const auto other = lines.lower_bound(cut.blocks.size());
    return other == lines.end() || heaviest.of(cut) * (1000 + kWorthBands) <= other->second * 1000;
  }

  // What is found for one layer. Kinds that the closed form errs more about stand behind the
  // others.
  struct Candidates {
    explicit Candidates(std::size_t stagings)
        : lines(stagings), numbered(lines), anywhere(lines), longCalls(lines) {}
    OfStagings lines, numbered, anywhere;  // wires along lines, numbered pixels, wires anywhere
    OfStagings longCalls;                  // of any of these, calls of several rows
    std::vector<FoundMappings> found;      // that they are numbers of
  };

  // Wires anywhere, long calls: half as many, which gain as much as more do.
  std::size_t half() const { return (limits_.finalists + 1) / 2; }

  // Over all cuts: the best of the largest staging, then the others' that are new; none where there
  // are none of the largest.
  std::vector<Mapping> mappingsOf(const CanonicalGraph& graph, const CanonicalOp& op,
                                  const BlockCounts& kept, const std::vector<MeshCut>& cuts,
                                  const std::vector<std::int64_t>& timesItsWire = {}) {
    SearchLimits limits = limits_;
    limits.timesItsWire = timesItsWire;
    Candidates all(limits.stagings.size());
    shortage_.clear();
    const auto search = [&](const MeshCut& cut, std::span<const Streams> streams, OfStagings& to,
                            const std::vector<std::int64_t>& worthless) {
      all.found.push_back(
          searchMappings(graph, op, device_, kept, cut, streams, limits, worthless));
      if (shortage_.empty()) shortage_ = all.found.back().shortage;
      for (std::size_t s = 0; s < to.size(); ++s)
        for (FoundMapping& mapping : all.found.back().ofStaging[s])
          (mapping.mapping.callRows > 1 ? all.longCalls : to)[s].push_back(
              {all.found.size() - 1, std::move(mapping)});
    };
    const Heaviest heaviest{
        kept, {0, blocksOf(graph.tensors[op.inputs[0].at()].shape)}, PooledGeometry(graph, op)};
    const LeastOfLines lines = leastOfLines(cuts, heaviest);
    for (const MeshCut& cut : cuts) {
      if (!isFor(op, cut, heaviest, lines)) continue;
      const std::span<const Streams> streams = menus_.of(op, hasWeights(op), cut);
      const std::size_t alongLines = wiresAlongLines(streams);
      if (!menu_)
        search(cut, streams.first(1), all.lines, lastScores(all.lines, limits_.finalists));
      else if (cut.isNumbered() && alongLines > 0)
        search(cut, streams.first(alongLines), all.numbered, leastScores(all.lines));
      else if (alongLines > 0)
        search(cut, streams.first(alongLines), all.lines, lastScores(all.lines, limits_.finalists));
      if (!menu_ && !all.lines[0].empty()) break;
      if (menu_ && alongLines < streams.size())
        search(cut, streams.subspan(alongLines), all.anywhere, lastScores(all.anywhere, half()));
    }
    if (all.lines[0].empty()) return {};
    std::vector<Mapping> mappings;
    const Interval rows{0, graph.tensors[op.output.at()].shape.height};
    const LayerId layer(static_cast<std::size_t>(&op - graph.ops.data()));
    for (const MappingOfCut& candidate : best(all)) {
      mappings.push_back(all.found[candidate.cut].whole(candidate.found));
      if (limits_.longCalls) useHalfForRows(graph, device_, layer, rows, mappings.back());
    }
    return mappings;
  }

  // Of all stagings, each once.
  std::vector<MappingOfCut> best(Candidates& of) const {
    std::vector<MappingOfCut> all;
    for (std::size_t s = 0; s < of.lines.size(); ++s) {
      keepTheBest(of.lines[s], limits_.finalists);
      keepTheBest(of.anywhere[s], half());
      keepTheBest(of.longCalls[s], half());
      if (!of.lines[s].empty()) addNumbered(of.lines[s], std::move(of.numbered[s]));
      addNew(all, std::move(of.lines[s]));
      addNew(all, std::move(of.anywhere[s]));
      addNew(all, std::move(of.longCalls[s]));
    }
    return all;
  }

  Diagnostic doesNotFit(const CanonicalOp& op, const std::string& shortage) const {
    return {"PLAN001",
            graph_.name + ", node '" + op.name + "' (" + op.onnxOp + ")",
            "no tiling of this layer fits a core",
            shortage,
            "give the cores or memtiles more memory (--set core.memory=..., --set "
            "memtile.memory=...)" +
                std::string(device_.limits.lockMaximum ? ", or choose a device with more of "
                                                         "'limits.lockMaximum'"
                                                       : ""),
            Severity::DoesNotFit};
  }

  const CanonicalGraph& graph_;
  const Device& device_;
  const SearchLimits& limits_;
  bool menu_;
  const WorkCounter& count_;
  KnownFinalists& known_;
  const DataflowWires& wires_;
  StreamMenus menus_;
  std::string shortage_;  // of the layer that was looked at last
};

}  // namespace

Result<Finalists> findFinalists(const CanonicalGraph& graph, const Device& device,
                                const DataflowWires& wires, const SearchLimits& limits, bool menu,
                                const WorkCounter& count, KnownFinalists& known) {
  return FinalistSearch(graph, device, wires, limits, menu, count, known).run();
}

Finalists findTileFinalists(const CanonicalGraph& graph, const Device& device,
                            const DataflowWires& wires, const SearchLimits& limits,
                            const std::vector<std::int64_t>& rows, const WorkCounter& count,
                            KnownFinalists& known) {
  FinalistSearch search(graph, device, wires, limits, true, count, known);
  Finalists ofLayer(graph.ops.size());
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (rows[i] == 0 || graph.ops[i].kind() == OpKind::Assemble) continue;
    for (const Mapping& mapping : search.ofTile(i, rows[i])) ofLayer[i].push_back(&mapping);
  }
  return ofLayer;
}

Finalists stagedIn(const Finalists& finalists, std::int64_t staging) {
  Finalists some(finalists.size());
  for (std::size_t i = 0; i < some.size(); ++i)
    std::ranges::copy_if(finalists[i], std::back_inserter(some[i]), [&](const Mapping* mapping) {
      return mapping->weightBytes * 2 <= stagingPerRoute(staging, *mapping);
    });
  return some;
}

}  // namespace heddle
