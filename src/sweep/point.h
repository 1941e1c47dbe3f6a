// A point of a sweep: one network on one device, compiled with one set of options. Its file is the
// truth about it; tables and pages are made of these.
//
//   DIR/points/3f9c....json    {"format":"heddle.point/1", "point":"3f9c...", ...}
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "columns.h"
#include "heddle/device/device.h"
#include "heddle/device/keys.h"
#include "heddle/driver/compile.h"
#include "heddle/driver/network.h"
#include "heddle/planner/make_plan.h"
#include "heddle/report/bounds.h"
#include "heddle/support/result.h"

namespace heddle {

// What is asked of every point.
struct PointSettings {
  bool propagate = true, verify = true, estimate = false;
  PlanOptions plan;
  std::uint64_t seed = 1;
  std::optional<Cycles> maxCycles;
  std::string version;  // of heddle
};

struct Point {
  std::string id;  // hex digits
  std::string version, model, modelSha256, deviceSha256;
  std::string settings;               // a line: what makes it another point, beside those
  std::vector<DeviceNumber> numbers;  // of the device; empty where it is none
  std::optional<Diagnostic> reason;   // why there is no time
  Figures values;                     // of the fixed columns, less point
  std::string status() const { return textIn(values, "status"); }
};

inline constexpr const char* kOk = "ok";
inline constexpr const char* kEstimated = "estimated";
inline constexpr const char* kRefused = "refused";  // it does not fit
inline constexpr const char* kFailed = "failed";
inline constexpr const char* kSkipped = "skipped";  // its lower bound breaks a --require
inline constexpr const char* kLimit = "limit";      // more than --max-cycles

struct PointNetwork {
  std::string model, sha256;  // the hash is of the model and of masks that drop any weight
  std::string masks = "none";
  std::int64_t batch = 1;  // inferences of a frame
};

// Of a network and a device, without any result. Where the device cannot be had, `deviceText` is
// whatever names it. The id depends on all arguments, and on the device and version by content.
Point pointOf(const PointNetwork& network, const std::string& deviceText,
              const PointSettings& settings);

// Columns with the role Key, as far as they follow from the device.
void addDevice(Point& point, const Device& device);
// Bounds, MACs and weights: what follows without compiling.
void addNeeds(Point& point, const CanonicalGraph& graph, const Bounds& bounds);
// The results of a point that was compiled, or with `settings.estimate` planned.
void addResults(Point& point, const Compilation& run, const PointSettings& settings);
// Why there are none: status and reason.
void refuse(Point& point, const Diagnostic& why);
void skip(Point& point, const std::string& requirement);

std::string pointJson(const Point& point);
// `name` stands for the file. Errors: SWEEP010 it is no point, or one of another format.
Result<Point> parsePoint(const std::string& text, const std::string& name);

}  // namespace heddle
