// Buffers as a CSV file, in the form of MiniMalloc's benchmarks:
//
//   id,lower,upper,size           columns by name, in any order; upper is exclusive
//   b1,0,3,4
//
// RFC 4180: fields may stand in double quotes. Lines without text are passed over. A column
// `offset` is passed over too, so that what was written can be read again; any other is a fault,
// for it could ask for something (an alignment, a gap) that would not be kept.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "heddle/packing/pack.h"
#include "heddle/support/result.h"

namespace heddle {

struct BufferTable {
  std::vector<std::string> ids;     // as written, with their quotes
  std::vector<LiveBuffer> buffers;  // per id
  std::vector<std::size_t> lines;   // per id: where it stands
};

// All faults of the file, each with its line.
//
// | code    | when                                                                               |
// |---------|------------------------------------------------------------------------------------|
// | PACK001 | a table of buffers without its header, or with a column missing, double or unknown |
// | PACK002 | a line that has more or fewer fields than the header, or is no CSV                 |
// | PACK003 | a field that is no whole number of 64 bits                                         |
// | PACK004 | a buffer that ends before it begins, or has a negative size                        |
// | PACK005 | two buffers of one id                                                              |
// | PACK006 | buffers that together have more than 2^62 bytes                                    |
Result<BufferTable> parseBuffers(const std::string& text, const std::string& name);

// The same with a last column `offset`.
std::string printBuffers(const BufferTable& table, const std::vector<std::int64_t>& offsets);

}  // namespace heddle
