#include "wires.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "heddle/support/words.h"
#include "names.h"
#include "quantity.h"

namespace heddle {
namespace {

constexpr std::size_t kMostWires = 1024;

enum class Each { One, Column, Row };

class WireReader {
 public:
  WireReader(const std::string& file, Device& device, FaultList& faults)
      : file_(file), device_(device), faults_(faults) {}

  void readAll(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::Sequence)
      return fault("DEV004", node.line, "'wires' must be a list, not " + kindName(node), "",
                   "write '- {name: ...}'");
    for (const YamlNode& item : node.items) readOne(item);
    checkWhole(node);
  }

 private:
  void fault(const char* code, int line, std::string summary, std::string what, std::string mend) {
    faults_.add({code, file_ + ":" + std::to_string(line), std::move(summary), std::move(what),
                 std::move(mend), Severity::BadInput});
  }

  void wrongWord(const YamlNode& node, const std::string& key,
                 const std::vector<std::string>& words) {
    const auto nearest =
        node.kind == YamlNode::Kind::Scalar ? nearestWord(node.text, words) : std::nullopt;
    fault("DEV004", node.line, "'" + key + "' of a wire cannot be " + kindName(node),
          "one of: " + joinWords(words), "write '" + nearest.value_or(words.front()) + "'");
  }

  void readOne(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::Map)
      return fault("DEV004", node.line, "a wire must be a map, not " + kindName(node), "",
                   "write '{name: row, oneForEach: row, reach: row, feeders: any}'");
    const YamlNode *name = nullptr, *each = nullptr, *reach = nullptr, *feeders = nullptr,
                   *source = nullptr;
    const std::vector<std::string> keys = {"name", "oneForEach", "reach", "feeders", "source"};
    const std::array<const YamlNode**, 5> places = {&name, &each, &reach, &feeders, &source};
    for (const YamlEntry& entry : node.entries) {
      const auto key = std::find(keys.begin(), keys.end(), entry.key);
      if (key == keys.end()) {
        const auto nearest = nearestWord(entry.key, keys);
        fault("DEV003", entry.line, "unknown key '" + entry.key + "' of a wire",
              "keys: " + joinWords(keys), nearest ? "write '" + *nearest + "'" : "remove it");
        continue;
      }
      *places[static_cast<std::size_t>(key - keys.begin())] = &entry.value;
    }
    if (!name || !reach || !feeders) {
      const std::string missing = !name ? "name" : !reach ? "reach" : "feeders";
      return fault("DEV006", node.line, "a wire has no '" + missing + "'",
                   "keys: " + joinWords(keys), "add '" + missing + ": ...'");
    }
    makeWires(*name, each, *reach, *feeders);
  }

  void makeWires(const YamlNode& name, const YamlNode* each, const YamlNode& reach,
                 const YamlNode& feeders) {
    const std::size_t faultsBefore = faults_.count();
    if (name.kind != YamlNode::Kind::Scalar || !isName(name.text))
      fault("DEV004", name.line, kindName(name) + " is not a name of a wire", kNameRule,
            "write 'name: row'");
    const Each kind = readEach(each);
    const std::int64_t count = kind == Each::Column ? device_.columns
                               : kind == Each::Row  ? device_.rows
                                                    : 1;
    for (std::int64_t i = 0; i < count && faults_.count() == faultsBefore; ++i) {
      Wire wire;
      wire.name = kind == Each::One ? name.text : name.text + std::to_string(i);
      wire.reach = readReach(reach, kind, i);
      wire.feeders = readFeeders(feeders, kind, i);
      if (device_.wires.size() >= kMostWires) {
        fault("DEV008", name.line, "too many wires", "at most " + std::to_string(kMostWires),
              "describe fewer");
        return;
      }
      if (faults_.count() == faultsBefore) device_.wires.push_back(std::move(wire));
    }
  }

  Each readEach(const YamlNode* node) {
    if (!node) return Each::One;
    if (node->text == "column") return Each::Column;
    if (node->text == "row") return Each::Row;
    wrongWord(*node, "oneForEach", {"column", "row"});
    return Each::One;
  }

  CoreRange readReach(const YamlNode& node, Each each, std::int64_t i) {
    const CoreRange all{0, 0, device_.rows, device_.columns};
    if (node.kind == YamlNode::Kind::Map) return readRectangle(node);
    if (node.text == "any") return all;
    if (node.text == "column" && each == Each::Column) return {0, i, device_.rows, 1};
    if (node.text == "row" && each == Each::Row) return {i, 0, 1, device_.columns};
    if (node.text == "column" || node.text == "row") {
      fault("DEV004", node.line, "reach '" + node.text + "' needs 'oneForEach: " + node.text + "'",
            "", "add it, or write 'reach: any'");
      return all;
    }
    wrongWord(node, "reach", {"any", "column", "row"});
    return all;
  }

  CoreRange readRectangle(const YamlNode& node) {
    CoreRange range{0, 0, device_.rows, device_.columns};
    for (const YamlEntry& entry : node.entries) {
      if (entry.key == "rows") {
        readSpan(entry, "row", device_.rows, range.row, range.rows);
      } else if (entry.key == "columns") {
        readSpan(entry, "column", device_.columns, range.column, range.columns);
      } else {
        const auto nearest = nearestWord(entry.key, {"rows", "columns"});
        fault("DEV003", entry.line, "unknown key '" + entry.key + "' of a reach",
              "keys: rows, columns", nearest ? "write '" + *nearest + "'" : "remove it");
      }
    }
    return range;
  }

