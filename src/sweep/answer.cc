#include "answer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <map>
#include <set>

#include "relax.h"

namespace heddle {
namespace {

std::string shortNumber(double value) {
  std::array<char, 64> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 4);
  return {text.data(), end.ptr};
}

// Keys that are the same number in every point, as keys in braces are: {"links.wire", 3} with three
// others.
using Together = std::vector<std::pair<std::string, std::size_t>>;

Together inStep(const std::vector<const Point*>& points, const std::vector<std::string>& varied) {
  std::map<std::pair<std::string, std::vector<std::optional<double>>>, std::size_t> known;
  Together together;
  for (const std::string& key : varied) {
    std::vector<std::optional<double>> numbers;
    for (const Point* point : points)
      for (const DeviceNumber& number : point->numbers)
        if (number.key == key) numbers.push_back(number.number);
    const auto [found, fresh] =
        known.emplace(std::pair(unitOf(key).value_or(""), std::move(numbers)), together.size());
    if (fresh) {
      together.emplace_back(key, 0);
    } else {
      ++together[found->second].second;
    }
  }
  return together;
}

// What beside the device parts the points.
constexpr std::array<const char*, 7> kSettings = {"masks", "effort",    "fuse",   "frames",
                                                  "batch", "propagate", "reorder"};

std::vector<std::string> variedSettings(const std::vector<const Point*>& points) {
  std::vector<std::string> varied;
  for (const char* column : kSettings) {
    std::set<Figure> values;
    for (const Point* point : points)
      if (const auto found = point->values.find(column); found != point->values.end())
        values.insert(found->second);
    if (values.size() > 1) varied.emplace_back(column);
  }
  return varied;
}

std::string keyText(const Together::value_type& key) {
  return key.first + (key.second > 0 ? " (+" + std::to_string(key.second) + ")" : "");
}

std::string quantity(const std::optional<double>& number, const std::string& unit) {
  return number ? shortNumber(*number) + (unit.empty() ? "" : " " + unit) : "unlimited";
}

std::string settingsText(const Point& point, const std::vector<std::string>& settings) {
  std::string text;
  for (const std::string& column : settings) {
    const auto number = numberIn(point.values, column);
    text += ", " + column + " " + (number ? shortNumber(*number) : textIn(point.values, column));
  }
  return text;
}

std::string deviceText(const Point& point, const Together& varied,
                       const std::vector<std::string>& settings) {
  const auto count = [&](const char* column) {
    return shortNumber(numberIn(point.values, column).value_or(0));
  };
  std::string text = count("rows") + "x" + count("cols");
  for (const DeviceNumber& number : point.numbers) {
    const auto key = std::ranges::find(varied, number.key, &Together::value_type::first);
    if (key != varied.end())
      text += ", " + keyText(*key) + " " + quantity(number.number, unitOf(number.key).value_or(""));
  }
  return text + settingsText(point, settings);
}

// Where a design stands: rows, columns and each varied key.
JudgedPlace placeOf(const Point& point, const Together& varied,
                    const std::vector<std::string>& settings, double missed) {
  JudgedPlace place{.keys = {numberIn(point.values, "rows"), numberIn(point.values, "cols")},
                    .others = settingsText(point, settings),
                    .missed = missed};
  for (const auto& [key, others] : varied) {
    const auto found = std::ranges::find(point.numbers, key, &DeviceNumber::key);
    place.keys.push_back(found == point.numbers.end() ? std::nullopt : found->number);
  }
  return place;
}

std::vector<RelaxedKey> relaxed(const std::vector<JudgedPlace>& places, std::size_t nearest,
                                const Together& varied) {
  std::vector<RelaxedKey> keys;
  for (const Relaxation& one : keysToRelax(places, nearest)) {
    const bool mesh = one.key < 2;
    const std::string key =
        mesh ? (one.key == 0 ? "rows" : "columns") : keyText(varied[one.key - 2]);
    const std::string unit = mesh ? "" : unitOf(varied[one.key - 2].first).value_or("");
    const bool isLeast = mesh && one.last && *one.last <= 1;
    if (isLeast && (!one.before || *one.before > *one.last)) continue;
    keys.push_back({key, unit, one.before, one.last, one.missedBefore, one.missedLast});
  }
  return keys;
}

std::string timesText(const Design& design) {
  std::string text;
  for (const Point* point : design.points) {
    if (point == nullptr) continue;
    const auto ms = numberIn(point->values, "ms");
    text += (text.empty() ? "" : ", ") + point->model + " " +
            (ms ? shortNumber(*ms) + " ms" : point->status());
  }
  return text;
}

}  // namespace

