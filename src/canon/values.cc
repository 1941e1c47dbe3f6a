// Constants, scales and zero points, and the layout that a graph input gets.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "lowering.h"

namespace heddle::canon {

namespace {

std::vector<std::int32_t> integersOf(const Value& value) {
  const auto read = [&](const auto& elements) {
    return std::vector<std::int32_t>(elements.begin(), elements.end());
  };
  switch (value.type) {
    case DataType::Int8:
      return read(value.elements<std::int8_t>());
    case DataType::Uint8:
      return read(value.elements<std::uint8_t>());
    case DataType::Int32:
      return read(value.elements<std::int32_t>());
    default:
      throw Unsupported("'" + value.name + "' is of " + toText(value.type) +
                        ", not int8, uint8 or int32");
  }
}

std::vector<float> scalesOf(const Value& value) {
  if (!value.constant || value.type != DataType::Float32)
    throw Unsupported("its scale '" + value.name + "' is not a float32 constant");
  const auto elements = value.elements<float>();
  for (const float scale : elements)
    if (!(scale > 0) || !std::isfinite(scale))
      throw Unsupported("its scale '" + value.name + "' is " + std::to_string(scale), "CANON004");
  return {elements.begin(), elements.end()};
}

// The digits of the part [stride, stride * extent) of the flat index that `full` spells out; absent
// where they cut its digits unevenly.
std::optional<Digits> segment(const Digits& full, std::int64_t stride, std::int64_t extent) {
  Digits out;
  for (std::size_t i = full.size(); i-- > 0 && extent > 1;) {
    Digit digit = full[i];
    const std::int64_t skip = std::gcd(stride, digit.extent);
    digit = {digit.extent / skip, digit.axis, digit.stride * skip};
    stride /= skip;
    if (digit.extent == 1) continue;
    const std::int64_t take = std::gcd(extent, digit.extent);
    if (stride != 1 || take == 1 || (take != digit.extent && take != extent)) return std::nullopt;
    out.insert(out.begin(), {take, digit.axis, digit.stride});
    extent /= take;
  }
  return joined(out);
}

}  // namespace

std::int8_t quantizeValue(float value, const Quantization& quantization) {
  const float q =
      std::nearbyint(value / quantization.scale) + static_cast<float>(quantization.zero);
  if (std::isnan(q)) return -128;  // as ONNX Runtime has it: the lowest
  return static_cast<std::int8_t>(std::clamp(q, -128.F, 127.F));
}

float dequantizeValue(std::int8_t stored, const Quantization& quantization) {
  return static_cast<float>(stored - quantization.zero) * quantization.scale;
}

Lowering::Lowering(const Graph& source)
    : source_(source), states_(source.values.size()), consumers_(source.values.size()) {
  graph_.name = source.name;
  for (std::size_t i = 0; i < source.nodes.size(); ++i)
    for (const ValueId id : source.nodes[i].inputs)
      if (id.valid()) consumers_[id.at()].push_back(i);
  for (std::size_t i = 0; i < source.values.size(); ++i)
    if (source.values[i].constant) constants_.emplace(&*source.values[i].constant, ValueId(i));
  for (const ValueId id : source.inputs) {
    const Value& value = source[id];
    states_[id.at()] = Hosted{.before = true};
    if (std::ranges::find(value.shape, 0) != value.shape.end()) continue;
    if (value.type == DataType::Float32) makeHostInput(id);
    if (value.type != DataType::Int8 && value.type != DataType::Uint8) continue;
    const bool isUint8 = value.type == DataType::Uint8;
    const Quantization unknown{.scale = 1, .zero = isUint8 ? -128 : 0, .fromUint8 = isUint8};
    try {
      states_[id.at()] =
          addInput(id, flatView(value.shape), id, findQuantization(id).value_or(unknown));
    } catch (const Unsupported& fault) {
      inputFaults_.emplace(id, fault);
    }
  }
}

void Lowering::makeHostInput(ValueId id) {
  Real input;
  input.kind = Input{id};
  input.name = source_[id].name;
  states_[id.at()] = RealRef{addReal(std::move(input)), flatView(source_[id].shape)};
}

bool Lowering::isConstant(ValueId id) const {
  return source_[id].constant.has_value() || std::holds_alternative<ConstantReal>(states_[id.at()]);
}

bool Lowering::isRawInput(ValueId id) const {
  const auto* ref = std::get_if<RealRef>(&states_[id.at()]);
  return ref && std::holds_alternative<Input>(reals_[ref->id.at()].kind);
}

Quantization Lowering::quantizationOf(const Node& node, std::size_t scale, std::size_t zero,
                                      DataType type) const {
  if (type != DataType::Int8 && type != DataType::Uint8)
    throw Unsupported(std::string("quantization to ") + toText(type) + " is not supported");
  if (scale >= node.inputs.size() || !node.inputs[scale].valid())
    throw Unsupported("its scale is missing");
  const std::vector<float> scales = scalesOf(source_[node.inputs[scale]]);
  if (scales.size() != 1) throw Unsupported("an activation with a scale for each channel");
  const bool isUint8 = type == DataType::Uint8;
  Quantization quantization{
      .scale = scales.front(), .zero = isUint8 ? -128 : 0, .fromUint8 = isUint8};
  if (zero >= node.inputs.size() || !node.inputs[zero].valid()) return quantization;
  const Value& zeroValue = source_[node.inputs[zero]];
  if (!zeroValue.constant)
    throw Unsupported("its zero point '" + zeroValue.name + "' is not a constant");
  if (zeroValue.type != type)
    throw Unsupported(
        "its zero point is " + std::string(toText(zeroValue.type)) + ", its data " + toText(type),
        "CANON004");
  const std::vector<std::int32_t> zeros = integersOf(zeroValue);
  if (zeros.size() != 1) throw Unsupported("an activation with a zero point for each channel");
  quantization.zero = zeros.front() - (isUint8 ? 128 : 0);
  return quantization;
}

// What the consumers of an integer value say its numbers mean; looks through operators that only
// move them.
std::optional<Quantization> Lowering::findQuantization(ValueId integer) const {
  std::vector<ValueId> open{integer};
  std::unordered_set<std::int32_t> seen;
  const DataType type = source_[integer].type;
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (!seen.insert(id.index).second) continue;
    for (const std::size_t i : consumers_[id.at()]) {
      const Node& node = source_.nodes[i];
      const auto at =
          static_cast<std::size_t>(std::ranges::find(node.inputs, id) - node.inputs.begin());
      switch (node.kind) {
        case NodeKind::DequantizeLinear:
        case NodeKind::QLinearConv:
        case NodeKind::QLinearMatMul:
        case NodeKind::QGemm:
        case NodeKind::QLinearAdd:
        case NodeKind::QLinearMul:
        case NodeKind::QLinearAveragePool:
        case NodeKind::QLinearGlobalAveragePool:
        case NodeKind::QLinearLeakyRelu:
        case NodeKind::QLinearSigmoid:
        case NodeKind::QLinearConcat:
          try {
            return quantizationOf(node, at + 1, at + 2, type);
          } catch (const Unsupported&) {
            continue;
          }
        case NodeKind::ConvInteger:
        case NodeKind::MatMulInteger:
          continue;
        default:
          for (const ValueId output : node.outputs)
            if (output.valid() && source_[output].type == type) open.push_back(output);
      }
    }
  }
  return std::nullopt;
}

