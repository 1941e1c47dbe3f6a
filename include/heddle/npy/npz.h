// NumPy's .npz files: named arrays, each an .npy file in one ZIP archive. What numpy.savez and
// numpy.savez_compressed write is read; what is written here, numpy.load reads.
//
//   NamedNpyArrays masks{{"conv1.weight", array}};
//   Result<std::string> file = printNpz(masks);
//   Result<NamedNpyArrays> again = parseNpz(*file, "masks.npz", 1 << 20);    // *again == masks
//
// An entry's name is a key and nothing else: no file of that name is ever touched.
// Source: numpy.lib.npyio (NAME.npy for each keyword), PKWARE APPNOTE 6.3 through libzip.
//
// | code   | when                                                                               |
// |--------|------------------------------------------------------------------------------------|
// | NPY007 | the file is no ZIP archive, or its directory is damaged                            |
// | NPY008 | an entry cannot be read: damaged, cut off, encrypted or packed in an unknown way   |
// | NPY009 | the entries are too many, or larger than what reads them can use                   |
// | NPY010 | an entry is no .npy file by its name, or two have one name                         |
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "heddle/npy/npy.h"
#include "heddle/support/result.h"

namespace heddle {

using NamedNpyArrays = std::map<std::string, NpyArray>;

inline constexpr std::int64_t kMostNpzEntries = std::int64_t{1} << 16;

// `most` bounds the bytes of all entries together as they say before any is unpacked, so a few
// bytes that claim, or become, very many cost nothing. `where` names the file in diagnostics.
// Errors: NPY007 to NPY010 above, those of parseNpy for an entry.
Result<NamedNpyArrays> parseNpz(std::string_view file, const std::string& where, std::int64_t most);

// The same arrays give the same bytes. Needs: names whose archive libzip can hold: no longer than
// 65000 bytes. Errors: NPY009.
Result<std::string> printNpz(const NamedNpyArrays& arrays);

}  // namespace heddle
