#include "table.h"

#include <array>
#include <charconv>

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

std::vector<Column> columnsOf(const std::vector<std::string>& varied,
                              const std::vector<std::string>& defined) {
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
  return columns;
}

}  // namespace

SweepTable tableOf(const std::vector<const Point*>& points, const Questions& questions,
                   const std::string& title) {
  const std::vector<std::string> varied = variedKeys(points), defined = questions.definitions();
  SweepTable table{.title = title, .columns = columnsOf(varied, defined), .rows = {}};
  const std::size_t ownColumns = table.columns.size() - defined.size();
  for (const Point* point : points) {
    std::vector<Figure>& row = table.rows.emplace_back();
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
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
  return json.endObject().endObject().take() + "\n";
}

}  // namespace heddle
