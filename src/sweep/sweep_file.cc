#include "sweep_file.h"

#include <charconv>
#include <filesystem>
#include <functional>
#include <map>

#include "grid.h"
#include "heddle/device/built_in.h"
#include "heddle/device/yaml_tree.h"
#include "heddle/driver/files.h"
#include "heddle/support/fault_list.h"
#include "heddle/support/words.h"

namespace heddle {
namespace {

constexpr YamlUse kSweepFile{"SWEEP020", "SWEEP021", "sweep file", "docs/sweep.md"};
constexpr std::uintmax_t kMostFile = std::uintmax_t{1} << 20;

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)), faults_(path_) {
    options_.file = path_;
  }

  Result<SweepOptions> read(const YamlNode& root) {
    if (root.kind != YamlNode::Kind::Map) {
      wrong(root, "a sweep file must be a map, not " + kindName(root), "write 'key: value' lines");
      return faults_.take();
    }
    const auto readers = keys();
    for (const YamlEntry& entry : root.entries) {
      const auto found = readers.find(entry.key);
      if (found != readers.end()) {
        found->second(entry.value);
      } else {
        unknown(entry, readers);
      }
    }
    if (!faults_.empty()) return faults_.take();
    return std::move(options_);
  }

 private:
  using Readers = std::map<std::string, std::function<void(const YamlNode&)>>;

  Readers keys() {
    SweepOptions& o = options_;
    return {
        {"title", [&](const YamlNode& n) { o.title = word(n).text; }},
        {"model", [&](const YamlNode& n) { models(n); }},
        {"masks", [&](const YamlNode& n) { masks(n); }},
        {"apply-masks", [&](const YamlNode& n) { o.applyMasks = truth(n); }},
        {"device", [&](const YamlNode& n) { o.device = deviceOf(word(n).text); }},
        {"mesh", [&](const YamlNode& n) { o.meshes = words(n); }},
        {"square", [&](const YamlNode& n) { o.square = truth(n); }},
        {"vary", [&](const YamlNode& n) { o.varied = settings(n); }},
        {"set", [&](const YamlNode& n) { o.settings = settings(n); }},
        {"propagate", [&](const YamlNode& n) { o.propagate = truth(n); }},
        {"reorder", [&](const YamlNode& n) { o.reorder = truth(n); }},
        {"verify", [&](const YamlNode& n) { o.verify = truth(n); }},
        {"estimate", [&](const YamlNode& n) { o.estimate = truth(n); }},
        {"effort", [&](const YamlNode& n) { o.effort = word(n); }},
        {"fuse", [&](const YamlNode& n) { o.fuse = together(n); }},
        {"frames", [&](const YamlNode& n) { o.frames = word(n); }},
        {"batch", [&](const YamlNode& n) { o.batch = together(n); }},
        {"seed", [&](const YamlNode& n) { o.seed = number(n); }},
        {"max-cycles",
         [&](const YamlNode& n) { o.maxCycles = Cycles(static_cast<std::int64_t>(number(n))); }},
        {"where", [&](const YamlNode& n) { o.where = word(n); }},
        {"define", [&](const YamlNode& n) { definitions(n); }},
        {"require", [&](const YamlNode& n) { o.required = words(n); }},
        {"maximize", [&](const YamlNode& n) { o.maximized = word(n); }},
        {"minimize", [&](const YamlNode& n) { o.minimized = word(n); }},
        {"samples", [&](const YamlNode& n) { o.samples = word(n); }},
        {"refine", [&](const YamlNode& n) { o.refine = word(n); }},
        {"budget", [&](const YamlNode& n) { o.budget = word(n); }},
        {"threads", [&](const YamlNode& n) { o.threads = word(n); }},
    };
  }

  std::string at(int line) const { return path_ + ":" + std::to_string(line); }

  void wrong(const YamlNode& node, std::string summary, std::string mend) {
    faults_.add({"SWEEP023", at(node.line), std::move(summary), "", std::move(mend)});
  }

  void unknown(const YamlEntry& entry, const Readers& readers) {
    std::vector<std::string> known;
    for (const auto& [key, reader] : readers) known.push_back(key);
    const auto nearest = nearestWord(entry.key, known);
    faults_.add({"SWEEP022", at(entry.line), "unknown key '" + entry.key + "'",
                 "keys: " + joinWords(known),
                 nearest ? "write '" + *nearest + "'" : "use one of these keys"});
  }

  Argument word(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::Scalar)
      wrong(node, "a word is due, not " + kindName(node), "write one word");
    return {node.text, at(node.line), true};
  }

  // A word alone is a list of one.
  std::vector<Argument> words(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::Sequence) return {word(node)};
    std::vector<Argument> all;
    for (const YamlNode& item : node.items) all.push_back(word(item));
    return all;
  }

  // A list as the command line has it: by commas.
  Argument together(const YamlNode& node) {
    std::vector<std::string> texts;
    for (const Argument& item : words(node)) texts.push_back(item.text);
    return {joinWords(texts, ","), at(node.line), true};
  }

  bool truth(const YamlNode& node) {
    const std::string text = word(node).text;
    if (text != "true" && text != "false")
      wrong(node, "'" + text + "' is neither true nor false", "write 'true' or 'false'");
    return text == "true";
  }

  std::uint64_t number(const YamlNode& node) {
    const std::string text = word(node).text;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
      wrong(node, "'" + text + "' is not a whole number", "write it like '7'");
    return static_cast<std::uint64_t>(value);
  }

  // {KEY: VALUE} or {KEY: [VALUE, VALUE]} as on the command line.
  std::vector<Argument> settings(const YamlNode& node) {
    std::vector<Argument> all;
    if (node.kind != YamlNode::Kind::Map) {
      wrong(node, "a map of keys is due, not " + kindName(node), "write 'KEY: VALUE' lines");
      return all;
    }
    for (const YamlEntry& entry : node.entries) {
      std::vector<std::string> values;
      for (const Argument& value : words(entry.value)) values.push_back(value.text);
      all.push_back({entry.key + "=" + joinWords(values, ","), at(entry.line), true});
    }
    return all;
  }

  void definitions(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::Map)
      return wrong(node, "a map of names is due, not " + kindName(node),
                   "write 'NAME: EXPRESSION' lines");
    for (const YamlEntry& entry : node.entries)
      options_.definitions.push_back({entry.key, word(entry.value)});
  }

  std::string besideFile(const std::string& path) const {
    return (std::filesystem::path(path_).parent_path() / path).lexically_normal().string();
  }
  void models(const YamlNode& node) {
    for (const Argument& model : words(node)) options_.models.push_back(besideFile(model.text));
  }
  void masks(const YamlNode& node) {
    for (Argument& file : words(node)) {
      if (file.text != "none") file.text = besideFile(file.text);
      options_.masks.push_back(std::move(file));
    }
  }
  std::string deviceOf(const std::string& text) const {
    return builtInDevice(text) ? text : besideFile(text);
  }

  std::string path_;
  FaultList faults_;
  SweepOptions options_;
};

