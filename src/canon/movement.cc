// Data movement: views cost nothing, all else becomes parts of an Assemble.
#include <algorithm>
#include <functional>
#include <numeric>

#include "lowering.h"

namespace heddle::canon {

namespace {

constexpr std::int64_t kMaxParts = 1 << 14;
constexpr std::int64_t kManyParts = 1 << 10;  // of a transposition: above them two steps are better
constexpr std::int64_t kMaxAxis = 1 << 24;    // elements of one axis that is moved index by index
constexpr std::size_t kMaxComposed = 256;     // parts of movements joined into one

AxisMap whole(std::int64_t extent) {
  return {{.to = 0, .toStep = 1, .from = 0, .fromStep = 1, .count = extent}};
}

struct AlongDigit {
  std::int64_t extent, toStride, fromStride;
};

// All (output, input) pairs that the digits span, in order of the outputs.
IndexPairs spanned(const std::vector<AlongDigit>& digits) {
  IndexPairs pairs{{0, 0}};
  for (const AlongDigit& digit : digits) {
    if (static_cast<std::int64_t>(pairs.size()) > kMaxAxis / digit.extent)
      throw Unsupported("an axis of more than 2^24 elements is moved", "CANON005");
    IndexPairs next;
    next.reserve(pairs.size() * static_cast<std::size_t>(digit.extent));
    for (const auto& [to, from] : pairs)
      for (std::int64_t i = 0; i < digit.extent; ++i)
        next.emplace_back(to + i * digit.toStride, from + i * digit.fromStride);
    pairs = std::move(next);
  }
  std::ranges::sort(pairs);
  return pairs;
}

bool inputsRise(const IndexPairs& pairs) {
  return std::ranges::is_sorted(pairs, {}, [](const auto& pair) { return pair.second; });
}

AxisMap shifted(AxisMap map, std::int64_t to, std::int64_t from) {
  for (AxisRun& run : map) {
    run.to += to;
    run.from += from;
  }
  return map;
}

// Where each of three axes of the output comes from, and the digits whose source is another axis.
struct Plan {
  std::array<std::vector<AlongDigit>, 3> along;
  std::vector<DigitPair> across;
};

Plan planMovement(const View& from, const View& to) {
  Plan plan;
  for (std::size_t i = 0; i < to.dims.size(); ++i) {
    if (from.dims[i].empty() && !to.dims[i].empty()) {  // broadcast: every output reads input 0
      for (const Digit& digit : to.dims[i])
        plan.along[static_cast<std::size_t>(digit.axis)].push_back({digit.extent, digit.stride, 0});
      continue;
    }
    const auto pairs = pairDigits(from.dims[i], to.dims[i]);
    if (!pairs) throw Unsupported("a movement that cuts one axis at places that do not nest");
    for (const DigitPair& pair : *pairs) {
      if (pair.fromAxis == pair.toAxis)
        plan.along[static_cast<std::size_t>(pair.toAxis)].push_back(
            {pair.extent, pair.toStride, pair.fromStride});
      else
        plan.across.push_back(pair);
    }
  }
  // Rows are streamed: inputs must rise with outputs. Digits that break that are dealt out as
  // parts.
  auto& rows = plan.along[0];
  std::ranges::sort(rows, std::greater<>(), &AlongDigit::toStride);
  while (!inputsRise(spanned(rows))) {
    plan.across.push_back(
        {rows.front().extent, Axis::Y, Axis::Y, rows.front().fromStride, rows.front().toStride});
    rows.erase(rows.begin());
  }
  return plan;
}

// As many parts as the digits that change axes have values; above kMaxParts any number.
std::int64_t partsOf(const Plan& plan) {
  std::int64_t parts = 1;
  for (const DigitPair& pair : plan.across)
    if (parts <= kMaxParts) parts *= std::min(pair.extent, kMaxParts + 1);
  return parts;
}

// The axis of which the dimension is the whole, where it is one digit.
std::optional<Axis> wholeAxis(const Digits& digits) {
  if (digits.size() != 1 || digits[0].stride != 1) return std::nullopt;
  return digits[0].axis;
}

// The dimension's extent in two factors, the high and the low digit: all ways.
std::vector<std::pair<std::int64_t, std::int64_t>> factors(std::int64_t extent) {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  for (std::int64_t low = 1; low <= extent; ++low)
    if (extent % low == 0) all.emplace_back(extent / low, low);
  return all;
}

// How exchanged dimensions are cut into a high and a low digit. Parts of both steps, and how many
// dimensions are not cut but moved whole: rather none, as then rows stay as many.
struct Cut {
  std::vector<std::pair<std::int64_t, std::int64_t>> digits;
  std::int64_t there = 1, on = 1, whole = 0;
  auto cost() const { return std::pair(there + on, whole); }
};

Cut bestCut(const std::vector<std::int64_t>& extents, std::size_t from = 0, const Cut& given = {}) {
  if (from == extents.size()) return given;
  std::optional<Cut> best;
  for (const auto& [high, low] : factors(extents[from])) {
    Cut next = given;
    next.digits.emplace_back(high, low);
    next.there *= high;
    next.on *= low;
    next.whole += high == 1 || low == 1;
    Cut found = bestCut(extents, from + 1, next);
    if (!best || found.cost() < best->cost()) best = std::move(found);
  }
  return *best;
}

// A transposition by one Assemble has a part for each pair of a row and a column. Where these are
// many, the layout half-way: the high digits of the exchanged dimensions have changed places, the
// low ones are where they were. 64x64 takes 64 + 64 parts by way of 64 = 8 * 8, not 4096.
std::optional<View> halfWay(const View& from, const View& to, std::int64_t parts) {
  if (parts <= kManyParts) return std::nullopt;
  std::vector<std::size_t> exchanged;
  std::vector<std::int64_t> extents;
  for (std::size_t i = 0; i < to.dims.size(); ++i) {
    if (from.dims[i] == to.dims[i]) continue;
    const auto a = wholeAxis(from.dims[i]), b = wholeAxis(to.dims[i]);
    if (!a || !b || *a == Axis::Flat) return std::nullopt;
    exchanged.push_back(i);
    extents.push_back(from.dims[i][0].extent);
  }
  const Cut cut = bestCut(extents);
  if (cut.there + cut.on >= parts) return std::nullopt;
  std::array<std::int64_t, 3> lowExtent{1, 1, 1};  // of each axis half-way
  for (std::size_t k = 0; k < exchanged.size(); ++k)
    lowExtent[static_cast<std::size_t>(from.dims[exchanged[k]][0].axis)] = cut.digits[k].second;
  View view = to;
  for (std::size_t k = 0; k < exchanged.size(); ++k) {
    const std::size_t i = exchanged[k];
    const Axis before = from.dims[i][0].axis, after = to.dims[i][0].axis;
    const auto [high, low] = cut.digits[k];
    view.dims[i].clear();
    if (high > 1) view.dims[i].push_back({high, after, lowExtent[static_cast<std::size_t>(after)]});
    if (low > 1) view.dims[i].push_back({low, before, 1});
  }
  return view;
}

}  // namespace

// `ref` (or a broadcast of it) laid out as `target`: the same value in another tensor.
RealRef Lowering::relaid(const RealRef& ref, const View& target, const Node& node) {
  const Shape shape = tensorShape(target);
  if (normalized(ref.view) == normalized(target) && real(ref.id).shape == shape) return ref;
  if (std::holds_alternative<Input>(real(ref.id).kind))
    throw Unsupported("it reads '" + real(ref.id).name + "', a float that nothing has quantized");
  for (const std::int64_t extent : {shape.height, shape.width, shape.channels}) spend(256 * extent);
  const Plan plan = planMovement(ref.view, target);
  const std::int64_t parts = partsOf(plan);
  if (const auto between = halfWay(normalized(ref.view), normalized(target), parts))
    return relaid(relaid(ref, *between, node), target, node);
  if (parts > kMaxParts) throw Unsupported("a transposition of more than 16384 pieces");
  const std::array<AxisMap, 3> maps{compress(spanned(plan.along[0])),
                                    compress(spanned(plan.along[1])),
                                    compress(spanned(plan.along[2]))};
  for (const AxisMap& map : maps)
    spend(parts * static_cast<std::int64_t>(map.size() * sizeof(AxisRun)));
  Moved moved;
  std::vector<std::int64_t> index(plan.across.size(), 0);
  for (std::int64_t n = 0; n < parts; ++n) {
    std::array<std::int64_t, 3> to{}, from{};
    for (std::size_t i = 0; i < index.size(); ++i) {
      to[static_cast<std::size_t>(plan.across[i].toAxis)] += index[i] * plan.across[i].toStride;
      from[static_cast<std::size_t>(plan.across[i].fromAxis)] +=
          index[i] * plan.across[i].fromStride;
    }
    moved.parts.push_back({ref.id, shifted(maps[0], to[0], from[0]),
                           shifted(maps[1], to[1], from[1]), shifted(maps[2], to[2], from[2])});
    for (std::size_t i = index.size(); i-- > 0;) {
      if (++index[i] < plan.across[i].extent) break;
      index[i] = 0;
    }
  }
  return {addReal(composed(fresh(node, std::move(moved), shape))), target};
}

RealRef Lowering::standard(const RealRef& ref, const Node& node) {
  const Dims shape = ref.view.shape();
  return relaid(ref, layOut(shape, standardAxes(shape)), node);
}

namespace {

std::int64_t boxSize(const MovedPart& part) {
  std::int64_t box = 1;
  for (const AxisMap* map : {&part.mapY, &part.mapX, &part.mapC}) {
    std::int64_t count = 0;
    for (const AxisRun& run : *map) count += run.count;
    box *= count;
  }
  return box;
}

bool coversAll(const Moved& moved, const Shape& shape) {
  std::int64_t covered = 0;
  for (const MovedPart& part : moved.parts) covered += boxSize(part);
  return covered == shape.elements();
}

// outer after inner along one axis.
AxisMap composedAxis(const AxisMap& outer, const AxisMap& inner) {
  const IndexPairs middle = expand(inner);
  IndexPairs pairs;
  for (const auto& [to, at] : expand(outer)) {
    const auto found =
        std::ranges::lower_bound(middle, at, {}, [](const auto& pair) { return pair.first; });
    if (found != middle.end() && found->first == at) pairs.emplace_back(to, found->second);
  }
  return compress(pairs);
}

}  // namespace

Real Lowering::composed(const Real& outer) {
  const Moved& moved = std::get<Moved>(outer.kind);
  Moved flat{.parts = {}, .fill = moved.fill};
  const bool outerCovers = coversAll(moved, outer.shape);
  std::optional<double> fill = outerCovers ? std::nullopt : std::optional(moved.fill);
  std::size_t count = 0;
  for (const MovedPart& part : moved.parts) {
    const auto* inner = std::get_if<Moved>(&real(part.source).kind);
    if (!inner) {
      flat.parts.push_back(part);
      ++count;
      continue;
    }
    count += inner->parts.size();
    if (!coversAll(*inner, real(part.source).shape)) {
      if (fill && *fill != inner->fill) return outer;
      fill = inner->fill;
    }
    if (count > kMaxComposed) return outer;
    const Shape& middle = real(part.source).shape;
    spend(128 * static_cast<std::int64_t>(inner->parts.size()) *
          (outer.shape.height + outer.shape.width + outer.shape.channels + middle.height +
           middle.width + middle.channels));
    for (const MovedPart& piece : inner->parts) {
      MovedPart joint{piece.source, composedAxis(part.mapY, piece.mapY),
                      composedAxis(part.mapX, piece.mapX), composedAxis(part.mapC, piece.mapC)};
      if (boxSize(joint) > 0) flat.parts.push_back(std::move(joint));
    }
  }
  if (flat.parts.empty()) return outer;  // nothing but padding is left: keep what it is cut from
  if (fill) flat.fill = *fill;
  Real result = derived(outer, std::move(flat));
  return result;
}

void Lowering::lowerView(const Node& node) {
  const ValueId in = node.inputs[0], out = node.outputs[0];
  const Dims& shape = source_[out].shape;
  if (auto* constant = std::get_if<ConstantReal>(&states_[in.at()])) {
    ConstantReal seen = *constant;
    if (node.kind == NodeKind::Transpose) {
      const auto& permutation = std::get<TransposeAttributes>(node.attributes).permutation;
      Dims strides(seen.shape.size(), 1);
      for (std::size_t i = strides.size(); i > 1; --i)
        strides[i - 2] = strides[i - 1] * seen.shape[i - 1];
      const auto size = static_cast<std::size_t>(byteSize(seen.type));
      std::string bytes;
      bytes.reserve(seen.bytes->size());
      Dims index(shape.size(), 0);
      for (std::int64_t n = elementCount(shape); n > 0; --n) {
        std::int64_t from = 0;
        for (std::size_t i = 0; i < index.size(); ++i)
          from += index[i] * strides[static_cast<std::size_t>(permutation[i])];
        bytes.append(*seen.bytes, static_cast<std::size_t>(from) * size, size);
        for (std::size_t i = index.size(); i-- > 0;) {
          if (++index[i] < shape[i]) break;
          index[i] = 0;
        }
      }
      permuted_.push_back(std::move(bytes));
      seen.bytes = &permuted_.back();
      const auto moved = std::ranges::find(permutation, static_cast<std::int64_t>(seen.axis));
      seen.axis = static_cast<std::size_t>(moved - permutation.begin());
    } else if (seen.scales.size() != 1 && seen.shape != shape) {
      throw Unsupported("a Reshape of constants that have a scale for each channel");
    }
    seen.shape = shape;
    states_[out.at()] = std::move(seen);
    return;
  }
  const auto seen = [&](const View& view) -> std::optional<View> {
    if (node.kind == NodeKind::Transpose)
      return transposed(view, std::get<TransposeAttributes>(node.attributes).permutation);
    return view.shape() == shape ? std::optional(view) : reshaped(view, shape);
  };
  if (node.kind == NodeKind::Cast && source_[in].type != source_[out].type &&
      !(source_[in].type == DataType::Int32 && source_[out].type == DataType::Float32))
    throw Unsupported(std::string("a cast from ") + toText(source_[in].type) + " to " +
                      toText(source_[out].type));
  if (const auto* integer = std::get_if<IntegerRef>(&states_[in.at()])) {
    if (auto view = seen(integer->view)) {
      states_[out.at()] = IntegerRef{integer->tensor, *view};
      return;
    }
  }
  RealRef ref = realOf(node, 0);
  std::optional<View> view = seen(ref.view);
  if (!view) {
    // Digits that do not nest may in another layout.
    const Dims before = ref.view.shape();
    ref = relaid(ref, layOut(before, std::vector<Axis>(before.size(), Axis::C)), node);
    view = reshaped(ref.view, shape);
  }
  if (!view) throw Unsupported("a view that cuts an axis unevenly");
  if (const auto* integer = std::get_if<IntegerRef>(&states_[in.at()]))
    return setInteger(node, 0, {ref.id, *view}, quantizations_[integer->tensor.at()]);
  setReal(node, 0, {ref.id, *view});
}

namespace {

// The axis of each dimension where the view gives each one axis, whole and in order; a dimension of
// extent 1 may grow along the axis of the standard layout.
std::optional<std::vector<Axis>> simpleAxes(const View& view, const Shape& tensor) {
  const Dims shape = view.shape();
  std::vector<Axis> axes(shape.size(), Axis::Y);
  std::array<bool, 3> used{};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (view.dims[i].size() > 1) return std::nullopt;
    if (view.dims[i].empty()) continue;
    axes[i] = view.dims[i][0].axis;
    if (axes[i] == Axis::Flat || used[static_cast<std::size_t>(axes[i])]) return std::nullopt;
    used[static_cast<std::size_t>(axes[i])] = true;
  }
  std::vector<Axis> standard(shape.size(), Axis::Y);
  if (shape.size() <= 5 && (shape.size() < 4 || shape[0] == 1)) standard = standardAxes(shape);
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (!view.dims[i].empty() || used[static_cast<std::size_t>(standard[i])]) continue;
    axes[i] = standard[i];
    used[static_cast<std::size_t>(standard[i])] = true;
  }
  if (layOut(shape, axes) != normalized(view) || tensorShape(view) != tensor) return std::nullopt;
  return axes;
}

}  // namespace

