// The columns of a sweep: of results.csv, of the database, of the page and of expressions alike.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "heddle/support/json_writer.h"

namespace heddle {

enum class Role { Key, Vary, Result };

struct Column {
  std::string name, unit;
  bool text = false;
  Role role = Role::Key;
  std::string help;  // one sentence
};

// What every sweep has: keys, then results. Those of varied keys and of --define lie between and
// behind.
const std::vector<Column>& fixedColumns();
const Column* fixedColumn(const std::string& name);

// Nothing where a point has none.
using Figure = std::variant<std::monostate, double, std::string>;
using Figures = std::map<std::string, Figure, std::less<>>;  // by column

std::optional<double> numberIn(const Figures& values, const std::string& column);
std::string textIn(const Figures& values, const std::string& column);  // empty where there is none
void write(JsonWriter& json, const Figure& value);                     // null where there is none

}  // namespace heddle
