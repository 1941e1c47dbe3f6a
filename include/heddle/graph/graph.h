// The ONNX network as read: operators of a closed set with their attributes, tensors with shapes and types.
#pragma once
#include "heddle/support/ids.h"
#include "heddle/support/result.h"
