#include "heddle/onnx/rewrite.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "model_builder.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

class Rewrite : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() /
              (std::string("heddle-rewrite-") + test->name() + "-" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  // A model of one initializer "w" that its only node reads.
  onnx::TensorProto& weight(std::int32_t type, std::int64_t size) {
    const std::string x = builder_.input("x", {size});
    builder_.output(builder_.op("Add", {x, builder_.dequantized("w", 1)}));
    auto& tensor = *builder_.graph().add_initializer();
    tensor.set_name("w");
    tensor.set_data_type(type);
    tensor.add_dims(size);
    return tensor;
  }
  Result<std::string> rewritten(const std::map<std::string, std::string>& constants) const {
    return rewriteConstants(write("model.onnx", builder_.bytes()), changes(constants));
  }
  // Every element that is a NUL byte counts as made zero.
  static std::map<std::string, NewConstant> changes(
      const std::map<std::string, std::string>& constants) {
    std::map<std::string, NewConstant> result;
    for (const auto& [name, bytes] : constants) {
      std::vector<bool> zero;
      for (const char byte : bytes) zero.push_back(byte == 0);
      result[name] = {bytes, zero};
    }
    return result;
  }
  std::string codeOf(const std::map<std::string, std::string>& constants) const {
    const Result<std::string> result = rewritten(constants);
    return result ? "" : result.diagnostics().at(0).code;
  }
  static std::string constantOf(const std::string& model, const std::string& name) {
    const Result<Graph> graph = importOnnx(std::string_view(model), "again.onnx");
    HEDDLE_CHECK(graph) << toText(graph.diagnostics());
    for (const Value& value : graph->values)
      if (value.name == name && value.constant) return *value.constant;
    return "(absent)";
  }

  fs::path folder_;
  ModelBuilder builder_;
};

TEST_F(Rewrite, ReplacesRawData) {
  weight(onnx::TensorProto::INT8, 3).set_raw_data("\x01\x02\x03", 3);
  const Result<std::string> model = rewritten({{"w", "abc"}});
  ASSERT_TRUE(model) << model.diagnostics();
  EXPECT_EQ(constantOf(*model, "w"), "abc");
}

TEST_F(Rewrite, ReplacesTypedDataOfBothSigns) {
  for (const auto type : {onnx::TensorProto::INT8, onnx::TensorProto::UINT8}) {
    builder_ = ModelBuilder();
    auto& tensor = weight(type, 2);
    if (type == onnx::TensorProto::UINT8)
      builder_.graph().mutable_node(0)->mutable_input()->RemoveLast();
    for (const int value : {1, 2}) tensor.add_int32_data(value);
    const Result<std::string> model = rewritten({{"w", "\xfe\x05"}});
    ASSERT_TRUE(model) << model.diagnostics();
    EXPECT_EQ(constantOf(*model, "w"), "\xfe\x05");
    onnx::ModelProto again;
    ASSERT_TRUE(again.ParseFromString(*model));
    for (const auto& w : again.graph().initializer())
      if (w.name() == "w") {
        EXPECT_EQ(w.int32_data(0), type == onnx::TensorProto::INT8 ? -2 : 254);
        EXPECT_FALSE(w.has_raw_data());
      }
  }
}

TEST_F(Rewrite, ReplacesTheValueOfAConstantNode) {
  const std::string x = builder_.input("x", {2});
  auto& node = builder_.node("Constant", {});
  auto& value = *node.add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(onnx::TensorProto::INT8);
  value.mutable_t()->add_dims(2);
  value.mutable_t()->set_raw_data("ab");
  const std::string name = node.output(0);
  builder_.output(builder_.op("Add", {x, builder_.dequantized(name, 1)}));
  const Result<std::string> model = rewritten({{name, "xy"}});
  ASSERT_TRUE(model) << model.diagnostics();
  EXPECT_EQ(constantOf(*model, name), "xy");
}

