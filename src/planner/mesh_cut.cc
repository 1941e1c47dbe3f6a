#include "mesh_cut.h"

#include <algorithm>
#include <functional>

namespace heddle {
namespace {

// Rows in `down` parts times columns in `across`; empty ones left out.
std::vector<PixelBox> grid(const Shape& shape, std::int64_t down, std::int64_t across) {
  std::vector<PixelBox> boxes;
  for (std::int64_t y = 0; y < down; ++y)
    for (std::int64_t x = 0; x < across; ++x) {
      const PixelBox box{evenPart(shape.height, down, y), evenPart(shape.width, across, x)};
      if (!box.empty()) boxes.push_back(box);
    }
  return boxes;
}

std::vector<PixelBox> withoutEmpty(std::vector<PixelBox> boxes) {
  std::erase_if(boxes, [](const PixelBox& box) { return box.empty(); });
  return boxes;
}

// Pixel n lies in row n / width. Part `index` of all pixels: the end of a row, whole rows, the
// beginning of one.
std::vector<PixelBox> numberedPart(const Shape& shape, std::int64_t parts, std::int64_t index) {
  const Interval pixels = evenPart(shape.height * shape.width, parts, index);
  std::vector<PixelBox> boxes;
  std::int64_t y = pixels.first / shape.width, x = pixels.first % shape.width, left = pixels.count;
  while (left > 0) {
    const std::int64_t rows = x == 0 ? std::max<std::int64_t>(1, left / shape.width) : 1,
                       columns = std::min(left, shape.width - x);
    boxes.push_back({{y, rows}, {x, columns}});
    y += rows;
    x = 0;
    left -= rows * columns;
  }
  return boxes;
}

std::int64_t pixelsOf(const std::vector<PixelBox>& boxes) {
  std::int64_t pixels = 0;
  for (const PixelBox& box : boxes) pixels += box.y.count * box.x.count;
  return pixels;
}

std::vector<Interval> blocksIn(const Shape& shape, std::int64_t parts) {
  std::vector<Interval> blocks;
  for (std::int64_t k = 0; k < std::min(parts, blocksOf(shape)); ++k)
    blocks.push_back(evenPart(blocksOf(shape), parts, k));
  return blocks;
}

class CutMenu {
  using CoreOf = std::function<CoreAt(std::size_t, std::size_t)>;

 public:
  CutMenu(const Shape& shape, const Device& device) : shape_(shape), device_(device) {}

  std::vector<MeshCut> run() {
    const std::int64_t rows = device_.rows, columns = device_.columns, all = rows * columns;
    const auto columnsCut = [](std::size_t box, std::size_t part) {
      return CoreAt{static_cast<std::int64_t>(part), static_cast<std::int64_t>(box)};
    };
    const auto rowsCut = [](std::size_t box, std::size_t part) {
      return CoreAt{static_cast<std::int64_t>(box), static_cast<std::int64_t>(part)};
    };
    const auto pixels = [&](std::size_t box, std::size_t) { return coreNumber(box); };
    const auto channels = [&](std::size_t, std::size_t part) { return coreNumber(part); };
    add(withoutEmpty(evenBoxes(shape_, device_)), rows, columnsCut);
    add(grid(shape_, 1, columns), rows, columnsCut);
    add(grid(shape_, columns, 1), rows, columnsCut);
    add(grid(shape_, rows, 1), columns, rowsCut);
    add(grid(shape_, 1, rows), columns, rowsCut);
    add(grid(shape_, rows, columns), 1, pixels);
    add(grid(shape_, all, 1), 1, pixels);
    add(withinColumns(), 1, [&](std::size_t box, std::size_t) {
      const auto i = static_cast<std::int64_t>(box);
      return CoreAt{i % rows, i / rows};
    });
    add(grid(shape_, 1, all), 1, pixels);
    add(grid(shape_, 1, 1), all, channels);
    addNumbered(columns, rows, columnsCut);
    addNumbered(rows, columns, rowsCut);
    addNumbered(all, 1, pixels);
    return std::move(cuts_);
  }

 private:
  CoreAt coreNumber(std::size_t n) const {
    const auto i = static_cast<std::int64_t>(n);
    return {i / device_.columns, i % device_.columns};
  }

