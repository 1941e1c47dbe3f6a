#include "random_movement.h"

#include <algorithm>
#include <array>

namespace heddle::property {
namespace {

// Output i reads from[i]: the fewest runs that a greedy reader finds, each with output step 1.
AxisMap mapOf(const std::vector<std::int64_t>& from) {
  AxisMap map;
  for (std::size_t i = 0; i < from.size();) {
    AxisRun run{.to = static_cast<std::int64_t>(i), .from = from[i], .count = 1};
    if (i + 1 < from.size()) run.fromStep = from[i + 1] - from[i];
    while (i + static_cast<std::size_t>(run.count) < from.size() &&
           from[i + static_cast<std::size_t>(run.count)] == run.from + run.count * run.fromStep)
      ++run.count;
    if (run.count == 1) run.fromStep = 1;
    map.push_back(run);
    i += static_cast<std::size_t>(run.count);
  }
  return map;
}

Movement single(const char* name, const Shape& output, AxisMap y, AxisMap x, AxisMap c) {
  return {name, {.parts = {{std::move(y), std::move(x), std::move(c), {}}}}, {0}, output};
}

// Slice: rows rise (they are streamed), columns and channels may run backwards.
AxisMap randomSlice(Random& random, std::int64_t extent, bool mayReverse) {
  const std::int64_t step = random.chance(70) ? 1 : random.between(1, 3);
  const std::int64_t first = random.between(0, extent - 1);
  const std::int64_t count = random.between(1, (extent - 1 - first) / step + 1);
  const std::int64_t last = first + (count - 1) * step;
  if (mayReverse && random.chance(15)) return {{.from = last, .fromStep = -step, .count = count}};
  return {{.from = first, .fromStep = step, .count = count}};
}

Movement slicing(Random& random, const Shape& shape) {
  const auto axis = [&](std::int64_t extent, bool mayReverse) {
    return random.chance(40) ? identityMap(extent) : randomSlice(random, extent, mayReverse);
  };
  const AxisMap y = axis(shape.height, false), x = axis(shape.width, true),
                c = axis(shape.channels, true);
  return single("Slice", {y[0].count, x[0].count, c[0].count}, y, x, c);
}

Movement padding(Random& random, const Shape& shape) {
  const bool channels = random.chance(30);
  const auto amount = [&](bool wanted) { return wanted ? random.between(0, 3) : 0; };
  const std::int64_t top = amount(true), left = amount(true), front = amount(channels);
  const auto shifted = [](std::int64_t by, std::int64_t count) {
    return AxisMap{{.to = by, .count = count}};
  };
  const Shape output{shape.height + top + amount(true), shape.width + left + amount(true),
                     shape.channels + front + amount(channels)};
  Movement movement = single("Pad", output, shifted(top, shape.height), shifted(left, shape.width),
                             shifted(front, shape.channels));
  movement.assemble.fill = random.int8();
  return movement;
}

AxisMap nearest(std::int64_t input, std::int64_t output) {
  if (output % input == 0) {  // the form of an integer factor: one run for each phase
    AxisMap map;
    const std::int64_t factor = output / input;
    for (std::int64_t phase = 0; phase < factor; ++phase)
      map.push_back({.to = phase, .toStep = factor, .from = 0, .count = input});
    return map;
  }
  std::vector<std::int64_t> from;
  for (std::int64_t i = 0; i < output; ++i) from.push_back(i * input / output);
  return mapOf(from);
}

Movement resizing(Random& random, const Shape& shape) {
  const auto extent = [&](std::int64_t input) {
    return random.chance(60) ? input * random.between(1, 3) : random.between(1, 2 * input);
  };
  const Shape output{extent(shape.height), extent(shape.width), shape.channels};
  return single("Resize", output, nearest(shape.height, output.height),
                nearest(shape.width, output.width), identityMap(shape.channels));
}

// An axis of extent 1 is repeated.
Movement broadcast(Random& random, const Shape& shape) {
  const auto axis = [&](std::int64_t extent) -> AxisMap {
    if (extent > 1) return identityMap(extent);
    const std::int64_t count = random.between(1, 12);
    return {{.from = 0, .fromStep = count == 1 ? 1 : 0, .count = count}};
  };
  const AxisMap y = axis(shape.height), x = axis(shape.width), c = axis(shape.channels);
  return single("Expand", {y[0].count, x[0].count, c[0].count}, y, x, c);
}

Movement shuffling(Random& random, const Shape& shape) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t g = 1; g <= shape.channels; ++g)
    if (shape.channels % g == 0) divisors.push_back(g);
  const std::int64_t groups = random.pick(divisors), size = shape.channels / groups;
  AxisMap map;
  for (std::int64_t g = 0; g < groups; ++g)
    map.push_back({.to = g, .toStep = groups, .from = g * size, .count = size});
  return single("Transpose", shape, identityMap(shape.height), identityMap(shape.width), map);
}

