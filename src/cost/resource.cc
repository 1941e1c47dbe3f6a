#include "heddle/cost/resource.h"

namespace heddle {

std::string_view name(Resource resource) {
  switch (resource) {
    case Resource::Compute:
      return "compute";
    case Resource::WeightsWire:
      return "weights wire";
    case Resource::InputWire:
      return "input wire";
    case Resource::Output:
      return "output";
    case Resource::DdrRead:
      return "DDR read";
    case Resource::DdrWrite:
      return "DDR write";
    case Resource::Sequencer:
      return "sequencer";
  }
  return "";
}

}  // namespace heddle