TEST_F(Rewrite, BehindAQuantizeLinearTheRealNumbersBecomeZero) {
  for (const bool raw : {true, false}) {
    builder_ = ModelBuilder();
    const std::string x = builder_.input("x", {3});
    const std::string w = builder_.floats({3}, {1, 2, 3});
    if (!raw) {
      auto& tensor = *builder_.graph().mutable_initializer()->rbegin();
      tensor.clear_raw_data();
      for (const float value : {1.F, 2.F, 3.F}) tensor.add_float_data(value);
    }
    const std::string q = builder_.quantized(w, 0.5F, 7);
    builder_.output(builder_.op("Add", {x, builder_.dequantized(q, 0.5F, 7)}));
    const Result<std::string> model = rewriteConstants(
        write("model.onnx", builder_.bytes()), {{q, {"\x09\x07\x0d", {false, true, false}}}});
    ASSERT_TRUE(model) << model.diagnostics();
    EXPECT_EQ(constantOf(*model, q), "\x09\x07\x0d");
    builder_.output(builder_.op("Relu", {w}));  // another reader
    EXPECT_EQ(codeOf({{q, "abc"}}), "ONNX011");
  }
}

TEST_F(Rewrite, ExternalDataMoveIn) {
  auto& tensor = weight(onnx::TensorProto::INT8, 3);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto* entry = tensor.add_external_data();
  entry->set_key("location");
  entry->set_value("w.bin");
  EXPECT_EQ(codeOf({}), "ONNX006");
  write("w.bin", "xyz");
  const Result<std::string> same = rewritten({});
  ASSERT_TRUE(same) << same.diagnostics();
  EXPECT_EQ(constantOf(*same, "w"), "xyz");
  EXPECT_EQ(constantOf(*rewritten({{"w", "abc"}}), "w"), "abc");
}

TEST_F(Rewrite, WhatHeddleDoesNotKnowSurvives) {
  auto& tensor = weight(onnx::TensorProto::INT8, 2);
  tensor.set_raw_data("ab");
  tensor.set_doc_string("a note");
  builder_.model().set_producer_name("somebody");
  auto* property = builder_.model().add_metadata_props();
  property->set_key("k");
  property->set_value("v");
  // Field 3000, length-delimited: of no ModelProto and no TensorProto.
  const std::string unknown("\xc2\xbb\x01\x06secret", 10);
  std::string nested = tensor.SerializeAsString() + unknown;
  ASSERT_TRUE(tensor.ParseFromString(nested));
  const fs::path path = write("model.onnx", builder_.bytes() + unknown);
  const Result<std::string> model = rewriteConstants(path, changes({{"w", "xy"}}));
  ASSERT_TRUE(model) << model.diagnostics();
  onnx::ModelProto wanted, got;
  ASSERT_TRUE(wanted.ParseFromString(builder_.bytes() + unknown));
  for (auto& w : *wanted.mutable_graph()->mutable_initializer())
    if (w.name() == "w") w.set_raw_data("xy");
  ASSERT_TRUE(got.ParseFromString(*model));
  EXPECT_EQ(got.SerializeAsString(), wanted.SerializeAsString());
  const std::size_t first = model->find(unknown);
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(model->find(unknown, first + 1), std::string::npos);
}

TEST_F(Rewrite, RefusesWhatTheFileDoesNotStore) {
  weight(onnx::TensorProto::INT8, 2).set_raw_data("ab");
  EXPECT_EQ(codeOf({{"w", "xy"}}), "");
  EXPECT_EQ(codeOf({{"v", "xy"}}), "ONNX011");
  EXPECT_EQ(codeOf({{"w", "xyz"}}), "ONNX011");
  builder_.graph().mutable_initializer()->rbegin()->set_data_type(onnx::TensorProto::BOOL);
  EXPECT_EQ(codeOf({{"w", "xy"}}), "ONNX011");
}

TEST_F(Rewrite, RefusesWhatIsNoModel) {
  EXPECT_EQ(rewriteConstants(folder_ / "absent.onnx", {}).diagnostics().at(0).code, "ONNX001");
  EXPECT_EQ(rewriteConstants(write("m.onnx", "x"), {}).diagnostics().at(0).code, "ONNX002");
}

}  // namespace
}  // namespace heddle
