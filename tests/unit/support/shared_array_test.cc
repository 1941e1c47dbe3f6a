#include "heddle/support/shared_array.h"

#include <gtest/gtest.h>

#include <optional>
#include <type_traits>

namespace heddle {
namespace {

using Array = SharedArray<std::int8_t>;

TEST(SharedArray, ACopySharesTheElements) {
  const Array a(std::vector<std::int8_t>{1, 2, 3});
  const std::vector<Array> copies(2, a);
  for (const Array& copy : copies) {
    EXPECT_EQ(copy.data(), a.data());
    EXPECT_EQ(copy, (Array{1, 2, 3}));
  }
}

TEST(SharedArray, WhoChangesOneChangesNoOther) {
  const Array a{1, 2, 3};
  Array b = a, c = b;
  b.own()[0] = 7;
  c.own().push_back(4);
  EXPECT_EQ(a, (Array{1, 2, 3}));
  EXPECT_EQ(b, (Array{7, 2, 3}));
  EXPECT_EQ(c, (Array{1, 2, 3, 4}));
}

TEST(SharedArray, WhatNobodySharesIsChangedWhereItLies) {
  Array a{1, 2, 3};
  const std::int8_t* where = a.data();
  std::optional<Array> other = a;
  other.reset();
  a.own()[2] = 9;
  EXPECT_EQ(a.data(), where);
  EXPECT_EQ(a[2], 9);
}

TEST(SharedArray, IsEmptyAtFirst) {
  Array a;
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(a.begin(), a.end());
  EXPECT_EQ(a, Array(std::vector<std::int8_t>{}));
  EXPECT_NE(a, (Array{0}));
  a.own().assign(2, 5);
  EXPECT_EQ(a, (Array{5, 5}));
}

// What is read never copies.
static_assert(std::is_const_v<std::remove_reference_t<decltype(std::declval<Array&>()[0])>>);

}  // namespace
}  // namespace heddle
