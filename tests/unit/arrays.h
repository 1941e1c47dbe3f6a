// NumPy arrays of given values.
#pragma once
#include <cstring>
#include <utility>
#include <vector>

#include "heddle/npy/npy.h"

namespace heddle::testing {

template <class T>
NpyArray arrayOf(NpyType type, std::vector<std::int64_t> shape, const std::vector<T>& values) {
  NpyArray array{.type = type, .shape = std::move(shape), .data = {}};
  array.data.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

}  // namespace heddle::testing
