// All points as one table: what results.csv, the database and the page hold, each in its own form.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "columns.h"
#include "point.h"
#include "questions.h"

namespace heddle {

struct SweepTable {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Figure>> rows;  // a value a column
  // By point: its page, as seen from the folder of the tables. Of those that have one.
  std::map<std::string, std::string> timelines;
};

// The fixed columns, one for each key of the device that varies between the points, and the user's
// own. `points` in the order of the rows.
SweepTable tableOf(const std::vector<const Point*>& points, const Questions& questions,
                   const std::string& title);

std::string_view name(Role role);  // "key", "vary", "result"

std::string csvOf(const SweepTable& table);                                   // results.csv
std::string jsonLinesOf(const SweepTable& table);                             // results.jsonl
std::string documentOf(const SweepTable& table, const std::string& version);  // heddle.sweep/1

// The bytes of an SQLite database with the tables `points` and `columns`.
std::string databaseOf(const SweepTable& table);

}  // namespace heddle