ConstantReal Lowering::quantizedConstant(ValueId value, ValueId scale, ValueId zero,
                                         std::size_t axis) const {
  ConstantReal constant;
  const auto* known = std::get_if<ConstantReal>(&states_[value.at()]);
  const Value& source = source_[value];
  if (known)
    constant = *known;
  else if (source.constant)
    constant = {.bytes = &*source.constant,
                .type = source.type,
                .shape = source.shape,
                .scales = {},
                .zeros = {},
                .axis = 0};
  else
    throw Unsupported("'" + source.name + "' is not a constant");
  constant.axis = axis;
  constant.scales = scale.valid() ? scalesOf(source_[scale]) : std::vector<float>{1};
  constant.zeros.assign(constant.scales.size(), 0);
  if (zero.valid()) {
    if (!source_[zero].constant)
      throw Unsupported("'" + source_[zero].name + "' is not a constant");
    const std::vector<std::int32_t> zeros = integersOf(source_[zero]);
    if (zeros.size() > constant.scales.size() && constant.scales.size() == 1)
      constant.scales.assign(zeros.size(), float{constant.scales[0]});
    if (zeros.size() != 1 && zeros.size() != constant.scales.size())
      throw Unsupported("its zero points do not fit its scales", "CANON006");
    constant.zeros = zeros;
    constant.zeros.resize(constant.scales.size(), zeros[0]);
  }
  const bool perAxis = constant.scales.size() != 1;
  if (perAxis && (axis >= constant.shape.size() ||
                  constant.shape[axis] != static_cast<std::int64_t>(constant.scales.size())))
    throw Unsupported(std::to_string(constant.scales.size()) + " scales do not fit constants of " +
                          toText(constant.shape),
                      "CANON006");
  return constant;
}

