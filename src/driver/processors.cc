#include "processors.h"

#include <sched.h>

#include <thread>

namespace heddle {

bool hasSecondProcessor() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return std::thread::hardware_concurrency() > 1;
  return CPU_COUNT(&allowed) > 1;
}

}  // namespace heddle
