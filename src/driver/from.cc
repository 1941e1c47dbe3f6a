#include "from.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "heddle/canon/batch.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/join_siblings.h"
#include "heddle/driver/files.h"
#include "heddle/driver/sha256.h"
#include "road.h"

namespace heddle {
namespace {

constexpr std::uintmax_t kMostPlanText = std::uintmax_t{1} << 30,
                         kMostImage = std::uintmax_t{1} << 32;

Diagnostic notFromThis(const std::string& path, const std::string& of, const std::string& what) {
  return {"PLAN011", path, "the file was made from another " + of, what,
          "give the " + of + " that it was made from, or make the file again"};
}

// A file written by hand may leave a hash empty.
Result<void> checkHash(const std::string& path, const std::string& of, const std::string& named,
                       const std::string& digest) {
  if (named.empty() || named == digest) return {};
  return notFromThis(path, of, "it names sha256 " + named + ", this one has " + digest);
}

Result<void> checkOrigin(const Network& network, const Device& device, const std::string& path,
                         const PlanOrigin& origin) {
  HEDDLE_DO(checkHash(path, "model", origin.modelSha256, network.modelSha256));
  return checkHash(path, "device", origin.deviceSha256, sha256(printDevice(device)));
}

// The layers and tensors of the program are those of the network: what the report and the proof
// compare.
Result<void> checkNetwork(const Network& network, const std::string& path, const Program& program) {
  const CanonicalGraph& graph = network.network();
  bool same = program.layers.size() == graph.ops.size() &&
              program.tensors.size() == graph.tensors.size() && program.inputs == graph.inputs &&
              program.outputs == graph.outputs;
  for (std::size_t i = 0; same && i < graph.ops.size(); ++i)
    same = program.layers[i].output == graph.ops[i].output;
  for (std::size_t t = 0; same && t < graph.tensors.size(); ++t)
    same = program.tensors[t].shape == graph.tensors[t].shape;
  if (same) return {};
  return notFromThis(path, "model", "its layers, tensors or ports are not those of the network");
}

// The network as it is fused, of so many images.
Result<Network> inBatch(std::int64_t batch, Network one) {
  if (batch == 1) return one;
  if (Diagnostics faults = beyondLimits(one.unfused(), batch); !faults.empty()) return faults;
  one.batch = batch;
  one.joined.reset();
  setFused(one, std::move(one.fused));
  return one;
}

// Where somebody asks for another number of inferences than the file is of.
Result<void> checkBatch(const std::string& path, std::int64_t asked, std::int64_t batch) {
  if (asked == 1 || asked == batch) return {};
  return Diagnostic{
      "PLAN011", path, "the file was made for another batch",
      std::to_string(batch) + " inferences of a frame, asked for are " + std::to_string(asked),
      "leave '--batch' out: the file says it"};
}

// What was read, and the network of as many inferences a frame as it is of.
template <class Artefact>
struct OfNetwork {
  Artefact artefact;
  Network network;
};

Result<OfNetwork<PlanText>> readPlan(const Network& network, const Device& device,
                                     const std::string& path) {
  HEDDLE_TRY(const std::string text, readTextFile(path, kMostPlanText));
  const PlanOrigin origin = readOrigin(text);
  HEDDLE_DO(checkOrigin(network, device, path, origin));
  HEDDLE_TRY(Network ofBatch, inBatch(origin.batch, network));
  HEDDLE_TRY(PlanText read, parsePlan(text, path, ofBatch.network()));
  return OfNetwork<PlanText>{std::move(read), std::move(ofBatch)};
}

Result<MemoryPlan> readMemoryPlan(const Network& network, const Device& device,
                                  const std::string& path) {
  HEDDLE_TRY(const std::string text, readTextFile(path, kMostPlanText));
  const PlanOrigin origin = readOrigin(text);
  HEDDLE_DO(checkOrigin(network, device, path, origin));
  if (origin.batch != network.batch)
    return Diagnostic{"PLAN011", path, "the file was made for another batch",
                      std::to_string(origin.batch) + " inferences of a frame, here " +
                          std::to_string(network.batch),
                      "give '--batch " + std::to_string(origin.batch) + "'"};
  HEDDLE_TRY(MemoryPlanText read, parseMemoryPlan(text, path));
  return std::move(read.memory);
}

Result<OfNetwork<GivenProgram>> readProgram(const Network& network, const Device& device,
                                            const std::string& path) {
  HEDDLE_TRY(const std::string text, readTextFile(path, kMostPlanText));
  HEDDLE_TRY(Program program, parseAsm(text, path));
  HEDDLE_DO(checkOrigin(network, device, path, {program.modelSha256, program.deviceSha256}));
  if (program.batch < 1 || program.batch > kMaxBatch)
    return Diagnostic{"PROG004", path, "the number of inferences of a frame is out of range",
                      std::to_string(program.batch), "give 1 to " + std::to_string(kMaxBatch)};
  HEDDLE_TRY(Network ofBatch, inBatch(program.batch, network));
  HEDDLE_DO(checkNetwork(ofBatch, path, program));
  const std::filesystem::path weights = std::filesystem::path(path).parent_path() / "weights.bin";
  HEDDLE_TRY(std::vector<std::uint8_t> bytes, readBytes(weights, kMostImage));
  HEDDLE_DO(checkHash(weights.string(), "program", program.weightsSha256, sha256(bytes)));
  if (std::ssize(bytes) != program.weightsBytes)
    return notFromThis(weights.string(), "program",
                       std::to_string(bytes.size()) + " B; the program declares " +
                           std::to_string(program.weightsBytes));
  return OfNetwork<GivenProgram>{{std::move(program), {std::move(bytes)}}, std::move(ofBatch)};
}

BlockOrders ordersOf(const Program& program) {
  BlockOrders orders;
  for (const ProgramTensor& tensor : program.tensors) orders.push_back(tensor.blockOrder);
  return orders;
}

// Names of the layers in a plan; none where it cannot be read.
std::set<std::string> layersOfPlan(const std::string& path) {
  const Result<std::string> text = readTextFile(path, kMostPlanText);
  return text ? layersNamedIn(*text) : std::set<std::string>();
}
std::set<std::string> layersOfProgram(const std::string& path) {
  std::set<std::string> names;
  const Result<std::string> text = readTextFile(path, kMostPlanText);
  if (!text) return names;
  if (const Result<Program> program = parseAsm(*text, path))
    for (const Layer& layer : program->layers) names.insert(layer.name);
  return names;
}

// Layers of their own in the file. What the network has apart, and that alone, bears its name
// there; what is part of a convolution where something else is apart need not be one in the network
// as it is.
std::set<std::string> apartIn(const std::set<std::string>& layers, const Network& one) {
  if (!one.fused) return {};
  std::set<std::string> names = optionallyApart(*one.fused);
  for (const CanonicalOp& op : one.unfused().ops) names.insert(op.name);
  std::erase_if(names, [&](const std::string& name) { return !layers.contains(name); });
  return names;
}

// Ways in which a network may be planned: with gates, pools, depth-wise convolutions and tables as
// layers of their own that are layers in the file, or else with all in convolutions; either with
// siblings joined, or without anything fused, for which null stands.
std::vector<std::shared_ptr<const CanonicalGraph>> waysOf(const Network& one,
                                                          const std::set<std::string>& layers) {
  std::vector<std::shared_ptr<const CanonicalGraph>> ways;
  if (const std::set<std::string> apart = apartIn(layers, one); !apart.empty()) {
    ways.push_back(fuseOperators(one.unfused(), apart));
    if (const auto joined = joinSiblings(ways.back() ? *ways.back() : one.unfused()))
      ways.push_back(joined);
  }
  ways.insert(ways.end(), {one.fused, one.joined, nullptr});
  return ways;
}

// Whether what layers compute lies in their outputs: a network that lies and the same upright have
// the same names.
bool hasPixelsOf(const PlanText& read, const CanonicalGraph& graph) {
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Shape& output = graph.tensors[graph.ops[i].output.at()].shape;
    for (const CoreShare& share : read.plan.layers[i].shares)
      for (const PixelBox& box : share.boxes)
        if (box.y.end() > output.height || box.x.end() > output.width) return false;
  }
  return true;
}

// How well what was read fits the network that it was read for: a plan has its names in either
// network, and its pixels where all of them are 1x1.
enum class Fit { Names, Pixels, All };
Fit fitOf(const PlanText& read, Network network, const Device& device) {
  if (reorder(network, read.orders).empty() && verify(read.plan, network.network(), device).empty())
    return Fit::All;
  return hasPixelsOf(read, network.inModelsOrder()) ? Fit::Pixels : Fit::Names;
}
// Its shapes are those of the network, or it is not read.
Fit fitOf(const GivenProgram&, const Network&, const Device&) { return Fit::All; }

// Of one of the network's ways, as it is or upright, that which fits best; of several the first.
// Where it can be read for none, the faults of the first.
template <class Artefact>
Result<Artefact> readEither(Result<OfNetwork<Artefact>> (*read)(const Network&, const Device&,
                                                                const std::string&),
                            const std::set<std::string>& layers, Network& network,
                            const Device& device, const std::string& path) {
  network.reordered.reset();  // by a file before
  HEDDLE_TRY(const Network one, inBatchesOf(1, network));
  std::vector<std::shared_ptr<const CanonicalGraph>> all = waysOf(one, layers);
  const std::optional<Network> upright = uprightOf(one);
  if (upright)
    for (auto& way : waysOf(*upright, layers))
      all.push_back(way ? way : std::make_shared<const CanonicalGraph>(upright->unfused()));
  const std::int64_t asked = network.batch;
  std::optional<Diagnostics> faults;  // of the first
  std::optional<OfNetwork<Artefact>> best;
  Fit fit = Fit::Names;  // of that
  for (std::size_t i = 0; i < all.size() && !(best && fit == Fit::All); ++i) {
    if (std::find(all.begin(), all.begin() + i, all[i]) != all.begin() + i) continue;
    Network other = one;
    other.fused = all[i];
    Result<OfNetwork<Artefact>> found = read(other, device, path);
    if (!found) {
      if (!faults) faults = found.diagnostics();
      continue;
    }
    const Fit next = fitOf(found->artefact, found->network, device);
    if (best && next <= fit) continue;
    best = std::move(*found);
    fit = next;
  }
  if (!best) return *faults;
  HEDDLE_DO(checkBatch(path, asked, best->network.batch));
  network = std::move(best->network);
  return std::move(best->artefact);
}

}  // namespace

Result<Given> readGiven(const std::map<Stage, std::string>& files, Network& network,
                        const Device& device) {
  Given given;
  for (const auto& [stage, path] : files) {
    if (stage == Stage::Plan) {
      HEDDLE_TRY(PlanText read, readEither(readPlan, layersOfPlan(path), network, device, path));
      if (Diagnostics faults = reorder(network, read.orders); !faults.empty()) return faults;
      given.plan = std::move(read.plan);
    } else if (stage == Stage::MemoryPlan) {
      HEDDLE_TRY(given.memoryPlan, readMemoryPlan(network, device, path));
    } else {
      HEDDLE_TRY(given.program,
                 readEither(readProgram, layersOfProgram(path), network, device, path));
      if (Diagnostics faults = reorder(network, ordersOf(given.program->program)); !faults.empty())
        return faults;
    }
  }
  return given;
}

}  // namespace heddle
