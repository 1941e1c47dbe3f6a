// What the rules of the asm do: tokens and operands fill the Draft, whole lines move it into the
// Program.
#pragma once
#include <charconv>
#include <limits>
#include <type_traits>
#include <utility>

#include "asm_fault.h"
#include "asm_grammar.h"

namespace heddle::asm_text {

template <class R>
struct Action : peg::nothing<R> {};

// ---- values -------------------------------------------------------------------------------------

template <auto... path>
decltype(auto) place(Draft& draft) {
  return (draft.*....*path);
}

template <class T>
struct IntegerOf {
  using type = T;
};
template <class T>
struct IntegerOf<std::optional<T>> {
  using type = T;
};
template <>
struct IntegerOf<Affine> {
  using type = std::int64_t;
};

template <class R, auto... path>
struct StoreNumber {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    auto& target = place<path...>(r.draft);
    using T = typename IntegerOf<std::remove_reference_t<decltype(target)>>::type;
    if (!std::in_range<T>(r.draft.number))
      failRange(r, in.position(), in.string(), std::numeric_limits<T>::min(),
                std::numeric_limits<T>::max());
    target = static_cast<T>(r.draft.number);
  }
};
template <auto... path>
struct Action<Into<Number, path...>> : StoreNumber<Number, path...> {};
template <auto... path>
struct Action<Into<Extent, path...>> : StoreNumber<Extent, path...> {};

template <auto... path>
struct Action<Into<AffineNumber, path...>> {
  static void apply0(Reader& r) { place<path...>(r.draft) = r.draft.affine; }
};
template <auto... path>
struct Action<Into<String, path...>> {
  static void apply0(Reader& r) { place<path...>(r.draft) = r.draft.text; }
};
template <auto... path>
struct Action<Into<Integers, path...>> {
  static void apply0(Reader& r) { place<path...>(r.draft) = r.draft.integers; }
};
template <char sigil, auto... path>
struct Action<Into<IdOf<sigil>, path...>> {
  static void apply0(Reader& r) { place<path...>(r.draft).index = r.draft.index; }
};
template <auto... path>
struct Action<Into<LayerName, path...>> {
  static void apply0(Reader& r) { place<path...>(r.draft).index = r.draft.index; }
};
template <class R, auto value, auto... path>
struct Action<Set<R, value, path...>> {
  static void apply0(Reader& r) { place<path...>(r.draft) = value; }
};

// ---- tokens -------------------------------------------------------------------------------------

template <>
struct Action<LineStart> {
  static void apply0(Reader& r) { r.draft = {}; }
};

// The magnitude of Digits; faults where it is above 2^63.
template <class Input>
std::uint64_t magnitude(Reader& r, const Input& in, std::string_view digits) {
  const bool hex = digits.starts_with("0x");
  const std::string_view body = hex ? digits.substr(2) : digits;
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(body.data(), body.data() + body.size(), value, hex ? 16 : 10);
  if (error != std::errc{} || value > std::uint64_t{1} << 63)
    failRange(r, in.position(), std::string(digits), INT64_MIN, INT64_MAX);
  return value;
}

// +-magnitude as a number; faults where it is 2^63 without a minus.
template <class Input>
std::int64_t withSign(Reader& r, const Input& in, std::uint64_t magnitude, bool negative) {
  if (!negative && magnitude == std::uint64_t{1} << 63)
    failRange(r, in.position(), std::to_string(magnitude), INT64_MIN, INT64_MAX);
  return static_cast<std::int64_t>(negative ? std::uint64_t{0} - magnitude : magnitude);
}

struct ReadInteger {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    std::string_view text = in.string_view();
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    r.draft.number = withSign(r, in, magnitude(r, in, text), negative);
  }
};
template <>
struct Action<Integer> : ReadInteger {};
template <>
struct Action<Decimal> : ReadInteger {};
template <>
struct Action<RealText> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    const auto [end, error] = std::from_chars(in.begin(), in.end(), r.draft.real);
    if (error != std::errc{})
      fail(r, in.position(), "ASM003", "a number out of range",
           "'" + in.string() + "' is no double", "write a number that a 64-bit double holds");
  }
};

template <>
struct Action<StringStart> {
  static void apply0(Reader& r) { r.draft.text.clear(); }
};
template <>
struct Action<Plain> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    r.draft.text.append(in.begin(), in.end());
  }
};
template <>
struct Action<Escaped> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    const std::string_view text = in.string_view();
    unsigned code = static_cast<unsigned char>(text[1]);
    if (text[1] == 'x') std::from_chars(text.data() + 2, text.data() + 4, code, 16);
    r.draft.text += static_cast<char>(code);
  }
};

template <>
struct Action<IdNumber> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    const std::uint64_t n = magnitude(r, in, in.string_view());
    if (!std::in_range<std::int32_t>(n)) failRange(r, in.position(), in.string(), 0, INT32_MAX);
    r.draft.index = static_cast<std::int32_t>(n);
  }
};
template <>
struct Action<NoId> {
  static void apply0(Reader& r) { r.draft.index = -1; }
};

// ---- affine numbers -----------------------------------------------------------------------------

struct BeginTerm {
  static void apply0(Reader& r, bool negative) {
    r.draft.negative = negative;
    r.draft.factor = 1;
  }
};
template <>
struct Action<AffineStart> {
  static void apply0(Reader& r) {
    r.draft.affine = {};
    BeginTerm::apply0(r, false);
  }
};
template <>
struct Action<Plus> {
  static void apply0(Reader& r) { BeginTerm::apply0(r, false); }
};
template <>
struct Action<Minus> {
  static void apply0(Reader& r) { BeginTerm::apply0(r, true); }
};
template <>
struct Action<Factor> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    std::string_view text = in.string_view();
    while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
    r.draft.factor = magnitude(r, in, text);
  }
};