// The value whose element (i, j, ...) is that of `ref` at (maps[0](i), maps[1](j), ...); an empty
// map is the identity. `axes`: where the value lies, if that is known; an axis of one element tells
// nothing.
RealRef Lowering::indexed(const RealRef& given, const std::vector<IndexPairs>& maps,
                          const Dims& shape, double fill, const Node& node, const std::string& name,
                          std::optional<std::vector<Axis>> axes) {
  RealRef ref = given;
  const Dims before = ref.view.shape();
  if (!axes) axes = simpleAxes(ref.view, real(ref.id).shape);
  if (!axes) {
    axes = standardAxes(shape);
    ref = relaid(ref, layOut(before, *axes), node);
  }
  if (std::ranges::find(shape, 0) != shape.end()) throw Unsupported("an empty value");
  for (const std::int64_t extent : shape) spend(256 * extent);
  std::array<IndexPairs, 3> pairs{IndexPairs{{0, 0}}, IndexPairs{{0, 0}}, IndexPairs{{0, 0}}};
  std::array<std::int64_t, 3> outStride{1, 1, 1}, inStride{1, 1, 1};
  for (std::size_t i = shape.size(); i-- > 0;) {
    const auto axis = static_cast<std::size_t>((*axes)[i]);
    IndexPairs next;
    const std::int64_t count =
        maps[i].empty() ? shape[i] : static_cast<std::int64_t>(maps[i].size());
    if (count > kMaxAxis / std::max<std::int64_t>(1, static_cast<std::int64_t>(pairs[axis].size())))
      throw Unsupported("an axis of more than 2^24 elements is moved", "CANON005");
    for (std::int64_t n = 0; n < count; ++n) {
      const auto [to, from] =
          maps[i].empty() ? std::pair(n, n) : maps[i][static_cast<std::size_t>(n)];
      for (const auto& [lowTo, lowFrom] : pairs[axis])
        next.emplace_back(to * outStride[axis] + lowTo, from * inStride[axis] + lowFrom);
    }
    pairs[axis] = std::move(next);
    outStride[axis] *= shape[i];
    inStride[axis] *= before[i];
  }
  Moved moved{.parts = {}, .fill = fill};
  if (inputsRise(pairs[0])) {
    moved.parts.push_back({ref.id, compress(pairs[0]), compress(pairs[1]), compress(pairs[2])});
  } else {
    // Rows out of order: each a part of its own.
    spend(static_cast<std::int64_t>(pairs[0].size() * (pairs[1].size() + pairs[2].size()) *
                                    sizeof(AxisRun)));
    if (static_cast<std::int64_t>(pairs[0].size()) > kMaxParts)
      throw Unsupported("rows in another order, too many");
    for (const auto& row : pairs[0])
      moved.parts.push_back({ref.id, compress({row}), compress(pairs[1]), compress(pairs[2])});
  }
  const View target = layOut(shape, *axes);
  Real made = fresh(node, std::move(moved), tensorShape(target));
  made.name = name;
  return {addReal(composed(made)), target};
}

