// Products and pools: Conv, Gemm, MatMul, MaxPool, AveragePool and the global pools, batch and
// channels first.
#include <algorithm>
#include <limits>

#include "heddle/support/check.h"
#include "host_kernels.h"

namespace heddle::host {
namespace {

// `input` and `output` are N, C, spatial...; `attributes` has one entry per spatial axis.
template <class Attributes>
SpatialWindow windowOf(const Attributes& attributes, const Dims& input, const Dims& output) {
  SpatialWindow window;
  const std::size_t rank = input.size() - 2;
  HEDDLE_CHECK(rank <= 3) << "spatial axes: " << rank;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t axis = 3 - rank + i;
    window.input[axis] = input[i + 2];
    window.output[axis] = output[i + 2];
    window.kernel[axis] = attributes.kernel[i];
    window.stride[axis] = attributes.strides[i];
    window.dilation[axis] = attributes.dilations[i];
    window.before[axis] = attributes.pads[i];
    window.after[axis] = attributes.pads[i + rank];
  }
  return window;
}

// Calls visit(tap, position) for the taps of output `at` that lie in the image; both are flat
// indices.
template <class Visit>
void forEachTapInside(const SpatialWindow& w, const std::int64_t (&at)[3], Visit visit) {
  for (std::int64_t d = 0; d < w.kernel[0]; ++d) {
    const std::int64_t z = w.source(0, at[0], d);
    if (!w.inside(0, z)) continue;
    for (std::int64_t h = 0; h < w.kernel[1]; ++h) {
      const std::int64_t y = w.source(1, at[1], h);
      if (!w.inside(1, y)) continue;
      for (std::int64_t v = 0; v < w.kernel[2]; ++v) {
        const std::int64_t x = w.source(2, at[2], v);
        if (w.inside(2, x))
          visit((d * w.kernel[1] + h) * w.kernel[2] + v, (z * w.input[1] + y) * w.input[2] + x);
      }
    }
  }
}

// Calls visit(flat, at) for every output position of one channel.
template <class Visit>
void forEachOutput(const SpatialWindow& w, Visit visit) {
  std::int64_t flat = 0;
  for (std::int64_t z = 0; z < w.output[0]; ++z)
    for (std::int64_t y = 0; y < w.output[1]; ++y)
      for (std::int64_t x = 0; x < w.output[2]; ++x) visit(flat++, {z, y, x});
}

void convolution(Call& call) {
  const auto& attributes = call.attributes<ConvAttributes>();
  const HostTensor &x = call.input(0), &weights = call.input(1);
  const SpatialWindow window = windowOf(attributes, x.shape, call.output.shape);
  const std::int64_t cout = call.output.shape[1], cin = x.shape[1] / attributes.group;
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for (std::int64_t c = 0; c < cout; ++c) {
      const std::int64_t first = n * x.shape[1] + c / (cout / attributes.group) * cin;
      double* to = call.output.values.data() + (n * cout + c) * window.outputs();
      const double bias = call.has(2) ? call.input(2).values[static_cast<std::size_t>(c)] : 0;
      forEachOutput(window, [&](std::int64_t flat, const std::int64_t(&at)[3]) {
        double sum = bias;
        for (std::int64_t i = 0; i < cin; ++i) {
          const double* from = x.values.data() + (first + i) * window.inputs();
          const double* kernel = weights.values.data() + (c * cin + i) * window.taps();
          forEachTapInside(window, at, [&](std::int64_t tap, std::int64_t position) {
            sum += from[position] * kernel[tap];
          });
        }
        to[flat] = sum;
      });
    }
}

// to[m][n] += sum over k of a(m, k) * b(k, n); each matrix is given by its two strides.
struct Matrix {
  const double* data;
  std::int64_t rowStride, columnStride;
  double at(std::int64_t row, std::int64_t column) const {
    return data[row * rowStride + column * columnStride];
  }
};
void multiply(const Matrix& a, const Matrix& b, std::int64_t rows, std::int64_t depth,
              std::int64_t columns, double* to) {
  for (std::int64_t m = 0; m < rows; ++m)
    for (std::int64_t k = 0; k < depth; ++k) {
      const double factor = a.at(m, k);
      for (std::int64_t n = 0; n < columns; ++n) to[m * columns + n] += factor * b.at(k, n);
    }
}

void gemm(Call& call) {
  const auto& attributes = call.attributes<GemmAttributes>();
  const HostTensor &a = call.input(0), &b = call.input(1);
  const std::int64_t rows = call.output.shape[0], columns = call.output.shape[1];
  const std::int64_t depth = attributes.transA ? a.shape[0] : a.shape[1];
  const Matrix left =
      attributes.transA ? Matrix{a.values.data(), 1, rows} : Matrix{a.values.data(), depth, 1};
  const Matrix right =
      attributes.transB ? Matrix{b.values.data(), 1, depth} : Matrix{b.values.data(), columns, 1};
  multiply(left, right, rows, depth, columns, call.output.values.data());
  const Dims strides =
      call.has(2) ? broadcastStrides(call.input(2).shape, call.output.shape) : Dims{};
  forEachElement(call.output.shape, [&](std::size_t flat, const Dims& index) {
    double& value = call.output.values[flat];
    value *= attributes.alpha;
    if (!call.has(2)) return;
    const std::int64_t from = index[0] * strides[0] + index[1] * strides[1];
    value += attributes.beta * call.input(2).values[static_cast<std::size_t>(from)];
  });
}

// NumPy's matmul: a vector counts as a row or a column, leading axes are broadcast.
void matrixProduct(Call& call) {
  Dims a = call.input(0).shape, b = call.input(1).shape, output = call.output.shape;
  if (a.size() == 1) {
    a.insert(a.begin(), 1);
    output.insert(output.end() - (b.size() == 1 ? 0 : 1), 1);
  }
  if (b.size() == 1) {
    b.push_back(1);
    output.push_back(1);
  }
  const std::int64_t rows = a[a.size() - 2], depth = a.back(), columns = b.back();
  const auto batch = [](const Dims& shape) { return Dims(shape.begin(), shape.end() - 2); };
  const Dims batches = batch(output);
  const Dims stridesA = broadcastStrides(batch(a), batches),
             stridesB = broadcastStrides(batch(b), batches);
  forEachElement(batches, [&](std::size_t flat, const Dims& index) {
    std::int64_t fromA = 0, fromB = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      fromA += index[i] * stridesA[i];
      fromB += index[i] * stridesB[i];
    }
    multiply({call.input(0).values.data() + fromA * rows * depth, depth, 1},
             {call.input(1).values.data() + fromB * depth * columns, columns, 1}, rows, depth,
             columns, call.output.values.data() + static_cast<std::int64_t>(flat) * rows * columns);
  });
}