// Adds the term that has been read to a coefficient (or the base) of the number.
template <class Input>
void addTerm(Reader& r, const Input& in, std::int64_t& coefficient) {
  const std::int64_t value = withSign(r, in, r.draft.factor, r.draft.negative);
  if (__builtin_add_overflow(coefficient, value, &coefficient))
    failRange(r, in.position(), std::to_string(value), INT64_MIN, INT64_MAX);
}
template <>
struct Action<Counter> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    addTerm(r, in, r.draft.affine.loop[static_cast<std::size_t>(in.begin()[1] - '0')]);
  }
};
template <>
struct Action<RowVariable> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    addTerm(r, in, r.draft.affine.row);
  }
};
template <>
struct Action<ColumnVariable> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    addTerm(r, in, r.draft.affine.column);
  }
};
template <>
struct Action<Constant> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    addTerm(r, in, r.draft.affine.base);
  }
};

// ---- operands -----------------------------------------------------------------------------------

template <>
struct Action<AddressStart> {
  static void apply0(Reader& r) { r.draft.address = {}; }
};
template <>
struct Action<DimensionText> {
  static void apply0(Reader& r) { r.draft.pattern.dimensions.push_back(r.draft.dimension); }
};
template <>
struct Action<AcquiredLock> {
  static void apply0(Reader& r) { r.draft.acquire.push_back(std::exchange(r.draft.lockUse, {})); }
};
template <>
struct Action<ReleasedLock> {
  static void apply0(Reader& r) { r.draft.release.push_back(std::exchange(r.draft.lockUse, {})); }
};
template <>
struct Action<EndText> {
  static void apply0(Reader& r) {
    Draft& d = r.draft;
    d.end = {d.address, std::exchange(d.pattern, {}), std::exchange(d.acquire, {}),
             std::exchange(d.release, {})};
  }
};
template <>
struct Action<SourceEnd> {
  static void apply0(Reader& r) { r.draft.transfer.source = std::move(r.draft.end); }
};
template <>
struct Action<DestinationEnd> {
  static void apply0(Reader& r) { r.draft.transfer.destination = std::move(r.draft.end); }
};
template <>
struct Action<FirstMemtileEnd> {
  static void apply0(Reader& r) {
    r.draft.transfer.memtile = r.draft.memtile;
    r.draft.transfer.destination = std::move(r.draft.end);
  }
};
template <>
struct Action<FurtherMemtileEnd> {
  static void apply0(Reader& r) {
    r.draft.transfer.further.push_back({r.draft.memtile, std::move(r.draft.end)});
  }
};
template <>
struct Action<CoresText> {
  static void apply0(Reader& r) {
    r.draft.transfer.to.push_back(std::exchange(r.draft.sendTo, {}));
  }
};
template <>
struct Action<RingText> {
  static void apply0(Reader& r) { r.draft.call.inputs.push_back(std::exchange(r.draft.ring, {})); }
};
template <>
struct Action<CallWeights> {
  static void apply0(Reader& r) { r.draft.call.weights = r.draft.address; }
};
template <>
struct Action<CallOut> {
  static void apply0(Reader& r) { r.draft.call.output = r.draft.address; }
};
template <>
struct Action<EngineStart> {
  static void apply0(Reader& r) { r.draft.engine = {}; }
};
template <>
struct Action<Producer> {
  static void apply0(Reader& r) { r.draft.producer = r.draft.engine; }
};
template <>
struct Action<Consumer> {
  static void apply0(Reader& r) { r.draft.consumer = r.draft.engine; }
};
template <>
struct Action<TileStart> {
  static void apply0(Reader& r) { r.draft.tile = {}; }
};
template <>
struct Action<OneRow> {
  static void apply0(Reader& r) { r.draft.rows.last = r.draft.rows.first; }
};
template <>
struct Action<OneColumn> {
  static void apply0(Reader& r) { r.draft.columns.last = r.draft.columns.first; }
};
template <>
struct Action<RangeText> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    const Draft& d = r.draft;
    if (d.rows.last < d.rows.first || d.columns.last < d.columns.first)
      fail(r, in.position(), "ASM003", "a range runs backwards",
           "'" + in.string() + "' holds nothing", "write the lower number first");
    r.draft.range = {d.rows.first, d.columns.first, std::int64_t{d.rows.last} - d.rows.first + 1,
                     std::int64_t{d.columns.last} - d.columns.first + 1};
  }
};
template <>
struct Action<SectionRange> {
  static void apply0(Reader& r) {
    r.draft.ranges.push_back(r.draft.range);
    r.draft.rows = r.draft.columns = {};
  }
};
template <>
struct Action<IntegersStart> {
  static void apply0(Reader& r) { r.draft.integers.clear(); }
};
template <>
struct Action<ListedInteger> {
  static void apply0(Reader& r) { r.draft.integers.push_back(r.draft.number); }
};
template <>
struct Action<AxisRunText> {
  static void apply0(Reader& r) { r.draft.axis.push_back(std::exchange(r.draft.run, {})); }
};
template <>
struct Action<MoveColumns> {
  static void apply0(Reader& r) { r.draft.move.columns = std::exchange(r.draft.axis, {}); }
};
template <>
struct Action<MoveChannels> {
  static void apply0(Reader& r) { r.draft.move.channels = std::exchange(r.draft.axis, {}); }
};

}  // namespace heddle::asm_text
