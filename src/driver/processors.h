// The processors for work beside the main thread's.
#pragma once

namespace heddle {

// That this process may use, whatever the machine has.
bool hasSecondProcessor();

}  // namespace heddle