ConstantReal Lowering::constantReal(ValueId id) const {
  if (const auto* known = std::get_if<ConstantReal>(&states_[id.at()])) return *known;
  const Value& value = source_[id];
  if (!value.constant)
    throw Unsupported("'" + value.name + "' is computed at run time; heddle needs a constant");
  return {.bytes = &*value.constant,
          .type = value.type,
          .shape = value.shape,
          .scales = {1},
          .zeros = {0},
          .axis = 0};
}

std::vector<double> Lowering::elementsOf(const ConstantReal& constant) const {
  const Value view{.name = {}, .type = constant.type, .shape = {}, .constant = std::nullopt};
  std::vector<double> out;
  const auto read = [&]<class T>(T) {
    const T* elements = reinterpret_cast<const T*>(constant.bytes->data());
    out.assign(elements, elements + constant.bytes->size() / sizeof(T));
  };
  switch (constant.type) {
    case DataType::Float32:
      read(float{});
      break;
    case DataType::Float64:
      read(double{});
      break;
    case DataType::Int8:
      read(std::int8_t{});
      break;
    case DataType::Uint8:
    case DataType::Bool:
      read(std::uint8_t{});
      break;
    case DataType::Int32:
      read(std::int32_t{});
      break;
    case DataType::Int64:
      read(std::int64_t{});
      break;
  }
  if (constant.scales.size() == 1 && constant.scales[0] == 1 && constant.zeros[0] == 0) return out;
  std::size_t inner = 1;
  for (std::size_t i = constant.axis + 1; i < constant.shape.size(); ++i)
    inner *= static_cast<std::size_t>(constant.shape[i]);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t channel =
        constant.scales.size() == 1 ? 0 : i / inner % constant.scales.size();
    // DequantizeLinear is one float32 product.
    out[i] =
        double{static_cast<float>(out[i] - constant.zeros[channel]) * constant.scales[channel]};
  }
  return out;
}

namespace {

// Whether the operator only looks at its operand in another way, or rounds it: all others need to
// know where in a tensor the elements lie, which a float of the host does not say.
bool takesFloats(NodeKind kind) {
  switch (kind) {
    case NodeKind::QuantizeLinear:
    case NodeKind::Transpose:
    case NodeKind::Reshape:
    case NodeKind::Flatten:
    case NodeKind::Squeeze:
    case NodeKind::Unsqueeze:
    case NodeKind::Identity:
    case NodeKind::Dropout:
    case NodeKind::Cast:
      return true;
    default:
      return false;
  }
}

}  // namespace

