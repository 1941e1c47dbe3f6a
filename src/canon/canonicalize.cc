#include "heddle/canon/canonicalize.h"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "fits.h"
#include "lowering.h"

namespace heddle {

namespace canon {

void Lowering::lower(const Node& node) {
  for (const ValueId id : node.outputs)
    if (id.valid() && std::ranges::find(source_[id].shape, 0) != source_[id].shape.end())
      throw Unsupported("a value without elements");
  switch (node.kind) {
    case NodeKind::QuantizeLinear:
      return lowerQuantize(node);
    case NodeKind::DequantizeLinear:
      return lowerDequantize(node);
    case NodeKind::Conv:
    case NodeKind::ConvInteger:
    case NodeKind::QLinearConv:
      return lowerConv(node);
    case NodeKind::Gemm:
    case NodeKind::QGemm:
    case NodeKind::MatMul:
    case NodeKind::MatMulInteger:
    case NodeKind::QLinearMatMul:
      return lowerMatrix(node);
    case NodeKind::MaxPool:
    case NodeKind::GlobalMaxPool:
    case NodeKind::AveragePool:
    case NodeKind::GlobalAveragePool:
    case NodeKind::QLinearAveragePool:
    case NodeKind::QLinearGlobalAveragePool:
      return lowerPool(node);
    case NodeKind::ReduceMean:
    case NodeKind::ReduceSum:
    case NodeKind::ReduceMax:
    case NodeKind::ReduceMin:
      return lowerReduce(node);
    case NodeKind::Add:
    case NodeKind::Sub:
    case NodeKind::Mul:
    case NodeKind::Div:
    case NodeKind::Pow:
    case NodeKind::Min:
    case NodeKind::Max:
    case NodeKind::QLinearAdd:
    case NodeKind::QLinearMul:
      return lowerBinary(node);
    case NodeKind::Relu:
    case NodeKind::Clip:
    case NodeKind::LeakyRelu:
    case NodeKind::Sigmoid:
    case NodeKind::HardSigmoid:
    case NodeKind::HardSwish:
    case NodeKind::Tanh:
    case NodeKind::Elu:
    case NodeKind::Selu:
    case NodeKind::Softplus:
    case NodeKind::Softsign:
    case NodeKind::Exp:
    case NodeKind::Log:
    case NodeKind::Sqrt:
    case NodeKind::Abs:
    case NodeKind::Neg:
    case NodeKind::Floor:
    case NodeKind::Ceil:
    case NodeKind::Round:
    case NodeKind::Erf:
    case NodeKind::Reciprocal:
    case NodeKind::Sign:
    case NodeKind::Mish:
    case NodeKind::Gelu:
    case NodeKind::QLinearLeakyRelu:
    case NodeKind::QLinearSigmoid:
      return lowerFunction(node);
    case NodeKind::PRelu:
      return lowerPRelu(node);
    case NodeKind::BatchNormalization:
      return lowerBatchNormalization(node);
    case NodeKind::Concat:
    case NodeKind::QLinearConcat:
      return lowerConcat(node);
    case NodeKind::Split:
    case NodeKind::Slice:
    case NodeKind::Pad:
    case NodeKind::Resize:
    case NodeKind::Expand:
    case NodeKind::Tile:
      return lowerIndexed(node);
    case NodeKind::DepthToSpace:
    case NodeKind::SpaceToDepth:
      return lowerBlocks(node);
    case NodeKind::Transpose:
    case NodeKind::Reshape:
    case NodeKind::Flatten:
    case NodeKind::Squeeze:
    case NodeKind::Unsqueeze:
    case NodeKind::Identity:
    case NodeKind::Dropout:
    case NodeKind::Cast:
      return lowerView(node);
    case NodeKind::DynamicQuantizeLinear:
      throw Unsupported("its scale is known at run time only");
    case NodeKind::Gather:
    case NodeKind::Softmax:
    case NodeKind::LogSoftmax:
    case NodeKind::ArgMax:
    case NodeKind::ArgMin:
    case NodeKind::Shape:
    case NodeKind::Range:
    case NodeKind::ConstantOfShape:
    case NodeKind::Constant:
      break;
  }
  throw Unsupported("there is no integer operator for it");
}

namespace {

// The work that a host must not take over silently.
bool isForTheArray(NodeKind kind) {
  switch (kind) {
    case NodeKind::Conv:
    case NodeKind::ConvInteger:
    case NodeKind::QLinearConv:
    case NodeKind::Gemm:
    case NodeKind::QGemm:
    case NodeKind::MatMul:
    case NodeKind::MatMulInteger:
    case NodeKind::QLinearMatMul:
    case NodeKind::QLinearAdd:
    case NodeKind::QLinearMul:
    case NodeKind::QLinearAveragePool:
    case NodeKind::QLinearGlobalAveragePool:
    case NodeKind::QLinearConcat:
    case NodeKind::QLinearLeakyRelu:
    case NodeKind::QLinearSigmoid:
      return true;
    default:
      return false;
  }
}

// One run over the network: lowers what can be lowered, cuts off what stays on the host, names what
// fits neither.
class Canonicalizer {
 public:
  explicit Canonicalizer(const Graph& source)
      : source_(source),
        lowering_(source),
        why_(source.nodes.size()),
        hosted_(source.nodes.size()),
        producer_(source.values.size(), -1) {}

