#include <sstream>
#include <tuple>

#include "heddle/memory/allocate.h"
#include "heddle/support/text_lines.h"

namespace heddle {
namespace {

const std::string kVersion = "heddle.memory-plan/1";
const std::string kCode = "MEM010";
constexpr std::int64_t kMost = std::int64_t{1} << 40;  // of any number: sums stay in 64 bits

void printStream(std::ostream& out, const std::string& what, const StreamPlan& s) {
  out << "  " << what << " " << s.slots << " by " << s.slotBytes << " address " << s.address
      << "\n";
}

class MemoryParser {
 public:
  Result<MemoryPlanText> run(const std::string& text, const std::string& name) {
    Diagnostics faults =
        readArtefact(text, name, {kVersion, "memory plan", kCode}, [&](LineReader& r) { line(r); });
    if (!faults.empty()) return faults;
    return MemoryPlanText{std::move(memory_), std::move(origin_)};
  }

 private:
  static std::int64_t number(LineReader& r) { return r.number(-1, kMost); }
  static std::int64_t named(LineReader& r, std::string_view word) {
    r.expect(word);
    return number(r);
  }
  static std::pair<std::int64_t, std::int64_t> range(LineReader& r, std::string_view word) {
    r.expect(word);
    const auto [first, end] = r.interval();
    if (end > kMost) r.fail("an interval out of range", "end it below 2^40");
    return {first, end - first};
  }

  void line(LineReader& r) {
    switch (r.oneOf({"model", "device", "weights", "peak", "tensor", "slice", "step", "input",
                     "output", "records", "batch", "records-at-home"})) {
      case 0:
        origin_.modelSha256 = r.string();
        return;
      case 1:
        origin_.deviceSha256 = r.string();
        return;
      case 2:
        memory_.weightStaging = named(r, "staged");
        memory_.weightsAddress = named(r, "ddr");
        return;
      case 3:
        memory_.memtilePeak = number(r);
        return;
      case 4:
        return tensor(r);
      case 5:
        return slice(r);
      case 6:
        inNumber(r, memory_.steps.size(), "step");
        memory_.steps.emplace_back().coreBase = named(r, "core");
        return;
      case 7:
        step(r).inputs.push_back(stream(r));
        return;
      case 8:
        step(r).output = stream(r);
        return;
      case 9:
        step(r).weights.push_back(stream(r));
        return;
      case 10:
        origin_.batch = r.number(1, kMaxBatch);
        return;
      case 11:
        step(r).recordHomes.push_back(stream(r));
        return;
    }
  }

  static void inNumber(LineReader& r, std::size_t expected, const std::string& thing) {
    if (number(r) != static_cast<std::int64_t>(expected))
      r.fail("the " + thing + "s are not numbered in order",
             "number this one " + std::to_string(expected));
  }

  void tensor(LineReader& r) {
    inNumber(r, memory_.tensors.size(), "tensor");
    TensorMemory& t = memory_.tensors.emplace_back();
    if (r.take("ddr")) t.ddr = number(r);
    if (r.take("per-frame")) t.frameStride = number(r);
    t.life = life(r);
  }

  void slice(LineReader& r) {
    if (memory_.tensors.empty()) r.fail("a slice without a tensor", "write it below its tensor");
    Slice s;
    s.memtile = named(r, "memtile");
    s.address = named(r, "address");
    std::tie(s.y, s.rows) = range(r, "y");
    std::tie(s.x, s.columns) = range(r, "x");
    std::tie(s.block, s.blocks) = range(r, "blocks");
    memory_.tensors.back().slices.push_back(s);
    memory_.tensors.back().lives.push_back(life(r));
  }

  static StepRange life(LineReader& r) {
    const std::int64_t first = named(r, "steps");
    return {first, named(r, "to")};
  }

  StepMemory& step(LineReader& r) {
    if (memory_.steps.empty())
      r.fail("no step is named above this line", "write it below its step");
    return memory_.steps.back();
  }

  static StreamPlan stream(LineReader& r) {
    StreamPlan s;
    s.slots = number(r);
    s.slotBytes = named(r, "by");
    s.address = named(r, "address");
    return s;
  }

  MemoryPlan memory_;
  PlanOrigin origin_;
};

std::string lifeText(const StepRange& life) {
  return " steps " + std::to_string(life.first) + " to " + std::to_string(life.last);
}

}  // namespace

std::string print(const MemoryPlan& memory, const CanonicalGraph& graph, const PlanOrigin& origin) {
  std::ostringstream out;
  out << kVersion << "\nmodel " << quotedText(origin.modelSha256) << "\ndevice "
      << quotedText(origin.deviceSha256) << "\n";
  if (graph.batch > 1) out << "batch " << graph.batch << "\n";
  out << "weights staged " << memory.weightStaging << " ddr " << memory.weightsAddress << "\npeak "
      << memory.memtilePeak << "\n\n";
  for (std::size_t t = 0; t < memory.tensors.size(); ++t) {
    const TensorMemory& m = memory.tensors[t];
    out << "tensor " << t;
    if (m.ddr) out << " ddr " << *m.ddr;
    if (m.frameStride != 0) out << " per-frame " << m.frameStride;
    out << lifeText(m.life) << "  # " << quotedText(graph.tensors[t].name) << "\n";
    for (std::size_t i = 0; i < m.slices.size(); ++i) {
      const Slice& s = m.slices[i];
      out << "  slice memtile " << s.memtile << " address " << s.address << " y " << s.y << ".."
          << s.y + s.rows << " x " << s.x << ".." << s.x + s.columns << " blocks " << s.block
          << ".." << s.block + s.blocks << lifeText(m.lives[i]) << "\n";
    }
  }
  out << "\n";
  for (std::size_t i = 0; i < memory.steps.size(); ++i) {
    const StepMemory& step = memory.steps[i];
    out << "step " << i << " core " << step.coreBase << "\n";
    for (const StreamPlan& s : step.inputs) printStream(out, "input", s);
    if (step.output) printStream(out, "output", *step.output);
    for (const StreamPlan& s : step.weights) printStream(out, "records", s);
    for (const StreamPlan& s : step.recordHomes) printStream(out, "records-at-home", s);
  }
  return out.str();
}

Result<MemoryPlanText> parseMemoryPlan(const std::string& text, const std::string& name) {
  return MemoryParser().run(text, name);
}

}  // namespace heddle
