// The `wires` of a description, for any rectangle of cores:
//
//   wires:
//     - {name: column, oneForEach: column, reach: column, feeders: any}    column0, column1, ...
//     - {name: row, oneForEach: row, reach: any, feeders: [0, 1]}          row0, row1, ...
//     - {name: extra, reach: {rows: 0-3, columns: 2}, feeders: [2]}        one wire, written out
//
// oneForEach: column or row; left out for a single wire. reach: column or row (its own), any, or a
// rectangle. feeders: any, own (the memtile of its own column) or a list of memtiles.
#pragma once
#include <string>
#include <vector>

#include "heddle/device/device.h"
#include "heddle/device/yaml_tree.h"
#include "heddle/support/fault_list.h"

namespace heddle {

// Resolves the wires for device.rows x device.columns and appends them. Faults DEV003 .. DEV008 go
// to `faults`.
void readWires(const YamlNode& node, const std::string& file, Device& device, FaultList& faults);

// One line of YAML a wire, written out.
std::string printWires(const Device& device);

}  // namespace heddle
