#include "heddle/device/device.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "fields.h"
#include "heddle/device/built_in.h"
#include "heddle/device/description.h"
#include "heddle/device/yaml_tree.h"
#include "heddle/support/fault_list.h"
#include "heddle/support/words.h"
#include "names.h"
#include "wires.h"

namespace heddle {
namespace {

const std::string kName = "name", kWires = "wires", kNotModelled = "notModelled",
                  kSource = "source", kValue = "value";
constexpr std::size_t kLongestSentence = 400;

struct ValueText {
  std::string text;
  std::string where;
};

// The words that may follow `prefix` ("" or "core."): one level of keys.
std::vector<std::string> keysBelow(const std::string& prefix) {
  std::vector<std::string> keys;
  if (prefix.empty()) keys.push_back(kName);
  for (const Field& field : deviceFields()) {
    if (!field.key.starts_with(prefix)) continue;
    const std::string rest = field.key.substr(prefix.size());
    const std::string key = rest.substr(0, rest.find('.'));
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  if (prefix.empty()) keys.insert(keys.end(), {kWires, kNotModelled});
  return keys;
}

bool isField(const std::string& key) {
  return std::any_of(deviceFields().begin(), deviceFields().end(),
                     [&](const Field& f) { return f.key == key; });
}
bool isGroup(const std::string& key) { return !keysBelow(key + ".").empty(); }

std::string severalKeys(const std::string& prefix) {
  return prefix.empty() ? "top level: " + joinWords(keysBelow(prefix))
                        : "keys of '" + prefix.substr(0, prefix.size() - 1) +
                              "': " + joinWords(keysBelow(prefix));
}

class DeviceReader {
 public:
  explicit DeviceReader(const std::string& file) : file_(file), faults_(file) {}

  Result<Device> read(const YamlNode& root, const DeviceOverrides& overrides) {
    if (root.kind != YamlNode::Kind::Map) {
      fault("DEV004", at(root.line), "a description must be a map, not " + kindName(root), "",
            "write 'key: value' lines");
      return faults_.take();
    }
    collect(root, "");
    apply(overrides);
    readName();
    readFields();
    checkBanks();
    if (faults_.empty()) readOthers(root);
    if (!faults_.empty()) return faults_.take();
    return std::move(device_);
  }

 private:
  std::string at(int line) const { return file_ + ":" + std::to_string(line); }

  // A value of the command line that does not do is a fault of usage, whatever it is.
  static bool isArgument(const std::string& where) {
    return where.starts_with("--set ") || where.starts_with("--mesh ");
  }

  void fault(const char* code, std::string where, std::string summary, std::string what,
             std::string mend) {
    const Severity severity = isArgument(where) ? Severity::Usage : Severity::BadInput;
    faults_.add(
        {code, std::move(where), std::move(summary), std::move(what), std::move(mend), severity});
  }

  // Walks the tree along the keys of the table and notes the text of every value.
  void collect(const YamlNode& map, const std::string& prefix) {
    for (const YamlEntry& entry : map.entries) {
      const std::string key = prefix + entry.key;
      const YamlNode& value = entry.value;
      if (entry.key == kSource) {
        if (value.kind != YamlNode::Kind::Scalar)
          fault("DEV004", at(value.line), "'source' must be a sentence, not " + kindName(value), "",
                "write it in quotes");
      } else if (key == kName || isField(key)) {
        noteValue(key, value);
      } else if (key == kWires) {
        wires_ = &value;
      } else if (key == kNotModelled) {
        notModelled_ = &value;
      } else if (!isGroup(key)) {
        unknownKey(at(entry.line), prefix, entry.key);
      } else if (value.kind != YamlNode::Kind::Map) {
        fault("DEV004", at(value.line), "'" + key + "' must be a map, not " + kindName(value),
              severalKeys(key + "."), "write the keys below it");
      } else {
        collect(value, key + ".");
      }
    }
  }

  // A value is a word, or {value: ..., source: ...}.
  void noteValue(const std::string& key, const YamlNode& node) {
    const YamlNode* value = &node;
    if (node.kind == YamlNode::Kind::Map) {
      value = nullptr;
      for (const YamlEntry& entry : node.entries) {
        if (entry.key == kValue) {
          value = &entry.value;
        } else if (entry.key != kSource) {
          const auto nearest = nearestWord(entry.key, {kValue, kSource});
          fault("DEV003", at(entry.line), "unknown key '" + entry.key + "' of '" + key + "'",
                "keys: value, source", nearest ? "write '" + *nearest + "'" : "remove it");
        }
      }
    }
    if (!value || value->kind != YamlNode::Kind::Scalar) {
      fault("DEV004", at(node.line),
            "'" + key + "' must be a value, not " + kindName(value ? *value : node), "",
            "write '" + key.substr(key.rfind('.') + 1) + ": VALUE'");
      refused_.insert(key);
      return;
    }
    values_[key] = {value->text, at(value->line)};
  }

  void unknownKey(const std::string& where, const std::string& prefix, const std::string& key) {
    if (faults_.full()) return faults_.add({});  // the nearest right one of each takes long to find
    const std::optional<std::string> nearest = nearestWord(key, keysBelow(prefix));
    fault(isArgument(where) ? "DEV009" : "DEV003", where,
          prefix.empty()
              ? "unknown key '" + key + "'"
              : "unknown key '" + key + "' of '" + prefix.substr(0, prefix.size() - 1) + "'",
          severalKeys(prefix), nearest ? "write '" + *nearest + "'" : "use one of these keys");
  }

  void apply(const DeviceOverrides& overrides) {
    if (overrides.mesh) {
      const std::string where = "--mesh " + std::to_string(overrides.mesh->first) + "x" +
                                std::to_string(overrides.mesh->second);
      values_["rows"] = {std::to_string(overrides.mesh->first), where};
      values_["columns"] = {std::to_string(overrides.mesh->second), where};
    }
    for (const auto& [key, text] : overrides.settings) {
      const std::string where = "--set " + key + "=" + text;
      const auto given = values_.find(key);
      if (given != values_.end() && isArgument(given->second.where)) {
        fault("DEV009", where, "'" + key + "' is given twice", given->second.where,
              "leave one of the two out");
      } else if (isField(key)) {
        values_[key] = {text, where};
        refused_.erase(key);
      } else if (key == kName || key == kWires || key == kNotModelled) {
        fault("DEV009", where, "'" + key + "' cannot be set on the command line", "",
              "write it into a description of your own");
      } else {
        unknownSetting(where, key);
      }
    }
  }

  // The hint names the whole dotted key: of all keys, or below the longest right beginning.
  void unknownSetting(const std::string& where, const std::string& key) {
    std::vector<std::string> keys;
    for (const Field& field : deviceFields()) keys.push_back(field.key);
    if (isGroup(key)) {
      fault("DEV009", where, "'" + key + "' is a group of keys", severalKeys(key + "."),
            "name one of them, as in '" + key + "." + keysBelow(key + ".").front() + "'");
      return;
    }
    const std::optional<std::string> nearest = nearestWord(key, keys);
    if (nearest) {
      fault("DEV009", where, "unknown key '" + key + "'", "", "write '" + *nearest + "'");
      return;
    }
    std::string prefix;
    for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1)) {
      if (isGroup(key.substr(0, dot))) prefix = key.substr(0, dot + 1);
    }
    unknownKey(where, prefix, key.substr(prefix.size()));
  }

