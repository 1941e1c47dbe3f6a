#include "heddle/canon/fold_columns.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "heddle/support/check.h"

namespace heddle {
namespace {

// The arithmetic of a fold: column x of the image is column x / columns, and its channels are the
// group x % columns of that. A row of the folded kernel, its taps with their channels one behind
// the other, has that of the network's as one stretch.
struct Folding {
  std::int64_t columns, channels;  // of the image
  std::int64_t padLeft, kernelX;   // of the network's window
  std::int64_t foldedPadLeft() const { return divideRoundUp(padLeft, columns); }
  // Columns of the image that a folded window starts further left.
  std::int64_t ahead() const { return foldedPadLeft() * columns - padLeft; }
  std::int64_t foldedKernelX() const { return divideRoundUp(ahead() + kernelX, columns); }
  std::int64_t foldedRow() const { return foldedKernelX() * columns * channels; }
  std::int64_t ownBegin() const { return ahead() * channels; }
  std::int64_t ownEnd() const { return ownBegin() + kernelX * channels; }
};

// The convolution that alone reads a tensor.
std::optional<std::size_t> onlyReader(const CanonicalGraph& graph, TensorId tensor) {
  std::optional<std::size_t> reader;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const CanonicalOp& op = graph.ops[i];
    const std::ptrdiff_t count = std::ranges::count(op.inputs, tensor);
    if (count == 0) continue;
    if (reader || count > 1 || op.kind() != OpKind::Conv || op.inputs[0] != tensor)
      return std::nullopt;
    reader = i;
  }
  const bool isOutput =
      std::ranges::find(graph.outputs, tensor, &Port::tensor) != graph.outputs.end();
  return isOutput ? std::nullopt : reader;
}

std::vector<std::int8_t> foldedWeights(const Conv& conv, const Folding& folding) {
  std::vector<std::int8_t> folded;
  folded.reserve(conv.weightZero.size() *
                 static_cast<std::size_t>(conv.window.kernelY * folding.foldedRow()));
  auto own = conv.weights.begin();
  for (const std::int8_t zero : conv.weightZero)
    for (std::int64_t y = 0; y < conv.window.kernelY; ++y) {
      const auto row =
          folded.insert(folded.end(), static_cast<std::size_t>(folding.foldedRow()), zero);
      std::copy_n(own, folding.ownEnd() - folding.ownBegin(), row + folding.ownBegin());
      own += folding.ownEnd() - folding.ownBegin();
    }
  return folded;
}

// Γ of its weights; empty where none is left out.
Bits keptOf(const Conv& conv, std::int64_t inputs) {
  const std::int64_t outputs = std::ssize(conv.weightZero), columns = divideRoundUp(inputs, kBlock),
                     taps = conv.window.kernelY * conv.window.kernelX;
  Bits kept(divideRoundUp(outputs, kBlock) * columns);
  const std::int8_t* weight = conv.weights.data();
  for (std::int64_t o = 0; o < outputs; ++o)
    for (std::int64_t tap = 0; tap < taps; ++tap)
      for (std::int64_t c = 0; c < inputs; ++c, ++weight)
        if (*weight != conv.weightZero[static_cast<std::size_t>(o)])
          kept.set(o / kBlock * columns + c / kBlock);
  return kept.count() == kept.size() ? Bits() : kept;
}

Conv foldedConv(const Conv& conv, const Shape& image, std::int64_t columns) {
  const Window& w = conv.window;
  const Folding folding{columns, image.channels, w.padLeft, w.kernelX};
  Conv folded = conv;
  folded.weights = foldedWeights(conv, folding);
  folded.folded = FoldedColumns{columns, image.width, w.kernelX, w.padLeft};
  folded.window.kernelX = folding.foldedKernelX();
  folded.window.padLeft = folding.foldedPadLeft();
  folded.window.padRight = divideRoundUp(w.padRight, columns);
  folded.window.strideX /= columns;
  folded.kept = keptOf(folded, columns * image.channels);
  return folded;
}

// What a convolution computes with: of one row of its kernel.
struct InKeptBlocks {
  std::int64_t taps = 0, ownWeights = 0;
};
InKeptBlocks inKeptBlocks(const Conv& conv, std::int64_t inputs) {
  const std::int64_t outputs = std::ssize(conv.weightZero), columns = divideRoundUp(inputs, kBlock);
  InKeptBlocks all;
  for (std::int64_t i = 0; i < divideRoundUp(outputs, kBlock) * columns; ++i) {
    if (conv.kept.size() > 0 && !conv.kept[i]) continue;
    all.taps += conv.window.kernelX;
    all.ownWeights += std::min(kBlock, outputs - i / columns * kBlock) *
                      ownWeightsInRow(conv, inputs, i % columns * kBlock, kBlock);
  }
  return all;
}

std::optional<std::int64_t> bestColumns(const Conv& conv, const Shape& image) {
  if (conv.folded || conv.window.dilationX != 1) return std::nullopt;
  std::optional<std::int64_t> best;
  const InKeptBlocks before = inKeptBlocks(conv, image.channels);
  std::int64_t least = before.taps;
  for (std::int64_t columns = 2; columns <= conv.window.strideX; ++columns) {
    if (conv.window.strideX % columns != 0) continue;
    const bool isSmall =
        divideRoundUp(image.width, columns) * divideRoundUp(columns * image.channels, kBlock) <=
        image.width * blocksOf(image);
    if (!isSmall) continue;
    const InKeptBlocks after =
        inKeptBlocks(foldedConv(conv, image, columns), columns * image.channels);
    if (after.taps >= least || after.ownWeights > before.ownWeights) continue;
    least = after.taps;
    best = columns;
  }
  return best;
}

}  // namespace

