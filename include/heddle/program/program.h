// What runs on the array: for every engine one queue of instructions and counted loops, executed in
// order; engines meet only at locks and in transfers. The same value is printed as asm, executed by
// the Machine and handed off. docs/asm.md.
//
// A queue is the concatenation, in order, of the sections whose set contains its engine. A section
// speaks for some rectangles of engines at once (SPMD): its numbers are affine in the loop
// counters and in the engine's row and column.
//
//   section step 3 Core rows 0-3 columns 1-2         twelve lines of asm for eight cores
//     loop 14 { CONV ... row = -1 + 1*i0 ... }
//
// Template parameter V of the instruction types: Affine in a Program, std::int64_t once evaluated
// for one iteration.
//
// What an instruction consists of tells its `fields`, each once, of one value or of several of one
// shape side by side: to f.number what is of type V, to f.shape what is not, to f.inner what has
// fields itself, or a list of such. visit.h walks them.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/support/ids.h"
#include "heddle/support/units.h"
#include "heddle/tiling/slice.h"

namespace heddle {

// ---- engines ------------------------------------------------------------------------------------

enum class EngineKind { Sequencer, DdrIn, DdrOut, Wire, CoreIn, Core, CoreOut };
inline constexpr std::size_t kEngineKinds = 7;

// Sequencer: all 0. DdrIn, DdrOut: column = memtile, channel. Wire: column = index in
// Device::wires. CoreIn, CoreOut: row, column, channel. Core: row, column.
struct Engine {
  EngineKind kind = EngineKind::Sequencer;
  std::int32_t row = 0, column = 0, channel = 0;
  friend auto operator<=>(const Engine&, const Engine&) = default;
};

// Engines of one kind and channel: those of some rectangles of (row, column), which have none in
// common.
struct EngineSet {
  EngineKind kind = EngineKind::Sequencer;
  std::int32_t channel = 0;
  std::vector<CoreRange> ranges{CoreRange{}};
  bool contains(const Engine& e) const;
  std::int64_t size() const;
  friend bool operator==(const EngineSet&, const EngineSet&) = default;
};

// ---- numbers ------------------------------------------------------------------------------------

inline constexpr std::size_t kMaxLoopDepth = 6;

// base + row * R + column * C + sum loop[k] * i_k, where R, C are the engine's row and column (a
// wire's index is its column) and i_k the counter of the k-th enclosing loop, outermost first.
struct Affine {
  std::int64_t base = 0, row = 0, column = 0;
  std::array<std::int64_t, kMaxLoopDepth> loop{};
  Affine() = default;
  Affine(std::int64_t b) : base(b) {}  // NOLINT: a constant is an affine number
  friend bool operator==(const Affine&, const Affine&) = default;
};

// ---- operands -----------------------------------------------------------------------------------

// base + (slot mod slots) * slotStride, in bytes from the start of its memory: a plain address
// (slots = 1), one of two ping-pong buffers, a place in a ring. slot counts up without wrapping and
// is never negative.
template <class V>
struct Address {
  V base{};
  V slot{};
  std::int64_t slotStride = 0, slots = 1;
  template <class F, class... A>
  static void fields(F&& f, A&... a) {
    f.number(a.base...);
    f.number(a.slot...);
    f.shape(a.slotStride...);
    f.shape(a.slots...);
  }
  friend bool operator==(const Address&, const Address&) = default;
};

struct Dimension {
  std::int64_t count = 1, stride = 0;  // stride in bytes
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

// `run` contiguous bytes, repeated over the dimensions (outermost first): an n-dimensional strided
// copy's one side. Of a weight record, which is contiguous and as long as the table says: empty.
struct Pattern {
  std::vector<Dimension> dimensions;
  std::int64_t run = 0;
  std::int64_t bytes() const {
    std::int64_t n = run;
    for (const Dimension& d : dimensions) n *= d.count;
    return n;
  }
  friend bool operator==(const Pattern&, const Pattern&) = default;
};

// A semaphore of the tile where the end (or the core) is; acquire waits for value >= count and
// subtracts, release adds.
template <class V>
struct LockUse {
  V lock{};  // index within its tile
  std::int64_t count = 1;
  template <class F, class... U>
  static void fields(F&& f, U&... u) {
    f.number(u.lock...);
    f.shape(u.count...);
  }
  friend bool operator==(const LockUse&, const LockUse&) = default;
};

// One end of a transfer: a descriptor in its own tile. Ends in DDR have no locks.
template <class V>
struct End {
  Address<V> address;
  Pattern pattern;
  std::vector<LockUse<V>> acquire, release;
  template <class F, class... E>
  static void fields(F&& f, E&... e) {
    f.inner(e.address...);
    f.shape(e.pattern...);
    f.inner(e.acquire...);
    f.inner(e.release...);
  }
  friend bool operator==(const End&, const End&) = default;
};

enum class Content { Activation, Weights };

// What a transfer or a call means to move. Activation: the box of tensor `tensor` (a root; what
// goes from a memtile to cores may be pixels of one, ProgramTensor::sampling) that starts at row y,
// channel block `block` (8 channels), column x, in order y, block, x.
// Weights: record number `y` of Program::records (the other fields as default).
template <class V>
struct Part {
  Content content = Content::Activation;
  TensorId tensor;
  V y{}, block{}, x{};
  std::int64_t rows = 1, blocks = 1, columns = 1;
  template <class F, class... P>
  static void fields(F&& f, P&... p) {
    f.shape(p.content...);
    f.shape(p.tensor...);
    f.number(p.y...);
    f.number(p.block...);
    f.number(p.x...);
    f.shape(p.rows...);
    f.shape(p.blocks...);
    f.shape(p.columns...);
  }
  friend bool operator==(const Part&, const Part&) = default;
};

// ---- instructions -------------------------------------------------------------------------------

struct Start {  // START: lets the next entry (top-level item of a section) of a DDR channel's queue
                // run
  Engine channel;
  template <class F, class... S>
  static void fields(F&& f, S&... s) {
    f.shape(s.channel...);
  }
  friend bool operator==(const Start&, const Start&) = default;
};
template <class V>
struct Wait {  // WAIT: blocks until entry number `entry` (from 0, as started in this frame) of the
               // channel has ended
  Engine channel;
  V entry{};
  template <class F, class... W>
  static void fields(F&& f, W&... w) {
    f.shape(w.channel...);
    f.number(w.entry...);
  }
  friend bool operator==(const Wait&, const Wait&) = default;
};

// A transfer's kind says where its ends lie and in whose queues it stands. From a memtile to cores
// it stands in several: Send in the wire's, Receive in each core's; they meet.
enum class TransferKind : std::uint8_t { Load, Write, Send, Receive, WriteFm };

enum class EndPlace : std::uint8_t {
  Ddr,
  ChannelsMemtile,  // the one in the column of the DDR channel
  NamedMemtile,     // the instruction names it
  Core
};

struct TransferForm {
  std::string_view activations, weights;        // mnemonics by content; none: it moves no weights
  EngineKind engine = EngineKind::DdrIn;        // that executes it
  std::optional<EndPlace> source, destination;  // none: it stands in another queue
  bool severalDestinations = false;             // where Device::coreWriteMulticast
  constexpr bool namesMemtile() const {
    return source == EndPlace::NamedMemtile || destination == EndPlace::NamedMemtile;
  }
};

// By TransferKind.
inline constexpr std::array<TransferForm, 5> kTransferForms = {{
    {"LOAD", "LOADW", EngineKind::DdrIn, EndPlace::Ddr, EndPlace::ChannelsMemtile},
    {"WRITE", "", EngineKind::DdrOut, EndPlace::ChannelsMemtile, EndPlace::Ddr},
    {"LOADFM", "LOADWM", EngineKind::Wire, EndPlace::NamedMemtile, std::nullopt},
    {"RECV", "RECV", EngineKind::CoreIn, std::nullopt, EndPlace::Core},
    {"WRITEFM", "", EngineKind::CoreOut, EndPlace::Core, EndPlace::NamedMemtile, true},
}};
static_assert(kTransferForms.size() == static_cast<std::size_t>(TransferKind::WriteFm) + 1);
constexpr const TransferForm& formOf(TransferKind kind) {
  return kTransferForms[static_cast<std::size_t>(kind)];
}

template <class V>
struct SendTo {  // cores that a wire's transfer goes to, each through its receiving channel
                 // `channel`
  V row{}, column{};
  std::int64_t rows = 1, columns = 1, channel = 0;
  template <class F, class... S>
  static void fields(F&& f, S&... s) {
    f.number(s.row...);
    f.number(s.column...);
    f.shape(s.rows...);
    f.shape(s.columns...);
    f.shape(s.channel...);
  }
  friend bool operator==(const SendTo&, const SendTo&) = default;
};
template <class V>
struct MemtileEnd {
  V memtile{};
  End<V> end;
  template <class F, class... E>
  static void fields(F&& f, E&... e) {
    f.number(e.memtile...);
    f.inner(e.end...);
  }
  friend bool operator==(const MemtileEnd&, const MemtileEnd&) = default;
};

// Moves a part from one memory to another, or to several. What its form has no use for is left as
// it is by default; so is the source of a LOADW, which is its record's place in DDR.
template <class V>
struct Transfer {
  TransferKind kind = TransferKind::Load;
  End<V> source, destination;
  Part<V> part;
  V memtile{};                         // of the end that lies in a named one
  std::vector<MemtileEnd<V>> further;  // destinations behind the first
  std::vector<SendTo<V>> to;           // of a Send
  V wire{};                            // whose Send a Receive meets
  const TransferForm& form() const { return formOf(kind); }
  template <class F, class T, class... U>
  static void fields(F&& f, T& t, U&... u) {
    f.shape(t.kind, u.kind...);
    if (t.form().source) f.inner(t.source, u.source...);
    if (t.form().destination) f.inner(t.destination, u.destination...);
    if (t.form().namesMemtile()) f.number(t.memtile, u.memtile...);
    f.inner(t.further, u.further...);
    f.inner(t.to, u.to...);
    if (t.kind == TransferKind::Receive) f.number(t.wire, u.wire...);
    f.inner(t.part, u.part...);
  }
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

// An input of a call: a ring of `length` rows in core memory, each row laid out as blocks x columns
// x 8 bytes. Row a of the tensor lies in ring place (a + ringOffset) mod length; column 0 of a ring
// row is column `origin` of the tensor. The window's first tap is (row, column) of the tensor; taps
// outside the tensor are border.
template <class V>
struct RowRing {
  V base{};
  V ringOffset{};
  V row{}, column{}, origin{};
  V block{};  // first channel block of the tensor that the ring holds
  TensorId tensor;
  std::int64_t rowBytes = 0, length = 1, columns = 1, blocks = 1;
  bool absent = false;  // this call reads nothing of it (an Assemble part without this output row)
  template <class F, class... R>
  static void fields(F&& f, R&... r) {
    f.number(r.base...);
    f.number(r.ringOffset...);
    f.number(r.row...);
    f.number(r.column...);
    f.number(r.origin...);
    f.number(r.block...);
    f.shape(r.tensor...);
    f.shape(r.rowBytes...);
    f.shape(r.length...);
    f.shape(r.columns...);
    f.shape(r.blocks...);
    f.shape(r.absent...);
  }
  friend bool operator==(const RowRing&, const RowRing&) = default;
};

// CONV, DWCONV, MAXPOOL, AVGPOOL, ADD, MUL, TABLE, CONCAT: output rows of the tile, part.rows of
// one image, each by `kernel`. From one to the next an input's window moves by as many rows as the
// kernel's stride says, the output by a slot, the sums by their bytes; of a CONCAT one row.
template <class V>
struct Call {
  KernelId kernel;
  std::vector<RowRing<V>> inputs;
  std::optional<Address<V>> weights;  // the weight record, laid out as at WeightImage
  V record{};                         // its number in Program::records, where there is one
  std::optional<V>
      accumulator;  // int32, rows x blocks x columns x 8, where the reduction is cut over time
  bool init = true,
       finish = true;  // init: accumulators start anew; finish: requantize and write the output
  std::optional<Address<V>> output;  // blocks x columns x 8 bytes a row; present where finish
  Part<V> part;                      // of the output
  std::vector<LockUse<V>> acquire, release;
  template <class F, class... C>
  static void fields(F&& f, C&... c) {
    f.shape(c.kernel...);
    f.inner(c.inputs...);
    f.inner(c.weights...);
    f.number(c.record...);
    f.number(c.accumulator...);
    f.shape(c.init...);
    f.shape(c.finish...);
    f.inner(c.output...);
    f.inner(c.part...);
    f.inner(c.acquire...);
    f.inner(c.release...);
  }
  friend bool operator==(const Call&, const Call&) = default;
};

template <class V>
struct BasicInstruction {
  std::variant<Start, Wait<V>, Transfer<V>, Call<V>> as;
  friend bool operator==(const BasicInstruction&, const BasicInstruction&) = default;
};
using Instruction = BasicInstruction<Affine>;
using FlatInstruction = BasicInstruction<std::int64_t>;

struct Item;
struct Loop {
  std::int64_t count = 1;
  std::vector<Item> body;
  bool operator==(const Loop&) const;
};
struct Item {
  std::variant<Instruction, Loop> as;
  friend bool operator==(const Item&, const Item&) = default;
};
inline bool Loop::operator==(const Loop& other) const {
  return count == other.count && body == other.body;
}

// ---- kernels ------------------------------------------------------------------------------------

// What all kernels of an operator have in common.
struct KernelForm {
  std::string_view mnemonic;
  std::int64_t inputs = 1;  // 0: one for each of Kernel::moves
  // Reads input 0 through Kernel::window, from row to row by its stride, and may be cut over time.
  bool hasWindow = false;
};

// By OpKind.
inline constexpr std::array<KernelForm, 8> kKernelForms = {{
    {"CONV", 1, true},
    {"DWCONV", 1, true},
    {"MAXPOOL", 1, true},
    {"AVGPOOL", 1, true},
    {"ADD", 2},
    {"MUL", 2},
    {"TABLE"},
    {"CONCAT", 0},
}};
static_assert(kKernelForms.size() == std::variant_size_v<OpAttributes>);
constexpr const KernelForm& formOf(OpKind op) { return kKernelForms[static_cast<std::size_t>(op)]; }

// What all calls of one shape share. Reductions cut over time see a part of the window and of the
// input's blocks.
struct Kernel {
  OpKind op = OpKind::Conv;
  std::string name;  // of the layer, for people
  Window window;     // kernelY is that of the part; pads count for AveragePool only (the call names
                     // absolute taps)
  std::int64_t tensorHeight = 1,
               tensorWidth = 1;  // of an image of the (first) input, to tell border from pixels
  std::int64_t inputBlocks = 1;  // 8-channel blocks that a CONV reduces over
  std::int64_t outputBlocks = 1, outputColumns = 1;
  std::int8_t inputZero = 0, inputZeroB = 0,
              outputZero = 0;  // inputZero is the border's value, too
  Clamp clamp;
  std::int64_t kernelYWhole = 1;  // AveragePool: rows of the uncut window, for the count
  bool countIncludesPad = false;
  Multiplier rescale;                             // AveragePool, Mul, Conv that multiplies
  std::int64_t multiplierA = 0, multiplierB = 0;  // Add, and Conv with one fused
  std::int32_t shift = 0;                         // likewise
  // Conv: before all else multiplies its input by the one pixel of its input 1, of zero point
  // `gateZero`, as Mul does. `productZero` and `productClamp` are those of what it computes from.
  bool multipliesInput = false;
  std::int8_t gateZero = 0, productZero = 0;
  Clamp productClamp;
  // Conv: the call that finishes adds its last input to what it has computed. `outputZero` and
  // `clamp` are those of the sum, `addedToZero` and `addedToClamp` those of the convolution by
  // itself.
  bool addsInput = false;
  std::int8_t addedToZero = 0;
  Clamp addedToClamp;
  // Conv, DepthwiseConv: the call that finishes looks up what it has computed, before it adds, in a
  // table at the end of its record. `lookedUpZero` and `lookedUpClamp` are those of the convolution
  // by itself.
  bool looksUp = false;
  std::int8_t lookedUpZero = 0;
  Clamp lookedUpClamp;
  bool negativeScale =
      false;  // Conv, DepthwiseConv: the record holds the multipliers of negative sums as well
  bool weightZeros = false;  // likewise: zero points of the weights that are not all zero
  // Conv: so many bytes of its record come first, which the depth-wise convolution at its end
  // reads.
  std::int64_t recordAt = 0;
  bool sharesRecord = false;  // DepthwiseConv: what is behind what it reads is the Conv's
  bool broadcasts = false;    // Add, Mul, Conv that adds: all pixels meet the one of the last input
  bool tablePerChannel = false;  // Table
  // Table per channel: the record holds lines; Conv: those in which it looks up what it reads.
  bool tableLines = false;
  // Assemble, one per input ring: columns relative to the call's output row, channels relative to
  // the call's first output channel; `from` is relative to the ring's column 0 and first channel.
  // table: index in the record, or -1.
  struct Move {
    AxisMap columns, channels;
    std::int64_t table = -1;
    friend bool operator==(const Move&, const Move&) = default;
  };
  std::vector<Move> moves;
  std::int8_t fill = 0;
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

// ---- the whole ----------------------------------------------------------------------------------

struct Section {
  StepId step;
  EngineSet engines;
  std::vector<Item> items;
  bool lastFrame = false;  // not executed in the frames before the last; of the sequencer only
  friend bool operator==(const Section&, const Section&) = default;
};

struct Layer {
  std::string name;  // of the canonical operator
  std::string op;    // ONNX operator type
  TensorId output;
  std::string split;  // for people: "W/4 x C/4, 2 passes, input resident"
  friend bool operator==(const Layer&, const Layer&) = default;
};

struct ProgramTensor {  // index = TensorId of the CanonicalGraph
  std::string name;
  Shape shape;
  double scale = 1;
  std::int8_t zeroPoint = 0;
  bool fromUint8 = false;
  std::optional<std::int64_t>
      ddr;  // address of the whole tensor in DDR, laid out as rows x blocks x columns x 8
  // Of an input or output of the network: each frame's lies so many bytes behind the one of the
  // frame before, and that is where LOAD and WRITE of it find it. 0: all frames use one place.
  std::int64_t frameStride = 0;
  bool constant = false;      // its DDR bytes come with the WeightImage
  std::vector<Slice> slices;  // empty where it never lies whole in the memtiles
  TensorId root;  // itself, or the tensor of which this one is channels from `rootBlock` on
  std::int64_t rootBlock = 0;
  // Which pixels of the root it has; none: all. With one, parts and rings name the tensor itself,
  // by rows, columns and blocks of its own, else the root.
  std::optional<Sampling> sampling;
  BlockOrder blockOrder;  // which of the network's blocks lie there; the host's are in order
  friend bool operator==(const ProgramTensor&, const ProgramTensor&) = default;
};

enum class TileKind { Ddr, Memtile, Core };
struct Tile {
  TileKind kind = TileKind::Memtile;
  std::int32_t row = 0, column = 0;  // a memtile's row is 0; DDR is {Ddr, 0, 0}
  friend auto operator<=>(const Tile&, const Tile&) = default;
};

// A named stretch of memory, for range checks and for the eye. Tiles: one memtile a column, or a
// rectangle of cores.
struct Buffer {
  std::string name;
  TileKind kind = TileKind::Core;
  CoreRange tiles;
  std::int64_t address = 0, size = 0;
  StepId first, last;  // steps of its life, both included
  TensorId tensor;     // that lies in it, if it is one tensor's
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

struct Lock {
  Tile tile;
  std::int32_t index = 0;  // within the tile
  std::int64_t initial = 0;
  Engine producer, consumer;  // whoever releases, whoever acquires: one queue each
  friend bool operator==(const Lock&, const Lock&) = default;
};

// A weight record's place in the WeightImage. Records of one layer may differ in length: they hold
// only the blocks that are not zero. Instructions name records by number, so that what differs from
// one to the next stands here and not in them.
struct WeightRecord {
  std::int64_t offset = 0, bytes = 0;  // multiples of 8
  std::int64_t kept = 0;               // CONV: 8x8 blocks in it
  std::int64_t padding = 0;            // of the bytes: so many at its end that nobody reads
  friend bool operator==(const WeightRecord&, const WeightRecord&) = default;
};

// Bytes that the host puts into DDR at weightsAddress before the program starts: constant tensors,
// then weight records in the order in which the loops over time first need them. Written as
// weights.bin.
//
// A record (multiples of 8 bytes, little endian), with B = output blocks, A = input blocks, T =
// KY*KX taps of the part:
//   CONV    with Kernel::recordAt that many bytes of a DWCONV's, of as many blocks;
//           weightZero int8[8B] with Kernel::weightZeros;
//           gamma: ceil(A*B/64) u64, bit b*A+a says block (a, b) is kept;
//           with Kernel::tableLines 8A lines, each as of TABLE;
//           kept blocks, b outermost: T x 8 CIN x 8 COUT int8;
//           if the part is the last: bias int32[8B], multiplier int32[8B], shift int8[8B],
//           with Kernel::negativeScale the latter two once more, of negative sums;
//           with Kernel::looksUp a table of 256 int8
//   DWCONV  weightZero as for CONV; per block T x 8 int8; the rest as in CONV's last part
//   TABLE   1 or 8B tables of 256 int8; with Kernel::tableLines 8B times slope int32, offset int32,
//           shift int8, low int8, high int8, one byte of nothing
//   CONCAT  its moves' tables of 256 int8
//
// A shift is at most 64 and at least -1: beyond, it means the same.
// bias already holds -zero(x) * sum(w - weightZero): the kernel multiplies stored values, the
// border being zero(x). (DWCONV and CONV cut over time: the bias of the last part holds the
// correction of all parts.)
struct WeightImage {
  std::vector<std::uint8_t> bytes;
  friend bool operator==(const WeightImage&, const WeightImage&) = default;
};

struct Program {
  std::string model;  // name of the network
  std::string modelSha256, weightsSha256,
      deviceSha256;  // hex; of the ONNX file, the image, printDevice's text
  std::vector<Port> inputs, outputs;
  std::vector<ProgramTensor> tensors;
  std::vector<Layer> layers;
  // Of the schedule: the layer that each works on; empty: one for each layer, in order.
  std::vector<LayerId> steps;
  std::vector<Kernel> kernels;
  std::vector<Buffer> buffers;
  std::vector<Lock> locks;
  std::int64_t weightsAddress = 0, weightsBytes = 0, ddrBytes = 0;
  // How often one run executes every queue from its first section to its last. Queues go on to the
  // next frame by themselves, so that frames overlap as far as locks allow.
  std::int64_t frames = 1;
  // Inferences of a frame (CanonicalGraph::batch): each tensor holds so many images of equal
  // height, one below the other. Windows end at an image's border. Ports are those of one.
  std::int64_t batch = 1;
  std::vector<WeightRecord> records;
  std::vector<Section> sections;
  std::vector<std::string>
      hostOperators;  // ran before or after on the host, not part of the program
  friend bool operator==(const Program&, const Program&) = default;

  std::int64_t inferences() const { return frames * batch; }
  // Of a tensor that parts and rings name: its first block, as those of `tensor` count.
  std::int64_t firstBlockNamed(TensorId tensor) const {
    const ProgramTensor& t = tensors[tensor.at()];
    return t.sampling ? 0 : t.rootBlock;
  }
  std::size_t stepCount() const { return steps.empty() ? layers.size() : steps.size(); }
  // Not valid where there is no such step.
  LayerId layerOf(StepId step) const {
    if (!step.valid() || step.at() >= stepCount()) return LayerId();
    return steps.empty() ? LayerId(step.at()) : steps[step.at()];
  }
};

}  // namespace heddle
