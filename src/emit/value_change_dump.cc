// VCD (IEEE 1364): for each engine what it does, as it changes over time.
//
//   running      1 while an instruction runs            slice        number of slices begun
//   waiting      1 while it stands still for one        instruction  its number; x while none runs
//   layer        its layer; x while none runs           what         "CONV conv1" (a string, as
//                                                                    GTKWave and Surfer know it)
//
// One unit of time is the coarsest of which a cycle is a whole number: 1.25 GHz gives 100 ps, and a
// cycle is 8 of them.
#include <array>
#include <charconv>
#include <queue>
#include <tuple>

#include "formats.h"
#include "lanes.h"

namespace heddle {
namespace {

constexpr std::int64_t kFemtoseconds = 1'000'000'000'000'000;

// "100 ps" and the units of a second; where no cycle is a whole number of femtoseconds, 1 fs.
struct Unit {
  std::string text;
  std::int64_t perSecond = kFemtoseconds;
};
Unit unitFor(Hertz clock, TimeScale scale) {
  if (scale == TimeScale::Nanosecond) return {"1 ns", clock.raw};
  constexpr std::array<const char*, 5> kNames = {"s", "ms", "us", "ns", "ps"};
  std::int64_t perSecond = 1;
  for (const char* name : kNames)
    for (const int of : {100, 10, 1}) {
      // 100 ms are a tenth of a second: coarser than 10 ms, finer than 1 s.
      const std::int64_t units = perSecond / of;
      if (units > 0 && perSecond % of == 0 && units % clock.raw == 0)
        return {std::to_string(of) + ' ' + name, units};
      if (of == 1) perSecond *= 1000;
    }
  return {"1 fs", kFemtoseconds};
}

// Identifiers count up in the printable characters.
std::string identifier(std::size_t number) {
  constexpr std::size_t kFirst = 33, kDigits = 94;
  std::string out;
  do {
    out += static_cast<char>(kFirst + number % kDigits);
    number /= kDigits;
  } while (number > 0);
  return out;
}

// A name of the VCD grammar: no blank in it.
std::string word(const std::string& text) {
  std::string out;
  for (const char c : text) out += c > 0x20 && c < 0x7f ? c : '_';
  return out;
}

// A string value: what is not plain is escaped as in C.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && c != '\\') {
      out += c;
      continue;
    }
    out += '\\';
    for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + (byte >> shift & 7));
  }
  return out;
}

class Dump {
 public:
  Dump(const TimelineDocument& document, TimeScale scale)
      : document_(document), lanes_(lanesOf(document)), unit_(unitFor(document.clock, scale)) {}

