#include "columns.h"

#include <algorithm>

namespace heddle {
namespace {

Column keyText(const char* name, const char* help) {
  return {.name = name, .unit = "", .text = true, .role = Role::Key, .help = help};
}
Column key(const char* name, const char* unit, const char* help) {
  return {.name = name, .unit = unit, .text = false, .role = Role::Key, .help = help};
}
Column resultText(const char* name, const char* help) {
  return {.name = name, .unit = "", .text = true, .role = Role::Result, .help = help};
}
Column result(const char* name, const char* unit, const char* help) {
  return {.name = name, .unit = unit, .text = false, .role = Role::Result, .help = help};
}

std::vector<Column> makeColumns() {
  return {
      keyText("point", "name of the point: a hash of model, device, options and version"),
      keyText("model", "file of the network, without folder and ending"),
      keyText("masks", "none, or the name of the file whose masks drop weights"),
      keyText("device", "name of the description"),
      key("rows", "", "rows of cores"),
      key("cols", "", "columns of cores"),
      key("cores", "", "rows times columns"),
      key("memtiles", "", "memtiles: one a column"),
      key("macsPerCycle", "MAC/cycle", "int8 multiply-accumulates of one core in a cycle"),
      key("memtileKiB", "KiB", "memory of one memtile"),
      key("coreKiB", "KiB", "memory of one core"),
      key("clockGHz", "GHz", "clock of the array"),
      key("ddrReadGBps", "GB/s", "rate of one channel from DDR"),
      key("ddrWriteGBps", "GB/s", "rate of one channel to DDR"),
      key("ddrTotalGBps", "GB/s",
          "of all channels from and to DDR, or what they share where that is less"),
      key("wireGBps", "GB/s", "rate of one wire from memtiles to cores"),
      key("effort", "",
          "of the planner: 0 the paper's dataflow, 1 the fastest of a menu by estimate, 2 and 3 by "
          "simulation"),
      keyText("fuse", "depth-wise tiling: auto, off, or the groups of layers that were asked for"),
      key("frames", "", "how often a run goes through the program"),
      key("batch", "", "inferences of a frame, which go through the array together"),
      key("propagate", "", "1 where what no output depends on was taken out"),
      key("reorder", "", "1 where channel blocks might stand in another order"),
      key("proved", "", "1 where the program was executed with data and compared"),
      resultText("status", "ok, estimated, refused, failed, skipped or limit"),
      resultText("reason", "why there is no time: code and sentence"),
      result(
          "ms", "ms",
          "time of one inference: simulated, or of an estimate in closed form; of several frames "
          "from the end of one to the end of the next, shared out over a frame's inferences"),
      result("coldMs", "ms", "time of the first frame, from an idle array"),
      result("cycles", "cycles", "the same in cycles of the array's clock"),
      result("ips", "1/s", "inferences a second, one after another"),
      result("floorMs", "ms",
             "lower bound of the time: the busiest resource alone, everything fused"),
      result("layerBoundMs", "ms", "one layer after another, each at its busiest resource"),
      result("boundCompute", "", "fraction of the time in layers that compute bounds"),
      result("boundInputWire", "", "fraction of the time in layers that wires for inputs bound"),
      result("boundWeightsWire", "", "fraction of the time in layers that wires for weights bound"),
      result("boundOutput", "", "fraction of the time in layers that the way from cores bounds"),
      result("boundDdrRead", "", "fraction of the time in layers that reading DDR bounds"),
      result("boundDdrWrite", "", "fraction of the time in layers that writing DDR bounds"),
      resultText("boundBy", "the resource with the largest of these fractions"),
      result("efficiency", "", "layerBoundMs / ms"),
      result("macs", "MAC", "multiply-accumulates that the network needs"),
      result("density", "", "bytes of weights needed, of those of the dense network"),
      result("weightMB", "MB", "weights needed"),
      result("peakMemtileKiB", "KiB",
             "most bytes reserved for one layer in one memtile; none for an estimate"),
      result("spills", "", "tensors between layers that live in DDR for want of room"),
      result("spilledMB", "MB", "the bytes of these"),
      result("estimateMs", "ms", "the planner's time in closed form"),
  };
}

}  // namespace

const std::vector<Column>& fixedColumns() {
  static const std::vector<Column> columns = makeColumns();
  return columns;
}

const Column* fixedColumn(const std::string& name) {
  const auto& columns = fixedColumns();
  const auto found = std::ranges::find(columns, name, &Column::name);
  return found == columns.end() ? nullptr : &*found;
}

std::optional<double> numberIn(const Figures& values, const std::string& column) {
  const auto found = values.find(column);
  if (found == values.end()) return std::nullopt;
  const double* number = std::get_if<double>(&found->second);
  return number ? std::optional(*number) : std::nullopt;
}

std::string textIn(const Figures& values, const std::string& column) {
  const auto found = values.find(column);
  if (found == values.end()) return {};
  const std::string* text = std::get_if<std::string>(&found->second);
  return text ? *text : std::string();
}

void write(JsonWriter& json, const Figure& value) {
  if (const double* number = std::get_if<double>(&value)) {
    json.value(*number);
  } else if (const std::string* text = std::get_if<std::string>(&value)) {
    json.value(*text);
  } else {
    json.null();
  }
}

}  // namespace heddle
