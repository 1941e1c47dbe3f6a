#include "heddle/canon/canonical_graph.h"
