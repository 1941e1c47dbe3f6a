#include "heddle/device/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <optional>
#include <sstream>
#include <unordered_map>

#include "heddle/support/fault_list.h"

namespace heddle {
namespace {

constexpr std::size_t kMostBytes = std::size_t{512} * 1024;
constexpr std::size_t kMostNodes = 100'000;
constexpr std::size_t kMostDepth = 12;  // a description has 4 levels

struct Refused {  // thrown out of yaml-cpp's parser, caught in parseYaml
  int line;
  std::string summary, mend;
};

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(FaultList& faults, const std::string& name, const YamlUse& use)
      : faults_(faults), name_(name), use_(use) {}
  YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1)
      throw Refused{line(mark), "more than one YAML document", "keep one document a file"};
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(mark, YamlNode::Kind::Null, "", anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuseAlias(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode* node = add(mark, YamlNode::Kind::Scalar, tag, anchor, &value);
    if (node) node->text = value;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, YamlNode::Kind::Sequence, tag, anchor);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, YamlNode::Kind::Map, tag, anchor);
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  struct Open {
    YamlNode* node;
    std::optional<std::pair<std::string, int>> key;  // of a map, read and still without its value
    std::unordered_map<std::string, int> lines;      // of a map: where each key first stands
  };

  static int line(const YAML::Mark& mark) { return mark.line + 1; }

  std::string aThing() const { return std::string("a ") + use_.thing; }

  [[noreturn]] void refuseAlias(const YAML::Mark& mark) const {
    throw Refused{line(mark), "anchors and aliases (& and *) are not used in " + aThing(),
                  "write the value out"};
  }

  // Puts a node where it belongs; nothing where the scalar was the key of a map.
  YamlNode* add(const YAML::Mark& mark, YamlNode::Kind kind, const std::string& tag,
                YAML::anchor_t anchor, const std::string* scalar = nullptr) {
    if (anchor != YAML::NullAnchor) refuseAlias(mark);
    if (!tag.empty() && tag != "?" && tag != "!")
      throw Refused{line(mark), "tags (!!) are not used in " + aThing(), "write the plain value"};
    if (++nodes_ > kMostNodes)
      throw Refused{line(mark), "more than " + std::to_string(kMostNodes) + " values",
                    aThing() + " has some 100"};
    if (open_.empty()) {
      root_ = YamlNode{.kind = kind, .line = line(mark), .text = {}, .items = {}, .entries = {}};
      return &root_;
    }
    Open& parent = open_.back();
    YamlNode node{.kind = kind, .line = line(mark), .text = {}, .items = {}, .entries = {}};
    if (parent.node->kind == YamlNode::Kind::Sequence)
      return &parent.node->items.emplace_back(std::move(node));
    if (!parent.key) {
      if (!scalar) throw Refused{line(mark), "a key must be a word", "write 'key: value'"};
      parent.key.emplace(*scalar, line(mark));
      return nullptr;
    }
    const auto [key, keyLine] = *parent.key;
    parent.key.reset();
    if (const auto [first, fresh] = parent.lines.emplace(key, keyLine); !fresh)
      faults_.add({.code = use_.twice,
                   .where = name_ + ":" + std::to_string(keyLine),
                   .summary = "key '" + key + "' is given twice",
                   .what = "first in line " + std::to_string(first->second),
                   .mend = "keep one of the two"});
    return &parent.node->entries.emplace_back(YamlEntry{key, keyLine, std::move(node)}).value;
  }

  void open(const YAML::Mark& mark, YamlNode::Kind kind, const std::string& tag,
            YAML::anchor_t anchor) {
    if (open_.size() >= kMostDepth)
      throw Refused{line(mark), "nested deeper than " + std::to_string(kMostDepth) + " levels",
                    aThing() + " has 4"};
    YamlNode* node = add(mark, kind, tag, anchor);
    if (!node) throw Refused{line(mark), "a key must be a word", "write 'key: value'"};
    open_.push_back({node, std::nullopt, {}});
  }

  FaultList& faults_;
  const std::string& name_;
  const YamlUse& use_;
  YamlNode root_;
  std::vector<Open>
      open_;  // pointers stay good: a parent's vector grows only after its open child is closed
  std::size_t nodes_ = 0, documents_ = 0;
};

Diagnostic notUsable(const YamlUse& use, const std::string& name, int line, std::string summary,
                     std::string mend) {
  return {.code = use.faulty,
          .where = name + ":" + std::to_string(line),
          .summary = std::move(summary),
          .what = {},
          .mend = std::move(mend)};
}

}  // namespace

std::string kindName(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::Null:
      return "nothing";
    case YamlNode::Kind::Scalar:
      return "'" + node.text + "'";
    case YamlNode::Kind::Sequence:
      return "a list";
    case YamlNode::Kind::Map:
      return "a map";
  }
  return {};
}

Result<YamlNode> parseYaml(const std::string& yaml, const std::string& name, const YamlUse& use) {
  if (yaml.size() > kMostBytes)
    return Diagnostic{
        .code = use.faulty,
        .where = name,
        .summary = std::string("too big for a ") + use.thing,
        .what = std::to_string(yaml.size()) + " B; at most " + std::to_string(kMostBytes) + " B",
        .mend = std::string("see ") + use.page + " for what it holds"};
  FaultList faults(name);
  TreeBuilder builder(faults, name, use);
  try {
    std::istringstream in(yaml);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refused& refused) {
    faults.add(notUsable(use, name, refused.line, refused.summary, refused.mend));
  } catch (const YAML::Exception& e) {
    const int line = e.mark.is_null() ? 1 : e.mark.line + 1;
    faults.add(notUsable(use, name, line, "not YAML: " + e.msg,
                         std::string("see ") + use.page + " for the form of a " + use.thing));
  }
  if (!faults.empty()) return faults.take();
  return builder.take();
}

}  // namespace heddle