namespace {

// The input index that output index `at` of an axis of `extent` elements reads, or absent for the
// fill.
std::optional<std::int64_t> paddedSource(const PadAttributes& pad, std::size_t axis,
                                         std::int64_t at, std::int64_t extent) {
  std::int64_t from = at - pad.begins[axis];
  if (from >= 0 && from < extent) return from;
  const std::int64_t period = 2 * (extent - 1);
  switch (pad.mode) {
    case PadMode::Constant:
      return std::nullopt;
    case PadMode::Edge:
      return std::clamp<std::int64_t>(from, 0, extent - 1);
    case PadMode::Wrap:
      return (from % extent + extent) % extent;
    case PadMode::Reflect:
      if (period == 0) return 0;
      from = (from % period + period) % period;
      return std::min(from, period - from);
  }
  return std::nullopt;
}

// Which input index each output index of an axis reads; `splitStart` is where the output of a Split
// begins.
class AxisSources {
 public:
  AxisSources(const Node& node, const Dims& in, const Dims& out, std::int64_t splitStart)
      : node_(node), in_(in), out_(out), splitStart_(splitStart) {
    const auto* resize = std::get_if<ResizeAttributes>(&node.attributes);
    if (resize && resize->mode != ResizeMode::Nearest)
      throw Unsupported("only nearest mode becomes an integer operator");
  }

