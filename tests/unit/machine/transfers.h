// Transfers by their ends, as programs made by hand list them.
#pragma once
#include <utility>
#include <vector>

#include "heddle/program/program.h"

namespace heddle::testing {

inline Transfer<Affine> makeLoad(End<Affine> source, End<Affine> destination, Part<Affine> part) {
  return {TransferKind::Load, std::move(source), std::move(destination), part};
}
inline Transfer<Affine> makeWrite(End<Affine> source, End<Affine> destination, Part<Affine> part) {
  return {TransferKind::Write, std::move(source), std::move(destination), part};
}
inline Transfer<Affine> makeSend(Affine memtile, End<Affine> source, std::vector<SendTo<Affine>> to,
                                 Part<Affine> part) {
  return {TransferKind::Send, std::move(source), {}, part, memtile, {}, std::move(to)};
}
inline Transfer<Affine> makeReceive(Affine wire, End<Affine> destination, Part<Affine> part) {
  Transfer<Affine> made{TransferKind::Receive, {}, std::move(destination), part};
  made.wire = wire;
  return made;
}
// To one memtile at least.
inline Transfer<Affine> makeWriteFm(End<Affine> source, std::vector<MemtileEnd<Affine>> ends,
                                    Part<Affine> part) {
  return {TransferKind::WriteFm,         std::move(source), ends.at(0).end, part, ends[0].memtile,
          {ends.begin() + 1, ends.end()}};
}

}  // namespace heddle::testing
