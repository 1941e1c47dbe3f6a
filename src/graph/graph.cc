#include "heddle/graph/graph.h"