std::vector<std::string> variedKeys(const std::vector<const Point*>& points) {
  const Point* first = nullptr;
  std::set<std::string> varied;
  std::vector<std::string> keys;
  for (const Point* point : points) {
    if (point->numbers.empty()) continue;
    if (first == nullptr) first = point;
    for (std::size_t k = 0; k < std::min(first->numbers.size(), point->numbers.size()); ++k)
      if (first->numbers[k].number != point->numbers[k].number)
        varied.insert(first->numbers[k].key);
  }
  if (first != nullptr)
    for (const DeviceNumber& number : first->numbers)
      if (varied.contains(number.key) && number.key != "rows" && number.key != "columns")
        keys.push_back(number.key);
  return keys;
}

std::vector<Design> designsOf(const std::vector<const Point*>& points,
                              const std::vector<std::string>& networks) {
  std::map<std::string, std::size_t> at;
  std::vector<Design> designs;
  for (const Point* point : points) {
    const auto [found, fresh] =
        at.emplace(point->deviceSha256 + point->settings + point->version, designs.size());
    if (fresh) designs.push_back({std::vector<const Point*>(networks.size())});
    const auto network = std::ranges::find(networks, point->model) - networks.begin();
    if (static_cast<std::size_t>(network) < networks.size())
      designs[found->second].points[static_cast<std::size_t>(network)] = point;
  }
  return designs;
}

double Judgement::worst() const {
  double share = 0;
  for (const Missed& one : *missed) share = std::max(share, one.share);
  return share;
}

Judgement judge(const Questions& questions, Design design) {
  std::deque<Point> floors;
  for (const Point*& point : design.points)
    if (point != nullptr && point->status() == kSkipped)
      point = &floors.emplace_back(atFloor(*point));
  return {.missed = questions.missed(design),
          .score = questions.hasGoal() ? questions.score(design) : std::optional(0.0),
          .atFloor = !floors.empty()};
}

Answer answer(const Questions& questions, const std::vector<const Point*>& points,
              const std::vector<std::string>& networks) {
  Answer answer;
  const Together varied = inStep(points, variedKeys(points));
  const std::vector<std::string> settings = variedSettings(points);
  std::pair<bool, double> least;    // of the nearest: at its lower bound, by how much it is missed
  std::vector<JudgedPlace> places;  // of all that miss something
  std::size_t nearest = 0;
  for (const Design& design : designsOf(points, networks)) {
    ++answer.designs;
    RankedDesign ranked{design, deviceText(*design.any(), varied, settings), 0};
    const Judgement judgement = judge(questions, design);
    if (judgement.keeps()) {
      ranked.score = *judgement.score;
      answer.best.push_back(std::move(ranked));
      continue;
    }
    if (!judgement.misses()) {
      ++answer.unknown;
      continue;
    }
    places.push_back(placeOf(*design.any(), varied, settings, judgement.worst()));
    // A lower bound is always near: it says something only where there is nothing else.
    const std::pair rank{judgement.atFloor, judgement.worst()};
    if (!answer.nearest || rank < least) {
      least = rank;
      nearest = places.size() - 1;
      answer.nearestByBound = judgement.atFloor;
      answer.nearest = std::move(ranked);
      answer.missed = *judgement.missed;
    }
  }
  std::ranges::stable_sort(answer.best, std::ranges::greater(), &RankedDesign::score);
  if (answer.best.empty() && answer.nearest) answer.relax = relaxed(places, nearest, varied);
  return answer;
}

