// The words of heddle.timeline/1 for kinds of engines, tiles and waits, in the order of their
// enumerators.
#pragma once
#include <array>
#include <string_view>

#include "heddle/machine/timeline.h"
#include "heddle/program/program.h"

namespace heddle::timeline_words {

inline constexpr std::string_view kFormat = "heddle.timeline/1";
inline constexpr std::array<std::string_view, 7> kEngines = {"sequencer", "ddrIn", "ddrOut", "wire",
                                                             "coreIn",    "core",  "coreOut"};
inline constexpr std::array<std::string_view, 3> kTiles = {"ddr", "memtile", "core"};
inline constexpr std::array<std::string_view, 5> kWaits = {"none", "lock", "partner", "start",
                                                           "ddrEntry"};
// Columns of a track, one number a slice; docs/timeline.md.
inline constexpr std::array<std::string_view, 9> kColumns = {
    "gap", "duration", "idle", "leaf", "layer", "wait", "lock", "causeTrack", "causeStep"};

inline std::string_view word(EngineKind kind) { return kEngines[static_cast<std::size_t>(kind)]; }
inline std::string_view word(WaitKind kind) { return kWaits[static_cast<std::size_t>(kind)]; }
inline std::string_view word(TileKind kind) { return kTiles[static_cast<std::size_t>(kind)]; }

}  // namespace heddle::timeline_words
