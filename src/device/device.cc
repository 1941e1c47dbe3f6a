#include "heddle/device/device.h"