RealRef Lowering::realOf(const Node& node, std::size_t input) {
  if (input >= node.inputs.size() || !node.inputs[input].valid())
    throw Unsupported("input " + std::to_string(input) + " is missing");
  const State& known = states_[node.inputs[input].at()];
  if (isRawInput(node.inputs[input]) && !takesFloats(node.kind))
    throw Unsupported("it reads '" + source_[node.inputs[input]].name +
                      "', a float that nothing has quantized");
  if (const auto* ref = std::get_if<RealRef>(&known)) return *ref;
  if (const auto* integer = std::get_if<IntegerRef>(&known))
    return dequantized(*integer, quantizations_[integer->tensor.at()], node);
  const ConstantReal constant = constantReal(node.inputs[input]);
  const bool isByte = constant.type == DataType::Int8 || constant.type == DataType::Uint8;
  if (!isByte || constant.scales.size() != 1)
    throw Unsupported("the constant '" + source_[node.inputs[input]].name +
                      "' is not quantized with one scale");
  const View view = layOut(constant.shape, standardAxes(constant.shape));
  const TensorId tensor =
      constantTensor(constant, constant.shape, view, source_[node.inputs[input]].name);
  return dequantized({tensor, view}, quantizations_[tensor.at()], node);
}

IntegerRef Lowering::integerOf(const Node& node, std::size_t input) {
  if (input >= node.inputs.size() || !node.inputs[input].valid())
    throw Unsupported("input " + std::to_string(input) + " is missing");
  const ValueId id = node.inputs[input];
  if (const auto* integer = std::get_if<IntegerRef>(&states_[id.at()])) return *integer;
  throw Unsupported("'" + source_[id].name + "' is not an integer tensor that the array computes");
}

// A constant of one scale as a canonical tensor, broadcast to `shape` and laid out as `view`.
TensorId Lowering::constantTensor(const ConstantReal& constant, const Dims& shape, const View& view,
                                  const std::string& name) {
  const bool isUint8 = constant.type == DataType::Uint8;
  const Quantization quantization{.scale = constant.scales[0],
                                  .zero = constant.zeros[0] - (isUint8 ? 128 : 0),
                                  .fromUint8 = isUint8};
  const Shape tensor = tensorShape(view);
  spend(elementCount(shape) * 4);
  const TensorId id = addTensor(name, tensor, quantization);
  std::vector<std::int8_t>& values = graph_.tensors[id.at()].constant;
  values.resize(static_cast<std::size_t>(tensor.elements()));
  const std::array<std::int64_t, 3> axisStep{tensor.width * tensor.channels, tensor.channels, 1};
  Dims index(shape.size(), 0);
  const std::size_t lead = shape.size() - constant.shape.size();
  for (std::int64_t count = elementCount(shape); count > 0; --count) {
    std::int64_t from = 0, to = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (i >= lead)
        from = from * constant.shape[i - lead] + (constant.shape[i - lead] == 1 ? 0 : index[i]);
      std::int64_t rest = index[i];
      for (std::size_t k = view.dims[i].size(); k-- > 0;) {
        const Digit& digit = view.dims[i][k];
        to += rest % digit.extent * digit.stride * axisStep[static_cast<std::size_t>(digit.axis)];
        rest /= digit.extent;
      }
    }
    const auto byte = static_cast<std::uint8_t>((*constant.bytes)[static_cast<std::size_t>(from)]);
    values[static_cast<std::size_t>(to)] = static_cast<std::int8_t>(isUint8 ? byte ^ 0x80 : byte);
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
  return id;
}

namespace {

struct PlacedInput {
  Shape shape;
  View view;
  Port port;
};

// A layout in which `seen`, a view of the flat array of `source`, has the axes `wanted`; `flat` is
// the view asked for. Absent where that is not one permutation of the array's axes.
std::optional<PlacedInput> placeInput(const Value& source, const View& seen,
                                      const std::vector<Axis>& wanted, const View& flat) {
  const Dims shape = seen.shape();
  const View laid = layOut(shape, wanted);
  // The flat index, digit by digit, in terms of the tensor's axes.
  std::vector<std::pair<std::int64_t, Digit>> places;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto pairs = pairDigits(seen.dims[i], laid.dims[i]);
    if (!pairs) return std::nullopt;
    for (const DigitPair& pair : *pairs)
      places.emplace_back(pair.fromStride, Digit{pair.extent, pair.toAxis, pair.toStride});
  }
  std::ranges::sort(places, std::greater<>(), [](const auto& entry) { return entry.first; });
  Digits full;
  for (const auto& [stride, digit] : places) full.push_back(digit);
  const auto inTensor = [&](const View& of) -> std::optional<View> {
    View out;
    for (const Digits& digits : of.dims) {
      Digits moved;
      for (const Digit& digit : digits) {
        const auto pieces = segment(full, digit.stride, digit.extent);
        if (!pieces) return std::nullopt;
        moved.insert(moved.end(), pieces->begin(), pieces->end());
      }
      out.dims.push_back(joined(moved));
    }
    return out;
  };
  const std::optional<View> view = inTensor(flat), whole = inTensor(flatView(source.shape));
  if (!view || !whole) return std::nullopt;
  std::optional<Port> port = portOf(*whole, tensorShape(laid));
  if (!port) return std::nullopt;
  return PlacedInput{tensorShape(laid), *view, std::move(*port)};
}

