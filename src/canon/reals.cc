// Reals: descriptions of values that no tensor holds yet, and their becoming tensors.
#include <algorithm>
#include <bit>
#include <cmath>

#include "lowering.h"

namespace heddle::canon {

namespace {

constexpr int kMaxDepth = 500;  // of reals over reals: bounds recursion
constexpr std::size_t kMaxReals = 1'000'000;

FloatTable dequantizationTable(const Quantization& quantization) {
  FloatTable table;
  for (int x = -128; x < 128; ++x)
    table[static_cast<std::size_t>(x + 128)] =
        dequantizeValue(static_cast<std::int8_t>(x), quantization);
  return table;
}

bool sameTables(const std::vector<FloatTable>& a, const std::vector<FloatTable>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace

void Lowering::spend(std::int64_t bytes) {
  constexpr std::int64_t kBudget = std::int64_t{1} << 30;
  if (bytes > kBudget - spent_)
    throw Unsupported("with it, weights, tables and index maps pass 1 GiB", "CANON005");
  spent_ += bytes;
}

RealId Lowering::addReal(Real real) {
  const auto below = [&](RealId id) {
    real.depth = std::max(real.depth, reals_[id.at()].depth + 1);
  };
  if (const auto* maximum = std::get_if<Maximum>(&real.kind)) below(maximum->source);
  if (const auto* moved = std::get_if<Moved>(&real.kind))
    for (const MovedPart& part : moved->parts) below(part.source);
  if (real.depth > kMaxDepth)
    throw Unsupported("more than 500 operators without a QuantizeLinear between", "CANON005");
  if (reals_.size() >= kMaxReals)
    throw Unsupported("the network has more than a million operators", "CANON005");
  reals_.push_back(std::move(real));
  return RealId(reals_.size() - 1);
}

Real Lowering::fresh(const Node& node, RealKind kind, const Shape& shape) const {
  Real real;
  real.kind = std::move(kind);
  real.shape = shape;
  real.node = node.name;
  real.onnxOp = node.opType;
  real.name =
      node.outputs.empty() || !node.outputs[0].valid() ? node.name : source_[node.outputs[0]].name;
  return real;
}

// The value after `node`, which the operator of `from` computes along: a Conv with a Relu stays
// that Conv.
Real Lowering::fusedInto(const Real& from, const Node& node, RealKind kind) const {
  Real real = fresh(node, std::move(kind), from.shape);
  real.node = from.node;
  real.onnxOp = from.onnxOp;
  return real;
}

// The same value under another description.
Real Lowering::derived(const Real& from, RealKind kind) const {
  Real real;
  real.kind = std::move(kind);
  real.shape = from.shape;
  real.low = from.low;
  real.high = from.high;
  real.name = from.name;
  real.node = from.node;
  real.onnxOp = from.onnxOp;
  return real;
}

void Lowering::setReal(const Node& node, std::size_t output, RealRef ref) {
  const DataType type = source_[node.outputs[output]].type;
  if (type == DataType::Int8 || type == DataType::Uint8)
    throw Unsupported(std::string("arithmetic of ") + toText(type));
  const Dims &wanted = source_[node.outputs[output]].shape, made = ref.view.shape();
  if (made != wanted)
    throw Unsupported("its operand of shape " + toText(made) + " grows to " + toText(wanted));
  states_[node.outputs[output].at()] = std::move(ref);
}

void Lowering::setInteger(const Node& node, std::size_t output, RealRef ref,
                          const Quantization& quantization) {
  const std::string& name = source_[node.outputs[output]].name;
  // Movement that is still open ends in a layout that readers want, at no cost.
  if (std::holds_alternative<Moved>(real(ref.id).kind) && !portOf(ref.view, real(ref.id).shape)) {
    try {
      ref = standard(ref, node);
    } catch (const Unsupported&) {  // then the view stays
    }
  }
  const TensorId tensor = quantize(ref.id, quantization, name);
  states_[node.outputs[output].at()] = IntegerRef{tensor, ref.view};
}

RealRef Lowering::dequantized(const IntegerRef& integer, const Quantization& quantization,
                              const Node& node) {
  const Quantization& own = quantizations_[integer.tensor.at()];
  Real made = fresh(node, Mapped{integer.tensor, quantization, {}},
                    graph_.tensors[integer.tensor.at()].shape);
  if (own == quantization) return {addReal(std::move(made)), integer.view};
  // The file reads the same bytes as other numbers: a copy that says so.
  const Shape& shape = made.shape;
  const TensorId copy = addTensor(made.name, shape, quantization);
  Assemble whole;
  whole.parts.push_back({.mapY = {{.count = shape.height}},
                         .mapX = {{.count = shape.width}},
                         .mapC = {{.count = shape.channels}},
                         .table = std::nullopt});
  addOp(made, {integer.tensor}, copy, std::move(whole));
  std::get<Mapped>(made.kind).tensor = copy;
  return {addReal(std::move(made)), integer.view};
}

TensorId Lowering::quantize(RealId id, const Quantization& quantization, const std::string& name) {
  const auto key = std::make_pair(id, quantization);
  const auto known = quantized_.find(key);
  if (known != quantized_.end()) return known->second;
  const Real& source = real(id);
  const TensorId tensor = std::visit(
      [&](const auto& kind) { return emit(source, kind, quantization, name); }, source.kind);
  if (!name.empty() && provisional_[tensor.at()] && tensorNames_.takeExactly(name)) {
    graph_.tensors[tensor.at()].name = name;
    provisional_[tensor.at()] = false;
  }
  quantized_.emplace(key, tensor);
  return tensor;
}

std::vector<FloatTable> Lowering::tablesOf(const Mapped& mapped) const {
  if (mapped.linear) return {dequantizationTable(*mapped.linear)};
  return mapped.tables;
}

Mapped Lowering::throughTable(const Mapped& function) {
  const auto written = tables_.find(function.tensor);
  if (written == tables_.end()) return function;
  const std::vector<Table256>& inner = written->second.tables;
  const std::vector<FloatTable> outer = tablesOf(function);
  Mapped composed{written->second.input, std::nullopt, {}};
  composed.tables.resize(std::max(inner.size(), outer.size()));
  spend(static_cast<std::int64_t>(composed.tables.size() * sizeof(FloatTable)));
  for (std::size_t c = 0; c < composed.tables.size(); ++c)
    for (std::size_t i = 0; i < composed.tables[c].size(); ++i)
      composed.tables[c][i] =
          outer[outer.size() == 1 ? 0 : c]
               [static_cast<std::size_t>(inner[inner.size() == 1 ? 0 : c][i] + 128)];
  return composed;
}

RealRef Lowering::withTables(const RealRef& ref, std::vector<FloatTable> tables, const Node& node) {
  const Mapped& from = std::get<Mapped>(real(ref.id).kind);
  spend(static_cast<std::int64_t>(tables.size() * sizeof(FloatTable)));
  if (std::ranges::all_of(tables, [&](const FloatTable& table) { return table == tables.front(); }))
    tables.resize(1);
  Mapped to{from.tensor, std::nullopt, std::move(tables)};
  // A Relu that no value reaches changes nothing.
  if (from.linear && sameTables(to.tables, tablesOf(from))) to = from;
  return {addReal(fresh(node, std::move(to), real(ref.id).shape)), ref.view};
}

// The descriptions that Mapped functions, windows of maxima and movements are made of commute with
// a rounding that never falls, so those can be pushed down to what they read.
RealRef Lowering::clipped(const RealRef& ref, double low, double high, const Node& node) {
  const Real& from = real(ref.id);
  if (std::holds_alternative<Mapped>(from.kind)) {
    std::vector<FloatTable> tables = tablesOf(std::get<Mapped>(from.kind));
    for (FloatTable& table : tables)
      for (float& value : table)
        value = std::min(std::max(value, static_cast<float>(low)), static_cast<float>(high));
    return withTables(ref, std::move(tables), node);
  }
  if (const auto* maximum = std::get_if<Maximum>(&from.kind)) {
    const View any;
    Maximum to = *maximum;
    to.source = clipped({maximum->source, any}, low, high, node).id;
    return {addReal(fresh(node, to, from.shape)), ref.view};
  }
  if (const auto* moved = std::get_if<Moved>(&from.kind)) {
    Moved to = *moved;
    std::map<RealId, RealId> done;
    for (MovedPart& part : to.parts) {
      const auto [found, isNew] = done.emplace(part.source, RealId());
      if (isNew) found->second = clipped({part.source, View{}}, low, high, node).id;
      part.source = found->second;
    }
    to.fill = std::min(std::max(to.fill, low), high);
    const Shape shape = from.shape;
    return {addReal(fresh(node, std::move(to), shape)), ref.view};
  }
  if (std::holds_alternative<Input>(from.kind))
    throw Unsupported("it reads a float that nothing has quantized");
  Real to = fusedInto(from, node, from.kind);
  to.low = std::min(std::max(from.low, low), high);
  to.high = std::min(std::max(from.high, low), high);
  return {addReal(std::move(to)), ref.view};
}

RealRef Lowering::mapped(const RealRef& ref) {
  const Real& from = real(ref.id);
  if (std::holds_alternative<Mapped>(from.kind)) return ref;
  const auto known = mapped_.find(ref.id);
  if (known != mapped_.end()) return {known->second, ref.view};
  const auto remember = [&](Mapped function) {
    const RealId id = addReal(derived(real(ref.id), std::move(function)));
    mapped_.emplace(ref.id, id);
    return RealRef{id, ref.view};
  };
  if (const auto* maximum = std::get_if<Maximum>(&from.kind)) {
    const RealId source = mapped({maximum->source, View{}}).id;
    const Mapped function = std::get<Mapped>(real(source).kind);
    const bool rises = std::ranges::all_of(tablesOf(function),
                                           [](const auto& t) { return std::ranges::is_sorted(t); });
    if (!rises) throw Unsupported("a maximum of a function that does not rise");
    // The bytes' maximum is the maximum's byte.
    const Quantization& bytes = quantizations_[function.tensor.at()];
    Real plain = derived(real(source), Mapped{function.tensor, bytes, {}});
    Maximum over{addReal(std::move(plain)), maximum->window};
    const RealId whole = addReal(derived(real(ref.id), over));
    return remember({quantize(whole, bytes, ""), function.linear, function.tables});
  }
  const auto* moved = std::get_if<Moved>(&from.kind);
  if (!moved) {
    throw Unsupported(std::holds_alternative<Input>(from.kind)
                          ? "it reads '" + from.name + "', a float that nothing has quantized"
                          : "it reads '" + from.name + "' of " + from.onnxOp +
                                " before a QuantizeLinear has rounded it");
  }
  Moved bytes = *moved;
  std::optional<Mapped> common;
  for (MovedPart& part : bytes.parts) {
    const RealId source = mapped({part.source, View{}}).id;
    const Mapped& function = std::get<Mapped>(real(source).kind);
    const Quantization own = quantizations_[function.tensor.at()];
    const bool fits = !common || (quantizations_[common->tensor.at()] == own &&
                                  common->linear == function.linear &&
                                  sameTables(common->tables, function.tables));
    if (!fits || function.tables.size() > 1)
      throw Unsupported("it reads '" + from.name +
                        "', whose parts have different scales that no QuantizeLinear joins");
    if (!common) common = function;
    part.source = addReal(derived(real(source), Mapped{function.tensor, own, {}}));
  }
  if (!common) throw Unsupported("it reads an empty value");
  const Quantization own = quantizations_[common->tensor.at()];
  const double fill =
      double{dequantizeValue(quantizeValue(static_cast<float>(bytes.fill), own), own)};
  std::int64_t covered = 0;
  for (const MovedPart& part : bytes.parts) {
    std::int64_t box = 1;
    for (const AxisMap* map : {&part.mapY, &part.mapX, &part.mapC}) {
      std::int64_t count = 0;
      for (const AxisRun& run : *map) count += run.count;
      box *= count;
    }
    covered += box;
  }
  if (covered < from.shape.elements() && (fill != bytes.fill || !common->linear))
    throw Unsupported("it reads '" + from.name + "', whose padding is no number of its scale");
  const RealId whole = addReal(derived(real(ref.id), std::move(bytes)));
  return remember({quantize(whole, own, ""), common->linear, common->tables});
}

std::pair<TensorId, Quantization> Lowering::linear(const RealRef& ref) {
  const RealId id = mapped(ref).id;
  const Mapped& function = std::get<Mapped>(real(id).kind);
  if (!function.linear)
    throw Unsupported("it reads '" + real(id).name + "' of " + real(id).onnxOp +
                      " before a QuantizeLinear has rounded it");
  return {function.tensor, *function.linear};
}

}  // namespace heddle::canon