  // (output, input) along `axis`; empty for the identity.
  IndexPairs pairs(std::size_t axis) const {
    IndexPairs pairs;
    bool same = out_[axis] == in_[axis];
    for (std::int64_t at = 0; at < out_[axis]; ++at) {
      const std::optional<std::int64_t> from = source(axis, at);
      same = same && from == at;
      if (from) pairs.emplace_back(at, *from);
    }
    if (same) return {};
    if (pairs.empty()) throw Unsupported("a movement that keeps nothing of its input");
    return pairs;
  }

 private:
  std::optional<std::int64_t> source(std::size_t axis, std::int64_t at) const {
    const std::int64_t extent = in_[axis];
    switch (node_.kind) {
      case NodeKind::Split: {
        const auto& split = std::get<SplitAttributes>(node_.attributes);
        return static_cast<std::int64_t>(axis) == split.axis ? splitStart_ + at : at;
      }
      case NodeKind::Slice: {
        const auto& slice = std::get<SliceAttributes>(node_.attributes);
        return slice.starts[axis] + at * slice.steps[axis];
      }
      case NodeKind::Resize:
        return nearestSource(std::get<ResizeAttributes>(node_.attributes), axis, at, extent,
                             out_[axis]);
      case NodeKind::Expand:
        return extent == 1 ? 0 : at;
      case NodeKind::Tile:
        return at % extent;
      case NodeKind::Pad:
        return paddedSource(std::get<PadAttributes>(node_.attributes), axis, at, extent);
      default:
        throw Unsupported("a movement that heddle does not know");
    }
  }

