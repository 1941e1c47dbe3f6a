// Add, Mul, Table and Assemble: one value in, or one of each operand, one value out.
//
//   Add of 3 and 4 with multipliers 1, 2 and shift 1: (3 + 8) / 2 = 5.5 -> 6 (half to even)
#include "heddle/support/check.h"
#include "kernels.h"

namespace heddle::interp {
namespace {

void checkSameShape(const Operand& input, const CanonicalTensor& output) {
  HEDDLE_CHECK(input.shape() == output.shape)
      << "operand " << input.tensor.name << " of " << output.name << " has another shape";
}

// The second operand of an Add or Mul at every value of the output: one pixel meets all of them.
class Broadcast {
 public:
  Broadcast(const Operand& operand, const CanonicalTensor& output) : values_(operand.values) {
    const Shape& shape = operand.shape();
    const Shape onePixel{1, 1, output.shape.channels};
    HEDDLE_CHECK(shape == output.shape || shape == onePixel)
        << "operand " << operand.tensor.name << " of " << output.name << " has another shape";
  }
  std::int8_t operator[](std::size_t i) const { return values_[i % values_.size()]; }

 private:
  std::span<const std::int8_t> values_;
};

// Calls visit(to, from) for every index that `map` maps.
template <class Visit>
void forEachIndex(const AxisMap& map, Visit visit) {
  for (const AxisRun& run : map)
    for (std::int64_t i = 0; i < run.count; ++i)
      visit(run.to + i * run.toStep, run.from + i * run.fromStep);
}

}  // namespace

TensorValue evaluate(const Add& op, const Operand& a, const Operand& b,
                     const CanonicalTensor& output) {
  checkSameShape(a, output);
  const Broadcast others(b, output);
  TensorValue result(a.values.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t sum =
        (a.values[i] - a.zero()) * op.multiplierA + (others[i] - b.zero()) * op.multiplierB;
    result[i] =
        saturate(output.zeroPoint + roundHalfEvenShift(sum, op.shift), op.clamp.low, op.clamp.high);
  }
  return result;
}

TensorValue evaluate(const Mul& op, const Operand& a, const Operand& b,
                     const CanonicalTensor& output) {
  checkSameShape(a, output);
  const Broadcast others(b, output);
  TensorValue result(a.values.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int32_t product = (a.values[i] - a.zero()) * (others[i] - b.zero());
    result[i] = saturate(output.zeroPoint + applyMultiplier(product, op.requantize), op.clamp.low,
                         op.clamp.high);
  }
  return result;
}

TensorValue evaluate(const Table& op, const Operand& input, const CanonicalTensor& output) {
  checkSameShape(input, output);
  const auto channels = static_cast<std::size_t>(output.shape.channels);
  HEDDLE_CHECK(op.tables.size() == 1 || op.tables.size() == channels) << op.tables.size();
  TensorValue result(input.values.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Table256& table = op.tables[op.tables.size() == 1 ? 0 : i % channels];
    result[i] = table[static_cast<std::size_t>(input.values[i] + 128)];
  }
  return result;
}

TensorValue evaluate(const Assemble& op, std::span<const Operand> inputs,
                     const CanonicalTensor& output) {
  HEDDLE_CHECK(op.parts.size() == inputs.size()) << output.name;
  const Shape& shape = output.shape;
  TensorValue result(static_cast<std::size_t>(shape.elements()), op.fill);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const AssemblePart& part = op.parts[i];
    forEachIndex(part.mapY, [&](std::int64_t y, std::int64_t fromY) {
      forEachIndex(part.mapX, [&](std::int64_t x, std::int64_t fromX) {
        const std::int8_t* from = inputs[i].pixel(fromY, fromX);
        std::int8_t* to = result.data() + (y * shape.width + x) * shape.channels;
        forEachIndex(part.mapC, [&](std::int64_t c, std::int64_t fromC) {
          const std::int8_t value = from[fromC];
          to[c] = part.table ? (*part.table)[static_cast<std::size_t>(value + 128)] : value;
        });
      });
    });
  }
  return result;
}

}  // namespace heddle::interp
