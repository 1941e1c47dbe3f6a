// Every slice as one line, track by track.
#include "formats.h"
#include "heddle/support/csv.h"
#include "lanes.h"
#include "timeline_words.h"

namespace heddle {

std::string slicesCsv(const TimelineDocument& document) {
  std::string out =
      "track,engine,row,column,channel,slice,start,end,ready,mnemonic,layer,layer_name,resource,"
      "instruction,asm_line,wait,lock,lock_name,cause_track,cause_slice\r\n";
  std::vector<std::string> layers, locks;
  for (const std::string& layer : document.layers) layers.push_back(csvText(layer));
  for (const TimelineLock& lock : document.locks) locks.push_back(csvText(lockName(lock)));
  const auto add = [&](std::int64_t number) { (out += std::to_string(number)) += ','; };
  const auto addText = [&](std::string_view text) { (out += text) += ','; };
  for (std::size_t t = 0; t < document.timeline.tracks.size(); ++t) {
    const auto& [engine, slices] = document.timeline.tracks[t];
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const SpanSlice& s = slices[i];
      const TimelineInstruction& leaf = document.instructions[static_cast<std::size_t>(s.leaf)];
      add(static_cast<std::int64_t>(t));
      addText(timeline_words::word(engine.kind));
      for (const std::int64_t n : {engine.row, engine.column, engine.channel}) add(n);
      for (const std::int64_t n : {static_cast<std::int64_t>(i), s.start, s.end, s.ready}) add(n);
      addText(csvText(document.mnemonics[leaf.mnemonic]));
      add(s.layer.index);
      addText(layers[s.layer.at()]);
      addText(csvText(document.resources[leaf.resource]));
      add(s.leaf);
      add(leaf.line + 1);
      addText(timeline_words::word(s.wait));
      add(s.lock);
      addText(s.lock < 0 ? "" : locks[static_cast<std::size_t>(s.lock)]);
      add(s.cause.track);
      (out += std::to_string(s.cause.index)) += "\r\n";
    }
  }
  return out;
}

}  // namespace heddle