  void readName() {
    const auto value = values_.find(kName);
    if (value == values_.end()) {
      if (!refused_.contains(kName))
        fault("DEV006", file_, "'name' is missing", "", "add 'name: ...'");
    } else if (!isName(value->second.text)) {
      fault("DEV004", value->second.where, "'" + value->second.text + "' is not a name", kNameRule,
            "choose a plain name");
    } else {
      device_.name = value->second.text;
    }
  }

  void readFields() {
    std::vector<const Field*> missing;
    for (const Field& field : deviceFields()) {
      const auto value = values_.find(field.key);
      if (value == values_.end()) {
        if (!field.optional && !refused_.contains(field.key)) missing.push_back(&field);
        continue;
      }
      if (const std::optional<ValueFault> bad = setField(field, value->second.text, device_)) {
        fault(bad->range ? "DEV005" : "DEV004", value->second.where,
              "'" + field.key + "': " + bad->summary, bad->what, bad->mend);
      }
    }
    nameMissing(missing);
  }

  void nameMissing(const std::vector<const Field*>& missing) {
    if (missing.size() == 1) {
      const Field& field = *missing.front();
      fault(
          "DEV006", file_, "'" + field.key + "' is missing", "",
          "add it, like '" + field.key + ": " + (field.kind ? field.kind->example : "false") + "'");
    } else if (!missing.empty()) {
      std::vector<std::string> keys;
      for (const Field* field : missing) keys.push_back(field->key);
      fault("DEV006", file_, std::to_string(missing.size()) + " keys are missing", joinWords(keys),
            "add them as docs/device.md shows");
    }
  }

  // Of values that contradict each other: the one from the command line where there is one, for it
  // was put beside the others.
  std::string whereOf(const std::vector<std::string>& keys) {
    for (const std::string& key : keys)
      if (isArgument(values_[key].where)) return values_[key].where;
    return values_[keys.front()].where;
  }