  std::string text() {
    out_ = "$version heddle $end\n$comment " + word(document_.model) + " on " +
           word(document_.device) + " $end\n$timescale " + unit_.text + " $end\n";
    declare();
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      signals_.emplace_back();
      queueNext(lane);
    }
    moveTo(0);
    out_ += "$dumpvars\n";
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      bit(lane, kRunning, false);
      bit(lane, kWaiting, false);
      number(lane, kSlice, 0);
      nothing(lane);
    }
    out_ += "$end\n";
    while (!next_.empty()) {
      const Change change = next_.top();
      next_.pop();
      moveTo(change.time);
      apply(change);
      queueNext(change.lane);
    }
    moveTo(document_.timeline.makespan.raw());
    return std::move(out_);
  }

 private:
  enum Variable : std::size_t {
    kRunning,
    kWaiting,
    kSlice,
    kInstruction,
    kLayer,
    kWhat,
    kVariables
  };
  enum class Edge { Wait, Start, End };

  // The changes of a lane follow one another; only its next one is in the queue.
  struct Change {
    std::int64_t time;
    Edge edge;
    std::size_t lane;
    bool operator>(const Change& o) const {
      return std::tie(time, lane) > std::tie(o.time, o.lane);
    }
  };
  struct Signals {
    std::size_t slice = 0;  // the next to start, or the one that runs
    bool running = false, waiting = false;
  };

  void declare() {
    std::vector<std::string> open;
    const auto closeTo = [&](std::size_t depth) {
      for (; open.size() > depth; open.pop_back()) out_ += "$upscope $end\n";
    };
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      std::vector<std::string> scopes{"heddle"};
      scopes.insert(scopes.end(), lanes_[lane].groups.begin(), lanes_[lane].groups.end());
      scopes.push_back(lanes_[lane].name);
      std::size_t same = 0;
      while (same < open.size() && same + 1 < scopes.size() && open[same] == scopes[same]) ++same;
      closeTo(same);
      for (; same < scopes.size(); ++same) {
        open.push_back(scopes[same]);
        out_ += "$scope module " + word(scopes[same]) + " $end\n";
      }
      constexpr std::array<const char*, kVariables> kDeclared = {
          "wire 1 % running",         "wire 1 % waiting",   "integer 32 % slice",
          "integer 32 % instruction", "integer 32 % layer", "string 1 % what"};
      for (std::size_t v = 0; v < kVariables; ++v) {
        std::string line = kDeclared[v];
        line.replace(line.find('%'), 1, id(lane, v));
        out_ += "$var " + line + " $end\n";
      }
    }
    closeTo(0);
    out_ += "$enddefinitions $end\n";
  }

  const std::vector<SpanSlice>& slices(std::size_t lane) const {
    return document_.timeline.tracks[lanes_[lane].track].slices;
  }

  void queueNext(std::size_t lane) {
    const Signals& s = signals_[lane];
    if (s.slice >= slices(lane).size()) return;
    const SpanSlice& slice = slices(lane)[s.slice];
    if (s.running)
      next_.push({slice.end, Edge::End, lane});
    else if (!s.waiting && slice.ready < slice.start)
      next_.push({std::max(slice.ready, endBefore(lane)), Edge::Wait, lane});
    else
      next_.push({slice.start, Edge::Start, lane});
  }
  std::int64_t endBefore(std::size_t lane) const {
    const std::size_t slice = signals_[lane].slice;
    return slice == 0 ? 0 : slices(lane)[slice - 1].end;
  }

  void apply(const Change& change) {
    Signals& s = signals_[change.lane];
    const SpanSlice& slice = slices(change.lane)[s.slice];
    switch (change.edge) {
      case Edge::Wait:
        bit(change.lane, kWaiting, s.waiting = true);
        break;
      case Edge::Start:
        if (s.waiting) bit(change.lane, kWaiting, s.waiting = false);
        bit(change.lane, kRunning, s.running = true);
        number(change.lane, kSlice, static_cast<std::int64_t>(s.slice) + 1);
        number(change.lane, kInstruction, slice.leaf);
        number(change.lane, kLayer, slice.layer.index);
        what(change.lane, escaped(sliceName(document_, slice)));
        break;
      case Edge::End:
        bit(change.lane, kRunning, s.running = false);
        nothing(change.lane);
        ++s.slice;
        break;
    }
  }

  // ---- values ----

  std::string id(std::size_t lane, std::size_t variable) const {
    return identifier(lane * kVariables + variable);
  }
  void bit(std::size_t lane, Variable variable, bool value) {
    ((out_ += value ? '1' : '0') += id(lane, variable)) += '\n';
  }
  void number(std::size_t lane, Variable variable, std::int64_t value) {
    std::array<char, 66> digits;
    out_ += 'b';
    out_.append(digits.data(),
                std::to_chars(digits.data(), digits.data() + digits.size(), value, 2).ptr);
    ((out_ += ' ') += id(lane, variable)) += '\n';
  }
  void what(std::size_t lane, const std::string& text) {
    (((out_ += 's') += text) += ' ') += id(lane, kWhat);
    out_ += '\n';
  }
  void nothing(std::size_t lane) {
    for (const Variable variable : {kInstruction, kLayer})
      ((out_ += "bx ") += id(lane, variable)) += '\n';
    what(lane, "");
  }
  void moveTo(std::int64_t cycle) {
    const std::int64_t time = inUnits(cycle, document_.clock, unit_.perSecond);
    if (time == time_) return;
    time_ = time;
    ((out_ += '#') += std::to_string(time)) += '\n';
  }

  const TimelineDocument& document_;
  const std::vector<TrackLane> lanes_;
  const Unit unit_;
  std::vector<Signals> signals_;  // per lane
  std::priority_queue<Change, std::vector<Change>, std::greater<>> next_;
  std::int64_t time_ = -1;
  std::string out_;
};

}  // namespace

std::string valueChangeDump(const TimelineDocument& document, TimeScale scale) {
  return Dump(document, scale).text();
}

}  // namespace heddle