  Result<Canonicalized> run() {
    for (std::size_t i = 0; i < source_.nodes.size(); ++i) {
      for (const ValueId id : source_.nodes[i].outputs)
        if (id.valid()) producer_[id.at()] = static_cast<std::int64_t>(i);
      lower(i);
    }
    cutOutputs();
    if (const Diagnostics faults = unsupported(); !faults.empty()) return faults;
    foldPadding();
    listQuantized();
    finishGraph();
    if (Diagnostics faults = beyondLimits(result_.graph); !faults.empty()) return faults;
    result_.hostBefore = part(true);
    result_.hostAfter = part(false);
    const Diagnostics broken = verify(result_.graph);
    HEDDLE_CHECK(broken.empty()) << toText(broken);
    return std::move(result_);
  }

 private:
  void host(std::size_t i, bool before) {
    hosted_[i] = true;
    for (const ValueId id : source_.nodes[i].outputs)
      if (id.valid()) lowering_.state(id) = Hosted{before};
  }

  void lower(std::size_t i) {
    const Node& node = source_.nodes[i];
    bool anyHosted = false, allBefore = true;
    for (const ValueId id : node.inputs) {
      if (!id.valid() || lowering_.isConstant(id)) continue;
      const auto* hosted = std::get_if<Hosted>(&lowering_.state(id));
      anyHosted = anyHosted || hosted;
      allBefore = allBefore && ((hosted && hosted->before) || lowering_.isRawInput(id));
    }
    const ValueId in = node.inputs.empty() ? ValueId() : node.inputs.front();
    if (anyHosted && allBefore && node.kind == NodeKind::QuantizeLinear && in.valid() &&
        source_[in].type == DataType::Float32) {
      lowering_.makeHostInput(in);  // what the host computes, the array reads
      boundary_.insert(in.index);
      anyHosted = false;
    }
    if (anyHosted) return host(i, allBefore);
    try {
      lowering_.lower(node);
    } catch (const Unsupported& fault) {
      why_[i] = fault;
      host(i, allBefore);
    }
  }

  // Ports of the outputs, or of what host operators need to compute them; and the host operators
  // that make what the array reads. An operator may be needed on both sides: it runs twice.
  void cutOutputs() {
    needed_.assign(source_.nodes.size(), {});
    std::vector<ValueId> read;
    for (const std::int32_t id : boundary_) read.push_back(ValueId(static_cast<std::size_t>(id)));
    follow(
        std::move(read), [&](std::size_t node) { needed_[node].before = true; },
        [](ValueId) { return false; });
    follow(
        source_.outputs, [&](std::size_t node) { needed_[node].after = true; },
        [&](ValueId id) {
          auto port = lowering_.port(id);
          if (port) lowering_.graph().outputs.push_back(std::move(*port));
          return port.has_value();
        });
  }

