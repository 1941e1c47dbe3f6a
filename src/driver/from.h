// Stages that begin with a file instead of the stage before: --from plan|memory-plan|program FILE.
#pragma once
#include <map>
#include <string>

#include "heddle/driver/compile.h"

namespace heddle {

// What the files give. Errors: those of the readers; PLAN011 a file that was made from another
// model or device. Whether it suits network and device is compile's to find out. A program has its
// weights.bin beside it. A plan or program may also be of the network without what is fused in it:
// that then goes on without.
Result<Given> readGiven(const std::map<Stage, std::string>& files, Network& network,
                        const Device& device);

}  // namespace heddle
