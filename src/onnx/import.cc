#include "heddle/onnx/import.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "fold.h"
#include "heddle/support/fault_list.h"
#include "heddle/support/unique_names.h"
#include "limits.h"
#include "model_file.h"
#include "node_reader.h"
#include "tensor_reader.h"

namespace heddle {

namespace onnx_import {
namespace {

constexpr std::int64_t kOldestOpset = 10, kNewestOpset = 25;

class Importer {
 public:
  Importer(onnx::ModelProto& model, std::string name, const ImportOptions& options,
           TensorReader tensors)
      : model_(model), name_(std::move(name)), options_(options), tensors_(std::move(tensors)) {}

  Result<Graph> run() {
    graph_.name = name_;
    checkOpsets();
    if (!faults_.empty()) return faults_.take();
    readInitializers();
    readInputs();
    readNodes();
    readOutputs();
    if (!unsupported_.empty()) reportUnsupported();
    if (faults_.empty() && static_cast<int>(graph_.outputs.size()) != model_.graph().output_size())
      fault("ONNX007", "", "an output depends on a value that heddle does not compute",
            "a mask of Dropout or the indices of a MaxPool", "remove that output");
    if (!faults_.empty()) return faults_.take();
    Graph pruned = prune();
    const Diagnostics broken = verify(pruned);
    HEDDLE_CHECK(broken.empty()) << toText(broken);
    return pruned;
  }

 private:
  void fault(const std::string& code, const std::string& who, const std::string& summary,
             const std::string& what, const std::string& mend) {
    faults_.add({.code = code,
                 .where = name_ + (who.empty() ? "" : ", " + who),
                 .summary = summary,
                 .what = what,
                 .mend = mend,
                 .severity = code == "ONNX010" ? Severity::DoesNotFit : Severity::BadInput});
  }

  void checkOpsets() {
    opset_ = 17;  // a model of com.microsoft operators alone need not name ONNX's
    for (const auto& opset : model_.opset_import())
      if (opset.domain().empty() || opset.domain() == "ai.onnx") opset_ = opset.version();
    if (opset_ < kOldestOpset || opset_ > kNewestOpset)
      fault("ONNX003", "", "its operator set is not supported",
            "ai.onnx version " + std::to_string(opset_) + "; heddle reads " +
                std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset),
            "convert the model with onnx.version_converter to operator set 17");
  }

  ValueId addValue(const std::string& name, DataType type, Dims shape) {
    const ValueId id(graph_.values.size());
    const bool fresh = ids_.emplace(name, id).second;
    if (!fresh)
      fault("ONNX007", "value '" + name + "'", "two nodes or inputs write one value",
            "the name appears twice", "give every value a name of its own");
    graph_.values.push_back({.name = fresh ? name : name + "'" + std::to_string(id.index),
                             .type = type,
                             .shape = std::move(shape),
                             .constant = std::nullopt});
    return id;
  }

  void readInitializers() {
    for (onnx::TensorProto& proto : *model_.mutable_graph()->mutable_initializer()) {
      try {
        Tensor tensor = tensors_.read(proto);
        graph_[addValue(proto.name(), tensor.type, std::move(tensor.shape))].constant =
            std::move(tensor.bytes);
      } catch (const Fault& found) {
        faulty_.insert(proto.name());
        fault(found.code(), "tensor '" + proto.name() + "'", "the tensor cannot be read",
              found.what(),
              found.code() == "ONNX006"   ? "keep external data files beside the model, whole"
              : found.code() == "ONNX010" ? "cut the model into parts with fewer weights"
                                          : "export the model again");
      }
    }
    if (model_.graph().sparse_initializer_size() > 0)
      fault("ONNX005", "", "sparse tensors are not supported",
            std::to_string(model_.graph().sparse_initializer_size()) + " sparse initializers",
            "store them as dense tensors");
  }

