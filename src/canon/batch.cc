#include "heddle/canon/batch.h"

#include <string>
#include <utility>
#include <vector>

#include "fits.h"
#include "heddle/support/check.h"

namespace heddle {
namespace {

// The rows of each image behind those of the one before; what follows on becomes one run.
AxisMap repeated(const AxisMap& map, std::int64_t batch, std::int64_t to, std::int64_t from) {
  AxisMap all;
  for (std::int64_t image = 0; image < batch; ++image)
    for (AxisRun run : map) {
      run.to += image * to;
      run.from += image * from;
      AxisRun* before = all.empty() ? nullptr : &all.back();
      const bool goesOn = before && before->toStep == run.toStep &&
                          before->fromStep == run.fromStep &&
                          before->to + before->count * run.toStep == run.to &&
                          before->from + before->count * run.fromStep == run.from;
      if (goesOn)
        before->count += run.count;
      else
        all.push_back(run);
    }
  return all;
}

}  // namespace

CanonicalGraph withBatch(CanonicalGraph graph, std::int64_t batch) {
  HEDDLE_CHECK(graph.batch == 1 && batch >= 1) << graph.batch << ", " << batch;
  graph.batch = batch;
  for (CanonicalOp& op : graph.ops) {
    auto* assemble = std::get_if<Assemble>(&op.attributes);
    if (!assemble) continue;
    const std::int64_t to = graph.tensors[op.output.at()].shape.height;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      AxisMap& rows = assemble->parts[i].mapY;
      rows = repeated(rows, batch, to, graph.tensors[op.inputs[i].at()].shape.height);
    }
  }
  for (CanonicalTensor& tensor : graph.tensors) {
    tensor.shape.height *= batch;
    const std::vector<std::int8_t> one = tensor.constant;
    for (std::int64_t image = 1; image < batch; ++image)
      tensor.constant.insert(tensor.constant.end(), one.begin(), one.end());
  }
  return graph;
}

Diagnostics beyondLimits(const CanonicalGraph& one, std::int64_t batch) {
  if (batch == 1) return {};  // canonicalize has looked
  Diagnostics found = canon::beyondLimits(withBatch(one, batch));
  for (Diagnostic& diagnostic : found) {
    diagnostic.where += ", a batch of " + std::to_string(batch);
    diagnostic.mend = "choose a smaller batch";
  }
  return found;
}

Shape imageShape(const CanonicalGraph& graph, TensorId tensor) {
  Shape shape = graph.tensors[tensor.at()].shape;
  shape.height /= graph.batch;
  return shape;
}

}  // namespace heddle
