#include "heddle/npy/npz.h"

#include <zip.h>

#include <memory>
#include <vector>

namespace heddle {
namespace {

constexpr std::string_view kEnding = ".npy";
constexpr std::size_t kLongestName = 65000;

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
template <class T>
using Owned = std::unique_ptr<T, Discard>;

Diagnostic notAnArchive(const std::string& where, const std::string& what) {
  return {.code = "NPY007",
          .where = where,
          .summary = "this is not an .npz file",
          .what = what,
          .mend = "write it with numpy.savez or numpy.savez_compressed"};
}
Diagnostic damaged(const std::string& where, const std::string& entry, const std::string& what) {
  return {.code = "NPY008",
          .where = where + ", '" + entry + "'",
          .summary = "the entry cannot be read",
          .what = what,
          .mend = "write the file anew with numpy.savez or numpy.savez_compressed"};
}
Diagnostic tooMuch(const std::string& where, const std::string& what) {
  return {.code = "NPY009",
          .where = where,
          .summary = "the archive holds more than can be used",
          .what = what,
          .mend = "leave out what is not needed"};
}
Diagnostic badName(const std::string& where, const std::string& name, const std::string& what) {
  return {.code = "NPY010",
          .where = where + ", '" + name + "'",
          .summary = "the entry's name is no key of an array",
          .what = what,
          .mend = "name each array once, NAME.npy"};
}

std::string textOf(const zip_error_t& error) {
  zip_error_t copy = error;
  return zip_error_strerror(&copy);
}

class Archive {
 public:
  Archive(std::string_view file, std::string where) : where_(std::move(where)) {
    zip_error_t error;
    zip_error_init(&error);
    Owned<zip_source_t> source(zip_source_buffer_create(file.data(), file.size(), 0, &error));
    if (source) zip_.reset(zip_open_from_source(source.get(), ZIP_RDONLY, &error));
    if (zip_)
      source.release();  // NOLINT(bugprone-unused-return-value): the archive has it now
    else
      fault_ = textOf(error);
    zip_error_fini(&error);
  }

  // What the entries say of themselves, before any is unpacked.
  Result<std::vector<zip_stat_t>> directory(std::int64_t most) const {
    if (!zip_) return notAnArchive(where_, fault_);
    const std::int64_t count = zip_get_num_entries(zip_.get(), 0);
    if (count > kMostNpzEntries)
      return tooMuch(where_, std::to_string(count) + " entries; at most " +
                                 std::to_string(kMostNpzEntries) + " are read");
    std::vector<zip_stat_t> entries;
    std::uint64_t left = static_cast<std::uint64_t>(most);
    for (std::int64_t i = 0; i < count; ++i) {
      zip_stat_t& entry = entries.emplace_back();
      zip_stat_init(&entry);
      constexpr zip_uint64_t kWanted = ZIP_STAT_NAME | ZIP_STAT_SIZE;
      if (zip_stat_index(zip_.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW, &entry) != 0 ||
          (entry.valid & kWanted) != kWanted)
        return notAnArchive(where_, "its directory does not describe entry " + std::to_string(i));
      if (entry.size > left)
        return tooMuch(where_, "with '" + std::string(entry.name) + "' of " +
                                   std::to_string(entry.size) + " B its entries take more than " +
                                   std::to_string(most) + " B");
      left -= entry.size;
    }
    return entries;
  }

  Result<std::string> read(const zip_stat_t& entry) const {
    const std::string name = entry.name;
    const Owned<zip_file_t> file(zip_fopen_index(zip_.get(), entry.index, 0));
    if (!file) return damaged(where_, name, textOf(*zip_get_error(zip_.get())));
    // One byte more than it says: only at the end does libzip compare the checksum.
    std::string content(entry.size + 1, '\0');
    std::size_t size = 0;
    while (size < content.size()) {
      const zip_int64_t n = zip_fread(file.get(), content.data() + size, content.size() - size);
      if (n < 0) return damaged(where_, name, textOf(*zip_file_get_error(file.get())));
      if (n == 0) break;
      size += static_cast<std::size_t>(n);
    }
    if (size != entry.size)
      return damaged(
          where_, name,
          size < entry.size
              ? "it ends after " + std::to_string(size) + " of " + std::to_string(entry.size) + " B"
              : "it is longer than the " + std::to_string(entry.size) + " B that it claims");
    content.resize(size);
    return content;
  }

