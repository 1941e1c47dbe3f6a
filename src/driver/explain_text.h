// An explanation of a run as `heddle explain` prints it.
#pragma once
#include <string>
#include <vector>

#include "heddle/report/explanation.h"
#include "heddle/report/raised_keys.h"

namespace heddle {

// One screen for the run: time, which keys of the device bind, spills, and the layers that lie
// furthest above their bounds; and one for a layer.
std::string explanationText(const Explanation& explanation, const std::vector<RaisedKeys>& keys);
std::string explanationText(const Explanation& explanation, const ExplainedLayer& layer);

// The same as one JSON object, all layers.
std::string explanationJson(const Explanation& explanation, const std::vector<RaisedKeys>& keys);
std::string explanationJson(const Explanation& explanation, const ExplainedLayer& layer);

// Entry `keys` of that object, alone. `cycles`: of the run as it is.
std::string raisedKeysJson(const std::vector<RaisedKeys>& keys, Cycles cycles);

}  // namespace heddle
