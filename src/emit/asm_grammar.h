// The grammar of the asm: one rule for each kind of line. docs/asm.md prints it for people.
#pragma once
#include "asm_operands.h"

namespace heddle::asm_text {

// ---- instructions -------------------------------------------------------------------------------

struct StartLine : IfMust<Word<"START">, EngineText> {};
struct WaitLine : IfMust<Word<"WAIT">, EngineText, Word<"entry">, AffineInto<&Draft::waitEntry>> {};
struct LoadLine
    : IfMust<sor<Word<"LOADW">, Word<"LOAD">>, PartText, opt<IfMust<Word<"ddr">, SourceEnd>>,
             Word<"->">, Word<"mem">, DestinationEnd> {};
struct WriteLine : IfMust<Word<"WRITE">, PartText, Word<"mem">, SourceEnd, Word<"->">, Word<"ddr">,
                          DestinationEnd> {};

struct CoresText
    : IfMust<Word<"core">, Word<"(">, AffineInto<&Draft::sendTo, &SendTo<Affine>::row>,
             opt<IfMust<Word<"for">, NumberInto<&Draft::sendTo, &SendTo<Affine>::rows>>>, Word<",">,
             AffineInto<&Draft::sendTo, &SendTo<Affine>::column>,
             opt<IfMust<Word<"for">, NumberInto<&Draft::sendTo, &SendTo<Affine>::columns>>>,
             Word<").">, NumberInto<&Draft::sendTo, &SendTo<Affine>::channel>> {
  static std::string expected() { return "cores: core(0 for 4, 2).1"; }
};
template <auto member>
using TransferAffine = AffineInto<&Draft::transfer, member>;
struct SendLine : IfMust<sor<Word<"LOADFM">, Word<"LOADWM">>, PartText, Word<"mem">, Word<"(">,
                         TransferAffine<&Transfer<Affine>::memtile>, Word<")">, SourceEnd,
                         opt<IfMust<Word<"->">, ListMust<CoresText, Word<",">>>>> {};
struct ReceiveLine
    : IfMust<Word<"RECV">, PartText, Word<"wire">, Word<"(">,
             TransferAffine<&Transfer<Affine>::wire>, Word<")">, Word<"->">, DestinationEnd> {};
struct MemtileEndText
    : IfMust<Word<"mem">, Word<"(">, AffineInto<&Draft::memtile>, Word<")">, EndText> {
  static std::string expected() { return "a memtile: mem(0) and an address"; }
};
struct FirstMemtileEnd : seq<MemtileEndText> {
  static std::string expected() { return MemtileEndText::expected(); }
};
struct FurtherMemtileEnd : seq<MemtileEndText> {
  static std::string expected() { return MemtileEndText::expected(); }
};
struct WriteFmLine : IfMust<Word<"WRITEFM">, PartText, SourceEnd, Word<"->">, FirstMemtileEnd,
                            star<IfMust<Word<"and">, FurtherMemtileEnd>>> {};

template <auto member>
using RingNumber = NumberInto<&Draft::ring, member>;
template <auto member>
using RingAffine = AffineInto<&Draft::ring, member>;
using Ring = RowRing<Affine>;
struct RingText
    : IfMust<Word<"in">, Into<TensorName, &Draft::ring, &Ring::tensor>, Word<"[">, Word<"row">,
             RingAffine<&Ring::row>, Word<",">, Word<"column">, RingAffine<&Ring::column>,
             Word<"]">, Word<"ring">, Word<"@">, RingAffine<&Ring::base>, Word<"[">,
             RingNumber<&Ring::length>, Word<"by">, RingNumber<&Ring::rowBytes>, Word<"B">,
             Word<"]">, opt<IfMust<Word<"offset">, RingAffine<&Ring::ringOffset>>>, Word<"holds">,
             Word<"[">, Range<"block", &Ring::block, &Ring::blocks, &Draft::ring>, Word<",">,
             Range<"x", &Ring::origin, &Ring::columns, &Draft::ring>, Word<"]">,
             opt<Set<Word<"absent">, true, &Draft::ring, &Ring::absent>>> {};

using CallOf = Call<Affine>;
template <Literal name, bool value, auto member>
using CallWord = Set<Word<name>, value, &Draft::call, member>;
struct CallWeights : IfMust<Word<"weights">, AddressText> {};
struct CallRecord
    : IfMust<Word<"record">, Word<"[">, AffineInto<&Draft::call, &CallOf::record>, Word<"]">> {};
struct CallSum : IfMust<Word<"sum">, Word<"@">, AffineInto<&Draft::call, &CallOf::accumulator>> {};
struct FinishOrKeep
    : sor<CallWord<"finish", true, &CallOf::finish>, CallWord<"keep", false, &CallOf::finish>> {
  static std::string expected() { return "'finish' or 'keep'"; }
};
struct CallPhase
    : IfMust<sor<CallWord<"init", true, &CallOf::init>, CallWord<"add", false, &CallOf::init>>,
             FinishOrKeep> {};
struct CallOut : IfMust<Word<"out">, AddressText> {};
template <OpKind op>
struct Mnemonic {
  using rule_t = Mnemonic;
  using subs_t = peg::empty_list;
  static std::string expected() { return "'" + std::string(formOf(op).mnemonic) + "'"; }
  template <class Input>
  static bool match(Input& in) {
    return matchWord(in, formOf(op).mnemonic);
  }
};
template <std::size_t... number>
sor<Set<Mnemonic<static_cast<OpKind>(number)>, static_cast<OpKind>(number), &Draft::op>...>
    anyMnemonic(std::index_sequence<number...>);
struct MnemonicText : decltype(anyMnemonic(std::make_index_sequence<kKernelForms.size()>())) {
  static std::string expected() { return "a kernel's operation, such as 'CONV'"; }
};
struct CallLine : IfMust<sor<MnemonicText, Set<Word<"CALL">, true, &Draft::anyCall>>,
                         Into<KernelName, &Draft::call, &CallOf::kernel>, PartText, star<RingText>,
                         opt<CallWeights>, opt<CallRecord>, opt<CallSum>, opt<CallPhase>,
                         opt<CallOut>, LocksText> {};

struct LoopLine : IfMust<Word<"loop">, NumberInto<&Draft::loopCount>, Word<"{">> {};
struct LoopEnd : Word<"}"> {};

// ---- sections -----------------------------------------------------------------------------------

template <Literal name, EngineKind kind>
using RangeKind = Set<Word<name>, kind, &Draft::engineKind>;
struct EngineKindText
    : sor<RangeKind<"sequencer", EngineKind::Sequencer>, RangeKind<"ddr-in", EngineKind::DdrIn>,
          RangeKind<"ddr-out", EngineKind::DdrOut>, RangeKind<"wire", EngineKind::Wire>,
          RangeKind<"core-in", EngineKind::CoreIn>, RangeKind<"core-out", EngineKind::CoreOut>,
          RangeKind<"core", EngineKind::Core>> {
  static std::string expected() { return EngineText::expected(); }
};
// A section or buffer names its step; where each layer is one step, it says layer.
template <Literal layer, Literal step>
struct StepWord
    : sor<Set<Word<layer>, false, &Draft::saysStep>, Set<Word<step>, true, &Draft::saysStep>> {
  static std::string expected() { return Word<layer>::expected(); }
};
struct SectionRange : seq<RangeText> {};
template <>
inline constexpr bool neverFails<SectionRange> = true;
struct FurtherRange
    : seq<peg::at<sor<Word<"row">, Word<"rows">, Word<"column">, Word<"columns">>>, SectionRange> {
  static std::string expected() { return "more engines, such as rows 0-1 column 2"; }
};
struct SectionLine
    : IfMust<Word<"on">, EngineKindText, SectionRange, star<IfMust<Word<"and">, FurtherRange>>,
             opt<IfMust<Word<"channel">, NumberInto<&Draft::channel>>>, Word<",">,
             StepWord<"layer", "step">, Into<LayerName, &Draft::step>,
             opt<IfMust<Word<",">, Word<"last">, Set<Word<"frame">, true, &Draft::lastFrame>>>,
             Word<":">> {};

// ---- declarations -------------------------------------------------------------------------------

struct ModelLine : IfMust<Word<"model">, Into<String, &Draft::tensor, &ProgramTensor::name>,
                          Word<"sha256">, String> {};
struct DeviceLine : IfMust<Word<"device">, Word<"sha256">, String> {};
struct WeightsLine
    : IfMust<Word<"weights">, Word<"@">, NumberInto<&Draft::buffer, &Buffer::address>, Word<"size">,
             NumberInto<&Draft::buffer, &Buffer::size>, Word<"sha256">, String> {};
struct DeclaredRecord : seq<LayerName> {
  static std::string expected() { return "the number of a record"; }
};
struct RecordsLine
    : IfMust<Word<"record">, DeclaredRecord,
             opt<IfMust<Word<"for">, NumberInto<&Draft::recordCount>>>, Word<"@">,
             NumberInto<&Draft::record, &WeightRecord::offset>, Word<"size">,
             NumberInto<&Draft::record, &WeightRecord::bytes>,
             opt<IfMust<Word<"kept">, NumberInto<&Draft::record, &WeightRecord::kept>>>,
             opt<IfMust<Word<"padding">, NumberInto<&Draft::record, &WeightRecord::padding>>>> {};
struct DdrLine : IfMust<Word<"ddr">, Word<"size">, NumberInto<&Draft::ddrBytes>,
                        opt<IfMust<Word<"frames">, NumberInto<&Draft::frames>>>,
                        opt<IfMust<Word<"batch">, NumberInto<&Draft::batch>>>> {};
struct HostLine : IfMust<Word<"host">, String> {};

template <Literal name, ElementType type>
using Element = Set<Word<name>, type, &Draft::port, &Port::type>;
struct ElementText : sor<Element<"float32", ElementType::Float32>,
                         Element<"int8", ElementType::Int8>, Element<"uint8", ElementType::Uint8>> {
  static std::string expected() { return "an element type: 'float32', 'int8' or 'uint8'"; }
};
using PortFields =
    Must<Into<String, &Draft::port, &Port::name>, Into<TensorName, &Draft::port, &Port::tensor>,
         ElementText, Word<"shape">, Into<Integers, &Draft::port, &Port::shape>, Word<"view">,
         Into<Integers, &Draft::port, &Port::view>, Word<"axes">,
         Into<String, &Draft::port, &Port::axes>>;
struct InputLine : seq<Word<"input">, PortFields> {};
struct OutputLine : seq<Word<"output">, PortFields> {};

template <auto member>
using ShapeNumber = NumberInto<&Draft::tensor, &ProgramTensor::shape, member>;
template <Literal name, auto... path>
using OptionalNumber = opt<IfMust<Word<name>, NumberInto<path...>>>;
struct Times : seq<peg::one<'x'>, Space> {
  static std::string expected() { return "'x' and a number, such as 3x3"; }
};
// The first of two numbers joined by x: `56x56`. Decimal only: 0x1 would be a hexadecimal one.
struct Decimal : seq<opt<peg::one<'-'>>, plus<peg::digit>> {};
struct Extent : seq<Decimal> {
  static std::string expected() { return "numbers joined by x, such as 3x3"; }
};
struct RootText : IfMust<Word<"root">, Into<TensorName, &Draft::tensor, &ProgramTensor::root>> {};
template <auto axis>
struct StepsOf : seq<NumberInto<&Draft::sampling, axis, &Steps::first>, Word<"by">,
                     NumberInto<&Draft::sampling, axis, &Steps::step>> {
  static std::string expected() { return "which of the root's, such as 0 by 2"; }
};
struct SamplingText
    : IfMust<Word<"rows">, StepsOf<&Sampling::rows>, Word<"columns">, StepsOf<&Sampling::columns>> {
};
struct DeclaredTensor : seq<TensorName> {
  static std::string expected() { return TensorName::expected(); }
};
struct TensorLine
    : IfMust<
          Word<"tensor">, DeclaredTensor, Into<String, &Draft::tensor, &ProgramTensor::name>,
          Into<Extent, &Draft::tensor, &ProgramTensor::shape, &Shape::height>, Times,
          Into<Extent, &Draft::tensor, &ProgramTensor::shape, &Shape::width>, Times,
          ShapeNumber<&Shape::channels>, Word<"scale">, Real,
          OptionalNumber<"zero", &Draft::tensor, &ProgramTensor::zeroPoint>,
          opt<Set<Word<"uint8">, true, &Draft::tensor, &ProgramTensor::fromUint8>>,
          opt<IfMust<Word<"ddr">, Word<"@">, NumberInto<&Draft::tensor, &ProgramTensor::ddr>>>,
          OptionalNumber<"per-frame", &Draft::tensor, &ProgramTensor::frameStride>,
          opt<Set<Word<"constant">, true, &Draft::tensor, &ProgramTensor::constant>>, opt<RootText>,
          OptionalNumber<"block", &Draft::tensor, &ProgramTensor::rootBlock>, opt<SamplingText>,
          opt<IfMust<Word<"order">, Into<Integers, &Draft::tensor, &ProgramTensor::blockOrder>>>> {
};

// `y 0 for 56` with plain numbers.
template <Literal name, auto start, auto count>
struct SliceRange : Must<Word<name>, NumberInto<&Draft::slice, start>,
                         opt<IfMust<Word<"for">, NumberInto<&Draft::slice, count>>>> {
  static std::string expected() { return Word<name>::expected(); }
};
struct SliceLine
    : IfMust<Word<"slice">, Word<"mem">, Word<"(">, NumberInto<&Draft::slice, &Slice::memtile>,
             Word<")">, Word<"@">, NumberInto<&Draft::slice, &Slice::address>, Word<"[">,
             SliceRange<"y", &Slice::y, &Slice::rows>, Word<",">,
             SliceRange<"x", &Slice::x, &Slice::columns>,
             opt<IfMust<Word<",">, Set<Word<"block">, false, &Draft::wholeSlice>,
                        NumberInto<&Draft::slice, &Slice::block>,
                        opt<IfMust<Word<"for">, NumberInto<&Draft::slice, &Slice::blocks>>>>>,
             Word<"]">> {};

struct DeclaredLayer : seq<LayerName> {
  static std::string expected() { return LayerName::expected(); }
};
struct LayerLine : IfMust<Word<"layer">, DeclaredLayer, Into<String, &Draft::layer, &Layer::name>,
                          Word<"op">, Into<String, &Draft::layer, &Layer::op>, Word<"output">,
                          Into<TensorName, &Draft::layer, &Layer::output>, Word<"split">,
                          Into<String, &Draft::layer, &Layer::split>> {};

struct DeclaredStep : seq<LayerName> {
  static std::string expected() { return "the number of a step"; }
};
struct StepLine : IfMust<Word<"step">, DeclaredStep, Word<"layer">, LayerName> {};

template <auto member>
using KernelNumber = NumberInto<&Draft::kernel, member>;
template <auto... member>
using WindowExtent = Into<Extent, &Draft::kernel, &Kernel::window, member...>;
template <auto member>
using WindowNumber = NumberInto<&Draft::kernel, &Kernel::window, member>;
template <Literal name, auto a, auto b>
using WindowPair = opt<IfMust<Word<name>, WindowExtent<a>, Times, WindowNumber<b>>>;
// `[1, 2]` straight into members of the kernel.
template <Literal name, class First, class... More>
using KernelList = opt<IfMust<Word<name>, Word<"[">, First, Must<Word<",">, More>..., Word<"]">>>;
using ClampLow = NumberInto<&Draft::kernel, &Kernel::clamp, &Clamp::low>;
using ClampHigh = NumberInto<&Draft::kernel, &Kernel::clamp, &Clamp::high>;
using LooksUp = Set<KernelNumber<&Kernel::lookedUpZero>, true, &Draft::kernel, &Kernel::looksUp>;
using LookedUpLow = NumberInto<&Draft::kernel, &Kernel::lookedUpClamp, &Clamp::low>;
using LookedUpHigh = NumberInto<&Draft::kernel, &Kernel::lookedUpClamp, &Clamp::high>;
using Multiplies =
    Set<KernelNumber<&Kernel::gateZero>, true, &Draft::kernel, &Kernel::multipliesInput>;
using ProductLow = NumberInto<&Draft::kernel, &Kernel::productClamp, &Clamp::low>;
using ProductHigh = NumberInto<&Draft::kernel, &Kernel::productClamp, &Clamp::high>;
using AddsTo = Set<KernelNumber<&Kernel::addedToZero>, true, &Draft::kernel, &Kernel::addsInput>;
using AddedToLow = NumberInto<&Draft::kernel, &Kernel::addedToClamp, &Clamp::low>;
using AddedToHigh = NumberInto<&Draft::kernel, &Kernel::addedToClamp, &Clamp::high>;
struct KernelRescale
    : IfMust<Word<"rescale">, NumberInto<&Draft::kernel, &Kernel::rescale, &Multiplier::multiplier>,
             Word<">>">, NumberInto<&Draft::kernel, &Kernel::rescale, &Multiplier::shift>> {};
struct DeclaredKernel : seq<KernelName> {
  static std::string expected() { return KernelName::expected(); }
};
struct KernelLine
    : IfMust<Word<"kernel">, DeclaredKernel, MnemonicText,
             Into<String, &Draft::kernel, &Kernel::name>,
             WindowPair<"window", &Window::kernelY, &Window::kernelX>,
             WindowPair<"stride", &Window::strideY, &Window::strideX>,
             WindowPair<"dilation", &Window::dilationY, &Window::dilationX>,
             KernelList<"pad", WindowNumber<&Window::padTop>, WindowNumber<&Window::padLeft>,
                        WindowNumber<&Window::padBottom>, WindowNumber<&Window::padRight>>,
             Word<"input">, Into<Extent, &Draft::kernel, &Kernel::tensorHeight>, Times,
             KernelNumber<&Kernel::tensorWidth>,
             OptionalNumber<"blocks", &Draft::kernel, &Kernel::inputBlocks>, Word<"output">,
             KernelNumber<&Kernel::outputColumns>,
             OptionalNumber<"blocks", &Draft::kernel, &Kernel::outputBlocks>,
             KernelList<"zeros", KernelNumber<&Kernel::inputZero>,
                        KernelNumber<&Kernel::inputZeroB>, KernelNumber<&Kernel::outputZero>>,
             KernelList<"clamp", ClampLow, ClampHigh>,
             OptionalNumber<"whole", &Draft::kernel, &Kernel::kernelYWhole>,
             opt<Set<Word<"count-pad">, true, &Draft::kernel, &Kernel::countIncludesPad>>,
             opt<KernelRescale>,
             KernelList<"multipliers", KernelNumber<&Kernel::multiplierA>,
                        KernelNumber<&Kernel::multiplierB>>,
             OptionalNumber<"shift", &Draft::kernel, &Kernel::shift>,
             opt<Set<Word<"negative-scale">, true, &Draft::kernel, &Kernel::negativeScale>>,
             opt<Set<Word<"weight-zeros">, true, &Draft::kernel, &Kernel::weightZeros>>,
             OptionalNumber<"record-at", &Draft::kernel, &Kernel::recordAt>,
             opt<Set<Word<"shares-record">, true, &Draft::kernel, &Kernel::sharesRecord>>,
             opt<Set<Word<"broadcast">, true, &Draft::kernel, &Kernel::broadcasts>>,
             opt<Set<Word<"per-channel">, true, &Draft::kernel, &Kernel::tablePerChannel>>,
             opt<Set<Word<"lines">, true, &Draft::kernel, &Kernel::tableLines>>,
             OptionalNumber<"fill", &Draft::kernel, &Kernel::fill>,
             KernelList<"multiplies", Multiplies, KernelNumber<&Kernel::productZero>, ProductLow,
                        ProductHigh>,
             KernelList<"looks-up", LooksUp, LookedUpLow, LookedUpHigh>,
             KernelList<"adds-to", AddsTo, AddedToLow, AddedToHigh>> {};

struct AxisRunText : IfMust<Word<"to">, NumberInto<&Draft::run, &AxisRun::to>,
                            OptionalNumber<"step", &Draft::run, &AxisRun::toStep>, Word<"from">,
                            NumberInto<&Draft::run, &AxisRun::from>,
                            OptionalNumber<"step", &Draft::run, &AxisRun::fromStep>, Word<"for">,
                            NumberInto<&Draft::run, &AxisRun::count>> {
  static std::string expected() { return "a run such as to 0 from 0 for 8"; }
};
using AxisText = Must<Word<"[">, opt<ListMust<AxisRunText, Word<",">>>, Word<"]">>;
struct MoveColumns : seq<AxisText> {
  static std::string expected() { return "'['"; }
};
struct MoveChannels : seq<AxisText> {
  static std::string expected() { return "'['"; }
};
struct MoveLine : IfMust<Word<"move">, Word<"columns">, MoveColumns, Word<"channels">, MoveChannels,
                         OptionalNumber<"table", &Draft::move, &Kernel::Move::table>> {};

template <Literal name, TileKind kind>
using BufferKind = Set<Word<name>, kind, &Draft::tileKind>;
struct TileKindText : sor<BufferKind<"ddr", TileKind::Ddr>, BufferKind<"mem", TileKind::Memtile>,
                          BufferKind<"core", TileKind::Core>> {
  static std::string expected() { return "'ddr', 'mem' or 'core'"; }
};
struct BufferTensor : IfMust<Word<"tensor">, Into<TensorName, &Draft::buffer, &Buffer::tensor>> {};
struct BufferLine
    : IfMust<Word<"buffer">, Into<String, &Draft::buffer, &Buffer::name>, Word<"in">, TileKindText,
             RangeText, Word<"@">, NumberInto<&Draft::buffer, &Buffer::address>, Word<"size">,
             NumberInto<&Draft::buffer, &Buffer::size>, StepWord<"layers", "steps">,
             Into<LayerName, &Draft::buffer, &Buffer::first>, Word<"to">,
             Into<LayerName, &Draft::buffer, &Buffer::last>, opt<BufferTensor>> {};

struct LockIndex : seq<peg::one<'L'>, NumberInto<&Draft::lock, &Lock::index>> {
  static std::string expected() { return "a lock: L and a number"; }
};
struct Producer : seq<EngineText> {
  static std::string expected() { return EngineText::expected(); }
};
struct Consumer : seq<EngineText> {
  static std::string expected() { return EngineText::expected(); }
};
struct LockLine : IfMust<Word<"lock">, LockIndex, Word<"in">, TileText, Word<"=">,
                         NumberInto<&Draft::lock, &Lock::initial>, Word<"from">, Producer,
                         Word<"to">, Consumer> {};

// ---- the file -----------------------------------------------------------------------------------

struct Statement : sor<CallLine, SendLine, ReceiveLine, WriteFmLine, LoadLine, WriteLine, LoopLine,
                       LoopEnd, StartLine, WaitLine, SectionLine, LockLine, BufferLine, TensorLine,
                       SliceLine, LayerLine, StepLine, KernelLine, MoveLine, InputLine, OutputLine,
                       ModelLine, DeviceLine, WeightsLine, RecordsLine, DdrLine, HostLine> {
  static std::string expected() { return "a declaration, an instruction, 'loop', '}' or 'on'"; }
};
struct Comment : seq<peg::one<'#'>, star<peg::not_one<'\n', '\r'>>> {};
struct EndOfLine : seq<opt<Comment>, sor<peg::eol, peg::eof>> {
  static std::string expected() { return "the end of the line"; }
};
struct EmptyLine : seq<Space, EndOfLine> {};
struct LineStart : peg::success {};
struct FullLine : seq<LineStart, Space, Must<Statement, EndOfLine>> {};
struct VersionLine : seq<peg::string<'h', 'e', 'd', 'd', 'l', 'e', '.', 'a', 's', 'm', '/', '2'>,
                         Space, EndOfLine> {
  static std::string expected() { return "the line heddle.asm/2"; }
};
struct SkippedLine : seq<star<peg::not_one<'\n'>>, sor<peg::one<'\n'>, peg::eof>> {};
template <class Fault>
struct Line : sor<EmptyLine, peg::try_catch_type<Fault, FullLine>, SkippedLine> {};
template <class Fault>
struct File : seq<VersionLine, peg::until<peg::eof, Line<Fault>>> {};

}  // namespace heddle::asm_text
