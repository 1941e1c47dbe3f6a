// Reads an ONNX file (operator sets 10 to 25, as far as they mean the same) into a Graph: constant
// inputs become attributes, shape arithmetic is folded away, every shape is inferred, and every
// fault of the file is reported.
//
//   importOnnx("resnet50.onnx", {.shapes = {{"input", {1, 3, 224, 224}}}})
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "heddle/graph/graph.h"
#include "heddle/support/result.h"

namespace heddle {

struct ImportOptions {
  std::map<std::string, Dims>
      shapes;  // of graph inputs, in place of those in the file; needed where they are dynamic
};

// Errors: ONNX001 no such file, ONNX002 not an ONNX model, ONNX003 operator set not supported,
// ONNX004 unsupported operators (all of them in one diagnostic), ONNX005 faulty tensor, ONNX006
// external data, ONNX007 faulty structure, ONNX008 shape of an input, ONNX009 a node that does not
// fit its inputs, ONNX010 too large.
Result<Graph> importOnnx(const std::filesystem::path& path, const ImportOptions& options = {});

// The same for a model in memory called `name`; external data is refused.
Result<Graph> importOnnx(std::string_view bytes, const std::string& name,
                         const ImportOptions& options = {});

}  // namespace heddle