template <class T>
void fill(T& mine, T& other) {
  if (mine == T()) mine = std::move(other);
}
template <class T>
void fillList(std::vector<T>& mine, std::vector<T>& other) {
  if (mine.empty()) mine = std::move(other);
}
template <class T>
void fillOptional(std::optional<T>& mine, std::optional<T>& other) {
  if (!mine) mine = std::move(other);
}

}  // namespace

Result<SweepOptions> parseSweepFile(const std::string& yaml, const std::string& path) {
  HEDDLE_TRY(const YamlNode root, parseYaml(yaml, path, kSweepFile));
  return Reader(path).read(root);
}

Result<SweepOptions> readSweepFile(const std::string& path) {
  HEDDLE_TRY(const std::string yaml, readTextFile(path, kMostFile));
  return parseSweepFile(yaml, path);
}

SweepOptions together(SweepOptions line, SweepOptions file) {
  fillList(line.models, file.models);
  fillList(line.masks, file.masks);
  fillOptional(line.applyMasks, file.applyMasks);
  fill(line.device, file.device);
  fillList(line.meshes, file.meshes);
  fillOptional(line.square, file.square);
  fillList(line.varied, file.varied);
  fillList(line.settings, file.settings);
  fillOptional(line.propagate, file.propagate);
  fillOptional(line.reorder, file.reorder);
  fillOptional(line.verify, file.verify);
  fillOptional(line.estimate, file.estimate);
  fillOptional(line.effort, file.effort);
  fillOptional(line.fuse, file.fuse);
  fillOptional(line.frames, file.frames);
  fillOptional(line.batch, file.batch);
  fillOptional(line.seed, file.seed);
  fillOptional(line.maxCycles, file.maxCycles);
  fillOptional(line.where, file.where);
  fillList(line.definitions, file.definitions);
  fillList(line.required, file.required);
  if (!line.maximized && !line.minimized) {
    line.maximized = std::move(file.maximized);
    line.minimized = std::move(file.minimized);
  }
  fillOptional(line.samples, file.samples);
  fillOptional(line.refine, file.refine);
  fillOptional(line.budget, file.budget);
  fillOptional(line.threads, file.threads);
  fill(line.title, file.title);
  return line;
}

}  // namespace heddle
