#include "leaf_places.h"

#include <algorithm>

namespace heddle {
namespace {

void append(const Section& section, const std::vector<Item>& items,
            std::vector<std::int64_t>& counts, std::vector<LeafPlace>& out) {
  for (const Item& item : items) {
    if (const Loop* loop = std::get_if<Loop>(&item.as)) {
      counts.push_back(loop->count);
      append(section, loop->body, counts, out);
      counts.pop_back();
    } else {
      out.push_back({&std::get<Instruction>(item.as), &section, counts});
    }
  }
}

}  // namespace

std::vector<LeafPlace> leafPlaces(const Program& program) {
  std::vector<LeafPlace> out;
  std::vector<std::int64_t> counts;
  for (const Section& section : program.sections) append(section, section.items, counts, out);
  return out;
}

Extent extentOf(const Affine& value, const std::vector<std::int64_t>& counts, std::int64_t row,
                std::int64_t column) {
  const std::int64_t start = value.base + value.row * row + value.column * column;
  Extent extent{start, start};
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const std::int64_t reach = value.loop[k] * (counts[k] - 1);
    (reach < 0 ? extent.first : extent.end) += reach;
  }
  return extent;
}

Extent extentOf(const Address<Affine>& address, std::int64_t bytes,
                const std::vector<std::int64_t>& counts, std::int64_t row, std::int64_t column) {
  Extent extent = extentOf(address.base, counts, row, column);
  extent.end += (address.slots - 1) * address.slotStride + bytes;
  return extent;
}

Extent extentOf(const End<Affine>& end, const std::vector<std::int64_t>& counts, std::int64_t row,
                std::int64_t column) {
  std::int64_t bytes = end.pattern.run;
  for (const Dimension& d : end.pattern.dimensions) bytes += (d.count - 1) * d.stride;
  return extentOf(end.address, bytes, counts, row, column);
}

RecordRange recordsOf(const Program& program, const Affine& number,
                      const std::vector<std::int64_t>& counts, std::int64_t row,
                      std::int64_t column) {
  constexpr std::int64_t kMost = 1 << 12;
  const Extent numbers = extentOf(number, counts, row, column);
  const std::int64_t first = std::max<std::int64_t>(numbers.first, 0);
  return {first, std::min({numbers.end + 1, std::ssize(program.records), first + kMost})};
}

std::int64_t longestRecord(const Program& program, const Affine& number,
                           const std::vector<std::int64_t>& counts, std::int64_t row,
                           std::int64_t column) {
  const RecordRange records = recordsOf(program, number, counts, row, column);
  std::int64_t longest = 0;
  for (std::int64_t i = records.first; i < records.end; ++i)
    longest = std::max(longest, program.records[static_cast<std::size_t>(i)].bytes);
  return longest;
}

Extent extentOf(const Program& program, const End<Affine>& end, const Part<Affine>& part,
                const std::vector<std::int64_t>& counts, std::int64_t row, std::int64_t column) {
  if (part.content != Content::Weights) return extentOf(end, counts, row, column);
  return extentOf(end.address, longestRecord(program, part.y, counts, row, column), counts, row,
                  column);
}

}  // namespace heddle
