#include "heddle/program/verify.h"

#include <algorithm>

#include "heddle/program/names.h"
#include "heddle/support/check.h"
#include "verify_checks.h"

namespace heddle {
namespace {

// The granularity is a divisor: there the smaller number is the greater need.
bool isDivisor(const Shortage& s) { return s.key == "limits.granularity"; }

// What the device would have to say.
std::string wanted(const Shortage& s) {
  const std::string needed = std::to_string(s.needed) + s.unit;
  if (s.key == "limits.recordLengths") return "unlimited";
  return needed + (isDivisor(s) ? " or a divisor of it" : " or more");
}

Diagnostic asDiagnostic(const Shortage& s) {
  const std::string needed = std::to_string(s.needed) + s.unit;
  return {.code = "PROG007",
          .where = s.where,
          .summary = s.summary,
          .what = "it needs " + needed + ", '" + s.key + "' is " + std::to_string(s.there) + s.unit,
          .mend = "choose a device with '" + s.key + "' of " + wanted(s) +
                  ", or another mesh or network",
          .severity = Severity::DoesNotFit};
}

Faults check(const Program& program, const Device& device) {
  Faults faults(program);
  verifyDeclarations(program, device, faults);
  if (!faults.broken()) verifySections(program, device, faults);
  if (!faults.broken()) verifyDrain(program, device, faults);
  return faults;
}

}  // namespace

void Faults::add(Shortage shortage) {
  const auto known = std::find_if(shortages_.begin(), shortages_.end(),
                                  [&](const Shortage& s) { return s.key == shortage.key; });
  if (known == shortages_.end())
    shortages_.push_back(std::move(shortage));
  else if (isDivisor(shortage) ? shortage.needed < known->needed : shortage.needed > known->needed)
    *known = std::move(shortage);
}

Diagnostics Faults::take() {
  for (const Shortage& s : shortages_)
    if (!full()) faults_.add(asDiagnostic(s));
  if (full()) faults_.stop();
  return faults_.take();
}

EngineCounts engineCounts(EngineKind kind, const Device& device) {
  const std::int64_t rows = device.rows, columns = device.columns;
  switch (kind) {
    case EngineKind::Sequencer:
      return {1, 1, 1};
    case EngineKind::DdrIn:
      return {1, device.memtiles(), device.memtile.ddrChannelsIn};
    case EngineKind::DdrOut:
      return {1, device.memtiles(), device.memtile.ddrChannelsOut};
    case EngineKind::Wire:
      return {1, std::ssize(device.wires), 1};
    case EngineKind::CoreIn:
      return {rows, columns, device.core.channelsIn};
    case EngineKind::Core:
      return {rows, columns, 1};
    case EngineKind::CoreOut:
      return {rows, columns, device.core.channelsOut};
  }
  return {0, 0, 0};
}

bool exists(const Engine& e, const Device& device) {
  const EngineCounts n = engineCounts(e.kind, device);
  return e.row >= 0 && e.row < n.rows && e.column >= 0 && e.column < n.columns && e.channel >= 0 &&
         e.channel < n.channels;
}

bool exists(const Tile& t, const Device& device) {
  switch (t.kind) {
    case TileKind::Ddr:
      return t.row == 0 && t.column == 0;
    case TileKind::Memtile:
      return t.row == 0 && t.column >= 0 && t.column < device.memtiles();
    case TileKind::Core:
      return t.row >= 0 && t.row < device.rows && t.column >= 0 && t.column < device.columns;
  }
  return false;
}

std::string keyOf(TileKind kind) {
  switch (kind) {
    case TileKind::Ddr:
      return "limits.shim";
    case TileKind::Memtile:
      return "limits.memtile";
    case TileKind::Core:
      return "limits.core";
  }
  return {};
}

std::string whereIs(const Program& program, LayerId layer, const std::string& engines,
                    std::int32_t leaf, const Instruction& instruction) {
  const bool named = layer.valid() && layer.at() < program.layers.size();
  return "layer " + std::to_string(layer.index) +
         (named ? " '" + program.layers[layer.at()].name + "'" : "") + ", " + engines +
         ", instruction " + std::to_string(leaf) + " (" +
         std::string(mnemonic(instruction, program)) + ")";
}

Diagnostics verify(const Program& program, const Device& device) {
  return check(program, device).take();
}

std::vector<Shortage> shortages(const Program& program, const Device& device) {
  Faults faults = check(program, device);
  std::vector<Shortage> all = faults.shortages();
  HEDDLE_CHECK(!faults.broken()) << "a program was made that is right on no device: "
                                 << toText(faults.take());
  return all;
}

}  // namespace heddle
