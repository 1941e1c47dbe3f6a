#include "heddle/packing/buffers_csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <tao/pegtl.hpp>
#include <unordered_map>

#include "heddle/support/check.h"
#include "heddle/support/fault_list.h"

namespace heddle {
namespace {

namespace peg = tao::pegtl;

struct Quoted : peg::seq<peg::one<'"'>, peg::star<peg::sor<peg::not_one<'"'>, peg::two<'"'>>>,
                         peg::one<'"'>> {};
struct Plain : peg::star<peg::not_one<',', '"', '\r', '\n'>> {};
struct Field : peg::sor<Quoted, Plain> {};
struct Row : peg::seq<Field, peg::star<peg::one<','>, Field>, peg::eolf> {};
struct ByteOrderMark : peg::opt<peg::utf8::bom> {};

enum Column : std::size_t { kId, kLower, kUpper, kSize, kColumns };
constexpr std::array<std::string_view, kColumns> kNames{"id", "lower", "upper", "size"};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string unquoted(std::string_view text) {
  if (text.empty() || text.front() != '"') return std::string(text);
  std::string out;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    out += text[i];
    if (text[i] == '"') ++i;  // one of two stands for both
  }
  return out;
}

class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name), faults_(name) {}

  void field(std::string_view text, std::size_t line) {
    if (fields_.empty()) line_ = line;
    fields_.push_back(trimmed(text));
  }

  void row() {
    const std::vector<std::string_view> fields = std::move(fields_);
    fields_.clear();
    if (fields.size() == 1 && fields[0].empty()) return;
    if (width_ == 0)
      header(fields);
    else if (faultyHeader_)
      return;
    else if (fields.size() != width_)
      fault("PACK002", "a line with another number of fields than the header",
            std::to_string(fields.size()) + " fields; the header has " + std::to_string(width_),
            "write one field for each column");
    else
      buffer(fields);
  }

  void noCsv(std::size_t line) {
    line_ = line;
    fault("PACK002", "a line that is no CSV", "a double quote is not closed, or stands in a field",
          "put the whole field in double quotes, and write each of its own twice");
  }

  Result<BufferTable> take() {
    if (width_ == 0 && faults_.empty()) {
      line_ = 1;
      fault("PACK001", "the table of buffers has no header", "the file is empty",
            "begin it with 'id,lower,upper,size'");
    }
    if (!faults_.empty()) return faults_.take();
    return std::move(table_);
  }

 private:
  void fault(const std::string& code, const std::string& summary, const std::string& what,
             const std::string& mend) {
    faults_.add({code, name_ + ":" + std::to_string(line_), summary, what, mend});
  }

  void header(const std::vector<std::string_view>& fields) {
    width_ = fields.size();
    const auto columnFault = [&](const std::string& summary) {
      faultyHeader_ = true;
      fault("PACK001", summary, "", "name each of these columns once: id,lower,upper,size");
    };
    for (std::size_t k = 0; k < fields.size(); ++k) {
      const std::string text = unquoted(fields[k]);
      if (text == "offset") continue;
      const auto found = std::find(kNames.begin(), kNames.end(), text);
      if (found == kNames.end()) {
        columnFault("unknown column '" + text + "'");
        continue;
      }
      std::optional<std::size_t>& place = columns_[found - kNames.begin()];
      if (place) columnFault("the column '" + text + "' is there twice");
      place = k;
    }
    for (std::size_t c = 0; c < kColumns; ++c)
      if (!columns_[c]) columnFault("the column '" + std::string(kNames[c]) + "' is missing");
  }

  std::optional<std::int64_t> number(const std::vector<std::string_view>& fields, Column column) {
    const std::string text = unquoted(fields[*columns_[column]]);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size()) return value;
    fault("PACK003", "'" + text + "' is no whole number of 64 bits",
          "in the column '" + std::string(kNames[column]) + "'", "write it like 4096");
    return std::nullopt;
  }

  void buffer(const std::vector<std::string_view>& fields) {
    const std::string_view id = fields[*columns_[kId]];
    const auto lower = number(fields, kLower), upper = number(fields, kUpper),
               size = number(fields, kSize);
    if (!lower || !upper || !size) return;
    const std::string shown = "the buffer '" + unquoted(id) + "'";
    if (*lower >= *upper)
      fault("PACK004", shown + " lives at no time",
            "from " + std::to_string(*lower) + " to " + std::to_string(*upper) + ", exclusive",
            "let 'upper' be greater than 'lower'");
    if (*size < 0)
      fault("PACK004", shown + " has a negative size", std::to_string(*size) + " B",
            "write a size of 0 or more");
    const auto [first, fresh] = lineOf_.try_emplace(unquoted(id), line_);
    if (!fresh)
      fault("PACK005", shown + " is there twice", "also in line " + std::to_string(first->second),
            "give each buffer an id of its own");
    if (*size > kMostPackedBytes - total_)
      fault("PACK006", "the buffers have too many bytes together",
            "with " + shown + " more than 2^62", "divide all sizes by a common factor");
    else
      total_ += std::max<std::int64_t>(*size, 0);
    table_.ids.emplace_back(id);
    table_.buffers.push_back({*lower, *upper, *size});
    table_.lines.push_back(line_);
  }

  const std::string& name_;
  FaultList faults_;
  BufferTable table_;
  std::vector<std::string_view> fields_;  // of the row that is being read
  std::size_t line_ = 1, width_ = 0;      // where it begins; fields of the header
  bool faultyHeader_ = false;
  std::array<std::optional<std::size_t>, kColumns> columns_;
  std::unordered_map<std::string, std::size_t> lineOf_;  // ids
  std::int64_t total_ = 0;
};

template <class Rule>
struct Action : peg::nothing<Rule> {};
template <>
struct Action<Field> {
  template <class In>
  static void apply(const In& in, Reader& reader) {
    reader.field(std::string_view(in.begin(), in.size()), in.position().line);
  }
};
template <>
struct Action<Row> {
  static void apply0(Reader& reader) { reader.row(); }
};

}  // namespace

Result<BufferTable> parseBuffers(const std::string& text, const std::string& name) {
  Reader reader(name);
  peg::memory_input<> input(text.data(), text.size(), name);
  peg::parse<ByteOrderMark>(input);
  while (!input.empty())
    if (!peg::parse<Row, Action>(input, reader)) {
      reader.noCsv(input.position().line);
      break;
    }
  return reader.take();
}

std::string printBuffers(const BufferTable& table, const std::vector<std::int64_t>& offsets) {
  HEDDLE_CHECK(offsets.size() == table.ids.size()) << offsets.size();
  std::string text = "id,lower,upper,size,offset\n";
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const LiveBuffer& buffer = table.buffers[i];
    text += table.ids[i];
    for (const std::int64_t number : {buffer.lower, buffer.upper, buffer.size, offsets[i]})
      text += "," + std::to_string(number);
    text += '\n';
  }
  return text;
}

}  // namespace heddle
