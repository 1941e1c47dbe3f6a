#include "table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>

#include "answer.h"
#include "heddle/support/csv.h"
#include "heddle/support/json_writer.h"

namespace heddle {
namespace {

constexpr const char* kTableFormat = "heddle.sweep/1";

std::string numberText(double number) {
  std::array<char, 40> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

Figure valueOf(const std::optional<double>& number) { return number ? Figure(*number) : Figure(); }

std::string slackColumn(const std::string& requirement) { return "slack(" + requirement + ")"; }

std::vector<Column> columnsOf(const std::vector<std::string>& varied,
                              const std::vector<std::string>& defined,
                              const std::vector<std::string>& required) {
  std::vector<Column> columns;
  for (const Column& column : fixedColumns())
    if (column.role == Role::Key) columns.push_back(column);
  for (const std::string& key : varied)
    columns.push_back({.name = key,
                       .unit = unitOf(key).value_or(""),
                       .role = Role::Vary,
                       .help = "key of the device description"});
  for (const Column& column : fixedColumns())
    if (column.role == Role::Result) columns.push_back(column);
  for (const std::string& name : defined)
    columns.push_back({.name = name, .role = Role::Result, .help = "defined by the sweep"});
  for (const std::string& requirement : required)
    columns.push_back({.name = slackColumn(requirement),
                       .role = Role::Result,
                       .help = "what is left of the requirement; less than 0 where it is missed"});
  return columns;
}

// Of each point a slack for each requirement.
std::map<const Point*, std::vector<Figure>> slacksOf(const std::vector<const Point*>& points,
                                                     const Questions& questions) {
  const std::vector<std::string> required = questions.requirements();
  std::map<const Point*, std::vector<Figure>> slacks;
  // Of two models of one name a design has only one.
  for (const Point* point : points) slacks[point].resize(required.size());
  for (const Design& design : designsOf(points, questions.networks()))
    for (std::size_t network = 0; network < design.points.size(); ++network)
      for (std::size_t r = 0; r < required.size() && design.points[network] != nullptr; ++r)
        slacks[design.points[network]][r] = valueOf(questions.slack(required[r], design, network));
  return slacks;
}

}  // namespace

SweepTable tableOf(const std::vector<const Point*>& points, const Questions& questions,
                   const std::string& title) {
  const std::vector<std::string> varied = variedKeys(points), defined = questions.definitions();
  const std::vector<std::string> required = questions.requirements();
  SweepTable table{
      .title = title, .columns = columnsOf(varied, defined, required), .rows = {}, .timelines = {}};
  const std::size_t slackColumns = table.columns.size() - required.size(),
                    ownColumns = slackColumns - defined.size();
  const auto slacks = slacksOf(points, questions);
  for (const Point* point : points) {
    std::vector<Figure>& row = table.rows.emplace_back();
    for (std::size_t c = 0; c < slackColumns; ++c) {
      const Column& column = table.columns[c];
      const auto found = point->values.find(column.name);
      if (column.name == "point") {
        row.emplace_back(point->id);
      } else if (column.role == Role::Vary || c >= ownColumns) {
        row.push_back(valueOf(questions.number(*point, column.name)));
      } else {
        row.push_back(found == point->values.end() ? Figure() : found->second);
      }
    }
    std::ranges::copy(slacks.at(point), std::back_inserter(row));
  }
  return table;
}

std::string_view name(Role role) {
  switch (role) {
    case Role::Key:
      return "key";
    case Role::Vary:
      return "vary";
    case Role::Result:
      return "result";
  }
  return {};
}

std::string csvOf(const SweepTable& table) {
  std::string text;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    text += (c == 0 ? "" : ",") + csvText(table.columns[c].name);
  text += "\n";
  for (const std::vector<Figure>& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) text += ",";
      if (const double* number = std::get_if<double>(&row[c])) text += numberText(*number);
      if (const std::string* word = std::get_if<std::string>(&row[c])) text += csvText(*word);
    }
    text += "\n";
  }
  return text;
}

std::string jsonLinesOf(const SweepTable& table) {
  std::string text;
  for (const std::vector<Figure>& row : table.rows) {
    JsonWriter json;
    json.beginObject();
    for (std::size_t c = 0; c < row.size(); ++c) write(json.key(table.columns[c].name), row[c]);
    text += json.endObject().take() + "\n";
  }
  return text;
}

std::string documentOf(const SweepTable& table, const std::string& version) {
  JsonWriter json;
  json.beginObject().key("format").value(kTableFormat).key("heddle").value(version);
  json.key("title").value(table.title).key("columns").beginArray();
  for (const Column& column : table.columns) {
    json.beginObject().key("name").value(column.name).key("unit").value(column.unit);
    json.key("kind").value(column.text ? "text" : "number");
    json.key("role").value(name(column.role)).key("help").value(column.help).endObject();
  }
  json.endArray().key("points").value(static_cast<std::int64_t>(table.rows.size()));
  json.key("data").beginObject();
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    json.key(table.columns[c].name).beginArray();
    for (const std::vector<Figure>& row : table.rows) write(json, row[c]);
    json.endArray();
  }
  json.endObject().key("timelines").beginObject();
  for (const auto& [point, page] : table.timelines) json.key(point).value(page);
  return json.endObject().endObject().take() + "\n";
}

}  // namespace heddle
