// results.sqlite: table `points` with the columns of results.csv, and `columns` with what each is.
#include <sqlite3.h>

#include <memory>

#include "heddle/support/check.h"
#include "table.h"

namespace heddle {
namespace {

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
// Names are words with dots, or a requirement as it was written.
std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

using Statement = std::unique_ptr<sqlite3_stmt, Close>;

// In memory: nothing of a user's can make it fail.
class Database {
 public:
  Database() {
    sqlite3* database = nullptr;
    const int status = sqlite3_open(":memory:", &database);
    database_.reset(database);
    check(status);
  }

  void run(const std::string& sql) {
    check(sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr));
  }

  Statement prepare(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr));
    return Statement(statement);
  }

  void insert(const Statement& statement, const std::vector<Figure>& row) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const int at = static_cast<int>(c) + 1;
      if (const double* number = std::get_if<double>(&row[c])) {
        check(sqlite3_bind_double(statement.get(), at, *number));
      } else if (const std::string* text = std::get_if<std::string>(&row[c])) {
        check(sqlite3_bind_text(statement.get(), at, text->data(), static_cast<int>(text->size()),
                                SQLITE_TRANSIENT));
      } else {
        check(sqlite3_bind_null(statement.get(), at));
      }
    }
    HEDDLE_CHECK(sqlite3_step(statement.get()) == SQLITE_DONE) << sqlite3_errmsg(database_.get());
    check(sqlite3_reset(statement.get()));
  }

  std::string bytes() {
    sqlite3_int64 size = 0;
    const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> all(
        sqlite3_serialize(database_.get(), "main", &size, 0), &sqlite3_free);
    HEDDLE_CHECK(all != nullptr) << "sqlite gives no bytes";
    return {reinterpret_cast<const char*>(all.get()), static_cast<std::size_t>(size)};
  }

 private:
  void check(int status) {
    if (status == SQLITE_NOMEM) throw std::bad_alloc();
    HEDDLE_CHECK(status == SQLITE_OK) << sqlite3_errmsg(database_.get());
  }
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace

std::string databaseOf(const SweepTable& table) {
  Database database;
  std::string declared, places;
  for (const Column& column : table.columns) {
    declared += (declared.empty() ? "" : ", ") + quoted(column.name) + " " +
                (column.name == "point" ? "TEXT PRIMARY KEY"
                 : column.text          ? "TEXT"
                                        : "REAL");
    places += places.empty() ? "?" : ",?";
  }
  database.run("BEGIN; CREATE TABLE points (" + declared +
               "); CREATE TABLE columns (name TEXT PRIMARY KEY, unit TEXT, kind TEXT, role TEXT, "
               "help TEXT);");
  const Statement column = database.prepare("INSERT INTO columns VALUES (?,?,?,?,?)");
  for (const Column& one : table.columns)
    database.insert(column, {one.name, one.unit, std::string(one.text ? "text" : "number"),
                             std::string(name(one.role)), one.help});
  const Statement point = database.prepare("INSERT INTO points VALUES (" + places + ")");
  for (const std::vector<Figure>& row : table.rows) database.insert(point, row);
  database.run("COMMIT;");
  return database.bytes();
}

}  // namespace heddle
