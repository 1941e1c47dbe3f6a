// Masks as a dimension of a sweep: the networks as they are, and with weights that masks drop.
//
//   --masks none,half.npz                    of one network; column masks: none, half
//   --masks 'none,masks/{model}-50.npz'      of any number; {model} is the network's name; none, 50
#pragma once
#include <string>
#include <vector>

#include "heddle/support/result.h"
#include "heddle/sweep/options.h"

namespace heddle {

struct MaskChoice {
  std::string name = "none";
  std::string file;  // empty: no masks; {model} in it is the name of the network
  std::string fileOf(const std::string& network) const;
};

// One without masks where none are asked for. Errors: SWEEP013 one file for several networks, two
// choices of one name, masks that are applied where there are none.
Result<std::vector<MaskChoice>> readMaskChoices(const SweepOptions& options);

// "half" of folder/half.npz; of {model}-50.masks.npz "50".
std::string maskName(const std::string& file);

}  // namespace heddle