  const Node& node_;
  const Dims &in_, &out_;
  std::int64_t splitStart_;
};

// What a Pad fills with, as a real number: the pad of integers is stored in their own form.
double fillOf(const Node& node, const Quantization* integer) {
  const auto* pad = std::get_if<PadAttributes>(&node.attributes);
  if (!pad || !integer) return pad ? pad->value : 0;
  const double stored = pad->value - (integer->fromUint8 ? 128 : 0);
  return double{
      dequantizeValue(static_cast<std::int8_t>(std::clamp(stored, -128.0, 127.0)), *integer)};
}

}  // namespace

void Lowering::lowerIndexed(const Node& node) {
  const RealRef ref = realOf(node, 0);
  const auto* integer = std::get_if<IntegerRef>(&states_[node.inputs[0].at()]);
  const Quantization* own = integer ? &quantizations_[integer->tensor.at()] : nullptr;
  const Dims& x = source_[node.inputs[0]].shape;
  const auto* split = std::get_if<SplitAttributes>(&node.attributes);
  std::int64_t splitStart = 0;
  for (std::size_t output = 0; output < node.outputs.size(); ++output) {
    const std::int64_t start = splitStart;
    if (split) splitStart += split->sizes[output];
    if (!node.outputs[output].valid()) continue;
    const Value& out = source_[node.outputs[output]];
    if (out.shape.size() != x.size()) throw Unsupported("a movement that changes the rank");
    const AxisSources sources(node, x, out.shape, start);
    std::vector<IndexPairs> maps;
    for (std::size_t i = 0; i < x.size(); ++i) {
      spend(256 * out.shape[i]);
      maps.push_back(sources.pairs(i));
    }
    const RealRef moved = indexed(ref, maps, out.shape, fillOf(node, own), node, out.name);
    if (own)
      setInteger(node, output, moved, *own);
    else
      setReal(node, output, moved);
  }
}

