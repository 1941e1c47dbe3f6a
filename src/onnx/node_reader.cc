#include "node_reader.h"

#include <algorithm>

namespace heddle::onnx_import {

using onnx::AttributeProto;

const Value& NodeReader::input(std::size_t i) const {
  if (!has(i)) throw Fault("input " + std::to_string(i) + " is missing");
  return graph_[inputs_[i]];
}

bool NodeReader::hasAttribute(const char* name) const {
  return std::ranges::any_of(proto_.attribute(), [&](const auto& a) { return a.name() == name; });
}

const AttributeProto* NodeReader::attribute(const char* name, AttributeProto::AttributeType type) {
  seen_.insert(name);
  for (const AttributeProto& found : proto_.attribute()) {
    if (found.name() != name) continue;
    if (found.type() != type) throw Fault(std::string("attribute ") + name + " has another type");
    return &found;
  }
  return nullptr;
}

std::int64_t NodeReader::integer(const char* name, std::int64_t otherwise) {
  const AttributeProto* found = attribute(name, AttributeProto::INT);
  return found ? found->i() : otherwise;
}

float NodeReader::real(const char* name, float otherwise) {
  const AttributeProto* found = attribute(name, AttributeProto::FLOAT);
  return found ? found->f() : otherwise;
}

std::string NodeReader::text(const char* name, const std::string& otherwise) {
  const AttributeProto* found = attribute(name, AttributeProto::STRING);
  return found ? found->s() : otherwise;
}

std::optional<Dims> NodeReader::integers(const char* name) {
  const AttributeProto* found = attribute(name, AttributeProto::INTS);
  if (!found) return std::nullopt;
  return Dims(found->ints().begin(), found->ints().end());
}

Dims NodeReader::extents(const char* name, std::size_t size, std::int64_t otherwise,
                         std::int64_t low) {
  const std::optional<Dims> found = integers(name);
  if (!found) return Dims(size, otherwise);
  if (found->size() != size)
    throw Fault(std::string("attribute ") + name + " has " + std::to_string(found->size()) +
                " entries, not " + std::to_string(size));
  for (const std::int64_t x : *found)
    if (x < low || x > kMaxExtent)
      throw Fault(std::string("attribute ") + name + " holds " + std::to_string(x));
  return *found;
}

void NodeReader::refuseUnread() const {
  std::string unread;
  for (const AttributeProto& a : proto_.attribute())
    if (!seen_.contains(a.name())) unread += (unread.empty() ? "" : ", ") + a.name();
  if (!unread.empty()) throw Fault("attributes that heddle does not know: " + unread);
}

const Value& NodeReader::constantInput(std::size_t i, const char* what) const {
  const Value& value = input(i);
  if (!value.constant)
    throw Fault(std::string("its ") + what + " ('" + value.name +
                "') is computed at run time; heddle needs a constant");
  return value;
}

std::optional<Dims> NodeReader::constantIntegers(std::size_t i, const char* what) const {
  if (!has(i)) return std::nullopt;
  const Value& value = constantInput(i, what);
  if (value.type == DataType::Int64) {
    const auto elements = value.elements<std::int64_t>();
    return Dims(elements.begin(), elements.end());
  }
  if (value.type == DataType::Int32) {
    const auto elements = value.elements<std::int32_t>();
    return Dims(elements.begin(), elements.end());
  }
  throw Fault(std::string("its ") + what + " is of " + toText(value.type) + ", not of integers");
}

std::optional<std::vector<double>> NodeReader::constantReals(std::size_t i,
                                                             const char* what) const {
  if (!has(i)) return std::nullopt;
  const Value& value = constantInput(i, what);
  const auto read = [&]<class T>(T) {
    const auto elements = value.elements<T>();
    return std::vector<double>(elements.begin(), elements.end());
  };
  switch (value.type) {
    case DataType::Float32:
      return read(float{});
    case DataType::Float64:
      return read(double{});
    case DataType::Int8:
      return read(std::int8_t{});
    case DataType::Bool:
    case DataType::Uint8:
      return read(std::uint8_t{});
    case DataType::Int32:
      return read(std::int32_t{});
    case DataType::Int64:
      return read(std::int64_t{});
  }
  return std::nullopt;
}

std::optional<double> NodeReader::constantScalar(std::size_t i, const char* what) const {
  const auto values = constantReals(i, what);
  if (!values) return std::nullopt;
  if (values->size() != 1)
    throw Fault(std::string("its ") + what + " has " + std::to_string(values->size()) +
                " elements, not one");
  return values->front();
}

std::int64_t NodeReader::axis(std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < -r || axis >= r)
    throw Fault("axis " + std::to_string(axis) + " is not one of rank " + std::to_string(rank));
  return axis < 0 ? axis + r : axis;
}

}  // namespace heddle::onnx_import
