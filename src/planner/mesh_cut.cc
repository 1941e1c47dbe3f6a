#include "mesh_cut.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

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

std::vector<Interval> blocksIn(const Shape& shape, std::int64_t parts) {
  std::vector<Interval> blocks;
  for (std::int64_t k = 0; k < std::min(parts, blocksOf(shape)); ++k)
    blocks.push_back(evenPart(blocksOf(shape), parts, k));
  return blocks;
}

class CutMenu {
  using CoreOf = std::function<CoreAt(std::size_t, std::size_t)>;

 public:
  CutMenu(const Shape& shape, const Device& device, std::int64_t anywhere)
      : shape_(shape), device_(device), anywhere_(anywhere) {}

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
    // As evenly over the rows' wires as over the columns', also where they are few.
    const auto onDiagonal = [&](std::size_t, std::size_t part) { return coreOnDiagonal(part); };
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
    add({{{{0, shape_.height}, {0, shape_.width}}}}, blocksOfCores(all), channels);
    if (blocksOf(shape_) < all)
      add({{{{0, shape_.height}, {0, shape_.width}}}}, blocksOfCores(all), onDiagonal);
    addQuarters();
    addBands(true);
    addBands(false);
    addNumbered(columns, rows, columnsCut);
    addNumbered(rows, columns, rowsCut);
    addNumbered(all, 1, pixels);
    if (anywhere_ > 0) addScattered();
    return std::move(cuts_);
  }

 private:
  CoreAt coreNumber(std::size_t n) const {
    const auto i = static_cast<std::int64_t>(n);
    return {i / device_.columns, i % device_.columns};
  }

  // One diagonal behind the other: as evenly in the mesh's rows as in its columns.
  CoreAt coreOnDiagonal(std::size_t n) const {
    const auto i = static_cast<std::int64_t>(n);
    const std::int64_t diagonal = std::lcm(device_.rows, device_.columns);
    return {i % device_.rows, (i + i / diagonal) % device_.columns};
  }

  // Blocks of the cores, in their order, where only channels are cut. Those with one more than the
  // others lie along the mesh's diagonals, so that no line's wire brings much more than another's
  // while only they compute.
  std::vector<Interval> blocksOfCores(std::int64_t parts) const {
    const std::int64_t cores = device_.cores(), all = blocksOf(shape_);
    std::vector<Interval> blocks = blocksIn(shape_, parts);
    if (parts < cores || all < cores) return blocks;
    for (Interval& part : blocks) part.count = all / cores;
    for (std::int64_t i = 0; i < all % cores; ++i) {
      const CoreAt core = coreOnDiagonal(static_cast<std::size_t>(i));
      ++blocks[static_cast<std::size_t>(core.row * device_.columns + core.column)].count;
    }
    for (std::size_t k = 1; k < blocks.size(); ++k) blocks[k].first = blocks[k - 1].end();
    return blocks;
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
    add(std::move(pixels), blocksIn(shape_, channelParts), core);
  }
  void add(std::vector<std::vector<PixelBox>> pixels, std::vector<Interval> blocks,
           const CoreOf& core) {
    if (pixels.empty()) return;
    MeshCut cut{std::move(pixels), std::move(blocks), {}};
    for (std::size_t p = 0; p < cut.pixels.size(); ++p)
      for (std::size_t k = 0; k < cut.blocks.size(); ++k)
        cut.shares.push_back({core(p, k), p, k, false});
    if (std::find(cuts_.begin(), cuts_.end(), cut) == cuts_.end()) cuts_.push_back(std::move(cut));
  }

  // Each quarter of the mesh computes all pixels of channels in proportion to its cores.
  void addQuarters() {
    const std::array<Interval, 2> down{evenPart(device_.rows, 2, 0), evenPart(device_.rows, 2, 1)},
        across{evenPart(device_.columns, 2, 0), evenPart(device_.columns, 2, 1)};
    if (down[1].empty() || across[1].empty() || down[0].count * across[0].count == 1) return;
    const bool byWidth = shape_.width >= shape_.height;
    MeshCut cut{.family = MeshCut::Family::Quarters};
    // Fewer parts have more pixels each: these go first.
    std::map<std::int64_t, std::size_t> firstOf;  // by number of parts
    for (const std::int64_t parts :
         {down[1].count, across[1].count, down[0].count, across[0].count})
      firstOf.try_emplace(parts);
    for (auto& [parts, first] : firstOf) {
      if (parts > (byWidth ? shape_.width : shape_.height)) return;
      first = cut.pixels.size();
      for (const PixelBox& box : byWidth ? grid(shape_, 1, parts) : grid(shape_, parts, 1))
        cut.pixels.push_back({box});
    }
    const std::int64_t blocks = blocksOf(shape_), cores = device_.cores();
    std::int64_t before = 0;  // cores of the quarters before
    for (std::size_t quarter = 0; quarter < 4; ++quarter) {
      const Interval &rows = down[quarter / 2], &columns = across[quarter % 2];
      const bool turned = quarter == 1 || quarter == 2;
      const std::int64_t first = blocks * before / cores;
      before += rows.count * columns.count;
      const std::int64_t count = blocks * before / cores - first,
                         groups = turned ? columns.count : rows.count;
      if (count < groups) return;
      for (const std::int64_t r : numbersOf(rows))
        for (const std::int64_t c : numbersOf(columns)) {
          const std::int64_t pixels = turned ? r - rows.first : c - columns.first,
                             group = turned ? c - columns.first : r - rows.first;
          Interval share = evenPart(count, groups, group);
          share.first += first;
          cut.shares.push_back(
              {{r, c},
               firstOf.at(turned ? rows.count : columns.count) + static_cast<std::size_t>(pixels),
               numberIn(cut.blocks, share),
               turned});
        }
    }
    addWithoutEmpty(std::move(cut));
  }

  // Several neighbouring lines of the mesh compute all pixels of some channels: the more the more
  // lines they are. Bands of two sizes cut the pixels twice, in the same way.
  void addBands(bool ofRows) {
    const std::int64_t lines = ofRows ? device_.rows : device_.columns,
                       across = ofRows ? device_.columns : device_.rows;
    for (std::int64_t bands = 2; bands < std::min(lines, blocksOf(shape_) + 1); ++bands) {
      MeshCut cut{.family = MeshCut::Family::Bands};
      const std::int64_t fewest = evenPart(lines, bands, bands - 1).count,
                         most = evenPart(lines, bands, 0).count;
      // Fewer lines leave more pixels to a core, and go first.
      const BandWay way = bestWay(fewest, across);
      addBoxes(cut, way, fewest, across);
      const std::size_t firstOfMost = most == fewest ? 0 : cut.pixels.size();
      if (most > fewest) addBoxes(cut, way, most, across);
      std::vector<std::int64_t> ofOneBlock;  // pixels of a core, per band
      for (std::int64_t b = 0; b < bands; ++b) {
        const std::size_t first = evenPart(lines, bands, b).count == most ? firstOfMost : 0;
        ofOneBlock.push_back(pixelsOf(cut.pixels[first]));
      }
      std::int64_t before = 0;
      const std::vector<std::int64_t> blocks = dealtOut(ofOneBlock);
      for (std::int64_t b = 0; b < bands; ++b) {
        const Interval band = evenPart(lines, bands, b);
        const Interval channels{before, blocks[static_cast<std::size_t>(b)]};
        before = channels.end();
        const std::size_t number = numberIn(cut.blocks, channels);
        std::size_t pixels = band.count == most ? firstOfMost : 0;
        for (std::int64_t a = 0; a < across; ++a)
          for (std::int64_t k = 0; k < band.count; ++k) {
            const std::int64_t l = most == fewest ? k * bands + b : band.first + k;
            cut.shares.push_back({ofRows ? CoreAt{l, a} : CoreAt{a, l}, pixels++, number, false});
          }
      }
      addWithoutEmpty(std::move(cut));
    }
  }

  // All blocks of channels, one at least for each of the `costs.size()` that a block costs so much:
  // as alike as they get. Needs: no more of them than blocks.
  std::vector<std::int64_t> dealtOut(const std::vector<std::int64_t>& costs) const {
    std::vector<std::int64_t> blocks(costs.size(), 1);
    for (std::int64_t left = blocksOf(shape_) - std::ssize(costs); left > 0; --left) {
      std::size_t least = 0;
      for (std::size_t i = 1; i < costs.size(); ++i)
        if ((blocks[i] + 1) * costs[i] < (blocks[least] + 1) * costs[least]) least = i;
      ++blocks[least];
    }
    return blocks;
  }

  // How a band's pixels are cut over its lines and what lies across: H over one of them and W over
  // the other, W or H over both, W over the cores of all as they follow each other.
  enum class BandWay { HOverLines, WOverLines, WOverBoth, WOverCores, HOverBoth };
  // `line`, `other`: the number of one, and how many there are.
  PixelBox boxOfBand(BandWay way, const Interval& line, const Interval& other) const {
    const auto part = [](std::int64_t extent, const Interval& of) {
      return evenPart(extent, of.count, of.first);
    };
    const auto within = [&](std::int64_t extent) {
      const Interval outer = part(extent, other);
      Interval inner = part(outer.count, line);
      inner.first += outer.first;
      return inner;
    };
    const std::int64_t height = shape_.height, width = shape_.width;
    switch (way) {
      case BandWay::HOverLines:
        return {part(height, line), part(width, other)};
      case BandWay::WOverLines:
        return {part(height, other), part(width, line)};
      case BandWay::WOverBoth:
        return {{0, height}, within(width)};
      case BandWay::WOverCores:
        return {{0, height},
                evenPart(width, line.count * other.count, other.first * line.count + line.first)};
      case BandWay::HOverBoth:
        return {within(height), {0, width}};
    }
    return {};
  }

  // The first of those that leave fewest pixels to a core.
  BandWay bestWay(std::int64_t lines, std::int64_t across) const {
    using enum BandWay;
    static constexpr std::array kWays{HOverLines, WOverLines, WOverBoth, WOverCores, HOverBoth};
    return *std::ranges::min_element(kWays, {}, [&](BandWay way) {
      return pixelsOf({boxOfBand(way, {0, lines}, {0, across})});
    });
  }

  // For the cores of each of what lies across, one behind the other. Some may be empty.
  void addBoxes(MeshCut& cut, BandWay way, std::int64_t lines, std::int64_t across) const {
    for (std::int64_t a = 0; a < across; ++a)
      for (std::int64_t l = 0; l < lines; ++l)
        cut.pixels.push_back({boxOfBand(way, {l, lines}, {a, across})});
  }

  // In the order that a cut has, without parts of no pixels.
  void addWithoutEmpty(MeshCut cut) {
    std::vector<std::size_t> number;  // of a part among those that stay
    std::size_t parts = 0;
    for (const std::vector<PixelBox>& boxes : cut.pixels)
      number.push_back(boxes[0].empty() ? parts : parts++);
    std::erase_if(cut.shares,
                  [&](const MeshCut::Share& share) { return cut.pixels[share.pixels][0].empty(); });
    for (MeshCut::Share& share : cut.shares) share.pixels = number[share.pixels];
    std::erase_if(cut.pixels, [](const auto& boxes) { return boxes[0].empty(); });
    putLongestFirst(cut);
    std::ranges::sort(cut.shares, {}, [](const MeshCut::Share& share) {
      return std::tuple(share.pixels, share.blocks);
    });
    if (std::ranges::find(cuts_, cut) == cuts_.end()) cuts_.push_back(std::move(cut));
  }

  static std::size_t numberIn(std::vector<Interval>& all, const Interval& one) {
    const auto known = std::ranges::find(all, one);
    if (known == all.end()) all.push_back(one);
    return static_cast<std::size_t>(std::ranges::find(all, one) - all.begin());
  }

  static void putLongestFirst(MeshCut& cut) {
    const auto longest = static_cast<std::size_t>(
        std::ranges::max_element(cut.blocks, {}, &Interval::count) - cut.blocks.begin());
    std::swap(cut.blocks[0], cut.blocks[longest]);
    for (MeshCut::Share& share : cut.shares)
      share.blocks = share.blocks == 0 ? longest : share.blocks == longest ? 0 : share.blocks;
  }

  static std::vector<std::int64_t> numbersOf(const Interval& interval) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(interval.count));
    std::iota(numbers.begin(), numbers.end(), interval.first);
    return numbers;
  }

  // Pixels as they are numbered, where rectangles over as many channels leave more to one core.
  void addNumbered(std::int64_t parts, std::int64_t channelParts, const CoreOf& core) {
    const std::int64_t all = shape_.height * shape_.width;
    std::int64_t least = all;
    const std::size_t ofBlocks = blocksIn(shape_, channelParts).size();
    for (const MeshCut& cut : cuts_)
      if (cut.family != MeshCut::Family::Bands && cut.blocks.size() == ofBlocks)
        least = std::min(least, pixelsOf(cut.pixels[0]));
    if (parts > all || divideRoundUp(all, parts) * 1000 > least * (1000 - kWorthNumbering)) return;
    std::vector<std::vector<PixelBox>> pixels;
    for (std::int64_t p = 0; p < parts; ++p) pixels.push_back(numberedPart(shape_, parts, p));
    add(std::move(pixels), blocksIn(shape_, channelParts), core);
  }

  void addScattered() {
    const std::int64_t blocks = blocksOf(shape_);
    for (const auto& [pixels, channels] : countsOfParts()) {
      if (channels > blocks) continue;
      for (std::vector<std::vector<PixelBox>>& parts : partsOf(pixels)) {
        MeshCut cut{std::move(parts),
                    pixels == 1 ? blocksOfCores(channels) : blocksIn(shape_, channels),
                    {},
                    MeshCut::Family::Anywhere};
        const bool isKnown = std::ranges::any_of(cuts_, [&](const MeshCut& other) {
          return other.family != MeshCut::Family::Quarters &&
                 other.family != MeshCut::Family::Bands && other.pixels == cut.pixels &&
                 other.blocks == cut.blocks;
        });
        if (isKnown) continue;
        for (std::size_t p = 0; p < cut.pixels.size(); ++p)
          for (std::size_t k = 0; k < cut.blocks.size(); ++k)
            cut.shares.push_back({coreNumber(p * cut.blocks.size() + k), p, k, false});
        cuts_.push_back(std::move(cut));
      }
    }
  }

  // Parts of the pixels and of the channels: for each number of channel parts as many of the pixels
  // as there are cores, and what divides by the wires, some of which bring rows to parts of the
  // pixels and the others records to parts of the channels:
  //
  //   4x4, 8 wires: 16x1 8x2 5x3 4x4 3x5 2x8 1x16;  1 wire and 7: 2x7 1x14, 2 and 6: 2x6, ...
  std::set<std::pair<std::int64_t, std::int64_t>> countsOfParts() const {
    const std::int64_t cores = device_.cores(), blocks = blocksOf(shape_);
    std::set<std::pair<std::int64_t, std::int64_t>> counts;
    for (std::int64_t channels = 1; channels <= std::min(cores, blocks); ++channels)
      if (const std::int64_t pixels = cores / channels;
          channels == std::min(cores / pixels, blocks))
        counts.emplace(pixels, channels);
    for (std::int64_t rows = 1; rows < anywhere_; ++rows) {
      const std::int64_t records = anywhere_ - rows;
      for (std::int64_t pixels = rows; pixels * records <= cores; pixels += rows)
        if (const std::int64_t channels = cores / pixels / records * records;
            channels * (pixels + rows) > cores)
          counts.emplace(pixels, channels);
    }
    return counts;
  }

  // The ways to cut all pixels in `count` parts that leave fewest to one core: by width, by height,
  // by both, or as they are numbered.
  std::vector<std::vector<std::vector<PixelBox>>> partsOf(std::int64_t count) const {
    std::vector<std::vector<std::vector<PixelBox>>> all;
    std::int64_t least = INT64_MAX;
    const auto add = [&](std::vector<std::vector<PixelBox>> parts) {
      least = std::min(least, pixelsOf(parts[0]));
      if (std::ranges::find(all, parts) == all.end()) all.push_back(std::move(parts));
    };
    std::int64_t squarest = 1;
    for (std::int64_t down = 2; down * down <= count; ++down)
      if (count % down == 0) squarest = down;
    for (const std::int64_t down : {std::int64_t{1}, count, squarest, count / squarest}) {
      std::vector<std::vector<PixelBox>> parts;
      for (const PixelBox& box : grid(shape_, down, count / down)) parts.push_back({box});
      add(std::move(parts));
    }
    std::erase_if(all, [&](const auto& parts) { return pixelsOf(parts[0]) > least; });
    const std::int64_t pixels = shape_.height * shape_.width;
    if (count <= pixels &&
        divideRoundUp(pixels, count) * 1000 <= least * (1000 - kWorthNumbering)) {
      std::vector<std::vector<PixelBox>> parts;
      for (std::int64_t p = 0; p < count; ++p) parts.push_back(numberedPart(shape_, count, p));
      add(std::move(parts));
    }
    return all;
  }

  Shape shape_;
  const Device& device_;
  std::int64_t anywhere_;  // wires that reach every core
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

std::vector<MeshCut> meshCuts(const Shape& output, const Device& device, std::int64_t anywhere) {
  return CutMenu(output, device, anywhere).run();
}

}  // namespace heddle
