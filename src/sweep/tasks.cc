#include "tasks.h"

#include <algorithm>
#include <deque>
#include <filesystem>

#include "heddle/report/bounds.h"

namespace heddle {

Result<std::vector<std::string>> networkNames(const SweepOptions& options) {
  if (options.models.empty())
    return faultAt("--model", "SWEEP008", "there is no network to sweep", "",
                   "add '--model FILE.onnx', or 'model: FILE.onnx' to the sweep file");
  std::vector<std::string> names;
  for (const std::string& model : options.models) {
    names.push_back(std::filesystem::path(model).stem().string());
    if (std::ranges::count(names, names.back()) > 1)
      return faultAt(model, "SWEEP008", "two networks are called '" + names.back() + "'",
                     "tables tell networks by the name of the file",
                     "give one of the files another name");
  }
  return names;
}

Result<SweepNetworks> SweepNetworks::read(const SweepOptions& options,
                                          const std::vector<MaskChoice>& masks,
                                          const std::vector<std::int64_t>& batches,
                                          const PointSettings& settings) {
  NoProgress quiet;
  SweepNetworks all;
  HEDDLE_TRY(all.names_, networkNames(options));
  all.masks_ = masks;
  all.batches_ = batches.size();
  for (const MaskChoice& choice : masks) {
    std::vector<Network> ofOne;
    for (std::size_t i = 0; i < options.models.size(); ++i) {
      const ModelSource source{.path = options.models[i],
                               .shapes = {},
                               .masks = choice.fileOf(all.names_[i]),
                               .applyMasks = options.applyMasks.value_or(false),
                               .propagate = settings.propagate};
      HEDDLE_TRY(Network network, readNetwork(source, std::nullopt, quiet));
      network.graph.reset();
      ofOne.push_back(std::move(network));
    }
    for (const std::int64_t batch : batches)
      for (const Network& one : ofOne) {
        Result<Network> together = inBatchesOf(batch, one);
        Entry entry{.network = {}, .batch = batch, .refusal = {}};
        if (!together) entry.refusal = together.diagnostics().front();
        Network network = one;
        if (together) network = std::move(*together);
        if (!fusesOperators(settings.plan)) leaveUnfused(network);
        entry.network = std::make_shared<const Network>(std::move(network));
        all.networks_.push_back(std::move(entry));
      }
  }
  return all;
}

PointNetwork SweepNetworks::nameOf(std::size_t network) const {
  const Network& of = at(network);
  return {of.modelName, of.modelSha256, masksOf(network).name, networks_[network].batch};
}

std::string SweepNetworks::masksFileOf(std::size_t network) const {
  return masksOf(network).fileOf(names_[network % each()]);
}

std::vector<Task> TaskMaker::tasksAt(std::int64_t place) {
  const Result<Device> device = description_.device(grid_.overridesAt(place));
  std::vector<Task> tasks, wanted;
  const std::size_t first = networks_.first(grid_.masksAt(place), grid_.batchAt(place));
  if (device) {
    // Most places of a large grid may be left out: before anything is printed and hashed.
    Point probe = pointOf(networks_.nameOf(first), "", settings_);
    addDevice(probe, *device);
    if (!questions_.wanted(probe)) return {};
  }
  for (std::size_t n = 0; n < networks_.each(); ++n)
    tasks.push_back(taskOf(first + n, place, device));
  if (device && questions_.asked()) findBroken(tasks, *device);
  for (Task& task : tasks)
    if (questions_.wanted(task.point) && ids_.insert(task.point.id).second)
      wanted.push_back(std::move(task));
  return wanted;
}

Task TaskMaker::taskOf(std::size_t network, std::int64_t place,
                       const Result<Device>& device) const {
  Task task{.point = {}, .place = place, .network = network};
  const PointNetwork of = networks_.nameOf(network);
  if (device) {
    task.point = pointOf(of, printDevice(*device), settings_);
    addDevice(task.point, *device);
    return task;
  }
  // Named by what was asked for.
  const DeviceOverrides asked = grid_.overridesAt(place);
  std::string text = options_.device;
  if (asked.mesh)
    text += " " + std::to_string(asked.mesh->first) + "x" + std::to_string(asked.mesh->second);
  for (const auto& [key, value] : asked.settings) text += " " + key + "=" + value;
  task.point = pointOf(of, text, settings_);
  if (asked.mesh) {
    task.point.values["rows"] = static_cast<double>(asked.mesh->first);
    task.point.values["cols"] = static_cast<double>(asked.mesh->second);
  }
  return task;
}

// Which points of one device cannot keep what is required, however they are compiled. One network
// may break it for all of them, be it in this shard or not.
void TaskMaker::findBroken(std::vector<Task>& tasks, const Device& device) const {
  std::deque<Point> floors;
  Design design;
  for (const Task& task : tasks) {
    if (networks_.refusalOf(task.network)) return;
    const CanonicalGraph& graph = networks_.at(task.network).network();
    Point point = task.point;
    addNeeds(point, graph, computeBounds(graph, device));
    design.points.push_back(&floors.emplace_back(atFloor(point)));
  }
  for (std::size_t n = 0; n < tasks.size(); ++n)
    tasks[n].broken = questions_.brokenByFloor(design, n);
}

}  // namespace heddle
