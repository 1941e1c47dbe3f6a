#include "model_file.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <limits>

namespace heddle::onnx_import {
namespace {

bool parse(google::protobuf::io::ZeroCopyInputStream& stream, onnx::ModelProto& model) {
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
  return model.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

Diagnostic notAModel(const std::string& name) {
  return {.code = "ONNX002",
          .where = name,
          .summary = "this is not an ONNX model",
          .what = "the file does not parse as onnx.ModelProto",
          .mend = "check that the file is whole"};
}

}  // namespace

Result<onnx::ModelProto> parseModel(std::string_view bytes, const std::string& name) {
  const QuietProtobuf quiet;
  onnx::ModelProto model;
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return notAModel(name);
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  if (!parse(stream, model) || !model.has_graph()) return notAModel(name);
  return model;
}

Result<onnx::ModelProto> readModel(const std::filesystem::path& path) {
  const QuietProtobuf quiet;
  std::error_code error;
  const int file =
      std::filesystem::is_regular_file(path, error) ? open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0)
    return Diagnostic{.code = "ONNX001",
                      .where = path.string(),
                      .summary = "the model cannot be opened",
                      .what = "there is no readable file of that name",
                      .mend = "check the path"};
  onnx::ModelProto model;
  google::protobuf::io::FileInputStream stream(file, 1 << 20);
  stream.SetCloseOnDelete(true);
  if (!parse(stream, model) || !model.has_graph()) return notAModel(path.string());
  return model;
}

std::filesystem::path folderOf(const std::filesystem::path& model) {
  return model.parent_path().empty() ? "." : model.parent_path();
}

}  // namespace heddle::onnx_import
