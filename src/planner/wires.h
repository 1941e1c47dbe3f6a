// Which wires the paper's dataflow takes: one for the inputs of each column of cores, one for the
// weights of each row. And those of stream switches, which lead anywhere.
#pragma once
#include <vector>

#include "heddle/device/device.h"
#include "heddle/support/result.h"

namespace heddle {

struct DataflowWires {
  std::vector<std::int64_t> columns, rows;
  std::int64_t rowChannel = 0;  // of a core, that the rows' wires lead to; the columns' lead to 0
  bool rowsTakeAll = false;     // every memtile feeds each of the rows' wires
  // Those that reach every core and that every memtile feeds; none where there is but one.
  std::vector<std::int64_t> anywhere;
};

// The memtile in which the weights of a row of cores wait.
std::int64_t weightMemtile(const Device& device, std::int64_t row);

// The narrowest wires that reach whole columns and rows, each its own as far as there are enough.
// Errors: PLAN002 a column or row that no wire reaches whole, or that a memtile it needs cannot
//         feed.
Result<DataflowWires> chooseWires(const Device& device);

}  // namespace heddle