namespace {

std::string nearestText(const Answer& answer) {
  std::string text = (answer.nearestByBound ? "by bound  " : "nearest   ") +
                     answer.nearest->device + " (" + timesText(answer.nearest->design) + ")\n";
  for (const Missed& one : answer.missed)
    text += "missed    " + one.requirement + ": " + shortNumber(one.left) + " is " +
            (answer.nearestByBound ? "at least " : "") + shortNumber(one.share * 100) +
            " % more than " + shortNumber(one.right) + "\n";
  for (std::size_t i = 0; i < std::min(answer.relax.size(), kShownKeys); ++i) {
    const RelaxedKey& one = answer.relax[i];
    const bool less = one.last && (!one.before || *one.before > *one.last);
    text += (i == 0 ? "relax     " : "          ") + one.key + (less ? " below " : " beyond ") +
            quantity(one.last, one.unit) + ": so it is missed by " +
            shortNumber(one.missedLast * 100) + " %, with " + quantity(one.before, one.unit) +
            " by " + shortNumber(one.missedBefore * 100) + " %\n";
  }
  return text;
}

}  // namespace

std::string answerText(const Answer& answer, const Questions& questions) {
  std::string text = "answer    " + std::to_string(answer.best.size()) + " of " +
                     std::to_string(answer.designs) + " devices " +
                     (questions.requirements().empty() ? "have a result" : "keep what is required");
  if (answer.unknown > 0) text += "; " + std::to_string(answer.unknown) + " have no figure for it";
  text += "\n";
  if (answer.best.empty() && answer.nearest) text += nearestText(answer);
  if (!questions.hasGoal()) return text;
  for (std::size_t i = 0; i < std::min(answer.best.size(), kShownDesigns); ++i) {
    const RankedDesign& one = answer.best[i];
    text += i == 0 ? "best      " : "          ";
    text += questions.goalText() + " = " + shortNumber(questions.shown(one.score)) + "  " +
            one.device + "  (" + timesText(one.design) + ")\n";
  }
  return text;
}

void answerJson(const Answer& answer, const Questions& questions, JsonWriter& json) {
  const auto design = [&](const RankedDesign& one, bool withScore) {
    json.beginObject().key("device").value(one.device);
    if (withScore && questions.hasGoal()) json.key("value").value(questions.shown(one.score));
    json.key("points").beginArray();
    for (const Point* point : one.design.points)
      if (point != nullptr) json.value(point->id);
    json.endArray().endObject();
  };
  json.key("devices").value(static_cast<std::int64_t>(answer.designs));
  json.key("keeping").value(static_cast<std::int64_t>(answer.best.size()));
  json.key("unknown").value(static_cast<std::int64_t>(answer.unknown));
  json.key("best").beginArray();
  for (std::size_t i = 0; i < std::min(answer.best.size(), kShownDesigns); ++i)
    design(answer.best[i], true);
  json.endArray();
  if (!answer.best.empty() || !answer.nearest) return;
  json.key(answer.nearestByBound ? "nearestByBound" : "nearest");
  design(*answer.nearest, false);
  json.key("missed").beginArray();
  for (const Missed& one : answer.missed) {
    json.beginObject().key("requirement").value(one.requirement).key("left").value(one.left);
    json.key("right").value(one.right).key("share").value(one.share).endObject();
  }
  json.endArray().key("relax").beginArray();
  const auto number = [&](const std::optional<double>& value) {
    value ? json.value(*value) : json.null();
  };
  for (const RelaxedKey& one : answer.relax) {
    json.beginObject().key("key").value(one.key).key("unit").value(one.unit).key("before");
    number(one.before);
    json.key("last");
    number(one.last);
    json.key("missedBefore").value(one.missedBefore).key("missedLast").value(one.missedLast);
    json.endObject();
  }
  json.endArray();
}

}  // namespace heddle
