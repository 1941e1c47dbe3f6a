// Reads files of JSON that heddle has written, entry by entry. The text may come from anywhere.
#pragma once
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heddle/cost/resource.h"
#include "heddle/support/fault_list.h"
#include "heddle/support/units.h"

namespace heddle {

using Json = nlohmann::json;

// Of any count: what every reader of JSON still holds exactly.
inline constexpr std::int64_t kMostCount = std::int64_t{1} << 53;
inline constexpr double kMostReal = 1e30;

// An entry and its place, as "layers[3].cycles". Without an entry it stands for one whose fault has
// been told, and so do those below it.
struct Entry {
  const Json* json = nullptr;
  std::string place;
};

inline std::string found(const Json& json) {
  if (json.is_number() || json.is_boolean()) return "found " + json.dump();
  if (json.is_null()) return "found null";
  return "found " + std::string(json.is_array() || json.is_object() ? "an " : "a ") +
         json.type_name();
}

// Entries by name, each of the type that the caller expects; all faults of the file are told, and
// 0, "" or nothing stands for a faulty entry.
class EntryReader {
 public:
  // `code` of the faults; `what` the file is one of, "report", and `written` under which name.
  EntryReader(const std::string& file, const char* code, std::string what, std::string written)
      : file_(file),
        code_(code),
        what_(std::move(what)),
        written_(std::move(written)),
        faults_(file) {}

  FaultList& faults() { return faults_; }

  void fault(const std::string& place, std::string summary, std::string what) {
    if (faults_.full()) return faults_.add({});
    faults_.add(
        {.code = code_,
         .where = file_ + ", " + place,
         .summary = std::move(summary),
         .what = std::move(what),
         .mend = "take " + written_ + " that this heddle has written and nobody has edited"});
  }

  // For what files of the same version may lack, as it was added to it later.
  static bool has(const Entry& in, const char* key) { return in.json && in.json->contains(key); }

  Entry object(const Entry& in, const char* key) {
    return expect(entry(in, key), &Json::is_object, "an object");
  }

  std::vector<Entry> list(const Entry& in, const char* key) {
    const Entry array = expect(entry(in, key), &Json::is_array, "an array");
    std::vector<Entry> entries;
    if (!array.json) return entries;
    for (std::size_t i = 0; i < array.json->size(); ++i)
      entries.push_back({&(*array.json)[i], array.place + "[" + std::to_string(i) + "]"});
    return entries;
  }

  std::optional<Entry> objectOrNull(const Entry& in, const char* key) {
    const Entry at = entry(in, key);
    if (at.json && at.json->is_null()) return std::nullopt;
    return expect(at, &Json::is_object, "an object");
  }
  std::vector<Entry> objects(const Entry& in, const char* key) {
    std::vector<Entry> all = list(in, key);
    for (Entry& one : all) one = expect(std::move(one), &Json::is_object, "an object");
    return all;
  }

  std::int64_t count(const Entry& in, const char* key, std::int64_t low = 0,
                     std::int64_t high = kMostCount) {
    return countOf(entry(in, key), low, high);
  }
  std::vector<std::int64_t> counts(const Entry& in, const char* key) {
    std::vector<std::int64_t> all;
    for (const Entry& one : list(in, key)) all.push_back(countOf(one, 0, kMostCount));
    return all;
  }
  std::optional<std::int64_t> countOrNull(const Entry& in, const char* key, std::int64_t low) {
    const Entry at = entry(in, key);
    if (!at.json || at.json->is_null()) return std::nullopt;
    return countOf(at, low, kMostCount);
  }

  double real(const Entry& in, const char* key) { return realOf(entry(in, key), kMostReal); }
  std::optional<double> realOrNull(const Entry& in, const char* key, double high = kMostReal) {
    const Entry at = entry(in, key);
    if (!at.json || at.json->is_null()) return std::nullopt;
    return realOf(at, high);
  }

  bool truth(const Entry& in, const char* key) {
    const Entry at = expect(entry(in, key), &Json::is_boolean, "true or false");
    return at.json && at.json->get<bool>();
  }

  std::string text(const Entry& in, const char* key) { return textOf(entry(in, key)); }
  std::optional<std::string> textOrNull(const Entry& in, const char* key) {
    const Entry at = entry(in, key);
    if (!at.json || at.json->is_null()) return std::nullopt;
    return textOf(at);
  }
  std::vector<std::string> texts(const Entry& in, const char* key) {
    std::vector<std::string> all;
    for (const Entry& at : list(in, key)) all.push_back(textOf(at));
    return all;
  }

  // "none" stands for none.
  std::optional<Resource> resource(const Entry& in, const char* key) {
    const Entry at = entry(in, key);
    const std::string word = textOf(at);
    for (std::size_t r = 0; r < kResources; ++r)
      if (word == name(static_cast<Resource>(r))) return static_cast<Resource>(r);
    if (word != "none" && !word.empty())
      fault(at.place, "an entry of the " + what_ + " is not what it can be",
            "expected a resource or 'none', found '" + word + "'");
    return std::nullopt;
  }
  PerResource<Cycles> cyclesByResource(const Entry& in, const char* key) {
    const Entry at = object(in, key);
    PerResource<Cycles> cycles;
    for (std::size_t r = 0; r < kResources; ++r)
      cycles[r] = Cycles(count(at, name(static_cast<Resource>(r)).data()));
    return cycles;
  }

  Entry expect(Entry at, bool (Json::*is)() const noexcept, const char* what) {
    if (!at.json || (at.json->*is)()) return at;
    fault(at.place, "an entry of the " + what_ + " is of the wrong type",
          "expected " + std::string(what) + ", " + found(*at.json));
    return {nullptr, at.place};
  }

 private:
  Entry entry(const Entry& in, const char* key) {
    std::string place = in.place + (in.place.empty() ? "" : ".") + key;
    if (!in.json) return {nullptr, std::move(place)};
    const auto at = in.json->find(key);
    if (at != in.json->end()) return {&*at, std::move(place)};
    fault(place, "an entry of the " + what_ + " is missing", "");
    return {nullptr, std::move(place)};
  }

  std::int64_t countOf(const Entry& at, std::int64_t low, std::int64_t high) {
    if (!at.json) return 0;
    const bool whole = at.json->is_number_integer();
    const bool tooLarge =
        whole && at.json->is_number_unsigned() &&
        at.json->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    const std::int64_t value = whole && !tooLarge ? at.json->get<std::int64_t>() : low - 1;
    if (value >= low && value <= high) return value;
    fault(at.place, "an entry of the " + what_ + " is not what it can be",
          "expected a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
              ", " + found(*at.json));
    return 0;
  }

  double realOf(const Entry& at, double high) {
    if (!at.json) return 0;
    const double value = at.json->is_number() ? at.json->get<double>() : -1;
    if (value >= 0 && value <= high) return value;
    fault(at.place, "an entry of the " + what_ + " is not what it can be",
          "expected a number from 0 to " + Json(high).dump() + ", " + found(*at.json));
    return 0;
  }

  std::string textOf(const Entry& at) {
    const Entry text = expect(at, &Json::is_string, "a string");
    return text.json ? text.json->get<std::string>() : std::string();
  }

  const std::string file_;
  const char* code_;
  std::string what_, written_;
  FaultList faults_;
};

}  // namespace heddle