std::vector<ColumnFold> findColumnFolds(const CanonicalGraph& graph) {
  std::vector<ColumnFold> folds;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const TensorId tensor = graph.inputs[i].tensor;
    const std::optional<std::size_t> op = onlyReader(graph, tensor);
    if (!op) continue;
    const auto columns =
        bestColumns(std::get<Conv>(graph.ops[*op].attributes), graph.tensors[tensor.at()].shape);
    if (columns) folds.push_back({i, *op, *columns});
  }
  return folds;
}

void foldColumns(CanonicalGraph& graph, const ColumnFold& fold) {
  Shape& shape = graph.tensors[graph.inputs[fold.input].tensor.at()].shape;
  Conv& conv = std::get<Conv>(graph.ops[fold.op].attributes);
  conv = foldedConv(conv, shape, fold.columns);
  shape.width = divideRoundUp(shape.width, fold.columns);
  shape.channels *= fold.columns;
}

std::vector<std::int64_t> foldedColumns(const CanonicalGraph& graph) {
  std::vector<std::int64_t> columns(graph.tensors.size(), 1);
  for (const CanonicalOp& op : graph.ops)
    if (const Conv* conv = std::get_if<Conv>(&op.attributes); conv && conv->folded)
      columns[op.inputs[0].at()] = conv->folded->columns;
  return columns;
}

Shape portImage(const Port& port) {
  Shape image;
  for (std::size_t i = 0; i < port.view.size(); ++i) {
    if (port.axes[i] == 'H') image.height = port.view[i];
    if (port.axes[i] == 'W') image.width = port.view[i];
    if (port.axes[i] == 'C') image.channels = port.view[i];
  }
  return image;
}

bool isPortOf(const Port& port, const Shape& tensor, bool mayBeFolded) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // elements
  if (port.axes.size() != port.view.size()) return false;
  std::int64_t viewed = 1, given = 1;
  for (std::size_t i = 0; i < port.view.size(); ++i) {
    const std::int64_t extent = port.view[i];
    const bool isAxis = std::string_view("NHWC").find(port.axes[i]) != std::string_view::npos &&
                        port.axes.find(port.axes[i]) == i && (port.axes[i] != 'N' || extent == 1);
    if (!isAxis || extent < 1 || extent > kMost / viewed) return false;
    viewed *= extent;
  }
  for (const std::int64_t extent : port.shape) {
    if (extent < 1 || extent > kMost / given) return false;
    given *= extent;
  }
  const Shape image = portImage(port);
  if (given != viewed) return false;
  return image == tensor ||
         (mayBeFolded && tensor.height == image.height && tensor.channels >= image.channels &&
          tensor.channels % image.channels == 0 &&
          tensor.width == divideRoundUp(image.width, tensor.channels / image.channels));
}

std::vector<std::int8_t> asHeld(std::span<const std::int8_t> images, const Shape& image,
                                const Shape& tensor, std::int8_t zeroPoint) {
  const auto row = static_cast<std::size_t>(image.width * image.channels),
             held = static_cast<std::size_t>(tensor.width * tensor.channels);
  HEDDLE_CHECK(row > 0 && row <= held && images.size() % row == 0)
      << images.size() << " values for rows of " << row << ", held in " << held;
  if (row == held) return {images.begin(), images.end()};
  std::vector<std::int8_t> values;
  values.reserve(images.size() / row * held);
  for (std::size_t at = 0; at < images.size(); at += row) {
    const auto own = images.subspan(at, row);
    values.insert(values.end(), own.begin(), own.end());
    values.insert(values.end(), held - row, zeroPoint);
  }
  return values;
}

std::int64_t ownWeightsInRow(const Conv& conv, std::int64_t inputChannels, std::int64_t first,
                             std::int64_t count) {
  const std::int64_t from = std::clamp<std::int64_t>(first, 0, inputChannels),
                     to = std::clamp<std::int64_t>(first + count, 0, inputChannels);
  if (!conv.folded) return conv.window.kernelX * (to - from);
  const Folding folding{conv.folded->columns, inputChannels / conv.folded->columns,
                        conv.folded->padLeft, conv.folded->kernelX};
  std::int64_t own = 0;
  for (std::int64_t x = 0; x < conv.window.kernelX; ++x) {
    const std::int64_t begin = std::max(folding.ownBegin(), x * inputChannels + from),
                       end = std::min(folding.ownEnd(), x * inputChannels + to);
    own += std::max<std::int64_t>(end - begin, 0);
  }
  return own;
}

std::int64_t ownElements(const CanonicalGraph& graph, const CanonicalOp& op, std::size_t operand) {
  const Shape& shape = graph.tensors[op.inputs[operand].at()].shape;
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  if (operand > 0 || !conv || !conv->folded) return shape.elements();
  return shape.height * conv->folded->width * (shape.channels / conv->folded->columns);
}

}  // namespace heddle
