// In which order points are compiled: those that may share a program one after another.
//
//   4x4, DDR 2 GB/s   a  b                   a on 4x4 with 2, 4 GB/s | b on 4x4 with 2, 4 GB/s
//   4x4, DDR 4 GB/s   a  b          ->       a on 8x8 with 2, 4 GB/s | b on 8x8 with 2, 4 GB/s
//   8x8, DDR 2 GB/s   a  b ...
#pragma once
#include <cstddef>
#include <vector>

#include "tasks.h"

namespace heddle {

struct Batch {
  std::vector<std::size_t> tasks;  // in order; one thread's
  bool shared = false;             // with these, or with those of another batch
};

// Of the tasks in `toDo`, in their order: of neighbours on one mesh, those of a network for devices
// that differ only in rates and times. At most `longest` in a batch.
std::vector<Batch> batchesOf(const std::vector<Task>& tasks, const std::vector<std::size_t>& toDo,
                             std::size_t longest);

// The same tasks in their order, so that a budget leaves whole devices.
std::vector<Batch> oneByOne(const std::vector<Batch>& batches);

}  // namespace heddle