// What `reader` does with the value shows another view of the same elements; absent where it does
// more.
std::optional<View> lookedThrough(const View& view, const Node& reader, const Dims& shape) {
  switch (reader.kind) {
    case NodeKind::Transpose:
      return transposed(view, std::get<TransposeAttributes>(reader.attributes).permutation);
    case NodeKind::Reshape:
    case NodeKind::Flatten:
    case NodeKind::Squeeze:
    case NodeKind::Unsqueeze:
      return reshaped(view, shape);
    case NodeKind::QuantizeLinear:
    case NodeKind::DequantizeLinear:
    case NodeKind::Identity:
    case NodeKind::Dropout:
      return view;
    default:
      return std::nullopt;
  }
}

// Windows suffer most from a foreign layout, then products.
enum class Wanting { Window, Matrix, Other, Nobody };

Wanting wantingOf(const Node& reader) {
  if (std::holds_alternative<ConvAttributes>(reader.attributes) ||
      std::holds_alternative<PoolAttributes>(reader.attributes))
    return Wanting::Window;
  if (reader.kind == NodeKind::MatMul || reader.kind == NodeKind::QLinearMatMul ||
      reader.kind == NodeKind::MatMulInteger)
    return Wanting::Matrix;
  return Wanting::Other;
}

// An operator that reads an input, and the view of it that it gets.
struct Reader {
  Wanting wanting = Wanting::Nobody;
  View view;

  std::vector<Axis> axes() const {
    const Dims shape = view.shape();
    if (wanting == Wanting::Matrix && !shape.empty()) {
      std::vector<Axis> axes(shape.size(), Axis::Y);
      axes.back() = Axis::C;
      return axes;
    }
    if (wanting == Wanting::Window && shape.size() == 3 && shape[0] == 1)
      return {Axis::Y, Axis::C, Axis::X};
    return standardAxes(shape);
  }

  // An order of readers that does not depend on that of the file.
  std::vector<std::int64_t> key() const {
    std::vector<std::int64_t> key{static_cast<std::int64_t>(wanting)};
    for (const Digits& digits : view.dims) {
      key.push_back(static_cast<std::int64_t>(digits.size()));
      for (const Digit& digit : digits) key.insert(key.end(), {digit.extent, digit.stride});
    }
    return key;
  }
  friend bool operator<(const Reader& a, const Reader& b) { return a.key() < b.key(); }
};

std::vector<Reader> readersOf(const Graph& source,
                              const std::vector<std::vector<std::size_t>>& consumers,
                              ValueId integer, const View& flat) {
  std::vector<Reader> readers;
  std::vector<std::pair<ValueId, View>> open{{integer, flat}};
  for (std::size_t n = 0; n < open.size(); ++n) {
    const auto [at, view] = open[n];
    if (consumers[at.at()].empty()) readers.push_back({Wanting::Nobody, view});
    for (const std::size_t i : consumers[at.at()]) {
      const Node& reader = source.nodes[i];
      const ValueId out = reader.outputs.empty() ? ValueId() : reader.outputs.front();
      const std::optional<View> next = out.valid() && reader.inputs.front() == at
                                           ? lookedThrough(view, reader, source[out].shape)
                                           : std::nullopt;
      if (next)
        open.emplace_back(out, *next);
      else
        readers.push_back({wantingOf(reader), view});
    }
  }
  std::ranges::stable_sort(readers, std::less<>());
  return readers;
}

}  // namespace

