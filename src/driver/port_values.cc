#include "heddle/driver/port_values.h"

#include <array>
#include <cmath>
#include <cstring>
#include <optional>

#include "heddle/canon/fold_columns.h"
#include "heddle/support/check.h"
#include "heddle/support/requantize.h"
#include "heddle/support/words.h"

namespace heddle {
namespace {

NpyType npyType(ElementType type) {
  switch (type) {
    case ElementType::Float32:
      return NpyType::Float32;
    case ElementType::Int8:
      return NpyType::Int8;
    case ElementType::Uint8:
      return NpyType::Uint8;
  }
  return NpyType::Float32;
}

std::string shapeText(std::span<const std::int64_t> shape) {
  std::vector<std::string> extents;
  for (const std::int64_t extent : shape) extents.push_back(std::to_string(extent));
  return extents.empty() ? "scalar" : joinWords(extents, "x");
}

// For each element of the array in its order: its place in Y, X, C order.
std::vector<std::size_t> placesOf(const Port& port, const Shape& shape) {
  HEDDLE_CHECK(port.axes.size() == port.view.size()) << port.name;
  std::vector<std::int64_t> strides;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < port.view.size(); ++i) {
    count *= port.view[i];
    switch (port.axes[i]) {
      case 'H':
        strides.push_back(shape.width * shape.channels);
        break;
      case 'W':
        strides.push_back(shape.channels);
        break;
      case 'C':
        strides.push_back(1);
        break;
      default:
        strides.push_back(0);
        break;  // N has extent 1
    }
  }
  HEDDLE_CHECK(count == shape.elements())
      << port.name << ": " << count << " elements for " << shape.elements();
  std::vector<std::size_t> places(static_cast<std::size_t>(count));
  std::vector<std::int64_t> index(port.view.size());
  for (std::size_t& place : places) {
    std::int64_t p = 0;
    for (std::size_t i = 0; i < index.size(); ++i) p += index[i] * strides[i];
    place = static_cast<std::size_t>(p);
    for (std::size_t i = index.size(); i-- > 0;) {
      if (++index[i] < port.view[i]) break;
      index[i] = 0;
    }
  }
  return places;
}

// As ONNX's QuantizeLinear: a quotient of floats, ties to even. What is no number becomes the
// lowest, as in ONNX Runtime.
std::int8_t quantize(float x, const TensorFormat& format) {
  const float quotient = x / static_cast<float>(format.scale);
  if (std::isnan(quotient)) return -128;
  const float bounded = std::fmin(std::fmax(std::nearbyint(quotient), -1024.0F), 1024.0F);
  return saturate(static_cast<std::int64_t>(bounded) + format.zeroPoint);
}

}  // namespace

std::vector<std::int64_t> shapeOfFrames(const Port& port, std::int64_t frames) {
  std::vector<std::int64_t> shape = port.shape;
  if (frames == 1) return shape;
  if (shape.empty() || shape[0] != 1) shape.insert(shape.begin(), 1);
  shape[0] = frames;
  return shape;
}

Result<std::vector<std::int8_t>> storedFromArray(const NpyArray& array, const Port& port,
                                                 const TensorFormat& format,
                                                 const std::string& where, std::int64_t frames) {
  const std::vector<std::int64_t> shape = shapeOfFrames(port, frames);
  if (array.type != npyType(port.type) || array.shape != shape)
    return Diagnostic{.code = "CLI005",
                      .where = where,
                      .summary = "the array does not fit '" + port.name + "'",
                      .what = std::string(nameOf(array.type)) + " " + shapeText(array.shape) +
                              "; '" + port.name + "' is " +
                              std::string(nameOf(npyType(port.type))) + " " + shapeText(shape) +
                              (frames > 1 ? ", of " + std::to_string(frames) + " inferences" : ""),
                      .mend = "give an array of that type and shape"};
  const std::vector<std::size_t> places = placesOf(port, format.shape);
  std::vector<std::int8_t> stored(static_cast<std::size_t>(frames) * places.size());
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::size_t frame = i / places.size();
    std::int8_t& value = stored[frame * places.size() + places[i % places.size()]];
    switch (port.type) {
      case ElementType::Float32: {
        float x = 0;
        std::memcpy(&x, array.data.data() + i * sizeof x, sizeof x);
        value = quantize(x, format);
        break;
      }
      case ElementType::Int8:
        value = static_cast<std::int8_t>(array.data[i]);
        break;
      case ElementType::Uint8:
        value = static_cast<std::int8_t>(static_cast<int>(array.data[i]) - 128);
        break;
    }
  }
  return stored;
}