namespace {

// One operand of a concatenation: `offset` along the most significant digit of the concatenated
// axis.
MovedPart shiftedPart(RealId source, const Shape& shape, const Digits& digits,
                      std::int64_t offset) {
  std::array<std::int64_t, 3> to{};
  if (offset != 0) {
    std::int64_t below = 1;
    for (std::size_t i = 1; i < digits.size(); ++i) below *= digits[i].extent;
    to[static_cast<std::size_t>(digits.front().axis)] = offset / below * digits.front().stride;
  }
  return {source, shifted(whole(shape.height), to[0], 0), shifted(whole(shape.width), to[1], 0),
          shifted(whole(shape.channels), to[2], 0)};
}

}  // namespace

// A layout in which every operand's part of the concatenated axis is one block of rows: the digits
// that all operands end in keep their axes, what stands before them counts along Y.
//
//   1x3200x4 of 40x40x8 beside 1x800x4 of 20x20x8, axis 1: {Y 40, X 40, C 2} and {Y 20, X 20, C 2}
//   end in {X 20, C 2}
//   -> 100 rows of 20 pixels of 8 channels; the first operand is rows 0..79
std::optional<View> Lowering::concatLayout(const std::vector<RealRef>& operands, std::size_t axis,
                                           const Dims& shape) const {
  Digits suffix;  // least significant first
  for (std::size_t back = 0;; ++back) {
    std::int64_t common = 0;
    bool same = true, equal = true;
    for (const RealRef& ref : operands) {
      const Digits& digits = ref.view.dims[axis];
      if (digits.size() <= back) return std::nullopt;
      const Digit& digit = digits[digits.size() - 1 - back];
      const Digit& first =
          operands[0].view.dims[axis][operands[0].view.dims[axis].size() - 1 - back];
      same = same && digit.axis == first.axis && digit.stride == first.stride;
      equal = equal && digit.extent == first.extent;
      common = std::gcd(common, digit.extent);
    }
    const Digits& first = operands[0].view.dims[axis];
    const Digit& digit = first[first.size() - 1 - back];
    if (!same || digit.axis == Axis::Y || digit.axis == Axis::Flat) break;
    suffix.push_back({common, digit.axis, digit.stride});
    if (!equal) break;
  }
  std::int64_t block = 1;
  for (const Digit& digit : suffix) block *= digit.extent;
  if (block == 1) return std::nullopt;
  // New strides: within each axis the digits keep their order of significance.
  View target;
  target.dims.resize(shape.size());
  std::vector<std::pair<std::int64_t, Digit*>> order;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i == axis) {
      target.dims[i].push_back({shape[axis] / block, Axis::Y, 0});
      target.dims[i].insert(target.dims[i].end(), suffix.rbegin(), suffix.rend());
    } else {
      target.dims[i] = operands[0].view.dims[i];
    }
  }
  for (std::size_t i = 0; i < shape.size(); ++i)
    for (Digit& digit : target.dims[i])
      order.emplace_back(
          digit.stride == 0 ? std::numeric_limits<std::int64_t>::max() : digit.stride, &digit);
  std::ranges::sort(order, {}, [](const auto& entry) { return entry.first; });
  std::array<std::int64_t, 3> stride{1, 1, 1};
  for (auto& [significance, digit] : order) {
    std::int64_t& next = stride[static_cast<std::size_t>(digit->axis)];
    digit->stride = next;
    next *= digit->extent;
  }
  return target;
}

