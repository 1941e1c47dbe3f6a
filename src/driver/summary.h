// What a person reads first.
#pragma once
#include <string>

#include "heddle/report/report.h"

namespace heddle {

//   resnet50 on paper 4x4
//   time      4.831 ms (4831002 cycles at 1 GHz), 60 % of what the device's bounds allow
//   proof     72 tensors, 11032576 bytes: each equal to the reference interpreter's
std::string summary(const Report& report);

//   frames    32: the first after 4.831 ms, then one every 4.102 ms, 243.8 a second
// Nothing where there is one.
//   batch     4 inferences together, one every 1.384 ms, 722.5 a second
//   frames    8 of 4 inferences: the first after 5.536 ms, then one inference every 1.384 ms, 722.5
//   a second
std::string framesLine(std::int64_t frames, std::int64_t batch, const FrameTimes& times,
                       Hertz clock);

std::string milliseconds(double seconds);  // "4.831 ms"
std::string clockText(Hertz clock);        // "1 GHz"

}  // namespace heddle