// Every block position is one part; DCR orders depth blockY, blockX, channel, CRD channel first.
Movement depthToSpace(Random& random, const Shape& shape) {
  const std::int64_t block = shape.channels % 9 == 0 && random.chance(50) ? 3 : 2;
  if (shape.channels % (block * block) != 0) return slicing(random, shape);
  const std::int64_t channels = shape.channels / (block * block);
  const bool channelFirst = random.chance(50);
  Movement movement{"DepthToSpace", {}, {}, {shape.height * block, shape.width * block, channels}};
  for (std::int64_t by = 0; by < block; ++by)
    for (std::int64_t bx = 0; bx < block; ++bx) {
      const std::int64_t position = by * block + bx;
      const AxisRun depth = channelFirst ? AxisRun{0, 1, position, block * block, channels}
                                         : AxisRun{0, 1, position * channels, 1, channels};
      movement.assemble.parts.push_back(
          {{{by, block, 0, 1, shape.height}}, {{bx, block, 0, 1, shape.width}}, {depth}, {}});
      movement.operands.push_back(0);
    }
  return movement;
}

Movement spaceToDepth(Random& random, const Shape& shape) {
  if (shape.height % 2 != 0 || shape.width % 2 != 0) return slicing(random, shape);
  const Shape output{shape.height / 2, shape.width / 2, shape.channels * 4};
  Movement movement{"SpaceToDepth", {}, {}, output};
  for (std::int64_t by = 0; by < 2; ++by)
    for (std::int64_t bx = 0; bx < 2; ++bx) {
      movement.assemble.parts.push_back(
          {{{0, 1, by, 2, output.height}},
           {{0, 1, bx, 2, output.width}},
           {{(by * 2 + bx) * shape.channels, 1, 0, 1, shape.channels}},
           {}});
      movement.operands.push_back(0);
    }
  return movement;
}

}  // namespace

AxisMap identityMap(std::int64_t count) { return {{.count = count}}; }

Movement randomMovement(Random& random, const Shape& shape) {
  const std::array makers{slicing,   padding,      resizing,    broadcast,
                          shuffling, depthToSpace, spaceToDepth};
  return makers[static_cast<std::size_t>(random.between(0, std::ssize(makers) - 1))](random, shape);
}

Movement concatenation(const std::vector<Shape>& shapes, char axis) {
  Movement movement{"Concat", {}, {}, shapes.at(0)};
  const auto extentOf = [axis](auto& shape) -> auto& {
    return axis == 'Y' ? shape.height : axis == 'X' ? shape.width : shape.channels;
  };
  extentOf(movement.output) = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    AssemblePart part{identityMap(shapes[i].height),
                      identityMap(shapes[i].width),
                      identityMap(shapes[i].channels),
                      {}};
    AxisMap& moved = axis == 'Y' ? part.mapY : axis == 'X' ? part.mapX : part.mapC;
    moved[0].to = extentOf(movement.output);
    extentOf(movement.output) += extentOf(shapes[i]);
    movement.assemble.parts.push_back(std::move(part));
    movement.operands.push_back(i);
  }
  return movement;
}

}  // namespace heddle::property