  // W over all cores as over mesh columns, and that of each over its rows, so that no core's pixels
  // lie in two memtiles. None where they don't anyway, or where that takes more columns of pixels.
  std::vector<PixelBox> withinColumns() const {
    const std::int64_t rows = device_.rows, columns = device_.columns, all = rows * columns;
    if (shape_.width < all || divideRoundUp(divideRoundUp(shape_.width, columns), rows) >
                                  divideRoundUp(shape_.width, all))
      return {};
    bool liesInTwo = false;
    for (std::int64_t c = 1; c < columns; ++c)
      liesInTwo = liesInTwo || evenPart(shape_.width, columns, c).first !=
                                   evenPart(shape_.width, all, c * rows).first;
    if (!liesInTwo) return {};
    std::vector<PixelBox> boxes;
    for (std::int64_t c = 0; c < columns; ++c) {
      const Interval column = evenPart(shape_.width, columns, c);
      for (std::int64_t r = 0; r < rows; ++r) {
        const Interval part = evenPart(column.count, rows, r);
        boxes.push_back({{0, shape_.height}, {column.first + part.first, part.count}});
      }
    }
    return boxes;
  }

  void add(const std::vector<PixelBox>& boxes, std::int64_t channelParts, const CoreOf& core) {
    std::vector<std::vector<PixelBox>> pixels;
    for (const PixelBox& box : boxes) pixels.push_back({box});
    add(std::move(pixels), channelParts, core);
  }
  void add(std::vector<std::vector<PixelBox>> pixels, std::int64_t channelParts,
           const CoreOf& core) {
    if (pixels.empty()) return;
    MeshCut cut{std::move(pixels), blocksIn(shape_, channelParts), {}};
    for (std::size_t p = 0; p < cut.pixels.size(); ++p)
      for (std::size_t k = 0; k < cut.blocks.size(); ++k) cut.cores.push_back(core(p, k));
    if (std::find(cuts_.begin(), cuts_.end(), cut) == cuts_.end()) cuts_.push_back(std::move(cut));
  }

  // Pixels as they are numbered, where rectangles over as many channels leave more to one core.
  void addNumbered(std::int64_t parts, std::int64_t channelParts, const CoreOf& core) {
    const std::int64_t all = shape_.height * shape_.width;
    std::int64_t least = all;
    const std::size_t ofBlocks = blocksIn(shape_, channelParts).size();
    for (const MeshCut& cut : cuts_)
      if (cut.blocks.size() == ofBlocks) least = std::min(least, pixelsOf(cut.pixels[0]));
    if (parts > all || divideRoundUp(all, parts) * 1000 > least * (1000 - kWorthNumbering)) return;
    std::vector<std::vector<PixelBox>> pixels;
    for (std::int64_t p = 0; p < parts; ++p) pixels.push_back(numberedPart(shape_, parts, p));
    add(std::move(pixels), channelParts, core);
  }

  Shape shape_;
  const Device& device_;
  std::vector<MeshCut> cuts_;
};

}  // namespace

std::int64_t MeshCut::rows() const {
  std::int64_t most = 0;
  for (const std::vector<PixelBox>& boxes : pixels) {
    std::int64_t rows = 0;
    for (const PixelBox& box : boxes) rows += box.y.count;
    most = std::max(most, rows);
  }
  return most;
}

std::int64_t MeshCut::columns() const {
  std::int64_t most = 0;
  for (const std::vector<PixelBox>& boxes : pixels)
    for (const PixelBox& box : boxes) most = std::max(most, box.x.count);
  return most;
}

std::vector<PixelBox> evenBoxes(const Shape& shape, const Device& device) {
  const bool acrossWidth = shape.width >= device.columns || shape.width >= shape.height;
  std::vector<PixelBox> boxes;
  for (std::int64_t c = 0; c < device.columns; ++c) {
    PixelBox box{{0, shape.height}, {0, shape.width}};
    (acrossWidth ? box.x : box.y) =
        evenPart(acrossWidth ? shape.width : shape.height, device.columns, c);
    boxes.push_back(box);
  }
  return boxes;
}

std::vector<MeshCut> meshCuts(const Shape& output, const Device& device) {
  return CutMenu(output, device).run();
}

}  // namespace heddle