  // The shape of an input: the option's, else the file's. Faults where extents stay open.
  std::optional<Dims> inputShape(const onnx::ValueInfoProto& info) {
    const auto& type = info.type().tensor_type();
    const auto chosen = options_.shapes.find(info.name());
    const std::string who = "input '" + info.name() + "'";
    Dims shape;
    std::string declared;
    bool open = !type.has_shape(), empty = false;
    for (const auto& dim : type.shape().dim()) {
      const bool stated =
          dim.value_case() == onnx::TensorShapeProto::Dimension::kDimValue && dim.dim_value() >= 0;
      const bool known = stated && dim.dim_value() > 0;
      open = open || !known;
      shape.push_back(known ? dim.dim_value() : -1);
      empty = empty || (stated && !known);
      declared += (declared.empty() ? "" : "x") + (stated ? std::to_string(dim.dim_value())
                                                   : dim.dim_param().empty() ? "?"
                                                                             : dim.dim_param());
    }
    if (chosen == options_.shapes.end()) {
      if (!open) return shape;
      fault("ONNX008", who, empty ? "its shape has no elements" : "its shape is dynamic",
            "the file says " + (declared.empty() ? "nothing" : declared),
            "choose one: --shape " + info.name() + "=1x3x224x224");
      return std::nullopt;
    }
    if (std::ranges::any_of(chosen->second, [](std::int64_t extent) { return extent < 1; })) {
      fault("ONNX008", who, "the chosen shape has no elements", "chosen " + toText(chosen->second),
            "give sizes of at least 1");
      return std::nullopt;
    }
    // Other extents than the file's are welcome: all shapes behind are inferred from this one.
    if (!type.has_shape() || chosen->second.size() == shape.size()) return chosen->second;
    fault("ONNX008", who, "the chosen shape does not fit",
          "chosen " + toText(chosen->second) + ", the file says " + declared,
          "give " + std::to_string(shape.size()) + " sizes");
    return std::nullopt;
  }

  void readInputs() {
    std::unordered_set<std::string> names;
    for (const auto& info : model_.graph().input()) {
      if (ids_.contains(info.name()) || faulty_.contains(info.name()))
        continue;  // the default of an initializer
      names.insert(info.name());
      const auto type = info.type().has_tensor_type()
                            ? dataType(info.type().tensor_type().elem_type())
                            : std::nullopt;
      if (!type) {
        faulty_.insert(info.name());
        fault("ONNX008", "input '" + info.name() + "'", "its type is not supported",
              info.type().has_tensor_type() ? dataTypeName(info.type().tensor_type().elem_type())
                                            : "not a tensor",
              "use float32, int8 or uint8");
        continue;
      }
      std::optional<Dims> shape = inputShape(info);
      try {
        if (shape) checkShape(*shape);
      } catch (const Fault& found) {
        fault(found.code(), "input '" + info.name() + "'", "its shape is out of range",
              found.what(), "use a smaller shape");
        shape.reset();
      }
      if (!shape) {
        faulty_.insert(info.name());
        continue;
      }
      graph_.inputs.push_back(addValue(info.name(), *type, std::move(*shape)));
    }
    for (const auto& [name, shape] : options_.shapes)
      if (!names.contains(name)) {
        std::string all;
        for (const std::string& input : names) all += (all.empty() ? "" : ", ") + input;
        fault("ONNX008", "", "--shape names no input", "'" + name + "'; the inputs are: " + all,
              "use one of these");
      }
  }

  // Position of each node so that producers come first; absent (and a fault) on a cycle.
  std::vector<int> nodeOrder() {
    const auto& nodes = model_.graph().node();
    Graph names;  // only who reads what
    std::unordered_map<std::string, ValueId> ids;
    const auto idOf = [&](const std::string& name) {
      const auto [found, fresh] = ids.emplace(name, ValueId(names.values.size()));
      if (fresh) names.values.emplace_back();
      return found->second;
    };
    for (const auto& proto : nodes) {
      Node node;
      for (const auto& name : proto.input())
        if (!name.empty()) node.inputs.push_back(idOf(name));
      for (const auto& name : proto.output())
        if (!name.empty()) node.outputs.push_back(idOf(name));
      names.nodes.push_back(std::move(node));
    }
    const auto order = topologicalOrder(names);
    std::vector<int> positions;
    if (!order) {
      fault("ONNX007", "", "its nodes form a cycle", std::to_string(nodes.size()) + " nodes",
            "export the model again");
      return positions;
    }
    for (const NodeId id : *order) positions.push_back(id.index);
    return positions;
  }

  void readNodes() {
    const std::vector<int> order = nodeOrder();
    for (const int i : order) readNode(model_.graph().node(i));
  }