  // Tells `need` the nodes that compute `open`, each once, back to inputs, constants and where
  // `ends` says so.
  template <class Need, class Ends>
  void follow(std::vector<ValueId> open, const Need& need, const Ends& ends) {
    std::vector<bool> seen(source_.values.size());
    for (std::size_t n = 0; n < open.size(); ++n) {
      const ValueId id = open[n];
      if (seen[id.at()] || source_[id].constant) continue;
      seen[id.at()] = true;
      if (ends(id) || producer_[id.at()] < 0) continue;
      const auto i = static_cast<std::size_t>(producer_[id.at()]);
      need(i);
      for (const ValueId input : source_.nodes[i].inputs)
        if (input.valid()) open.push_back(input);
    }
  }

  // Nodes that no integer operator does, where the array's own work depends on them or is lost.
  Diagnostics unsupported() const {
    std::string reasons, waiting, code = "CANON001";
    std::size_t reasonCount = 0, waitingCount = 0;
    const auto add = [](std::string& list, std::size_t& count, const std::string& text) {
      constexpr std::size_t kMostListed = 100;
      if (++count <= kMostListed) list += (list.empty() ? "" : "; ") + text;
    };
    // Of several special reasons the first by code, whatever the order of nodes.
    const auto special = [&](const Unsupported& fault) {
      if (fault.code() != "CANON001" && (code == "CANON001" || fault.code() < code))
        code = fault.code();
    };
    for (const auto& [id, fault] : lowering_.inputFaults()) {
      add(reasons, reasonCount, "input '" + source_[id].name + "': " + fault.what());
      special(fault);
    }
    for (std::size_t i = 0; i < source_.nodes.size(); ++i) {
      if (!needed_[i].any()) continue;
      const Node& node = source_.nodes[i];
      const std::string who = "'" + node.name + "' (" + node.opType + ")";
      const bool lost = isForTheArray(node.kind);
      if (why_[i]) {
        add(reasons, reasonCount, who + ": " + why_[i]->what());
        special(*why_[i]);
      } else if (lost && !hosted_[i]) {
        add(reasons, reasonCount, who + ": no QuantizeLinear rounds its result");
      } else if (const std::optional<ValueId> input = foreignInput(node)) {
        add(reasons, reasonCount,
            who + ": it reads the input '" + source_[*input].name + "' of type " +
                toText(source_[*input].type) + ", which the array cannot take");
      }
      if (lost) add(waiting, waitingCount, who);
    }
    if (waitingCount == 0 && lowering_.inputFaults().empty()) {
      if (!isIdle()) return {};
      const bool known = code == "CANON002" || code == "CANON005";
      return {{.code = known ? code : "CANON003",
               .where = source_.name,
               .summary = "nothing in the network becomes an integer operator",
               .what = idleText(reasons),
               .mend = known
                           ? mendOf(code)
                           : "quantize the model first (ONNX Runtime: quantize_static, QDQ format)",
               .severity = severityOf(code)}};
    }
    const std::string depending =
        waiting.empty() ? "" : ". The array's work that depends on them: " + waiting;
    return {{.code = code,
             .where = source_.name,
             .summary = "nodes that do not become integer operators",
             .what = reasons + depending,
             .mend = mendOf(code),
             .severity = severityOf(code)}};
  }

  static Severity severityOf(const std::string& code) {
    return code == "CANON005" ? Severity::DoesNotFit : Severity::BadInput;
  }

  // An input of the model that `node` reads and that is neither float32 nor a byte.
  std::optional<ValueId> foreignInput(const Node& node) const {
    for (const ValueId id : node.inputs) {
      const bool isInput =
          id.valid() && std::ranges::find(source_.inputs, id) != source_.inputs.end();
      if (!isInput) continue;
      const DataType type = source_[id].type;
      if (type != DataType::Float32 && type != DataType::Int8 && type != DataType::Uint8) return id;
    }
    return std::nullopt;
  }

  std::string idleText(const std::string& reasons) const {
    if (source_.nodes.empty()) return "no operator of the file depends on an input";
    const std::string count =
        source_.nodes.size() == 1 ? "1 node" : std::to_string(source_.nodes.size()) + " nodes";
    return count + (reasons.empty() ? ", none of which computes" : "; " + reasons);
  }