void Lowering::lowerConcat(const Node& node) {
  const bool quantized = node.kind == NodeKind::QLinearConcat;
  const auto axis = static_cast<std::size_t>(std::get<AxisAttributes>(node.attributes).axis);
  const Dims& shape = source_[node.outputs[0]].shape;
  std::vector<RealRef> operands;
  std::optional<Quantization> quantization;
  if (quantized) quantization = quantizationOf(node, 0, 1, source_[node.outputs[0]].type);
  for (std::size_t i = quantized ? 2 : 0; i < node.inputs.size(); i += quantized ? 3 : 1) {
    if (elementCount(source_[node.inputs[i]].shape) == 0) continue;
    const auto* integer = std::get_if<IntegerRef>(&states_[node.inputs[i].at()]);
    if (quantized) {
      operands.push_back(
          dequantized(integerOf(node, i),
                      quantizationOf(node, i + 1, i + 2, source_[node.inputs[i]].type), node));
    } else {
      if (integer && !quantization) quantization = quantizations_[integer->tensor.at()];
      // Integers stand beside each other as they are, whatever numbers each operand meant.
      operands.push_back(integer ? dequantized(*integer, *quantization, node) : realOf(node, i));
    }
  }
  if (operands.empty()) throw Unsupported("an empty value");
  // One layout for all operands: the one that they have, else blocks of rows, else the standard
  // one.
  std::optional<std::vector<Axis>> axes = simpleAxes(operands[0].view, real(operands[0].id).shape);
  for (const RealRef& ref : operands)
    if (axes && layOut(ref.view.shape(), *axes) != normalized(ref.view)) axes.reset();
  std::optional<View> blocks;
  if (!axes) {
    bool alike = true;
    for (const RealRef& ref : operands)
      for (std::size_t i = 0; i < shape.size(); ++i)
        alike = alike &&
                (i == axis || normalized(ref.view).dims[i] == normalized(operands[0].view).dims[i]);
    if (alike) blocks = concatLayout(operands, axis, shape);
    if (!blocks) axes = standardAxes(shape);
  }
  for (std::size_t i = 0; axes && i < axis; ++i)
    if ((*axes)[i] == (*axes)[axis] && shape[i] > 1)
      throw Unsupported("a concatenation inside of folded axes");
  const View target = blocks ? *blocks : layOut(shape, *axes);
  if (target.dims[axis].empty()) {  // a single operand of extent 1
    if (quantization) return setInteger(node, 0, operands.front(), *quantization);
    return setReal(node, 0, operands.front());
  }
  Moved moved;
  std::int64_t offset = 0, block = 1;
  for (std::size_t i = 1; i < target.dims[axis].size(); ++i) block *= target.dims[axis][i].extent;
  for (const RealRef& ref : operands) {
    const std::int64_t extent = ref.view.shape()[axis];
    View own = target;
    own.dims[axis].front().extent = extent / block;
    if (extent == block) own.dims[axis].erase(own.dims[axis].begin());
    const RealRef placed = relaid(ref, own, node);
    moved.parts.push_back(shiftedPart(placed.id, real(placed.id).shape, target.dims[axis], offset));
    offset += extent;
  }
  const RealRef whole{addReal(composed(fresh(node, std::move(moved), tensorShape(target)))),
                      target};
  if (quantization)
    setInteger(node, 0, whole, *quantization);
  else
    setReal(node, 0, whole);
}