 private:
  std::string where_, fault_;
  Owned<zip_t> zip_;
};

// Closes the archive and takes its bytes out of `target`.
Result<std::string> bytesOf(Owned<zip_t> archive, zip_source_t* target) {
  if (zip_close(archive.get()) != 0) return tooMuch("npz", textOf(*zip_get_error(archive.get())));
  archive.release();  // NOLINT(bugprone-unused-return-value): closed
  zip_stat_t stat;
  zip_stat_init(&stat);
  HEDDLE_CHECK(zip_source_stat(target, &stat) == 0 && (stat.valid & ZIP_STAT_SIZE) != 0 &&
               zip_source_open(target) == 0)
      << textOf(*zip_source_error(target));
  std::string file(stat.size, '\0');
  const zip_int64_t n = zip_source_read(target, file.data(), file.size());
  zip_source_close(target);
  HEDDLE_CHECK(n == static_cast<zip_int64_t>(file.size())) << textOf(*zip_source_error(target));
  return file;
}

}  // namespace

Result<NamedNpyArrays> parseNpz(std::string_view file, const std::string& where,
                                std::int64_t most) {
  if (file.empty())
    return notAnArchive(where, "the file is empty");  // libzip takes it for an archive
  const Archive archive(file, where);
  HEDDLE_TRY(const std::vector<zip_stat_t> entries, archive.directory(most));
  NamedNpyArrays arrays;
  for (const zip_stat_t& entry : entries) {
    const std::string_view name = entry.name;
    if (!name.ends_with(kEnding) || name.size() == kEnding.size())
      return badName(where, entry.name, "it does not end in .npy");
    const std::string key(name.substr(0, name.size() - kEnding.size()));
    if (arrays.contains(key)) return badName(where, entry.name, "two entries have this name");
    HEDDLE_TRY(const std::string content, archive.read(entry));
    HEDDLE_TRY(arrays[key], parseNpy(content, where + ", '" + entry.name + "'"));
  }
  return arrays;
}

Result<std::string> printNpz(const NamedNpyArrays& arrays) {
  // libzip writes no archive without entries: the end of its directory alone (APPNOTE 4.3.16).
  if (arrays.empty()) return std::string("PK\x05\x06", 4) + std::string(18, '\0');
  zip_error_t error;
  zip_error_init(&error);
  const Owned<zip_source_t> target(zip_source_buffer_create(nullptr, 0, 0, &error));
  HEDDLE_CHECK(target != nullptr) << textOf(error);
  zip_source_keep(target.get());  // the archive gives one reference back when it is closed
  Owned<zip_t> archive(zip_open_from_source(target.get(), ZIP_CREATE | ZIP_TRUNCATE, &error));
  HEDDLE_CHECK(archive != nullptr) << textOf(error);
  std::vector<std::string> contents;  // read when the archive is closed
  contents.reserve(arrays.size());
  for (const auto& [key, array] : arrays) {
    if (key.size() > kLongestName)
      return tooMuch("npz", "a name of " + std::to_string(key.size()) + " B");
    const std::string& content = contents.emplace_back(printNpy(array));
    Owned<zip_source_t> source(zip_source_buffer(archive.get(), content.data(), content.size(), 0));
    HEDDLE_CHECK(source != nullptr) << textOf(*zip_get_error(archive.get()));
    const std::string name = key + std::string(kEnding);
    const zip_int64_t at =
        zip_file_add(archive.get(), name.c_str(), source.get(), ZIP_FL_ENC_UTF_8);
    if (at < 0) return badName("npz", name, textOf(*zip_get_error(archive.get())));
    source.release();  // NOLINT(bugprone-unused-return-value): the archive has it now
    constexpr zip_uint16_t kMidnight = 0, kFirstOf1980 = 0x21;
    HEDDLE_CHECK(zip_file_set_dostime(archive.get(), static_cast<zip_uint64_t>(at), kMidnight,
                                      kFirstOf1980, 0) == 0)
        << textOf(*zip_get_error(archive.get()));
  }
  return bytesOf(std::move(archive), target.get());
}

}  // namespace heddle
