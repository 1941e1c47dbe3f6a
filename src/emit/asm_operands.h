// Operands of the asm: addresses, patterns, locks, ends, parts, engines, tiles, lists.
#pragma once
#include "asm_tokens.h"

namespace heddle::asm_text {

using SlotText = AffineInto<&Draft::address, &Address<Affine>::slot>;
struct SlotNumber : sor<IfMust<Word<"(">, SlotText, Word<")">>, SlotText> {
  static std::string expected() { return AffineNumber::expected(); }
};
struct SlotPart
    : seq<Word<"+">, IfMust<Word<"(">, SlotNumber, Word<"mod">,
                            NumberInto<&Draft::address, &Address<Affine>::slots>, Word<")">,
                            Word<"*">, NumberInto<&Draft::address, &Address<Affine>::slotStride>>> {
};
struct AddressStart : peg::success {};
struct AddressText : IfMust<seq<AddressStart, Word<"@">>,
                            AffineInto<&Draft::address, &Address<Affine>::base>, opt<SlotPart>> {
  static std::string expected() { return "an address: @ and a number"; }
};

struct DimensionText
    : seq<NumberInto<&Draft::dimension, &Dimension::count>,
          IfMust<Word<"by">, NumberInto<&Draft::dimension, &Dimension::stride>, Word<",">>> {};
struct BytesUnit : Word<"B"> {
  static std::string expected() { return "'B' (or 'by' and a stride)"; }
};
struct PatternText : IfMust<Word<"[">, star<DimensionText>,
                            NumberInto<&Draft::pattern, &Pattern::run>, BytesUnit, Word<"]">> {
  static std::string expected() { return "a pattern such as [4 by 1024, 64 B]"; }
};

struct LockCount : seq<NumberInto<&Draft::lockUse, &LockUse<Affine>::count>, Word<"*">> {};
struct PlainLock : seq<peg::one<'L'>, NumberInto<&Draft::lockUse, &LockUse<Affine>::lock>> {};
struct AffineLock
    : IfMust<Word<"L(">, AffineInto<&Draft::lockUse, &LockUse<Affine>::lock>, Word<")">> {};
struct LockText : seq<opt<LockCount>, sor<PlainLock, AffineLock>> {
  static std::string expected() { return "a lock: L3, 2*L3 or L(3 + row)"; }
};
struct AcquiredLock : seq<LockText> {
  static std::string expected() { return LockText::expected(); }
};
struct ReleasedLock : seq<LockText> {
  static std::string expected() { return LockText::expected(); }
};
struct LocksText : seq<opt<IfMust<Word<"acquire">, ListMust<AcquiredLock, Word<",">>>>,
                       opt<IfMust<Word<"release">, ListMust<ReleasedLock, Word<",">>>>> {
  static std::string expected() { return "'acquire' or 'release'"; }
};
// A weight record's end has no pattern.
struct EndText : seq<AddressText, opt<PatternText>, LocksText> {
  static std::string expected() { return AddressText::expected(); }
};
struct SourceEnd : seq<EndText> {
  static std::string expected() { return EndText::expected(); }
};
struct DestinationEnd : seq<EndText> {
  static std::string expected() { return EndText::expected(); }
};

// `y 4*i0 for 2`, or of one `y 4*i0`
template <Literal name, auto start, auto count, auto whole>
struct Range : Must<Word<name>, AffineInto<whole, start>,
                    opt<IfMust<Word<"for">, NumberInto<whole, count>>>> {
  static std::string expected() { return Word<name>::expected(); }
};

struct RecordText
    : IfMust<Word<"record">, Word<"[">, AffineInto<&Draft::part, &Part<Affine>::y>, Word<"]">> {};
using Box =
    IfMust<Into<TensorName, &Draft::part, &Part<Affine>::tensor>, Word<"[">,
           Range<"y", &Part<Affine>::y, &Part<Affine>::rows, &Draft::part>, Word<",">,
           Range<"block", &Part<Affine>::block, &Part<Affine>::blocks, &Draft::part>, Word<",">,
           Range<"x", &Part<Affine>::x, &Part<Affine>::columns, &Draft::part>, Word<"]">>;
struct PartText
    : sor<Set<RecordText, Content::Weights, &Draft::part, &Part<Affine>::content>, Box> {
  static std::string expected() { return "a part: %3[y 0 for 4, ...] or record[12]"; }
};

template <Literal name, EngineKind kind>
using EngineWord = Set<Word<name>, kind, &Draft::engine, &Engine::kind>;
using EngineRow = NumberInto<&Draft::engine, &Engine::row>;
using EngineColumn = NumberInto<&Draft::engine, &Engine::column>;
using EngineChannel = NumberInto<&Draft::engine, &Engine::channel>;
struct EngineStart : peg::success {};
struct EngineText
    : seq<EngineStart,
          sor<EngineWord<"sequencer", EngineKind::Sequencer>,
              IfMust<sor<EngineWord<"ddr-in", EngineKind::DdrIn>,
                         EngineWord<"ddr-out", EngineKind::DdrOut>>,
                     Word<"(">, EngineColumn, Word<").">, EngineChannel>,
              IfMust<EngineWord<"wire", EngineKind::Wire>, Word<"(">, EngineColumn, Word<")">>,
              IfMust<sor<EngineWord<"core-in", EngineKind::CoreIn>,
                         EngineWord<"core-out", EngineKind::CoreOut>>,
                     Word<"(">, EngineRow, Word<",">, EngineColumn, Word<").">, EngineChannel>,
              IfMust<EngineWord<"core", EngineKind::Core>, Word<"(">, EngineRow, Word<",">,
                     EngineColumn, Word<")">>>> {
  static std::string expected() {
    return "an engine: 'sequencer', 'ddr-in', 'ddr-out', 'wire', 'core-in', 'core', 'core-out'";
  }
};

struct TileStart : peg::success {};
struct TileText
    : seq<TileStart, sor<Set<Word<"ddr">, TileKind::Ddr, &Draft::tile, &Tile::kind>,
                         IfMust<Set<Word<"mem">, TileKind::Memtile, &Draft::tile, &Tile::kind>,
                                Word<"(">, NumberInto<&Draft::tile, &Tile::column>, Word<")">>,
                         IfMust<Set<Word<"core">, TileKind::Core, &Draft::tile, &Tile::kind>,
                                Word<"(">, NumberInto<&Draft::tile, &Tile::row>, Word<",">,
                                NumberInto<&Draft::tile, &Tile::column>, Word<")">>>> {
  static std::string expected() { return "a tile: 'ddr', 'mem(0)' or 'core(0,0)'"; }
};

struct OneRow : IfMust<Word<"row">, NumberInto<&Draft::rows, &Span::first>> {};
struct OneColumn : IfMust<Word<"column">, NumberInto<&Draft::columns, &Span::first>> {};
struct ManyRows : IfMust<Word<"rows">, NumberInto<&Draft::rows, &Span::first>, Word<"-">,
                         NumberInto<&Draft::rows, &Span::last>> {};
struct ManyColumns : IfMust<Word<"columns">, NumberInto<&Draft::columns, &Span::first>, Word<"-">,
                            NumberInto<&Draft::columns, &Span::last>> {};
struct RangeText : seq<opt<sor<OneRow, ManyRows>>, opt<sor<OneColumn, ManyColumns>>> {};

template <>
inline constexpr bool neverFails<RangeText> = true;

struct IntegersStart : peg::success {};
struct ListedInteger : seq<Number> {
  static std::string expected() { return Number::expected(); }
};
struct Integers
    : seq<IntegersStart, IfMust<Word<"[">, opt<ListMust<ListedInteger, Word<",">>>, Word<"]">>> {
  static std::string expected() { return "a list such as [1, 2, 3]"; }
};

}  // namespace heddle::asm_text