void Lowering::lowerBlocks(const Node& node) {
  const RealRef ref = realOf(node, 0);
  const auto* integer = std::get_if<IntegerRef>(&states_[node.inputs[0].at()]);
  const auto& block = std::get<BlockAttributes>(node.attributes);
  const Dims& x = source_[node.inputs[0]].shape;
  const std::int64_t b = block.blockSize;
  Dims split, permutation;
  if (node.kind == NodeKind::SpaceToDepth) {
    split = {x[0], x[1], x[2] / b, b, x[3] / b, b};
    permutation = {0, 3, 5, 1, 2, 4};
  } else if (block.columnRowDepth) {
    split = {x[0], x[1] / (b * b), b, b, x[2], x[3]};
    permutation = {0, 1, 4, 2, 5, 3};
  } else {
    split = {x[0], b, b, x[1] / (b * b), x[2], x[3]};
    permutation = {0, 3, 4, 1, 5, 2};
  }
  const std::optional<View> cut = reshaped(ref.view, split);
  const std::optional<View> view =
      cut ? reshaped(transposed(*cut, permutation), source_[node.outputs[0]].shape) : std::nullopt;
  if (!view) throw Unsupported("blocks that cut an axis unevenly");
  if (integer)
    setInteger(node, 0, {ref.id, *view}, quantizations_[integer->tensor.at()]);
  else
    setReal(node, 0, {ref.id, *view});
}

}  // namespace heddle::canon
