// ONNX files as protobuf messages.
#pragma once
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "heddle/support/result.h"

namespace heddle::onnx_import {

// Protobuf logs faults of the input to stderr; the diagnostics say it instead.
class QuietProtobuf {
 public:
  QuietProtobuf() : old_(google::protobuf::SetLogHandler(nullptr)) {}
  ~QuietProtobuf() { google::protobuf::SetLogHandler(old_); }
  QuietProtobuf(const QuietProtobuf&) = delete;
  QuietProtobuf& operator=(const QuietProtobuf&) = delete;

 private:
  google::protobuf::LogHandler* old_;
};

// Errors: ONNX001, ONNX002.
Result<onnx::ModelProto> readModel(const std::filesystem::path& path);
Result<onnx::ModelProto> parseModel(std::string_view bytes, const std::string& name);

// Where external data of a model lie.
std::filesystem::path folderOf(const std::filesystem::path& model);

}  // namespace heddle::onnx_import
