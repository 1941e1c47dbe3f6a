// The same ONNX model with other values in some of its constants; all else of it stays, fields that
// heddle does not know included.
//
//   rewriteConstants("resnet50.onnx", {{"conv1.weight", bytes}})     the bytes of a new file
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "heddle/support/result.h"

namespace heddle {

// `constants` gives little-endian elements in row-major order, as many bytes as before, for
// initializers and for outputs of Constant nodes. External data move into the model, which needs no
// other file then.
// Errors: ONNX001, ONNX002, ONNX006, ONNX010 as of importOnnx; ONNX011 the file does not store a
// constant of that name, type and size.
Result<std::string> rewriteConstants(const std::filesystem::path& path,
                                     const std::map<std::string, std::string>& constants);

}  // namespace heddle
