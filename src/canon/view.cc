#include "view.h"

#include <algorithm>
#include <numeric>

#include "unsupported.h"

namespace heddle::canon {

Dims View::shape() const {
  Dims shape;
  for (const Digits& digits : dims) {
    std::int64_t extent = 1;
    for (const Digit& digit : digits) extent *= digit.extent;
    shape.push_back(extent);
  }
  return shape;
}

View layOut(const Dims& shape, const std::vector<Axis>& axes) {
  View view;
  view.dims.resize(shape.size());
  std::array<std::int64_t, 4> stride{1, 1, 1, 1};
  for (std::size_t i = shape.size(); i-- > 0;) {
    std::int64_t& next = stride[static_cast<std::size_t>(axes[i])];
    if (shape[i] != 1) view.dims[i] = {{shape[i], axes[i], next}};
    next *= shape[i];
  }
  return view;
}

View flatView(const Dims& shape) {
  return layOut(shape, std::vector<Axis>(shape.size(), Axis::Flat));
}

std::vector<Axis> standardAxes(const Dims& shape) {
  switch (shape.size()) {
    case 0:
      return {};
    case 1:
      return {Axis::C};
    case 2:
      return {Axis::Y, Axis::C};
    case 3:
      return {Axis::Y, Axis::X, Axis::C};
    case 4:
      if (shape[0] == 1) return {Axis::Y, Axis::C, Axis::Y, Axis::X};
      if (shape[2] == 1 && shape[3] == 1) return {Axis::Y, Axis::C, Axis::X, Axis::X};
      break;
    case 5:
      if (shape[0] == 1) return {Axis::Y, Axis::C, Axis::Y, Axis::Y, Axis::X};
      break;
    default:
      throw Unsupported("a value of rank " + std::to_string(shape.size()) +
                        " has no place in a tensor");
  }
  throw Unsupported("a batch of " + std::to_string(shape[0]) + " does not fold into rows",
                    "CANON002");
}

Shape tensorShape(const View& view) {
  Shape shape;
  for (const Digits& digits : view.dims)
    for (const Digit& digit : digits) {
      if (digit.axis == Axis::Y) shape.height *= digit.extent;
      if (digit.axis == Axis::X) shape.width *= digit.extent;
      if (digit.axis == Axis::C) shape.channels *= digit.extent;
    }
  return shape;
}

View transposed(const View& view, const Dims& permutation) {
  View out;
  for (const std::int64_t axis : permutation)
    out.dims.push_back(view.dims[static_cast<std::size_t>(axis)]);
  return out;
}

std::optional<View> reshaped(const View& view, const Dims& shape) {
  Digits rest;  // least significant last
  for (const Digits& digits : view.dims) rest.insert(rest.end(), digits.begin(), digits.end());
  View out;
  out.dims.resize(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    std::int64_t wanted = shape[i];
    while (wanted > 1) {
      if (rest.empty()) return std::nullopt;
      Digit& last = rest.back();
      if (wanted % last.extent == 0) {
        wanted /= last.extent;
        out.dims[i].insert(out.dims[i].begin(), last);
        rest.pop_back();
      } else if (last.extent % wanted == 0) {
        out.dims[i].insert(out.dims[i].begin(), {wanted, last.axis, last.stride});
        last = {last.extent / wanted, last.axis, last.stride * wanted};
        wanted = 1;
      } else {
        return std::nullopt;
      }
    }
  }
  if (!rest.empty()) return std::nullopt;
  return normalized(std::move(out));
}

Digits joined(const Digits& digits) {
  Digits out;
  for (const Digit& digit : digits) {
    if (!out.empty() && out.back().axis == digit.axis &&
        out.back().stride == digit.extent * digit.stride) {
      out.back() = {out.back().extent * digit.extent, digit.axis, digit.stride};
    } else {
      out.push_back(digit);
    }
  }
  return out;
}

View normalized(View view) {
  for (Digits& digits : view.dims) digits = joined(digits);
  return view;
}

std::optional<std::vector<DigitPair>> pairDigits(const Digits& from, const Digits& to) {
  std::vector<DigitPair> pairs;
  std::size_t i = from.size(), j = to.size();
  Digit a, b;  // what is left of the current digits
  while (i > 0 || j > 0 || a.extent > 1 || b.extent > 1) {
    if (a.extent == 1) {
      if (i == 0) return std::nullopt;
      a = from[--i];
    }
    if (b.extent == 1) {
      if (j == 0) return std::nullopt;
      b = to[--j];
    }
    const std::int64_t extent = std::min(a.extent, b.extent);
    if (a.extent % extent != 0 || b.extent % extent != 0) return std::nullopt;
    pairs.push_back({extent, a.axis, b.axis, a.stride, b.stride});
    a = {a.extent / extent, a.axis, a.stride * extent};
    b = {b.extent / extent, b.axis, b.stride * extent};
  }
  std::ranges::reverse(pairs);
  return pairs;
}

namespace {

AxisMap greedyRuns(const IndexPairs& pairs) {
  AxisMap runs;
  for (const auto& [to, from] : pairs) {
    if (!runs.empty()) {
      AxisRun& run = runs.back();
      if (run.count == 1) {
        run = {.to = run.to,
               .toStep = to - run.to,
               .from = run.from,
               .fromStep = from - run.from,
               .count = 2};
        continue;
      }
      if (to == run.to + run.count * run.toStep && from == run.from + run.count * run.fromStep) {
        ++run.count;
        continue;
      }
    }
    runs.push_back({.to = to, .toStep = 1, .from = from, .fromStep = 1, .count = 1});
  }
  return runs;
}

}  // namespace

AxisMap compress(const IndexPairs& pairs) {
  AxisMap best = greedyRuns(pairs);
  // Repetition and interleaving (nearest-neighbour resize, channel shuffle) are few runs once dealt
  // out by remainder.
  for (std::size_t period = 2; period <= 8 && best.size() > period; ++period) {
    AxisMap dealt;
    for (std::size_t first = 0; first < period; ++first) {
      IndexPairs part;
      for (std::size_t i = first; i < pairs.size(); i += period) part.push_back(pairs[i]);
      const AxisMap runs = greedyRuns(part);
      dealt.insert(dealt.end(), runs.begin(), runs.end());
    }
    if (dealt.size() < best.size()) best = dealt;
  }
  // A long period: the outputs read consecutive inputs in order, each output residue one run.
  if (best.size() > 8 && pairs.size() > 16) {
    IndexPairs byInput = pairs;
    std::ranges::stable_sort(byInput, {}, [](const auto& pair) { return pair.second; });
    const AxisMap runs = greedyRuns(byInput);
    if (runs.size() < best.size() &&
        std::ranges::all_of(runs, [](const AxisRun& r) { return r.toStep > 0; }))
      best = runs;
  }
  return best;
}

IndexPairs expand(const AxisMap& map) {
  IndexPairs pairs;
  for (const AxisRun& run : map)
    for (std::int64_t i = 0; i < run.count; ++i)
      pairs.emplace_back(run.to + i * run.toStep, run.from + i * run.fromStep);
  std::ranges::sort(pairs);
  return pairs;
}

std::optional<Port> portOf(const View& view, const Shape& tensor) {
  Port port;
  port.shape = view.shape();
  Digits all;
  for (const Digits& digits : view.dims) all.insert(all.end(), digits.begin(), digits.end());
  all = joined(all);
  const std::array<std::int64_t, 3> extents{tensor.height, tensor.width, tensor.channels};
  std::array<bool, 3> used{};
  for (const Digit& digit : all) {
    const auto axis = static_cast<std::size_t>(digit.axis);
    if (digit.axis == Axis::Flat || used[axis] || digit.stride != 1 ||
        digit.extent != extents[axis])
      return std::nullopt;
    used[axis] = true;
  }
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (!used[axis] && extents[axis] != 1) return std::nullopt;
  if (port.shape.size() == 4 && port.shape[0] == 1 &&
      port.shape == Dims{1, tensor.channels, tensor.height, tensor.width} &&
      normalized(view) == layOut(port.shape, {Axis::Y, Axis::C, Axis::Y, Axis::X})) {
    port.view = port.shape;
    port.axes = "NCHW";
    return port;
  }
  if (all.empty() || (!port.shape.empty() && port.shape[0] == 1)) {
    port.view.push_back(1);
    port.axes = "N";
  }
  for (const Digit& digit : all) {
    port.view.push_back(digit.extent);
    port.axes += "HWC"[static_cast<std::size_t>(digit.axis)];
  }
  return port;
}

}  // namespace heddle::canon
