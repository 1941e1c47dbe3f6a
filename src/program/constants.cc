#include "generation.h"

namespace heddle {

void placeConstants(Generation& g) {
  std::vector<std::uint8_t>& image = g.out.weights.bytes;
  for (std::size_t t = 0; t < g.graph.tensors.size(); ++t) {
    const CanonicalTensor& tensor = g.graph.tensors[t];
    if (tensor.constant.empty()) continue;
    const Shape& shape = tensor.shape;
    const std::int64_t blocks = blocksOf(shape), width = shape.width;
    const std::int64_t first = *g.memory.tensors[t].ddr - g.memory.weightsAddress;
    image.resize(
        static_cast<std::size_t>(first + roundUpTo(shape.height * blocks * width * kBlock, 64)));
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < width; ++x)
        for (std::int64_t c = 0; c < shape.channels; ++c) {
          const std::int64_t cell = (y * blocks + c / kBlock) * width + x;
          image[static_cast<std::size_t>(first + cell * kBlock + c % kBlock)] =
              static_cast<std::uint8_t>(
                  tensor.constant[static_cast<std::size_t>((y * width + x) * shape.channels + c)]);
        }
  }
}

}  // namespace heddle