  std::string mendOf(const std::string& code) const {
    if (code == "CANON005")
      return "choose a smaller input with --shape, or cut the model before it";
    if (code == "CANON002")
      for (const Node& node : source_.nodes) {
        if (node.inputs.empty()) continue;
        const ValueId id = node.inputs.front();  // data; weights stand behind
        if (std::ranges::find(source_.inputs, id) == source_.inputs.end()) continue;
        Dims one = source_[id].shape;
        if (one.size() < 2 || one[0] < 2) continue;
        const std::string frames = std::to_string(std::exchange(one[0], 1));
        return "compile it for one image, and run as many frames: --shape " + source_[id].name +
               "=" + toText(one) + " --frames " + frames;
      }
    return "quantize around these nodes, or cut the model there";
  }

  // Whether the array would do no more than take arrays in and give them out, while the host works.
  bool isIdle() const {
    const CanonicalGraph& made = lowering_.graph();
    return made.ops.empty() && (made.inputs.empty() || std::ranges::any_of(needed_, &Sides::any));
  }

  void listQuantized() {
    std::unordered_set<std::string> names;
    for (std::size_t i = 0; i < source_.values.size(); ++i) {
      const auto* integer = std::get_if<IntegerRef>(&lowering_.state(ValueId(i)));
      if (!integer) continue;
      auto port = portOf(integer->view, lowering_.graph().tensors[integer->tensor.at()].shape);
      if (!port) continue;
      port->name = source_.values[i].name;
      port->tensor = integer->tensor;
      port->type =
          source_.values[i].type == DataType::Uint8 ? ElementType::Uint8 : ElementType::Int8;
      result_.quantized.push_back(std::move(*port));
    }
  }

  // A Pad that a QuantizeLinear of the same scale follows has become a tensor of its own; where it
  // adds nothing but border (the zero point), the convolution that reads it can do that itself.
  void foldPadding() {
    CanonicalGraph& made = lowering_.graph();
    std::vector<const CanonicalOp*> writer(made.tensors.size(), nullptr);
    for (CanonicalOp& op : made.ops) {
      Window* window = nullptr;
      if (auto* conv = std::get_if<Conv>(&op.attributes)) window = &conv->window;
      if (auto* conv = std::get_if<DepthwiseConv>(&op.attributes)) window = &conv->window;
      while (window) {
        const CanonicalOp* pad = writer[op.inputs[0].at()];
        if (!pad || !isBorder(made, *pad)) break;
        const AssemblePart& part = std::get<Assemble>(pad->attributes).parts[0];
        const Shape& in = made.tensors[pad->inputs[0].at()].shape;
        const Shape& out = made.tensors[pad->output.at()].shape;
        Window wider = *window;
        wider.padTop += part.mapY[0].to;
        wider.padLeft += part.mapX[0].to;
        wider.padBottom += out.height - in.height - part.mapY[0].to;
        wider.padRight += out.width - in.width - part.mapX[0].to;
        if (!bordersWithinKernel(wider)) break;
        *window = wider;
        op.inputs[0] = pad->inputs[0];
      }
      writer[op.output.at()] = &op;
    }
  }

  static bool isBorder(const CanonicalGraph& made, const CanonicalOp& op) {
    const auto* assemble = std::get_if<Assemble>(&op.attributes);
    if (!assemble || assemble->parts.size() != 1 || assemble->parts[0].table) return false;
    const CanonicalTensor& in = made.tensors[op.inputs[0].at()];
    const CanonicalTensor& out = made.tensors[op.output.at()];
    const auto whole = [](const AxisMap& map, std::int64_t extent) {
      return map.size() == 1 && map[0] == AxisRun{.to = map[0].to, .count = extent};
    };
    const AssemblePart& part = assemble->parts[0];
    return in.scale == out.scale && in.zeroPoint == out.zeroPoint &&
           in.fromUint8 == out.fromUint8 && assemble->fill == out.zeroPoint &&
           in.shape.channels == out.shape.channels && whole(part.mapY, in.shape.height) &&
           whole(part.mapX, in.shape.width) && whole(part.mapC, in.shape.channels);
  }

