// What the points of a sweep say to its questions: the best devices of those that keep what is
// required, or the one that comes nearest.
#pragma once
#include <string>
#include <vector>

#include "heddle/support/json_writer.h"
#include "point.h"
#include "questions.h"

namespace heddle {

// Keys of the device in which the points differ, but rows and columns; in the device's order.
std::vector<std::string> variedKeys(const std::vector<const Point*>& points);

// The points grouped by device (and by what else is asked of them), in the order of the points.
std::vector<Design> designsOf(const std::vector<const Point*>& points,
                              const std::vector<std::string>& networks);

// What the questions say of one design. Points that were skipped count at their lower bound, which
// tells what is missed but not what is kept.
struct Judgement {
  std::optional<std::vector<Missed>> missed;  // nothing where figures are missing
  std::optional<double> score;                // of the goal; 0 without one
  bool atFloor = false;
  bool keeps() const { return missed && missed->empty() && score && !atFloor; }
  bool misses() const { return missed && !missed->empty(); }
  double worst() const;  // the largest share by which a requirement is missed
};
Judgement judge(const Questions& questions, Design design);

struct RankedDesign {
  Design design;
  // "4x4, links.ddr.read 2 GB/s, links.wire (+1) 4 GB/s": with another key that goes with it.
  std::string device;
  double score = 0;  // of the goal; 0 without one
};

// A key of the nearest design that ends at `last`, whose step from `before` made it miss less.
struct RelaxedKey {
  std::string key, unit;  // "links.wire (+3)": with others that go with it
  std::optional<double> before, last;
  double missedBefore = 0, missedLast = 0;
};

struct Answer {
  std::size_t designs = 0, unknown = 0;  // all; of these such that miss figures
  std::vector<RankedDesign> best;        // the best first, all that keep what is required
  // Where there is none: the design that is nearest, and what it misses.
  std::optional<RankedDesign> nearest;
  // It has points that were skipped, as all have: what is missed is missed by more.
  bool nearestByBound = false;
  std::vector<Missed> missed;
  std::vector<RelaxedKey> relax;  // keys that bring it nearer, the most useful first
};
Answer answer(const Questions& questions, const std::vector<const Point*>& points,
              const std::vector<std::string>& networks);

inline constexpr std::size_t kShownDesigns = 5, kShownKeys = 3;
std::string answerText(const Answer& answer, const Questions& questions);
void answerJson(const Answer& answer, const Questions& questions, JsonWriter& json);

}  // namespace heddle