  // Inputs of a node, or absent where one comes of a faulty node (then that fault is enough).
  std::optional<std::vector<ValueId>> nodeInputs(const onnx::NodeProto& proto,
                                                 const std::string& who) {
    std::vector<ValueId> inputs;
    bool whole = true;
    for (const auto& name : proto.input()) {
      const auto found = ids_.find(name);
      if (name.empty()) {
        inputs.push_back(ValueId());
      } else if (found != ids_.end()) {
        inputs.push_back(found->second);
      } else {
        whole = false;
        if (faulty_.insert(name).second)
          fault("ONNX007", who, "it reads a value that nothing writes", "'" + name + "'",
                "export the model again");
      }
    }
    while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
    if (!whole) return std::nullopt;
    return inputs;
  }

  void poison(const onnx::NodeProto& proto) {
    for (const auto& name : proto.output())
      if (!name.empty()) faulty_.insert(name);
  }

  static std::string describe(const onnx::NodeProto& proto) {
    const std::string& label =
        proto.name().empty() && proto.output_size() > 0 ? proto.output(0) : proto.name();
    const std::string domain =
        proto.domain().empty() || proto.domain() == "ai.onnx" ? "" : proto.domain() + ".";
    return "node '" + label + "' (" + domain + proto.op_type() + ")";
  }

  void readNode(const onnx::NodeProto& proto) {
    const std::string who = describe(proto);
    if (!isSupported(proto.domain(), proto.op_type())) {
      unsupported_.push_back(who);
      return poison(proto);
    }
    const auto inputs = nodeInputs(proto, who);
    if (!inputs) return poison(proto);
    try {
      NodeReader reader(graph_, proto, opset_, *inputs);
      add(proto, convert(reader, proto.domain()));
    } catch (const Fault& found) {
      fault(found.code(), who, "the node cannot be read", found.what(),
            "export the model again, or change this node");
      poison(proto);
    } catch (const InferenceFault& found) {
      fault("ONNX009", who, "the node does not fit its inputs", found.what(),
            options_.shapes.empty()
                ? "export the model again, or change this node"
                : "choose sizes with --shape that it can take, or change this node");
      poison(proto);
    }
  }

  void spend(std::int64_t bytes) {
    if (bytes > kMaxFoldedBytes - foldedBytes_)
      throw Fault("constants of more than 256 MiB would be computed", "ONNX010");
    foldedBytes_ += bytes;
  }

  // Constants of a node that can be computed now. Absent where it stays a node.
  std::optional<std::vector<std::string>> constants(Converted& node) {
    if (node.constant) {
      spend(static_cast<std::int64_t>(node.constant->size()));
      std::vector<std::string> list;
      list.push_back(std::move(*node.constant));
      return list;
    }
    if (node.inputs.empty()) return std::nullopt;
    for (const ValueId id : node.inputs)
      if (id.valid() && !graph_[id].constant) return std::nullopt;
    if (!isFolded(graph_, node)) return std::nullopt;
    // A Max of many operands makes its output again for each.
    const bool again = node.kind == NodeKind::Min || node.kind == NodeKind::Max;
    const std::int64_t times = again ? std::ssize(node.inputs) : 1;
    for (const ValueType& output : node.outputs)
      spend(elementCount(output.shape) * byteSize(output.type) * times);
    return fold(graph_, node);
  }

  void add(const onnx::NodeProto& proto, Converted converted) {
    if (proto.output_size() == 0) throw Fault("it has no output", "ONNX007");
    std::optional<std::vector<std::string>> folded = constants(converted);
    Node node{.name = nodeNames_.take(!proto.name().empty() ? proto.name() : proto.output(0)),
              .opType = proto.op_type(),
              .kind = converted.kind,
              .inputs = std::move(converted.inputs),
              .outputs = {},
              .attributes = std::move(converted.attributes)};
    if (!proto.domain().empty() && proto.domain() != "ai.onnx")
      node.opType = proto.domain() + "." + node.opType;
    for (int i = 0; i < proto.output_size(); ++i) {
      const std::string& name = proto.output(i);
      const auto k = static_cast<std::size_t>(i);
      if (name.empty()) {
        node.outputs.push_back(ValueId());
        continue;
      }
      if (k >= converted.outputs.size()) {  // a mask of Dropout, indices of MaxPool, ...
        faulty_.insert(name);
        secondary_.insert(name);
        continue;
      }
      const ValueId id =
          addValue(name, converted.outputs[k].type, std::move(converted.outputs[k].shape));
      if (folded) graph_[id].constant = std::move((*folded)[k]);
      node.outputs.push_back(id);
    }
    if (!folded) graph_.nodes.push_back(std::move(node));
  }