// Chooses the layout that an operator reading `integer` wants, looking through views, so that this
// one needs no data movement. `flat` is how `integer` reads the flat array of the port.
IntegerRef Lowering::addInput(ValueId portValue, const View& flat, ValueId integer,
                              const Quantization& quantization) {
  const Value& source = source_[portValue];
  std::optional<PlacedInput> placed;
  std::optional<Unsupported> fault;
  const auto place = [&](const View& seen, const auto& wanted) {
    try {
      if (!placed) placed = placeInput(source, seen, wanted(), flat);
    } catch (const Unsupported& found) {
      if (!fault) fault = found;
    }
  };
  for (const Reader& reader : readersOf(source_, consumers_, integer, flat))
    place(reader.view, [&] { return reader.axes(); });
  place(flatView(source.shape), [&] { return standardAxes(source.shape); });
  if (!placed && fault) throw Unsupported(*fault);
  if (!placed) throw Unsupported("no layout of the input '" + source.name + "' suits its reader");
  IntegerRef ref{addTensor(source_[integer].name, placed->shape, quantization), placed->view};
  provisional_[ref.tensor.at()] = false;
  placed->port.name = source.name;
  placed->port.tensor = ref.tensor;
  placed->port.type = source.type == DataType::Float32 ? ElementType::Float32
                      : quantization.fromUint8         ? ElementType::Uint8
                                                       : ElementType::Int8;
  graph_.inputs.push_back(std::move(placed->port));
  return ref;
}

void Lowering::lowerQuantize(const Node& node) {
  const Quantization quantization = quantizationOf(node, 1, 2, source_[node.outputs[0]].type);
  RealRef ref = realOf(node, 0);
  const auto* input = std::get_if<Input>(&real(ref.id).kind);
  if (!input) return setInteger(node, 0, ref, quantization);
  states_[node.outputs[0].at()] = addInput(input->value, ref.view, node.outputs[0], quantization);
}

void Lowering::lowerDequantize(const Node& node) {
  const ValueId in = node.inputs[0];
  if (isConstant(in)) {
    const std::size_t axis =
        static_cast<std::size_t>(std::get<AxisAttributes>(node.attributes).axis);
    states_[node.outputs[0].at()] = quantizedConstant(
        in, node.inputs[1], node.inputs.size() > 2 ? node.inputs[2] : ValueId(), axis);
    return;
  }
  const Quantization quantization = quantizationOf(node, 1, 2, source_[in].type);
  setReal(node, 0, dequantized(integerOf(node, 0), quantization, node));
}

std::optional<Port> Lowering::port(ValueId id) {
  const State known = states_[id.at()];
  IntegerRef integer;
  ElementType type = ElementType::Float32;
  Node here{.name = source_[id].name,
            .opType = "layout",
            .kind = NodeKind::Identity,
            .inputs = {},
            .outputs = {},
            .attributes = {}};
  try {
    if (const auto* ref = std::get_if<IntegerRef>(&known)) {
      integer = *ref;
      type = quantizations_[ref->tensor.at()].fromUint8 ? ElementType::Uint8 : ElementType::Int8;
    } else if (const auto* real = std::get_if<RealRef>(&known); real && !isRawInput(id)) {
      const RealRef function = mapped(*real);
      integer = {linear(function).first, function.view};
    } else {
      return std::nullopt;
    }
    std::optional<Port> port = portOf(integer.view, graph_.tensors[integer.tensor.at()].shape);
    if (!port) {
      const RealRef moved =
          mapped(standard(dequantized(integer, quantizations_[integer.tensor.at()], here), here));
      integer = {linear(moved).first, moved.view};
      port = portOf(integer.view, graph_.tensors[integer.tensor.at()].shape);
    }
    if (!port) return std::nullopt;
    port->name = source_[id].name;
    port->tensor = integer.tensor;
    port->type = type;
    return port;
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

}  // namespace heddle::canon