  void checkBanks() {
    if (!faults_.empty()) return;
    const CoreSpec& core = device_.core;
    if (core.operandBanks > core.banks)
      fault("DEV005", whereOf({"core.operandBanks", "core.banks"}), "more operand banks than banks",
            std::to_string(core.operandBanks) + " of " + std::to_string(core.banks),
            "lower core.operandBanks");
    if (core.memory.raw() % (core.banks * 8) != 0)
      fault("DEV005", whereOf({"core.memory", "core.banks"}),
            "core.memory does not divide into banks of whole 8-byte words",
            std::to_string(core.memory.raw()) + " B in " + std::to_string(core.banks) + " banks",
            "make it a multiple of " + std::to_string(core.banks * 8) + " B");
    if (device_.memtile.memory.raw() % 8 != 0)
      fault("DEV005", whereOf({"memtile.memory"}),
            "memtile.memory is not a whole number of 8-byte words",
            std::to_string(device_.memtile.memory.raw()) + " B", "make it a multiple of 8 B");
  }

  void readOthers(const YamlNode& root) {
    if (!wires_) {
      fault("DEV006", at(root.line), "'wires' is missing", "",
            "add the wires as docs/device.md shows");
    } else {
      readWires(*wires_, file_, device_, faults_);
    }
    if (notModelled_) readNotModelled();
  }

  void readNotModelled() {
    if (notModelled_->kind != YamlNode::Kind::Sequence) {
      fault("DEV004", at(notModelled_->line),
            "'notModelled' must be a list, not " + kindName(*notModelled_), "",
            "write '- \"sentence\"' lines");
      return;
    }
    for (const YamlNode& item : notModelled_->items) {
      const bool plain = std::none_of(item.text.begin(), item.text.end(),
                                      [](unsigned char c) { return c < ' ' || c >= 0x7f; });
      if (item.kind != YamlNode::Kind::Scalar || !plain || item.text.size() > kLongestSentence)
        fault("DEV004", at(item.line), "an entry of 'notModelled' must be a sentence",
              "one line of at most " + std::to_string(kLongestSentence) + " ASCII characters",
              "write it in quotes");
      else
        device_.notModelled.push_back(item.text);
    }
  }

  const std::string& file_;
  FaultList faults_;
  Device device_;
  std::map<std::string, ValueText> values_;  // by dotted key
  std::set<std::string> refused_;            // keys that are there, with no readable value
  const YamlNode* wires_ = nullptr;
  const YamlNode* notModelled_ = nullptr;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

Result<DeviceDescription> DeviceDescription::parse(std::string yaml, std::string name) {
  HEDDLE_TRY(YamlNode root, parseYaml(yaml, name));
  return DeviceDescription(std::move(yaml), std::move(name), std::move(root));
}

Result<DeviceDescription> DeviceDescription::read(const std::string& path) {
  const auto unreadable = [&](std::string what) {
    return Diagnostic{
        .code = "DEV001",
        .where = path,
        .summary = "the device description cannot be read",
        .what = std::move(what),
        .mend = "give a YAML file, such as hw_configs/paper.yaml, or one of the built-in: " +
                joinWords(builtInDevices())};
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    if (const auto yaml = builtInDevice(path)) return parse(*yaml, "hw_configs/" + path + ".yaml");
    return unreadable("there is no such file");
  }
  if (!std::filesystem::is_regular_file(status)) return unreadable("it is not a file");
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1}
                                        << 20;  // parse refuses less than that, with a reason
  if (std::filesystem::file_size(path, error) > kMostBytes || error)
    return unreadable("it is larger than 1 MiB");
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return unreadable("reading failed");
  return parse(text.str(), path);
}

Result<Device> DeviceDescription::device(const DeviceOverrides& overrides) const {
  return DeviceReader(name_).read(root_, overrides);
}

Result<Device> parseDevice(const std::string& yaml, const std::string& name,
                           const DeviceOverrides& overrides) {
  HEDDLE_TRY(const DeviceDescription description, DeviceDescription::parse(yaml, name));
  return description.device(overrides);
}

Result<Device> readDevice(const std::string& path, const DeviceOverrides& overrides) {
  HEDDLE_TRY(const DeviceDescription description, DeviceDescription::read(path));
  return description.device(overrides);
}

std::string printDevice(const Device& device) {
  std::string text = "name: " + device.name + "\n";
  std::vector<std::string> open;  // groups that the line before was in
  for (const Field& field : deviceFields()) {
    std::vector<std::string> path;
    std::istringstream words(field.key);
    for (std::string word; std::getline(words, word, '.');) path.push_back(word);
    std::size_t shared = 0;
    while (shared < open.size() && shared + 1 < path.size() && open[shared] == path[shared])
      ++shared;
    for (std::size_t depth = shared; depth + 1 < path.size(); ++depth)
      text += std::string(2 * depth, ' ') + path[depth] + ":\n";
    text += std::string(2 * (path.size() - 1), ' ') + path.back() + ": " +
            printField(field, device) + "\n";
    open.assign(path.begin(), path.end() - 1);
  }
  text += printWires(device);
  if (device.notModelled.empty()) return text + "notModelled: []\n";
  text += "notModelled:\n";
  for (const std::string& sentence : device.notModelled) text += "  - " + quoted(sentence) + "\n";
  return text;
}

}  // namespace heddle
