// Reads an ONNX file (operator sets 10 to 25, as far as they mean the same) into a Graph: constant
// inputs become attributes, shape arithmetic is folded away, every shape is inferred, and every
// fault of the file is reported.
//
//   importOnnx("resnet50.onnx", {.shapes = {{"input", {1, 3, 224, 224}}}})
// | code    | when                                                                       |
// |---------|----------------------------------------------------------------------------|
// | ONNX001 | the file cannot be opened                                                  |
// | ONNX002 | it is not an ONNX model                                                    |
// | ONNX003 | its operator set is not supported                                          |
// | ONNX004 | it uses operators that heddle does not know; all of them in one diagnostic |
// | ONNX005 | a tensor's type is not supported, or its data do not fit its shape         |
// | ONNX006 | external data outside of the model's folder, absent or too short           |
// | ONNX007 | the structure is faulty: undefined or doubled values, a cycle, no outputs  |
// | ONNX008 | an input's shape is dynamic or empty, or the chosen one does not fit       |
// | ONNX009 | a node's attributes or inputs do not fit                                   |
// | ONNX010 | a shape, computed constants or external data are too large                 |
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

Result<Graph> importOnnx(const std::filesystem::path& path, const ImportOptions& options = {});

// The same for a model in memory called `name`; external data is refused.
Result<Graph> importOnnx(std::string_view bytes, const std::string& name,
                         const ImportOptions& options = {});

}  // namespace heddle
