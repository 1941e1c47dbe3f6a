#include "fields.h"

#include "heddle/support/words.h"

namespace heddle {
namespace {

// The ranges keep every product of time exact in 64 bits: 64 MiB * 10 GHz / 1 MB/s is 6.7e11
// cycles.
constexpr std::int64_t kMostMemory = std::int64_t{64} << 20;
constexpr std::int64_t kLeastRate = 1'000'000, kMostRate = 10'000'000'000'000;
constexpr std::int64_t kLeastClock = 1'000'000, kMostClock = 10'000'000'000;
constexpr std::int64_t kMostChannels = 64, kMostBanks = 64, kMostPerCycle = 1 << 20,
                       kMostCycles = 1 << 20;
constexpr std::int64_t kMostLimit = 1 << 30;

std::int64_t rawOf(std::int64_t v) { return v; }
std::int64_t rawOf(bool v) { return v; }
std::int64_t rawOf(Bytes v) { return v.raw(); }
std::int64_t rawOf(Cycles v) { return v.raw(); }
std::int64_t rawOf(BytesPerSecond v) { return v.raw; }
std::int64_t rawOf(Hertz v) { return v.raw; }
template <class T>
std::optional<std::int64_t> rawOf(const std::optional<T>& v) {
  return v ? std::optional(rawOf(*v)) : std::nullopt;
}

void assign(bool& place, std::optional<std::int64_t> value) { place = *value != 0; }
template <class T>
void assign(T& place, std::optional<std::int64_t> value) {
  place = T{*value};
}
template <class T>
void assign(std::optional<T>& place, std::optional<std::int64_t> value) {
  place = value ? std::optional<T>(T{*value}) : std::nullopt;
}

template <class T>
constexpr bool isOptional = false;
template <class T>
constexpr bool isOptional<std::optional<T>> = true;

// `place` maps a Device to the member, const or not.
template <class Place>
Field field(const char* key, const QuantityKind* kind, std::int64_t low, std::int64_t high,
            Place place) {
  using Member = std::remove_reference_t<decltype(place(std::declval<Device&>()))>;
  return {
      .key = key,
      .kind = kind,
      .low = low,
      .high = high,
      .optional = isOptional<Member>,
      .set = [place](Device& d, std::optional<std::int64_t> v) { assign(place(d), v); },
      .get = [place](const Device& d) -> std::optional<std::int64_t> { return rawOf(place(d)); }};
}

#define HEDDLE_FIELD(key, kind, low, high, member) \
  field(                                           \
      key, kind, low, high, [](auto& d) -> auto& { return d.member; })

std::vector<Field> makeFields() {
  return {
      HEDDLE_FIELD("rows", &kCount, 1, kMostMeshSide, rows),
      HEDDLE_FIELD("columns", &kCount, 1, kMostMeshSide, columns),
      HEDDLE_FIELD("clock", &kClock, kLeastClock, kMostClock, clock),
      HEDDLE_FIELD("core.memory", &kSize, 1, kMostMemory, core.memory),
      HEDDLE_FIELD("core.banks", &kCount, 1, kMostBanks, core.banks),
      HEDDLE_FIELD("core.operandBanks", &kCount, 1, kMostBanks, core.operandBanks),
      HEDDLE_FIELD("core.channelsIn", &kCount, 1, kMostChannels, core.channelsIn),
      HEDDLE_FIELD("core.channelsOut", &kCount, 1, kMostChannels, core.channelsOut),
      HEDDLE_FIELD("core.macsPerCycle", &kMacRate, 1, kMostPerCycle, core.macsPerCycle),
      HEDDLE_FIELD("core.depthwiseMacsPerCycle", &kMacRate, 1, kMostPerCycle,
                   core.depthwiseMacsPerCycle),
      HEDDLE_FIELD("core.vectorBytesPerCycle", &kByteRate, 1, kMostPerCycle,
                   core.vectorBytesPerCycle),
      HEDDLE_FIELD("core.pixelStep", &kCount, 1, 64, core.pixelStep),
      HEDDLE_FIELD("core.callOverhead", &kTime, 0, kMostCycles, core.callOverhead),
      HEDDLE_FIELD("core.writeMulticast", nullptr, 0, 1, coreWriteMulticast),
      HEDDLE_FIELD("memtile.memory", &kSize, 1, kMostMemory, memtile.memory),
      HEDDLE_FIELD("memtile.ddrChannelsIn", &kCount, 1, kMostChannels, memtile.ddrChannelsIn),
      HEDDLE_FIELD("memtile.ddrChannelsOut", &kCount, 1, kMostChannels, memtile.ddrChannelsOut),
      HEDDLE_FIELD("links.ddr.read", &kRate, kLeastRate, kMostRate, rates.ddrRead),
      HEDDLE_FIELD("links.ddr.write", &kRate, kLeastRate, kMostRate, rates.ddrWrite),
      HEDDLE_FIELD("links.ddr.readTotal", &kRate, kLeastRate, kMostRate, rates.ddrReadTotal),
      HEDDLE_FIELD("links.ddr.writeTotal", &kRate, kLeastRate, kMostRate, rates.ddrWriteTotal),
      HEDDLE_FIELD("links.wire", &kRate, kLeastRate, kMostRate, rates.wire),
      HEDDLE_FIELD("links.core.write", &kRate, kLeastRate, kMostRate, rates.coreWrite),
      HEDDLE_FIELD("links.memtile.read", &kRate, kLeastRate, kMostRate, rates.memtileRead),
      HEDDLE_FIELD("links.memtile.write", &kRate, kLeastRate, kMostRate, rates.memtileWrite),
      HEDDLE_FIELD("locks.acquire", &kTime, 0, kMostCycles, lockAcquire),
      HEDDLE_FIELD("limits.granularity", &kSize, 1, 64, limits.granularity),
      HEDDLE_FIELD("limits.core.descriptors", &kCount, 1, kMostLimit, limits.coreDescriptors),
      HEDDLE_FIELD("limits.core.dimensions", &kCount, 1, kMostLimit, limits.coreDimensions),
      HEDDLE_FIELD("limits.core.locks", &kCount, 1, kMostLimit, limits.coreLocks),
      HEDDLE_FIELD("limits.memtile.descriptors", &kCount, 1, kMostLimit, limits.memtileDescriptors),
      HEDDLE_FIELD("limits.memtile.dimensions", &kCount, 1, kMostLimit, limits.memtileDimensions),
      HEDDLE_FIELD("limits.memtile.locks", &kCount, 1, kMostLimit, limits.memtileLocks),
      HEDDLE_FIELD("limits.shim.descriptors", &kCount, 1, kMostLimit, limits.shimDescriptors),
      HEDDLE_FIELD("limits.shim.dimensions", &kCount, 1, kMostLimit, limits.shimDimensions),
      HEDDLE_FIELD("limits.lockMaximum", &kCount, 1, kMostLimit, limits.lockMaximum),
      HEDDLE_FIELD("limits.locksPerDescriptor", &kCount, 1, kMostLimit, limits.locksPerDescriptor),
      HEDDLE_FIELD("limits.recordLengths", &kCount, 1, 1, limits.recordLengths),
  };
}
#undef HEDDLE_FIELD

const std::string kUnlimited = "unlimited";

std::optional<ValueFault> setSwitch(const Field& field, const std::string& text, Device& device) {
  if (text != "true" && text != "false") {
    return ValueFault{
        .range = false,
        .summary = "'" + text + "' is neither true nor false",
        .what = {},
        .mend = "write '" + nearestWord(text, {"true", "false"}).value_or("true") + "'"};
  }
  field.set(device, text == "true");
  return std::nullopt;
}

}  // namespace

const std::vector<Field>& deviceFields() {
  static const std::vector<Field> fields = makeFields();
  return fields;
}

std::optional<ValueFault> setField(const Field& field, const std::string& text, Device& device) {
  if (!field.kind) return setSwitch(field, text, device);
  if (field.optional && text == kUnlimited) {
    field.set(device, std::nullopt);
    return std::nullopt;
  }
  const auto value = parseQuantity(*field.kind, text);
  if (const ValueFault* fault = std::get_if<ValueFault>(&value)) {
    ValueFault copy = *fault;
    if (field.optional && nearestWord(text, {kUnlimited})) copy.mend = "write '" + kUnlimited + "'";
    return copy;
  }
  const std::int64_t number = std::get<std::int64_t>(value);
  if (number < field.low || number > field.high) {
    return ValueFault{.range = true,
                      .summary = "'" + text + "' is out of range",
                      .what = "at least " + printQuantity(*field.kind, field.low) + ", at most " +
                              printQuantity(*field.kind, field.high),
                      .mend = "give a value in that range"};
  }
  field.set(device, number);
  return std::nullopt;
}

std::string printField(const Field& field, const Device& device) {
  const std::optional<std::int64_t> value = field.get(device);
  if (!value) return kUnlimited;
  if (!field.kind) return *value ? "true" : "false";
  return printQuantity(*field.kind, *value);
}

}  // namespace heddle
