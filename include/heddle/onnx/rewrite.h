// The same ONNX model with other values in some of its constants; all else of it stays, fields that
// heddle does not know included.
//
//   rewriteConstants("resnet50.onnx", {{"conv1.weight", {bytes, zero}}})     the bytes of a new
//   file
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "heddle/support/result.h"

namespace heddle {

struct NewConstant {
  std::string bytes;       // little-endian elements in row-major order, as many bytes as before
  std::vector<bool> zero;  // elements that change, all of them to a zero point
};

// `constants` are initializers, outputs of Constant nodes, or what a QuantizeLinear node makes of
// either: there the real numbers become zero, if nothing else reads them. External data move into
// the model, which needs no other file then.
// Errors: ONNX001, ONNX002, ONNX006, ONNX010 as of importOnnx; ONNX011 the file does not store a
// constant of that name, type and size.
Result<std::string> rewriteConstants(const std::filesystem::path& path,
                                     const std::map<std::string, NewConstant>& constants);

}  // namespace heddle
