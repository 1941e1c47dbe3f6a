// Reading trusts nothing: every number of the header is checked against the bytes that are there
// before memory is taken for it.
//
//   "\x93NUMPY" 1 0 <length, 2 bytes> "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
//   padding "\n" data
#include "heddle/npy/npy.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>

namespace heddle {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxRank = 64;             // as NumPy 2
constexpr std::size_t kLargestHeader = 1 << 20;  // NumPy itself stops at 10000 bytes
constexpr std::size_t kAlignment = 64;

struct TypeRow {
  NpyType type;
  std::string_view descr, name;
  std::size_t size;
};
constexpr std::array<TypeRow, 11> kTypes{{
    {NpyType::Bool, "|b1", "bool", 1},
    {NpyType::Int8, "|i1", "int8", 1},
    {NpyType::Uint8, "|u1", "uint8", 1},
    {NpyType::Int16, "<i2", "int16", 2},
    {NpyType::Uint16, "<u2", "uint16", 2},
    {NpyType::Int32, "<i4", "int32", 4},
    {NpyType::Uint32, "<u4", "uint32", 4},
    {NpyType::Int64, "<i8", "int64", 8},
    {NpyType::Uint64, "<u8", "uint64", 8},
    {NpyType::Float32, "<f4", "float32", 4},
    {NpyType::Float64, "<f8", "float64", 8},
}};

const TypeRow& rowOf(NpyType type) { return kTypes.at(static_cast<std::size_t>(type)); }

struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortranOrder;
  std::optional<std::vector<std::int64_t>> shape;
};

// The dictionary literal of the header. Python would read it with ast.literal_eval; these are the
// forms that occur.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  std::optional<Header> parse() {
    Header header;
    if (!take('{')) return {};
    while (!take('}')) {
      const std::optional<std::string> key = string();
      if (!key || !take(':') || !value(*key, header)) return {};
      if (!take(',') && !peek('}')) return {};
    }
    skipBlanks();
    if (!text_.empty() || !header.descr || !header.fortranOrder || !header.shape) return {};
    return header;
  }

 private:
  bool value(const std::string& key, Header& header) {
    if (key == "descr" && !header.descr) return (header.descr = string()).has_value();
    if (key == "fortran_order" && !header.fortranOrder)
      return (header.fortranOrder = boolean()).has_value();
    if (key == "shape" && !header.shape) return (header.shape = tuple()).has_value();
    return false;
  }

  std::optional<std::string> string() {
    skipBlanks();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return {};
    const std::size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) return {};
    std::string result(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return result;
  }

  std::optional<bool> boolean() {
    skipBlanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    return {};
  }

  std::optional<std::vector<std::int64_t>> tuple() {
    if (!take('(')) return {};
    std::vector<std::int64_t> extents;
    while (!take(')')) {
      skipBlanks();
      std::int64_t extent = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (error != std::errc{} || extent < 0 || extents.size() == kMaxRank) return {};
      extents.push_back(extent);
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      if (!take(',') && !peek(')')) return {};
    }
    return extents;
  }

  void skipBlanks() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_[0])))
      text_.remove_prefix(1);
  }
  bool peek(char c) {
    skipBlanks();
    return !text_.empty() && text_[0] == c;
  }
  bool take(char c) {
    if (!peek(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::string_view text_;
};

std::size_t littleEndian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Row-major copy of column-major `from`.
std::vector<std::byte> reorder(std::span<const std::byte> from, std::span<const std::int64_t> shape,
                               std::size_t size) {
  std::vector<std::byte> to(from.size());
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::size_t i = 0; i < from.size(); i += size) {
    std::size_t target = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      target =
          target * static_cast<std::size_t>(shape[axis]) + static_cast<std::size_t>(index[axis]);
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(i), size,
                to.begin() + static_cast<std::ptrdiff_t>(target * size));
    for (std::size_t axis = 0; axis < shape.size() && ++index[axis] == shape[axis]; ++axis)
      index[axis] = 0;
  }
  return to;
}

Diagnostic fault(const char* code, const std::string& where, std::string summary, std::string what,
                 std::string mend = "write the file again with numpy.save") {
  return {code, where, std::move(summary), std::move(what), std::move(mend)};
}

std::string textOf(std::span<const std::int64_t> shape) {
  std::string text = "(";
  for (const std::int64_t extent : shape) text += std::to_string(extent) + ", ";
  if (shape.size() > 1)
    text.resize(text.size() - 2);
  else if (!shape.empty())
    text.pop_back();
  return text + ")";
}

Diagnostic tooLarge(const std::string& where) {
  return fault("NPY005", where, "the file is too large",
               "above " + std::to_string(kLargestNpyFile) + " B", "pass a smaller array");
}

}  // namespace

