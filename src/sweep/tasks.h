// The points of a sweep before they are compiled: every network, with every choice of masks and
// batch, on the device of a place of the grid.
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grid.h"
#include "heddle/device/description.h"
#include "heddle/driver/network.h"
#include "heddle/sweep/options.h"
#include "mask_choices.h"
#include "point.h"
#include "questions.h"

namespace heddle {

struct Task {
  Point point;
  std::int64_t place = 0;
  std::size_t network = 0;            // of SweepNetworks
  std::optional<std::string> broken;  // the requirement that its lower bound breaks
  bool done = false;
};

// With each choice of masks, and of these with each batch, all networks, one after another.
class SweepNetworks {
 public:
  // Errors: SWEEP008 no network, or two of one name; SWEEP013; those of readNetwork.
  static Result<SweepNetworks> read(const SweepOptions& options,
                                    const std::vector<MaskChoice>& masks,
                                    const std::vector<std::int64_t>& batches,
                                    const PointSettings& settings);

  std::size_t each() const { return names_.size(); }  // with one choice of masks and batch
  // The first of those with this choice.
  std::size_t first(std::size_t masks, std::size_t batch) const {
    return (masks * batches_ + batch) * each();
  }
  const std::vector<std::string>& names() const { return names_; }
  std::size_t size() const { return networks_.size(); }
  // Where it is refused, of one inference.
  const Network& at(std::size_t network) const { return *networks_[network].network; }
  // Why so many inferences of it together are none that is compiled; null where they are.
  const Diagnostic* refusalOf(std::size_t network) const {
    const std::optional<Diagnostic>& refusal = networks_[network].refusal;
    return refusal ? &*refusal : nullptr;
  }
  PointNetwork nameOf(std::size_t network) const;
  std::string masksFileOf(std::size_t network) const;  // empty where it has none

 private:
  std::vector<std::string> names_;
  const MaskChoice& masksOf(std::size_t network) const {
    return masks_[network / (batches_ * each())];
  }

  std::vector<MaskChoice> masks_;
  std::size_t batches_ = 1;
  struct Entry {
    std::shared_ptr<const Network> network;
    std::int64_t batch = 1;
    std::optional<Diagnostic> refusal;
  };
  std::vector<Entry> networks_;
};
// Errors: SWEEP008.
Result<std::vector<std::string>> networkNames(const SweepOptions& options);

class TaskMaker {
 public:
  // All of them outlive it.
  TaskMaker(const SweepOptions& options, const PointSettings& settings, const Grid& grid,
            const DeviceDescription& description, const SweepNetworks& networks,
            const Questions& questions)
      : options_(options),
        settings_(settings),
        grid_(grid),
        description_(description),
        networks_(networks),
        questions_(questions) {}

  // Of all networks on the device of a place. None where --where leaves it out, or where another
  // place was the same device: '4GB/s,4000MB/s' is one value.
  std::vector<Task> tasksAt(std::int64_t place);

 private:
  Task taskOf(std::size_t network, std::int64_t place, const Result<Device>& device) const;
  void findBroken(std::vector<Task>& tasks, const Device& device) const;

  const SweepOptions& options_;
  const PointSettings& settings_;
  const Grid& grid_;
  const DeviceDescription& description_;
  const SweepNetworks& networks_;
  const Questions& questions_;
  std::set<std::string> ids_;
};

}  // namespace heddle
