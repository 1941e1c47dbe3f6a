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
std::string framesLine(std::int64_t frames, const FrameTimes& times, Hertz clock);

std::string milliseconds(double seconds);  // "4.831 ms"
std::string clockText(Hertz clock);        // "1 GHz"

}  // namespace heddle
