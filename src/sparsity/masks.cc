#include "heddle/sparsity/masks.h"

#include <algorithm>
#include <optional>
#include <set>

#include "heddle/support/check.h"
#include "heddle/support/fault_list.h"
#include "heddle/support/words.h"

namespace heddle {
namespace {

constexpr std::int64_t kHeaderBytes = 4096;                  // of an array, generously
constexpr std::int64_t kAlwaysRead = std::int64_t{1} << 26;  // of a file for another network

const WeightOrigin* originOf(const Canonicalized& canonical, OpId op) {
  const auto found = std::ranges::find(canonical.weights, op, &WeightOrigin::op);
  return found == canonical.weights.end() ? nullptr : &*found;
}

Dims blockShape(const WeightExtents& extents) {
  return {divideRoundUp(extents.rows, kBlock), divideRoundUp(extents.columns, kBlock)};
}

template <class Visit>
void forElements(const WeightOrigin& origin, Visit visit) {
  const WeightExtents& extents = origin.extents;
  std::int64_t i = 0;
  for (std::int64_t r = 0; r < extents.rows; ++r)
    for (std::int64_t t = 0; t < extents.taps; ++t)
      for (std::int64_t c = 0; c < extents.columns; ++c, ++i) visit(i, origin.element(r, t, c), r);
}

Diagnostic unknownTensor(const std::string& name, const Graph& model,
                         const Canonicalized& canonical, const std::string& where) {
  std::vector<std::string> names;
  for (const WeightOrigin& origin : canonical.weights) names.push_back(model[origin.value].name);
  const std::optional<std::string> nearest = nearestWord(name, names);
  return {.code = "SPARSE001",
          .where = where + ", '" + name + "'",
          .summary = "the mask is for a tensor that is not the weight of an operator",
          .what = std::to_string(names.size()) + " operators of '" + model.name +
                  "' have weights of their own",
          .mend = nearest ? "name it '" + *nearest + "'"
                          : "name it as the ONNX initializer that holds the weights"};
}

Diagnostic badMask(const std::string& name, const std::string& where, std::string what,
                   std::string mend) {
  return {.code = "SPARSE002",
          .where = where + ", '" + name + "'",
          .summary = "the array is no mask of this weight",
          .what = std::move(what),
          .mend = std::move(mend)};
}

// Absent where it is one.
std::optional<Diagnostic> whyNoMask(const std::string& name, const NpyArray& array,
                                    const Dims& shape, const WeightExtents& extents,
                                    const std::string& where) {
  if (array.type != NpyType::Bool && array.type != NpyType::Int8 && array.type != NpyType::Uint8)
    return badMask(name, where, "its type is " + std::string(nameOf(array.type)),
                   "give an array of bool, int8 or uint8");
  if (array.shape != shape && array.shape != blockShape(extents))
    return badMask(name, where,
                   "its shape is " + toText(array.shape) + "; the weight is " + toText(shape) +
                       ", its 8x8 blocks are " + toText(blockShape(extents)),
                   "give an array of one of these shapes");
  for (const std::byte value : array.data)
    if (value > std::byte{1})
      return badMask(name, where, "it holds the value " + std::to_string(static_cast<int>(value)),
                     "write 1 for what stays and 0 for what goes");
  return std::nullopt;
}

WeightMask maskOf(const NpyArray& array, const Dims& shape, const WeightOrigin& origin) {
  const auto keeps = [&](std::int64_t i) {
    return array.data[static_cast<std::size_t>(i)] != std::byte{0};
  };
  WeightMask mask{.op = origin.op, .kept = Bits(origin.extents.elements())};
  if (array.shape == shape) {
    forElements(origin, [&](std::int64_t i, std::int64_t element, std::int64_t) {
      if (element >= 0 && keeps(element)) mask.kept.set(i);
    });
    return mask;
  }
  Bits blocks(std::ssize(array.data));
  for (std::int64_t i = 0; i < blocks.size(); ++i)
    if (keeps(i)) blocks.set(i);
  mask.kept = elementsOf(origin.extents, blocks, kBlock, kBlock);
  return mask;
}

NpyArray arrayOf(const WeightMask& mask, const Dims& shape, const WeightOrigin& origin) {
  const Bits blocks = blocksKept(origin.extents, mask.kept, kBlock, kBlock);
  NpyArray array{.type = NpyType::Bool, .shape = blockShape(origin.extents), .data = {}};
  if (array.shape != shape && elementsOf(origin.extents, blocks, kBlock, kBlock) == mask.kept) {
    array.data.resize(static_cast<std::size_t>(blocks.size()));
    for (std::int64_t i = 0; i < blocks.size(); ++i)
      array.data[static_cast<std::size_t>(i)] = std::byte{blocks[i]};
    return array;
  }
  array.shape = shape;
  array.data.resize(static_cast<std::size_t>(elementCount(shape)));
  forElements(origin, [&](std::int64_t i, std::int64_t element, std::int64_t) {
    if (element >= 0) array.data[static_cast<std::size_t>(element)] = std::byte{mask.kept[i]};
  });
  return array;
}

}  // namespace

std::int64_t mostMaskBytes(const Graph& model, const Canonicalized& canonical) {
  std::int64_t bytes = 0;
  std::set<ValueId> counted;
  for (const WeightOrigin& origin : canonical.weights)
    if (counted.insert(origin.value).second)
      bytes += elementCount(model[origin.value].shape) + kHeaderBytes;
  return std::max(bytes, kAlwaysRead);
}

Result<std::vector<WeightMask>> masksFrom(const NamedNpyArrays& arrays, const Graph& model,
                                          const Canonicalized& canonical,
                                          const std::string& where) {
  FaultList faults(where);
  std::set<std::string> used;
  std::vector<WeightMask> masks;
  for (const WeightOrigin& origin : canonical.weights) {
    const Value& value = model[origin.value];
    const auto found = arrays.find(value.name);
    if (found == arrays.end()) continue;
    used.insert(value.name);
    if (auto fault = whyNoMask(value.name, found->second, value.shape, origin.extents, where))
      faults.add(std::move(*fault));
    else
      masks.push_back(maskOf(found->second, value.shape, origin));
  }
  for (const auto& [name, array] : arrays)
    if (!used.contains(name))
      faults.add(faults.full() ? Diagnostic{} : unknownTensor(name, model, canonical, where));
  if (!faults.empty()) return faults.take();
  return masks;
}

Diagnostics droppedWeights(const std::vector<WeightMask>& masks, const Graph& model,
                           const Canonicalized& canonical, const std::string& where) {
  Diagnostics faults;
  for (const WeightMask& mask : masks) {
    const CanonicalOp& op = canonical.graph.ops[mask.op.at()];
    const Bits nonZero = nonZeroWeights(canonical.graph, op);
    std::int64_t dropped = 0;
    for (std::int64_t i = 0; i < nonZero.size(); ++i)
      if (nonZero[i] && !mask.kept[i]) ++dropped;
    if (dropped == 0) continue;
    const WeightOrigin* origin = originOf(canonical, mask.op);
    HEDDLE_CHECK(origin != nullptr) << op.name;
    faults.push_back({.code = "SPARSE003",
                      .where = where + ", '" + model[origin->value].name + "'",
                      .summary = "the mask drops weights that are not zero",
                      .what = std::to_string(dropped) + " of " + std::to_string(nonZero.count()) +
                              " weights of '" + op.name + "' that are not zero",
                      .mend = "set them to zero: 'heddle prune MODEL.onnx --masks " + where +
                              " --apply-masks -o OUT.onnx'"});
  }
  return faults;
}

NamedNpyArrays arraysOf(const std::vector<WeightMask>& masks, const Graph& model,
                        const Canonicalized& canonical) {
  NamedNpyArrays arrays;
  for (const WeightMask& mask : masks) {
    const WeightOrigin* origin = originOf(canonical, mask.op);
    HEDDLE_CHECK(origin != nullptr) << canonical.graph.ops[mask.op.at()].name;
    const Value& value = model[origin->value];
    if (!arrays.contains(value.name)) arrays[value.name] = arrayOf(mask, value.shape, *origin);
  }
  return arrays;
}

std::map<std::string, MaskedConstant> maskedConstants(const std::vector<WeightMask>& masks,
                                                      const Graph& model,
                                                      const Canonicalized& canonical) {
  std::map<std::string, MaskedConstant> constants;
  for (const WeightMask& mask : masks) {
    const WeightOrigin* origin = originOf(canonical, mask.op);
    HEDDLE_CHECK(origin != nullptr) << canonical.graph.ops[mask.op.at()].name;
    const Value& value = model[origin->value];
    const auto [entry, isNew] = constants.try_emplace(value.name);
    if (isNew) entry->second = {*value.constant, std::vector<bool>(value.constant->size())};
    MaskedConstant& constant = entry->second;
    const int flip = value.type == DataType::Uint8 ? 0x80 : 0;
    forElements(*origin, [&](std::int64_t i, std::int64_t element, std::int64_t row) {
      if (element < 0 || mask.kept[i]) return;
      const int zero = origin->zero[static_cast<std::size_t>(row)];
      constant.bytes[static_cast<std::size_t>(element)] = static_cast<char>(zero ^ flip);
      constant.dropped[static_cast<std::size_t>(element)] = true;
    });
  }
  return constants;
}

}  // namespace heddle