std::size_t elementSize(NpyType type) { return rowOf(type).size; }
std::string_view nameOf(NpyType type) { return rowOf(type).name; }

std::optional<std::int64_t> checkedElementCount(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape)
    if (extent < 0) return {};
  for (const std::int64_t extent : shape)
    if (extent == 0) return 0;
  for (const std::int64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count)) return {};
  return count;
}

Result<NpyArray> parseNpy(std::string_view file, const std::string& where) {
  if (file.size() < 8 || !file.starts_with(kMagic))
    return fault("NPY002", where, "this is not an .npy file",
                 "it does not begin with \\x93NUMPY and a version");
  const int major = static_cast<unsigned char>(file[6]);
  const std::size_t lengthSize = major == 1 ? 2 : 4;
  if (major < 1 || major > 3)
    return fault("NPY002", where, "this version of .npy is unknown",
                 "version " + std::to_string(major) + "; versions 1, 2 and 3 are known");
  const std::size_t start = 8 + lengthSize;
  const std::size_t length = littleEndian(file.substr(8, lengthSize));
  if (file.size() < start || length > kLargestHeader || length > file.size() - start)
    return fault("NPY003", where, "the header is cut off",
                 "the header should be " + std::to_string(length) + " B, the file is " +
                     std::to_string(file.size()) + " B");
  const std::optional<Header> header = HeaderParser(file.substr(start, length)).parse();
  if (!header)
    return fault("NPY003", where, "the header is malformed",
                 "expected {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");

  const TypeRow* row = nullptr;
  for (const TypeRow& candidate : kTypes) {
    const bool anyOrder = candidate.size == 1 && header->descr->size() == 3;
    if (*header->descr == candidate.descr ||
        (anyOrder && header->descr->substr(1) == candidate.descr.substr(1)))
      row = &candidate;
  }
  if (!row)
    return fault("NPY004", where, "the element type is not supported",
                 "descr '" + header->descr->substr(0, 40) +
                     "'; known: bool, int8 to int64, uint8 "
                     "to uint64, float32 and float64, little-endian",
                 "convert it first, e.g. numpy.save(path, array.astype('<f4'))");

  const std::string_view data = file.substr(start + length);
  const std::optional<std::int64_t> count = checkedElementCount(*header->shape);
  if (!count || static_cast<std::uint64_t>(*count) != data.size() / row->size ||
      data.size() % row->size != 0)
    return fault("NPY005", where, "the data do not match the shape",
                 "shape " + textOf(*header->shape) + " of " + std::string(row->name) + ", " +
                     std::to_string(data.size()) + " B of data");
  const auto bytes = std::as_bytes(std::span(data.data(), data.size()));
  NpyArray array{row->type, *header->shape, {}};
  if (*header->fortranOrder)
    array.data = reorder(bytes, array.shape, row->size);
  else
    array.data.assign(bytes.begin(), bytes.end());
  return array;
}

Result<NpyArray> readNpy(const std::filesystem::path& path) {
  const std::string where = path.string();
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return fault("NPY001", where, "the file cannot be read", "it is a folder", "name an .npy file");
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return fault("NPY001", where, "the file cannot be opened", "",
                 "check its name and permissions");
  // In pieces: the size of a pipe is not known before its end.
  std::string file;
  std::array<char, 1 << 16> piece;
  while (in.read(piece.data(), piece.size()) || in.gcount() > 0) {
    file.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (file.size() > kLargestNpyFile) return tooLarge(where);
    if (file.size() >= kMagic.size() && !file.starts_with(kMagic)) break;
  }
  if (in.bad())
    return fault("NPY001", where, "the file cannot be read", "", "check its name and permissions");
  return parseNpy(file, where);
}

std::string printNpy(const NpyArray& array) {
  const TypeRow& row = rowOf(array.type);
  std::string header = "{'descr': '" + std::string(row.descr) +
                       "', 'fortran_order': False, 'shape': " + textOf(array.shape) + ", }";
  const std::size_t start = kMagic.size() + 4;
  while ((start + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  std::string file(kMagic);
  file += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
           static_cast<char>(header.size() >> 8)};
  file += header;
  file.append(reinterpret_cast<const char*>(array.data.data()), array.data.size());
  return file;
}

Diagnostics writeNpy(const std::filesystem::path& path, const NpyArray& array) {
  const std::optional<std::int64_t> count = checkedElementCount(array.shape);
  HEDDLE_CHECK(count &&
               static_cast<std::uint64_t>(*count) * elementSize(array.type) == array.data.size())
      << "shape " << textOf(array.shape) << " but " << array.data.size() << " B";
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << printNpy(array);
  out.close();
  if (out) return {};
  return {fault("NPY006", path.string(), "the file cannot be written", "",
                "check the folder, its permissions and the space left on the disk")};
}

}  // namespace heddle