// Taps in the image, or with countIncludePad in the image and its padding.
std::int64_t countedTaps(const SpatialWindow& w, const std::int64_t (&at)[3], bool includePad) {
  std::int64_t count = 1;
  for (int axis = 0; axis < 3; ++axis) {
    std::int64_t along = 0;
    for (std::int64_t tap = 0; tap < w.kernel[axis]; ++tap) {
      const std::int64_t position = w.source(axis, at[axis], tap);
      const std::int64_t low = includePad ? -w.before[axis] : 0;
      const std::int64_t high = w.input[axis] + (includePad ? w.after[axis] : 0);
      along += position >= low && position < high;
    }
    count *= along;
  }
  return count;
}

}  // namespace

void product(Call& call) {
  if (call.node.kind == NodeKind::Conv) return convolution(call);
  if (call.node.kind == NodeKind::Gemm) return gemm(call);
  matrixProduct(call);
}

void pool(Call& call) {
  const auto& attributes = call.attributes<PoolAttributes>();
  HEDDLE_CHECK(!attributes.channelsLast) << call.node.name;
  const HostTensor& x = call.input(0);
  const SpatialWindow window = windowOf(attributes, x.shape, call.output.shape);
  const bool maximum =
      call.node.kind == NodeKind::MaxPool || call.node.kind == NodeKind::GlobalMaxPool;
  for (std::int64_t plane = 0; plane < x.shape[0] * x.shape[1]; ++plane) {
    const double* from = x.values.data() + plane * window.inputs();
    double* to = call.output.values.data() + plane * window.outputs();
    forEachOutput(window, [&](std::int64_t flat, const std::int64_t(&at)[3]) {
      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      forEachTapInside(window, at, [&](std::int64_t, std::int64_t position) {
        largest = std::max(largest, from[position]);
        sum += from[position];
      });
      const bool includePad = attributes.countIncludePad;
      to[flat] = maximum ? largest : sum / static_cast<double>(countedTaps(window, at, includePad));
    });
  }
}

}  // namespace heddle::host
