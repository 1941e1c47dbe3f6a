#include "heddle/canon/print.h"

#include <sstream>

#include "heddle/support/visible.h"

namespace heddle {
namespace {

std::string axisText(const AxisMap& map) {
  std::ostringstream out;
  for (const AxisRun& run : map) {
    out << (&run == map.data() ? "" : " ") << run.to;
    if (run.toStep != 1) out << "+" << run.toStep << "i";
    out << "<-" << run.from;
    if (run.fromStep != 1) out << "+" << run.fromStep << "i";
    out << "*" << run.count;
  }
  return out.str();
}

class Printer {
 public:
  explicit Printer(const CanonicalGraph& graph) : graph_(graph) { out_.precision(17); }

  std::string print() {
    out_ << "canonical '" << visible(graph_.name) << "'\n";
    if (graph_.batch > 1) out_ << "batch " << graph_.batch << "\n";
    for (const Port& port : graph_.inputs) printPort("input", port);
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      if (graph_.tensors[i].constant.empty()) continue;
      printTensor(TensorId(i));
      out_ << " = constant\n";
    }
    for (const CanonicalOp& op : graph_.ops) printOp(op);
    for (const Port& port : graph_.outputs) printPort("output", port);
    return out_.str();
  }

 private:
  void printPort(const char* role, const Port& port) {
    constexpr const char* kTypes[] = {"float32", "int8", "uint8"};  // in the order of ElementType
    out_ << role << " '" << visible(port.name) << "' "
         << kTypes[static_cast<std::size_t>(port.type)] << " ";
    printExtents(port.shape);
    out_ << " as ";
    printExtents(port.view);
    out_ << " " << port.axes << " is ";
    printTensor(port.tensor);
    out_ << "\n";
  }

  void printExtents(const std::vector<std::int64_t>& extents) {
    out_ << "[";
    for (std::size_t i = 0; i < extents.size(); ++i) out_ << (i == 0 ? "" : ",") << extents[i];
    out_ << "]";
  }

  void printTensor(TensorId id) {
    const CanonicalTensor& t = graph_.tensors[id.at()];
    out_ << "%" << id.index << " '" << visible(t.name) << "' " << t.shape.height << "x"
         << t.shape.width << "x" << t.shape.channels << " scale " << t.scale << " zero "
         << int{t.zeroPoint} << (t.fromUint8 ? " from uint8" : "");
    if (t.blockOrder.empty()) return;
    out_ << " order ";
    printExtents(t.blockOrder);
  }

  void printOp(const CanonicalOp& op) {
    printTensor(op.output);
    out_ << " = " << visible(op.onnxOp) << " '" << visible(op.name) << "' (";
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      out_ << (i == 0 ? "%" : ", %") << op.inputs[i].index;
    out_ << ")";
    std::visit([this](const auto& attributes) { printAttributes(attributes); }, op.attributes);
    out_ << "\n";
  }

  void printWindow(const Window& w) {
    out_ << " kernel " << w.kernelY << "x" << w.kernelX;
    if (w.strideY != 1 || w.strideX != 1) out_ << " stride " << w.strideY << "x" << w.strideX;
    if (w.dilationY != 1 || w.dilationX != 1)
      out_ << " dilation " << w.dilationY << "x" << w.dilationX;
    if (w.padTop != 0 || w.padLeft != 0 || w.padBottom != 0 || w.padRight != 0)
      out_ << " pads " << w.padTop << "," << w.padLeft << "," << w.padBottom << "," << w.padRight;
  }
  void printClamp(const Clamp& clamp) {
    if (clamp != Clamp{}) out_ << " clamp " << int{clamp.low} << ".." << int{clamp.high};
  }
  void printMultiplier(const Multiplier& m) {
    out_ << " times " << m.multiplier << ">>" << m.shift;
  }

  template <class Weighted>
  void printWeighted(const Weighted& conv) {
    printWindow(conv.window);
    out_ << " weights " << conv.weights.size();
    printClamp(conv.clamp);
    if (conv.fusedTable)
      out_ << " zero " << int{conv.fusedTable->zero} << " then table '"
           << visible(conv.fusedTable->name) << "'";
  }
  void printAttributes(const Conv& conv) {
    if (conv.fusedMul) {
      out_ << " first mul '" << visible(conv.fusedMul->name) << "'";
      printAttributes(conv.fusedMul->mul);
      out_ << " zero " << int{conv.fusedMul->zero} << " then";
    }
    if (conv.fusedLines)
      out_ << " first lines '" << visible(conv.fusedLines->name) << "' zero "
           << int{conv.fusedLines->zero} << " then";
    printWeighted(conv);
    if (conv.folded) out_ << " of " << conv.folded->columns << " columns folded";
    if (conv.fusedAdd) {
      out_ << " zero " << int{conv.fusedAdd->zero} << " then add '" << visible(conv.fusedAdd->name)
           << "'";
      printAttributes(conv.fusedAdd->add);
    }
    if (conv.fusedWindow) {
      out_ << (conv.fusedWindow->depthwise() ? " then conv '" : " then max pool '")
           << visible(conv.fusedWindow->name) << "' of ";
      printTensor(conv.fusedWindow->before);
      std::visit([this](const auto& end) { printAttributes(end); }, conv.fusedWindow->op);
    }
  }
  void printAttributes(const DepthwiseConv& conv) {
    out_ << " depth-wise";
    printWeighted(conv);
  }
  void printAttributes(const MaxPool& pool) { printWindow(pool.window); }
  void printAttributes(const AveragePool& pool) {
    printWindow(pool.window);
    printMultiplier(pool.rescale);
    if (pool.countIncludesPad) out_ << " counting pads";
    printClamp(pool.clamp);
  }
  void printAttributes(const Add& add) {
    out_ << " times " << add.multiplierA << ", " << add.multiplierB << " >>" << add.shift;
    printClamp(add.clamp);
  }
  void printAttributes(const Mul& mul) {
    printMultiplier(mul.requantize);
    printClamp(mul.clamp);
  }
  void printAttributes(const Table& table) {
    out_ << (table.lines.empty() ? " table" : " line")
         << (table.tables.size() > 1 ? " for each channel" : "");
  }
  void printAttributes(const Assemble& assemble) {
    out_ << " fill " << int{assemble.fill};
    for (const AssemblePart& part : assemble.parts)
      out_ << " part {y " << axisText(part.mapY) << "; x " << axisText(part.mapX) << "; c "
           << axisText(part.mapC) << (part.table ? "; table}" : "}");
  }

  const CanonicalGraph& graph_;
  std::ostringstream out_;
};

}  // namespace

std::string print(const CanonicalGraph& graph) { return Printer(graph).print(); }

}  // namespace heddle
