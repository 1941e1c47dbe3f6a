// How much work a host operator is, from shapes alone.
//
//   Conv 3x3 of 8 channels to 1x4x10x10: 400 outputs of 72 products each, 28800
#include <algorithm>

#include "host_kernels.h"

namespace heddle::host {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 62;

std::int64_t saturatingProduct(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMost : std::min(product, kMost);
}

std::int64_t productOf(const Dims& extents) {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) product = saturatingProduct(product, extent);
  return product;
}

// Products that one output element sums.
std::int64_t termsOf(const Graph& graph, const Node& node) {
  if (const auto* conv = std::get_if<ConvAttributes>(&node.attributes)) {
    const Dims& x = graph[node.inputs.at(0)].shape;
    return saturatingProduct(x[1] / conv->group, productOf(conv->kernel));
  }
  if (const auto* pool = std::get_if<PoolAttributes>(&node.attributes))
    return productOf(pool->kernel);
  const Dims& x = graph[node.inputs.at(0)].shape;
  if (const auto* gemm = std::get_if<GemmAttributes>(&node.attributes))
    return x[gemm->transA ? 0 : 1];
  const bool isMatrix = node.kind == NodeKind::MatMul || node.kind == NodeKind::MatMulInteger ||
                        node.kind == NodeKind::QLinearMatMul;
  if (node.kind == NodeKind::Min || node.kind == NodeKind::Max) return std::ssize(node.inputs);
  return isMatrix ? x.back() : 1;
}

}  // namespace

std::int64_t saturatingSum(std::int64_t a, std::int64_t b) { return a > kMost - b ? kMost : a + b; }

std::int64_t operationsOf(const Graph& graph, const Node& node) {
  std::int64_t inputs = 0, outputs = 0;
  for (const ValueId id : node.inputs)
    if (id.valid()) inputs += elementCount(graph[id].shape);
  for (const ValueId id : node.outputs)
    if (id.valid()) outputs += elementCount(graph[id].shape);
  return saturatingSum(inputs, saturatingProduct(outputs, 1 + termsOf(graph, node)));
}

}  // namespace heddle::host
