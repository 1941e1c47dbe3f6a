// A device description that is read once, for the many devices that a sweep makes from it.
//
//   HEDDLE_TRY(const DeviceDescription paper, DeviceDescription::read("paper"));
//   HEDDLE_TRY(const Device device, paper.device({.mesh = std::pair{4, 4}}));
#pragma once
#include <string>
#include <utility>

#include "heddle/device/device.h"
#include "heddle/device/yaml_tree.h"
#include "heddle/support/result.h"

namespace heddle {

class DeviceDescription {
 public:
  // `path` as of readDevice. Errors: DEV001, DEV002, DEV007.
  static Result<DeviceDescription> read(const std::string& path);
  // `name` stands for the path in messages. Errors: DEV002, DEV007.
  static Result<DeviceDescription> parse(std::string yaml, std::string name);

  const std::string& text() const { return yaml_; }  // as it was read

  // What readDevice gives for the same overrides; may be called on several threads at once. Errors:
  // the others of readDevice.
  Result<Device> device(const DeviceOverrides& overrides = {}) const;

 private:
  DeviceDescription(std::string yaml, std::string name, YamlNode root)
      : yaml_(std::move(yaml)), name_(std::move(name)), root_(std::move(root)) {}
  std::string yaml_, name_;
  YamlNode root_;
};

}  // namespace heddle
