// prove_operators FIRST COUNT: proves random ONNX models on random meshes, seed by seed; shrinks
// the first that fails. Prints how often each operator occurred and how often its model was proved.
//
//   prove_operators --write DIR FIRST COUNT     # the accepted ones as DIR/seedN.onnx, unproved
#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "heddle/canon/canonicalize.h"
#include "heddle/onnx/import.h"
#include "prove.h"
#include "prove_model.h"
#include "random_model.h"

namespace heddle::property {
namespace {

constexpr std::int64_t kMostSide = 4;      // of a mesh: small networks leave more cores idle
constexpr int kEnough = 100;               // occurrences after which an operator must be proved
constexpr std::uint64_t kAllOccur = 3000;  // models among which every operator must occur

struct Count {
  int occurred = 0, proved = 0;
};

class Run {
 public:
  explicit Run(bool goesOn) : goesOn_(goesOn) {}

  // False where the model of `seed` shows a fault.
  bool prove(std::uint64_t seed) {
    Choices choices(seed);
    const onnx::ModelProto model = makeRandomModel(choices);
    const Device device = randomDevice(seed, kMostSide);
    const Verdict verdict = proveModel(model, device, seed);
    if (verdict.fault) return report(seed, choices.made(), device, *verdict.fault);
    if (!verdict.refusal.empty() && !kExpected.contains(verdict.refusal))
      return report(seed, choices.made(), device, "refused with " + verdict.refusal);
    ++models_;
    proved_ += verdict.proved();
    if (!verdict.noRoom.empty())
      ++refusals_[verdict.noRoom + (device.core.memory < 64_KiB ? " (small device)" : "")];
    if (!verdict.refusal.empty()) ++refusals_[verdict.refusal];
    count(model, verdict);
    return true;
  }

  // False where an operator never got through.
  bool summarize() const {
    std::cout << models_ << " models: " << proved_ << " proved";
    for (const auto& [code, times] : refusals_)
      std::cout << ", " << times << " refused with " << code;
    std::cout << "\noperator: models with it, proved\n";
    bool all = true;
    for (const auto& [kind, count] : counts_) {
      const bool missing = (count.occurred >= kEnough && count.proved == 0) ||
                           (static_cast<std::uint64_t>(models_) >= kAllOccur && count.proved == 0);
      std::cout << "  " << kind << ": " << count.occurred << ", " << count.proved
                << (missing ? "  <- never gets through" : "") << "\n";
      all = all && !missing;
    }
    return all;
  }

 private:
  // What a sound model may be refused for.
  inline static const std::set<std::string> kExpected{"CANON001", "CANON002", "CANON003",
                                                      "CANON004", "HOST001"};

  static bool fails(const std::vector<std::int64_t>& list, const Device& device,
                    std::uint64_t seed) {
    Choices choices(list);
    const Verdict verdict = proveModel(makeRandomModel(choices), device, seed);
    return verdict.fault || (!verdict.refusal.empty() && !kExpected.contains(verdict.refusal));
  }

  bool report(std::uint64_t seed, const std::vector<std::int64_t>& choices, const Device& device,
              const std::string& fault) const {
    std::cout << "seed " << seed << " fails on " << device.rows << "x" << device.columns << " of "
              << device.name << " with " << device.core.memory.raw() << " B a core, "
              << device.memtile.memory.raw() << " B a memtile: " << fault << std::endl;
    if (goesOn_) return false;
    std::cout << "shrunk to\n";
    Choices small(
        shrinkChoices(choices, [&](const auto& list) { return fails(list, device, seed); }));
    const onnx::ModelProto model = makeRandomModel(small);
    const std::string file = "seed" + std::to_string(seed) + ".onnx";
    std::ofstream(file, std::ios::binary) << model.SerializeAsString();
    const Verdict verdict = proveModel(model, device, seed);
    std::cout << describe(model) << verdict.fault.value_or(verdict.refusal) << "\nwritten to "
              << file << std::endl;
    return false;
  }

  // Operators of the graph as imported; of the folded ones, which it lacks, those of the file.
  void count(const onnx::ModelProto& model, const Verdict& verdict) {
    static const std::set<std::string> folded{"Shape", "Range", "ConstantOfShape", "Constant"};
    std::set<std::string> kinds;
    for (const Node& node : verdict.graph.nodes) kinds.insert(toText(node.kind));
    for (const auto& node : model.graph().node())
      if (folded.contains(node.op_type())) kinds.insert(node.op_type());
    for (const std::string& kind : kinds) {
      ++counts_[kind].occurred;
      counts_[kind].proved += verdict.proved();
    }
  }

  static std::map<std::string, Count> everyKind() {
    std::map<std::string, Count> counts;
    for (int i = 0; i <= static_cast<int>(NodeKind::ArgMin); ++i)
      counts[toText(static_cast<NodeKind>(i))] = {};
    return counts;
  }

  bool goesOn_;  // faults are told, not shrunk
  int models_ = 0, proved_ = 0;
  std::map<std::string, int> refusals_;
  std::map<std::string, Count> counts_ = everyKind();
};

int write(const std::filesystem::path& folder, bool all, std::uint64_t first, std::uint64_t count) {
  std::filesystem::create_directories(folder);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Choices choices(seed);
    const std::string bytes = makeRandomModel(choices, true).SerializeAsString();
    if (!all) {
      const Result<Graph> graph = importOnnx(bytes, "model.onnx");
      if (!graph || !canonicalize(*graph)) continue;
    }
    std::ofstream out(folder / ("seed" + std::to_string(seed) + ".onnx"), std::ios::binary);
    out << bytes;
    if (!out) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace heddle::property

int main(int argc, char** argv) try {
  using namespace heddle::property;
  std::uint64_t first = 1, count = 1;
  std::string folder;
  bool goOn = false, all = false;
  CLI::App app("Proves random ONNX models on random meshes");
  app.add_option("--write", folder, "write the accepted models there instead");
  app.add_flag("--all", all, "write the refused ones, too");
  app.add_flag("--go-on", goOn, "tell every fault instead of shrinking the first");
  app.add_option("first", first, "seed")->required();
  app.add_option("count", count, "seeds")->required();
  CLI11_PARSE(app, argc, argv);
  if (!folder.empty()) return write(folder, all, first, count);
  Run run(goOn);
  bool good = true;
  for (std::uint64_t seed = first; seed < first + count && (good || goOn); ++seed)
    good = run.prove(seed) && good;
  return run.summarize() && good ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 70;
}
