// Offsets without search: one buffer after another, in a given order.
#pragma once
#include <cstdint>
#include <vector>

#include "instance.h"

namespace heddle::packing {

using Offsets = std::vector<std::int64_t>;
using Order = std::vector<std::int32_t>;  // indices, first placed first

// Orders in which large buffers, and those of full times, come early.
inline constexpr int kOrders = 6;
Order orderBy(const Instance& instance, int kind);

// Each at the lowest offset where it fits beside its placed neighbours.
Offsets firstFit(const Instance& instance, const std::vector<Order>& neighbours,
                 const Order& order);

// Each on top of all placed ones that it meets: n log n, however many meet.
Offsets stack(const Instance& instance, const Order& order);

std::int64_t heightOf(const Instance& instance, const Offsets& offsets);

}  // namespace heddle::packing
