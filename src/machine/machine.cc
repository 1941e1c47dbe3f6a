#include "heddle/machine/machine.h"
