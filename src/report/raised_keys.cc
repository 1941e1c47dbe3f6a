#include "heddle/report/raised_keys.h"

#include <algorithm>

#include "heddle/cost/cost.h"
#include "heddle/device/keys.h"
#include "heddle/report/leaves.h"
#include "variants.h"

namespace heddle {
namespace {

using Keys = std::vector<std::string>;

constexpr double kRaise = 2;

bool isTime(const std::string& key) { return unitOf(key) == "cycles"; }

std::optional<double> numberOf(const Device& device, const std::string& key) {
  for (const DeviceNumber& one : numbersOf(device))
    if (one.key == key) return one.number;
  return std::nullopt;
}

// Keys of which the smallest is the rate of transfers of a resource; keys that stand alone have
// none.
struct Path {
  Keys keys;
  BytesPerSecond (*rate)(const Device&) = nullptr;
};

// Those that the program's instructions take.
std::vector<Path> pathsOf(const Program& program) {
  const std::vector<LeafFacts> leaves = leafFacts(program);
  const auto has = [&](Resource resource) {
    return std::ranges::find(leaves, resource, &LeafFacts::resource) != leaves.end();
  };
  const auto runs = [&](auto what) { return std::ranges::any_of(program.kernels, what); };
  const auto isMac = [](const Kernel& k) {
    return k.op == OpKind::Conv || k.op == OpKind::DepthwiseConv;
  };
  std::vector<Path> paths;
  if (has(Resource::DdrRead)) {
    paths.push_back({{"links.ddr.read", "links.memtile.write"}, ddrReadRate});
    paths.push_back({{"links.ddr.readTotal"}});
  }
  if (has(Resource::WeightsWire) || has(Resource::InputWire))
    paths.push_back({{"links.wire", "links.memtile.read"}, wireRate});
  if (has(Resource::Output))
    paths.push_back({{"links.core.write", "links.memtile.write"}, coreWriteRate});
  if (has(Resource::DdrWrite)) {
    paths.push_back({{"links.ddr.write", "links.memtile.read"}, ddrWriteRate});
    paths.push_back({{"links.ddr.writeTotal"}});
  }
  if (runs([](const Kernel& k) { return k.op == OpKind::Conv; }))
    paths.push_back({{"core.macsPerCycle"}});
  if (runs([](const Kernel& k) { return k.op == OpKind::DepthwiseConv; }))
    paths.push_back({{"core.depthwiseMacsPerCycle"}});
  if (runs([&](const Kernel& k) {
        return !isMac(k) || k.multipliesInput || k.tableLines || k.addsInput || k.looksUp;
      }))
    paths.push_back({{"core.vectorBytesPerCycle"}});
  if (has(Resource::Compute)) paths.push_back({{"core.callOverhead"}});
  paths.push_back({{"locks.acquire"}});
  return paths;
}

// What there is to ask: each key that has a value to raise, and the keys of a path together where
// the smallest, raised alone, would be held back by another.
std::vector<Keys> questionsOf(const std::vector<Path>& paths, const Device& device) {
  std::vector<Keys> questions;
  for (const Path& path : paths)
    for (const std::string& key : path.keys)
      if (numberOf(device, key).value_or(0) > 0 &&
          std::ranges::find(questions, Keys{key}) == questions.end())
        questions.push_back({key});
  for (const auto& [keys, rate] : paths) {
    if (keys.size() < 2) continue;
    const double a = *numberOf(device, keys[0]), b = *numberOf(device, keys[1]);
    if (std::max(a, b) < kRaise * std::min(a, b)) questions.push_back(keys);
  }
  return questions;
}

struct Raised {
  RaisedKeys answer;  // but for its cycles
  Device device;
};

// None: some value is at its largest.
std::optional<Raised> raised(const Device& device, const Keys& keys) {
  Raised raised;
  std::vector<DeviceNumber> numbers, before;
  for (const std::string& key : keys) {
    const double number = *numberOf(device, key);
    before.push_back({key, number});
    numbers.push_back({key, isTime(key) ? number / kRaise : number * kRaise});
  }
  const auto from = settingsOf(before), to = settingsOf(numbers);
  Result<Device> changed = parseDevice(printDevice(device), device.name, {.settings = to});
  if (!changed || *changed == device) return std::nullopt;
  raised.device = std::move(*changed);
  for (std::size_t i = 0; i < from.size(); ++i)
    raised.answer.keys.push_back({from[i].first, from[i].second, to[i].second});
  return raised;
}

bool has(const Path& path, const std::string& key) {
  return std::ranges::find(path.keys, key) != path.keys.end();
}

// Whether some instruction may be faster where these keys are raised.
bool mayGain(const std::vector<Path>& paths, const Keys& keys, const Device& before,
             const Device& after) {
  return std::ranges::any_of(paths, [&](const Path& path) {
    const bool isRaised =
        std::ranges::any_of(keys, [&](const std::string& key) { return has(path, key); });
    return isRaised && (!path.rate || path.rate(before) != path.rate(after));
  });
}

// The other keys of the paths that the key is on: each is as small or smaller.
Keys heldBy(const std::vector<Path>& paths, const std::string& key) {
  Keys others;
  for (const Path& path : paths) {
    if (!has(path, key)) continue;
    for (const std::string& other : path.keys)
      if (other != key) others.push_back(other);
  }
  return others;
}

}  // namespace

Result<std::vector<RaisedKeys>> raiseKeys(const VerifiedProgram& program, Cycles cycles) {
  const Device& device = program.device();
  const std::vector<Path> paths = pathsOf(*program);
  std::vector<RaisedKeys> answers;
  std::vector<Variant> variants;
  std::vector<std::size_t> asked;  // of `answers`, per variant
  for (const Keys& keys : questionsOf(paths, device)) {
    std::optional<Raised> change = raised(device, keys);
    if (!change) continue;
    RaisedKeys& answer = answers.emplace_back(std::move(change->answer));
    answer.cycles = cycles;
    if (mayGain(paths, keys, device, change->device)) {
      asked.push_back(answers.size() - 1);
      variants.push_back({std::move(change->device), {}});
    } else {
      answer.heldBy = heldBy(paths, keys[0]);
    }
  }
  HEDDLE_TRY(const std::vector<Cycles> times, runVariants(program, variants));
  for (std::size_t i = 0; i < asked.size(); ++i) answers[asked[i]].cycles = times[i];
  std::ranges::stable_sort(answers, {}, &RaisedKeys::cycles);
  return answers;
}

}  // namespace heddle