  // "2" or "0-3"
  void readSpan(const YamlEntry& entry, const std::string& of, std::int64_t size,
                std::int64_t& first, std::int64_t& count) {
    const std::string& text = entry.value.text;
    const std::size_t dash = text.find('-');
    const auto low = parseQuantity(kCount, text.substr(0, dash));
    const auto high =
        dash == std::string::npos ? low : parseQuantity(kCount, text.substr(dash + 1));
    const std::int64_t* from = std::get_if<std::int64_t>(&low);
    const std::int64_t* to = std::get_if<std::int64_t>(&high);
    if (!from || !to) {
      return fault("DEV004", entry.line, kindName(entry.value) + " is not a range of " + of + "s",
                   "", "write it like '" + entry.key + ": 0-" + std::to_string(size - 1) + "'");
    }
    if (*from > *to || *to >= size) {
      return fault("DEV008", entry.line, "a wire reaches " + of + "s that are not there: " + text,
                   "the array has " + of + "s 0-" + std::to_string(size - 1),
                   "correct the range, or write 'reach: " + of + "' with 'oneForEach: " + of + "'");
    }
    first = *from;
    count = *to - *from + 1;
  }

  std::vector<std::int64_t> readFeeders(const YamlNode& node, Each each, std::int64_t i) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(device_.memtiles()));
    std::iota(all.begin(), all.end(), 0);
    if (node.kind == YamlNode::Kind::Sequence) return readMemtiles(node);
    if (node.text == "any") return all;
    if (node.text == "own" && each == Each::Column) return {i};
    if (node.text == "own") {
      fault("DEV004", node.line, "feeders 'own' needs 'oneForEach: column'",
            "memtiles are one a column", "write 'feeders: any'");
      return all;
    }
    wrongWord(node, "feeders", {"any", "own"});
    return all;
  }

  std::vector<std::int64_t> readMemtiles(const YamlNode& node) {
    std::set<std::int64_t> feeders;
    for (const YamlNode& item : node.items) {
      const auto value = parseQuantity(kCount, item.text);
      const std::int64_t* memtile = std::get_if<std::int64_t>(&value);
      if (!memtile) {
        fault("DEV004", item.line, kindName(item) + " is not the number of a memtile", "",
              "write it like 'feeders: [0]'");
      } else if (*memtile >= device_.memtiles()) {
        fault("DEV008", item.line,
              "memtile " + item.text + " cannot feed a wire: there is none of that number",
              "the array has memtiles 0-" + std::to_string(device_.memtiles() - 1),
              "correct it, or write 'feeders: any'");
      } else {
        feeders.insert(*memtile);
      }
    }
    if (node.items.empty())
      fault("DEV008", node.line, "a wire has no feeders", "it could never carry anything",
            "write 'feeders: any'");
    return {feeders.begin(), feeders.end()};
  }

  // What no single wire shows: names that collide, cores that nothing reaches.
  void checkWhole(const YamlNode& node) {
    std::set<std::string> names;
    for (const Wire& wire : device_.wires) {
      if (!names.insert(wire.name).second)
        fault("DEV008", node.line, "two wires are named '" + wire.name + "'", "",
              "rename one of them");
    }
    if (!faults_.empty()) return;
    for (std::int64_t r = 0; r < device_.rows; ++r) {
      for (std::int64_t c = 0; c < device_.columns; ++c) {
        const bool reached =
            std::any_of(device_.wires.begin(), device_.wires.end(),
                        [&](const Wire& wire) { return wire.reach.contains(r, c); });
        if (reached) continue;
        return fault("DEV008", node.line,
                     "no wire reaches core (" + std::to_string(r) + "," + std::to_string(c) + ")",
                     "it could never be given work", "add a wire, or write 'reach: any'");
      }
    }
  }

  const std::string& file_;
  Device& device_;
  FaultList& faults_;
};

std::string span(std::int64_t first, std::int64_t count) {
  return count == 1 ? std::to_string(first)
                    : std::to_string(first) + "-" + std::to_string(first + count - 1);
}

}  // namespace

void readWires(const YamlNode& node, const std::string& file, Device& device, FaultList& faults) {
  WireReader(file, device, faults).readAll(node);
}

std::string printWires(const Device& device) {
  std::string text = "wires:\n";
  for (const Wire& wire : device.wires) {
    std::vector<std::string> memtiles;
    for (const std::int64_t memtile : wire.feeders) memtiles.push_back(std::to_string(memtile));
    const bool any = static_cast<std::int64_t>(memtiles.size()) == device.memtiles();
    const std::string feeders = any ? "any" : "[" + joinWords(memtiles) + "]";
    text += "  - {name: " + wire.name + ", reach: {rows: " + span(wire.reach.row, wire.reach.rows) +
            ", columns: " + span(wire.reach.column, wire.reach.columns) + "}, feeders: " + feeders +
            "}\n";
  }
  return text;
}

}  // namespace heddle