  void readOutputs() {
    if (model_.graph().output_size() == 0)
      fault("ONNX007", "", "it has no outputs", "graph.output is empty", "export the model again");
    for (const auto& info : model_.graph().output()) {
      const auto found = ids_.find(info.name());
      if (found != ids_.end()) {
        graph_.outputs.push_back(found->second);
      } else if (secondary_.contains(info.name()) || faulty_.insert(info.name()).second) {
        fault("ONNX007", "output '" + info.name() + "'", "nothing that heddle computes writes it",
              "", "remove this output");
      }
    }
  }

  void reportUnsupported() {
    std::string all;
    for (std::size_t i = 0; i < unsupported_.size() && i < 200; ++i)
      all += (i ? "; " : "") + unsupported_[i];
    fault("ONNX004", "", "it uses operators that heddle does not know",
          std::to_string(unsupported_.size()) + " nodes: " + all,
          "replace them, or cut the model before them");
  }

  // Only what the outputs need, in order; graph inputs stay even where unused.
  Graph prune() {
    std::vector<bool> needed(graph_.values.size());
    for (const ValueId id : graph_.outputs) needed[id.at()] = true;
    for (const ValueId id : graph_.inputs) needed[id.at()] = true;
    std::vector<bool> kept(graph_.nodes.size());
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      kept[i] = std::ranges::any_of(node.outputs,
                                    [&](ValueId id) { return id.valid() && needed[id.at()]; });
      if (!kept[i]) continue;
      for (const ValueId id : node.inputs)
        if (id.valid()) needed[id.at()] = true;
      for (const ValueId id : node.outputs)
        if (id.valid()) needed[id.at()] = true;
    }
    Graph out{.name = graph_.name, .values = {}, .nodes = {}, .inputs = {}, .outputs = {}};
    std::vector<ValueId> moved(graph_.values.size());
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      if (!needed[i]) continue;
      moved[i] = ValueId(out.values.size());
      out.values.push_back(std::move(graph_.values[i]));
    }
    const auto rename = [&](std::vector<ValueId>& ids) {
      for (ValueId& id : ids)
        if (id.valid()) id = moved[id.at()];
    };
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!kept[i]) continue;
      rename(graph_.nodes[i].inputs);
      rename(graph_.nodes[i].outputs);
      out.nodes.push_back(std::move(graph_.nodes[i]));
    }
    out.inputs = graph_.inputs;
    out.outputs = graph_.outputs;
    rename(out.inputs);
    rename(out.outputs);
    return out;
  }

  onnx::ModelProto& model_;
  std::string name_;
  const ImportOptions& options_;
  TensorReader tensors_;
  std::int64_t opset_ = 0, foldedBytes_ = 0;
  Graph graph_;
  std::unordered_map<std::string, ValueId> ids_;
  std::unordered_set<std::string>
      faulty_;  // names of values that a reported fault keeps from existing
  std::unordered_set<std::string> secondary_;  // optional outputs that heddle does not compute
  UniqueNames nodeNames_;
  std::vector<std::string> unsupported_;
  FaultList faults_{name_};
};

}  // namespace
}  // namespace onnx_import

Result<Graph> importOnnx(std::string_view bytes, const std::string& name,
                         const ImportOptions& options) {
  using namespace onnx_import;
  HEDDLE_TRY(onnx::ModelProto model, parseModel(bytes, name));
  return Importer(model, name, options, TensorReader(std::nullopt)).run();
}

Result<Graph> importOnnx(const std::filesystem::path& path, const ImportOptions& options) {
  using namespace onnx_import;
  HEDDLE_TRY(onnx::ModelProto model, readModel(path));
  return Importer(model, path.string(), options, TensorReader(folderOf(path))).run();
}

}  // namespace heddle