NpyArray arrayFromStored(std::span<const std::int8_t> stored, const Port& port,
                         const TensorFormat& format) {
  const std::vector<std::size_t> places = placesOf(port, format.shape);
  HEDDLE_CHECK(!stored.empty() && stored.size() % places.size() == 0)
      << port.name << ": " << stored.size() << " of " << places.size();
  const std::size_t frames = stored.size() / places.size();
  NpyArray array{.type = npyType(port.type),
                 .shape = shapeOfFrames(port, static_cast<std::int64_t>(frames)),
                 .data = {}};
  array.data.resize(stored.size() * elementSize(array.type));
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::size_t frame = i / places.size();
    const int value = stored[frame * places.size() + places[i % places.size()]];
    switch (port.type) {
      case ElementType::Float32: {
        const float x =
            static_cast<float>(value - format.zeroPoint) * static_cast<float>(format.scale);
        std::memcpy(array.data.data() + i * sizeof x, &x, sizeof x);
        break;
      }
      case ElementType::Int8:
        array.data[i] = static_cast<std::byte>(value);
        break;
      case ElementType::Uint8:
        array.data[i] = static_cast<std::byte>(value + 128);
        break;
    }
  }
  return array;
}

std::vector<std::string> namesOf(const std::vector<Port>& ports) {
  std::vector<std::string> names;
  for (const Port& port : ports) names.push_back(port.name);
  return names;
}

Result<std::vector<std::optional<std::string>>> filesOfNames(
    const std::vector<std::string>& arguments, const std::vector<std::string>& names,
    const std::string& option) {
  const auto usage = [&](const std::string& argument, std::string summary, std::string mend) {
    return Diagnostic{.code = "CLI006",
                      .where = option + " " + argument,
                      .summary = std::move(summary),
                      .what = "names: " + joinWords(names),
                      .mend = std::move(mend),
                      .severity = Severity::Usage};
  };
  std::vector<std::optional<std::string>> files(names.size());
  for (const std::string& argument : arguments) {
    std::optional<std::size_t> chosen;
    std::string file = argument;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!argument.starts_with(names[i] + "=")) continue;
      chosen = i;
      file = argument.substr(names[i].size() + 1);
    }
    const std::size_t equals = argument.find('=');
    if (!chosen && equals != std::string::npos) {
      const std::string name = argument.substr(0, equals);
      const auto nearest = nearestWord(name, names);
      return usage(
          argument, "there is no '" + name + "'",
          nearest ? "write '" + *nearest + argument.substr(equals) + "'" : "use one of the names");
    }
    if (!chosen && names.size() != 1)
      return usage(
          argument,
          "there are " + std::to_string(names.size()) + ", and the file is for one of them",
          "say which: '" + option + " NAME=" + argument + "'");
    std::optional<std::string>& place = files[chosen.value_or(0)];
    if (place)
      return usage(argument, "'" + names[chosen.value_or(0)] + "' is given twice",
                   "keep one of the two");
    place = file;
  }
  return files;
}

std::vector<std::int8_t> randomValues(const Shape& shape, std::uint64_t seed, std::uint64_t stream,
                                      std::int64_t frames) {
  std::vector<std::int8_t> values;
  values.reserve(static_cast<std::size_t>(frames * shape.elements()));
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    std::uint64_t state = (seed + static_cast<std::uint64_t>(frame)) * 0x9e3779b97f4a7c15U +
                          stream * 0xd1b54a32d192ed03U;
    for (std::int64_t i = 0; i < shape.elements(); ++i) {  // SplitMix64 (Steele, Lea, Flood 2014)
      state += 0x9e3779b97f4a7c15U;
      std::uint64_t z = state;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
      values.push_back(static_cast<std::int8_t>(z >> 56));
    }
  }
  return values;
}

std::vector<std::int8_t> fromBlocked(std::span<const std::int8_t> blocked, const Shape& shape) {
  const std::int64_t blocks = blocksOf(shape);
  std::vector<std::int8_t> values;
  values.reserve(static_cast<std::size_t>(shape.elements()));
  HEDDLE_CHECK(std::ssize(blocked) == shape.height * blocks * shape.width * kBlock)
      << blocked.size() << " bytes";
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      for (std::int64_t c = 0; c < shape.channels; ++c) {
        const std::int64_t cell = (y * blocks + c / kBlock) * shape.width + x;
        values.push_back(blocked[static_cast<std::size_t>(cell * kBlock + c % kBlock)]);
      }
    }
  }
  return values;
}

std::vector<TensorFormat> formatsOf(const Program& program, const std::vector<Port>& ports) {
  std::vector<TensorFormat> formats;
  for (const Port& port : ports) {
    const ProgramTensor& tensor = program.tensors[port.tensor.at()];
    formats.push_back(
        {.shape = portImage(port), .scale = tensor.scale, .zeroPoint = tensor.zeroPoint});
  }
  return formats;
}

std::vector<std::vector<std::int8_t>> outputsOf(const Program& program,
                                                const SimulateResult& executed) {
  std::vector<std::vector<std::int8_t>> outputs;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const ProgramTensor& tensor = program.tensors[program.outputs[i].tensor.at()];
    std::vector<std::int8_t>& values = outputs.emplace_back();
    for (std::size_t k = i; k < executed.outputs.size(); k += program.outputs.size()) {
      const std::vector<std::int8_t> frame = fromBlocked(executed.outputs[k], tensor.shape);
      values.insert(values.end(), frame.begin(), frame.end());
    }
  }
  return outputs;
}

}  // namespace heddle
