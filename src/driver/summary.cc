#include "summary.h"

#include <algorithm>
#include <cstdio>

namespace heddle {
namespace {

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string proofLine(const Verification& v) {
  if (!v.ran) return "not run (--no-verify)";
  std::string text = std::to_string(v.tensorsCompared) + " tensors, " +
                     std::to_string(v.bytesCompared) +
                     " bytes: each equal to the reference interpreter's";
  if (!v.notMaterialized.empty())
    text += "; " + std::to_string(v.notMaterialized.size()) +
            " only inside a core, checked through their consumers";
  return text;
}

}  // namespace

std::string milliseconds(double seconds) { return formatted("%.3f ms", seconds * 1e3); }

std::string clockText(Hertz clock) {
  return formatted("%g GHz", static_cast<double>(clock.raw) / 1e9);
}

std::string framesLine(std::int64_t frames, std::int64_t batch, const FrameTimes& times,
                       Hertz clock) {
  if (frames == 1 && batch == 1) return {};
  const auto seconds = [&](double cycles) { return cycles / static_cast<double>(clock.raw); };
  const std::string every = milliseconds(seconds(times.steady)) + ", " +
                            formatted("%.1f a second", 1 / seconds(times.steady)) + "\n";
  if (frames == 1)
    return "batch     " + std::to_string(batch) + " inferences together, one every " + every;
  return "frames    " + std::to_string(frames) +
         (batch > 1 ? " of " + std::to_string(batch) + " inferences" : "") + ": the first after " +
         milliseconds(seconds(static_cast<double>(times.cold.raw()))) + ", then one " +
         (batch > 1 ? "inference " : "") + "every " + every;
}

std::string summary(const Report& report) {
  std::string text = report.model + " on " + report.device + " " + std::to_string(report.rows) +
                     "x" + std::to_string(report.columns) + "\n";
  text += "time      " + milliseconds(report.seconds(report.cycles)) + " (" +
          std::to_string(report.cycles.raw()) + " cycles at " + clockText(report.clock) +
          "); layer bound " + milliseconds(report.bounds.layerBoundSeconds) + ", efficiency " +
          formatted("%.0f %%", report.efficiency() * 100) + "\n";
  text += framesLine(report.frames, report.batch, report.frameTimes, report.clock);
  const Propagation& out = report.propagation;
  if (out.channelsRemoved > 0 || out.weightsZeroed > 0) {
    const auto macs = static_cast<double>(
        std::max<std::int64_t>(out.macsRemoved + report.denseMacs / report.inferences(),
                               1));  // a network may only move data
    text += "removed   " + std::to_string(out.channelsRemoved) + " channels and " +
            formatted("%.0f %%", 100.0 * static_cast<double>(out.macsRemoved) / macs) +
            " of the MACs, " + std::to_string(out.weightsZeroed) +
            " weights set to zero: no output depends on them\n";
  }
  text += "proof     " + proofLine(report.verification) + "\n";
  if (!report.hostOperators.empty()) {
    text += "host      ";
    for (std::size_t i = 0; i < report.hostOperators.size(); ++i)
      text += (i == 0 ? "" : ", ") + report.hostOperators[i];
    text += " (not part of the time)\n";
  }
  return text;
}

}  // namespace heddle