  // Drops operators and tensors that no output needs, and numbers the rest anew.
  void finishGraph() {
    CanonicalGraph& made = lowering_.graph();
    std::vector<bool> needed(made.tensors.size());
    for (const Port& port : made.outputs) needed[port.tensor.at()] = true;
    for (const Port& port : made.inputs) needed[port.tensor.at()] = true;
    std::vector<bool> keep(made.ops.size());
    for (std::size_t i = made.ops.size(); i-- > 0;) {
      keep[i] = needed[made.ops[i].output.at()];
      if (keep[i])
        for (const TensorId id : made.ops[i].inputs) needed[id.at()] = true;
    }
    CanonicalGraph& out = result_.graph;
    out.name = made.name;
    std::vector<TensorId> moved(made.tensors.size());
    for (std::size_t i = 0; i < made.tensors.size(); ++i) {
      if (!needed[i]) continue;
      moved[i] = TensorId(out.tensors.size());
      out.tensors.push_back(std::move(made.tensors[i]));
    }
    for (std::size_t i = 0; i < made.ops.size(); ++i) {
      if (!keep[i]) continue;
      CanonicalOp& op = made.ops[i];
      for (TensorId& id : op.inputs) id = moved[id.at()];
      op.output = moved[op.output.at()];
      if (const auto origin = lowering_.weightOrigins().extract(op.name)) {
        origin.mapped().op = OpId(out.ops.size());
        result_.weights.push_back(std::move(origin.mapped()));
      }
      out.ops.push_back(std::move(op));
    }
    const auto rename = [&](std::vector<Port>& ports) {
      std::erase_if(ports, [&](const Port& port) { return !moved[port.tensor.at()].valid(); });
      for (Port& port : ports) port.tensor = moved[port.tensor.at()];
    };
    out.inputs = std::move(made.inputs);
    out.outputs = std::move(made.outputs);
    rename(out.inputs);
    rename(out.outputs);
    rename(result_.quantized);
  }

  // The host operators before or after as a graph of their own.
  Graph part(bool before) const {
    Graph out;
    out.name = source_.name + (before ? ".before" : ".after");
    std::vector<ValueId> moved(source_.values.size());
    const auto use = [&](ValueId id) {
      if (!id.valid()) return id;
      if (!moved[id.at()].valid()) {
        moved[id.at()] = ValueId(out.values.size());
        out.values.push_back(source_[id]);
      }
      return moved[id.at()];
    };
    std::vector<bool> written(source_.values.size());
    for (std::size_t i = 0; i < source_.nodes.size(); ++i) {
      if (!(before ? needed_[i].before : needed_[i].after)) continue;
      Node node = source_.nodes[i];
      for (const ValueId id : node.inputs)
        if (id.valid() && !source_[id].constant && !written[id.at()]) {
          written[id.at()] = true;
          out.inputs.push_back(use(id));
        }
      for (ValueId& id : node.inputs) id = use(id);
      for (ValueId& id : node.outputs) {
        if (id.valid()) written[id.at()] = true;
        id = use(id);
      }
      out.nodes.push_back(std::move(node));
    }
    if (out.nodes.empty()) return {};
    if (!before)
      for (const ValueId id : source_.outputs) addOutput(out, id, moved);
    else
      for (const std::int32_t id : boundary_)
        addOutput(out, ValueId(static_cast<std::size_t>(id)), moved);
    const Diagnostics broken = verify(out);
    HEDDLE_CHECK(broken.empty()) << toText(broken);
    return out;
  }

  // What a part reads may itself be an output of the model: then the part hands it on.
  static void addOutput(Graph& out, ValueId id, const std::vector<ValueId>& moved) {
    const ValueId here = moved[id.at()];
    if (!here.valid()) return;
    if (std::ranges::find(out.outputs, here) == out.outputs.end()) out.outputs.push_back(here);
  }

  const Graph& source_;
  Lowering lowering_;
  std::vector<std::optional<Unsupported>> why_;  // by node
  std::vector<bool> hosted_;
  struct Sides {
    bool before = false, after = false;
    bool any() const { return before || after; }
  };
  std::vector<Sides> needed_;  // by node: on which side of the array the host runs it
  std::vector<std::int64_t> producer_;
  std::set<std::int32_t> boundary_;  // values that host operators compute and the array reads
  Canonicalized result_;
};

}  // namespace
}  // namespace canon

Result<Canonicalized> canonicalize(const Graph& graph) { return canon::Canonicalizer(graph).run(); }

}  // namespace heddle
