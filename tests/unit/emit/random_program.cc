#include "random_program.h"

#include <rapidcheck.h>

#include <cmath>

#include "../machine/transfers.h"

namespace heddle {
namespace {

using testing::makeLoad;
using testing::makeReceive;
using testing::makeSend;
using testing::makeWrite;
using testing::makeWriteFm;

// Mostly small numbers, sometimes any.
std::int64_t integer() {
  return *rc::gen::weightedOneOf<std::int64_t>(
      {{3, rc::gen::just<std::int64_t>(0)},
       {3, rc::gen::just<std::int64_t>(1)},
       {6, rc::gen::inRange<std::int64_t>(-20, 5000)},
       {1, rc::gen::element<std::int64_t>(INT64_MIN, INT64_MAX, INT64_MIN + 1, 0x7fffffff)},
       {1, rc::gen::arbitrary<std::int64_t>()}});
}
std::int32_t smallNumber() { return *rc::gen::inRange(0, 70); }
std::int64_t many() { return *rc::gen::inRange<std::int64_t>(1, 9); }
bool flip() { return *rc::gen::arbitrary<bool>(); }
std::int8_t byte() { return *rc::gen::arbitrary<std::int8_t>(); }
std::string anyText() { return *rc::gen::arbitrary<std::string>(); }

template <class T, class F>
std::vector<T> some(F&& make) {
  std::vector<T> list;
  for (int n = *rc::gen::inRange(0, 4); n > 0; --n) list.push_back(make());
  return list;
}

template <class IdType>
IdType id() {
  IdType i;
  i.index = *rc::gen::inRange(-1, 40);
  return i;
}

Affine affine() {
  Affine a(integer());
  if (flip()) a.row = integer();
  if (flip()) a.column = integer();
  for (std::int64_t& k : a.loop)
    if (*rc::gen::inRange(0, 4) == 0) k = integer();
  return a;
}

Address<Affine> address() {
  Address<Affine> a{.base = affine()};
  if (flip()) a = {a.base, affine(), integer(), integer()};
  return a;
}
LockUse<Affine> lockUse() {
  return {flip() ? Affine(smallNumber()) : affine(), flip() ? 1 : integer()};
}
End<Affine> end() {
  return {address(),
          {some<Dimension>([] {
             return Dimension{integer(), integer()};
           }),
           integer()},
          some<LockUse<Affine>>(lockUse),
          some<LockUse<Affine>>(lockUse)};
}
Part<Affine> part(bool weights) {
  Part<Affine> p;
  p.content = weights ? Content::Weights : Content::Activation;
  p.y = affine();
  if (weights) return p;
  p.rows = integer();
  p.tensor = id<TensorId>();
  p.block = affine();
  p.x = affine();
  p.blocks = integer();
  p.columns = integer();
  return p;
}

Engine engine() {
  const auto kind = static_cast<EngineKind>(*rc::gen::inRange(0, 7));
  switch (kind) {
    case EngineKind::Sequencer:
      return {kind};
    case EngineKind::DdrIn:
    case EngineKind::DdrOut:
      return {kind, 0, smallNumber(), smallNumber()};
    case EngineKind::Wire:
      return {kind, 0, smallNumber()};
    case EngineKind::Core:
      return {kind, smallNumber(), smallNumber()};
    case EngineKind::CoreIn:
    case EngineKind::CoreOut:
      return {kind, smallNumber(), smallNumber(), smallNumber()};
  }
  return {};
}

RowRing<Affine> ring() {
  return {affine(),       affine(),  affine(),  affine(),  affine(),  affine(),
          id<TensorId>(), integer(), integer(), integer(), integer(), flip()};
}

Call<Affine> call(std::size_t kernels) {
  Call<Affine> c;
  c.kernel.index = *rc::gen::inRange(-1, static_cast<int>(kernels) + 2);
  c.inputs = some<RowRing<Affine>>(ring);
  if (flip()) c.weights = address();
  if (flip()) c.record = affine();
  if (flip()) c.accumulator = affine();
  c.init = flip();
  c.finish = flip();
  if (flip()) c.output = address();
  c.part = part(flip());
  c.acquire = some<LockUse<Affine>>(lockUse);
  c.release = some<LockUse<Affine>>(lockUse);
  return c;
}

std::vector<SendTo<Affine>> receivers() {
  return some<SendTo<Affine>>([] {
    return SendTo<Affine>{affine(), affine(), integer(), integer(), integer()};
  });
}
std::vector<MemtileEnd<Affine>> memtileEnds() {
  const auto one = [] { return MemtileEnd<Affine>{affine(), end()}; };
  std::vector<MemtileEnd<Affine>> ends = some<MemtileEnd<Affine>>(one);
  ends.push_back(one());
  return ends;
}

Instruction instruction(std::size_t kernels) {
  switch (*rc::gen::inRange(0, 8)) {
    case 0:
      return {Start{engine()}};
    case 1:
      return {Wait<Affine>{engine(), affine()}};
    case 2:
      return {makeLoad(end(), end(), part(flip()))};
    case 3:
      return {makeWrite(end(), end(), part(flip()))};
    case 4:
      return {makeSend(affine(), end(), receivers(), part(flip()))};
    case 5:
      return {makeReceive(affine(), end(), part(flip()))};
    case 6:
      return {makeWriteFm(end(), memtileEnds(), part(flip()))};
    default:
      return {call(kernels)};
  }
}

std::vector<Item> items(std::size_t kernels, std::size_t depth) {
  return some<Item>([&]() -> Item {
    if (depth < kMaxLoopDepth && flip()) return {Loop{integer(), items(kernels, depth + 1)}};
    return {instruction(kernels)};
  });
}

CoreRange range() { return {smallNumber(), smallNumber(), many(), many()}; }
AxisMap axisMap() {
  return some<AxisRun>([] {
    return AxisRun{integer(), integer(), integer(), integer(), integer()};
  });
}

Kernel kernel() {
  Kernel k;
  k.op = static_cast<OpKind>(*rc::gen::inRange(0, 8));
  k.name = anyText();
  k.window = {integer(), integer(), integer(), integer(), integer(),
              integer(), integer(), integer(), integer(), integer()};
  k.tensorHeight = integer();
  k.tensorWidth = integer();
  k.inputBlocks = integer();
  k.outputBlocks = integer();
  k.outputColumns = integer();
  k.inputZero = byte();
  k.inputZeroB = byte();
  k.outputZero = byte();
  k.clamp = {byte(), byte()};
  k.kernelYWhole = integer();
  k.countIncludesPad = flip();
  k.rescale = *rc::gen::arbitrary<bool>() ? Multiplier{1 << 30, 31} : Multiplier{};
  k.multiplierA = integer();
  k.multiplierB = integer();
  k.shift = smallNumber();
  k.negativeScale = flip();
  k.weightZeros = flip();
  k.recordAt = integer();
  k.sharesRecord = flip();
  k.broadcasts = flip();
  k.tablePerChannel = flip();
  k.tableLines = flip();
  k.multipliesInput = flip();
  if (k.multipliesInput) {
    k.gateZero = byte();
    k.productZero = byte();
    k.productClamp = {byte(), byte()};
  }
  k.looksUp = flip();
  if (k.looksUp) {
    k.lookedUpZero = byte();
    k.lookedUpClamp = {byte(), byte()};
  }
  k.moves = some<Kernel::Move>([] { return Kernel::Move{axisMap(), axisMap(), integer()}; });
  k.fill = byte();
  return k;
}

Port port() {
  return {anyText(),
          id<TensorId>(),
          static_cast<ElementType>(*rc::gen::inRange(0, 3)),
          some<std::int64_t>(integer),
          some<std::int64_t>(integer),
          anyText()};
}

ProgramTensor anyTensor() {
  ProgramTensor t;
  t.name = anyText();
  t.shape = {integer(), integer(), integer()};
  t.scale =
      *rc::gen::suchThat(rc::gen::arbitrary<double>(), [](double d) { return std::isfinite(d); });
  t.zeroPoint = byte();
  t.fromUint8 = flip();
  if (flip()) t.ddr = integer();
  t.frameStride = integer();
  t.constant = flip();
  t.slices = some<Slice>([] {
    return Slice{integer(), integer(), integer(), integer(),
                 integer(), integer(), integer(), integer()};
  });
  t.root = id<TensorId>();
  t.rootBlock = integer();
  if (flip()) t.sampling = Sampling{{integer(), integer()}, {integer(), integer()}};
  return t;
}

Tile tile() {
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      return {TileKind::Ddr};
    case 1:
      return {TileKind::Memtile, 0, smallNumber()};
    default:
      return {TileKind::Core, smallNumber(), smallNumber()};
  }
}

}  // namespace

Program randomProgram() {
  Program p;
  p.model = anyText();
  p.modelSha256 = anyText();
  p.weightsSha256 = anyText();
  p.deviceSha256 = anyText();
  p.inputs = some<Port>(port);
  p.outputs = some<Port>(port);
  p.tensors = some<ProgramTensor>(anyTensor);
  p.layers = some<Layer>([] { return Layer{anyText(), anyText(), id<TensorId>(), anyText()}; });
  p.steps = some<LayerId>([] { return id<LayerId>(); });
  p.kernels = some<Kernel>(kernel);
  p.records = some<WeightRecord>([] {
    return WeightRecord{integer(), integer(), integer(), integer()};
  });
  p.buffers = some<Buffer>([] {
    return Buffer{anyText(),    static_cast<TileKind>(*rc::gen::inRange(0, 3)),
                  range(),      integer(),
                  integer(),    id<StepId>(),
                  id<StepId>(), id<TensorId>()};
  });
  p.locks = some<Lock>([] { return Lock{tile(), smallNumber(), integer(), engine(), engine()}; });
  p.weightsAddress = integer();
  p.weightsBytes = integer();
  p.ddrBytes = integer();
  p.frames = integer();
  p.batch = integer();
  p.sections = some<Section>([&] {
    std::vector<CoreRange> ranges = some<CoreRange>(range);
    if (ranges.empty()) ranges.push_back(range());
    const auto kind = static_cast<EngineKind>(*rc::gen::inRange(0, 7));
    return Section{
        id<StepId>(), {kind, smallNumber(), std::move(ranges)}, items(p.kernels.size(), 0), flip()};
  });
  p.hostOperators = some<std::string>(anyText);
  return p;
}

namespace {

Affine affineOf(std::int64_t base, std::int64_t row, std::int64_t column, std::int64_t i0) {
  Affine a(base);
  a.row = row;
  a.column = column;
  a.loop[0] = i0;
  return a;
}
End<Affine> endOf(std::int64_t base) {
  return {{affineOf(base, 0, 64, 0), affineOf(1, 0, 0, 1), 576, 4},
          {{{4, 1024}, {2, 512}}, 72},
          {{0, 1}, {affineOf(3, 1, 0, 0), 2}},
          {{1, 1}}};
}
Part<Affine> boxOf(std::size_t tensor) {
  return {Content::Activation,
          TensorId(tensor),
          affineOf(-1, 0, 0, 1),
          affineOf(0, 2, 0, 0),
          affineOf(0, 0, 8, 0),
          1,
          2,
          8};
}
Part<Affine> recordOf(const Affine& number) {
  return {.content = Content::Weights, .tensor = {}, .y = number, .block = {}, .x = {}};
}
End<Affine> recordEndOf(std::int64_t base) {
  return {{affineOf(base, 0, 64, 0), affineOf(1, 0, 0, 1), 576, 4}, {}, {{0, 1}}, {{1, 1}}};
}

std::vector<Section> sectionsOfEverything() {
  const auto on = [](EngineKind kind, std::int32_t channel, CoreRange range,
                     std::vector<Item> items) {
    return Section{StepId(0), {kind, channel, {range}}, std::move(items)};
  };
  const auto andOn = [](CoreRange range, Section section) {
    section.engines.ranges.push_back(range);
    return section;
  };
  const auto atTheEnd = [](Section section) {
    section.lastFrame = true;
    return section;
  };
  const auto item = [](auto instruction) { return Item{Instruction{std::move(instruction)}}; };
  Call<Affine> call;
  call.kernel = KernelId(0);
  call.inputs = {{0x40, affineOf(0, 0, 0, 1), affineOf(-1, 0, 0, 1), affineOf(-1, 0, 8, 0), 7, 1,
                  TensorId(0), 144, 4, 9, 2, true}};
  call.weights = Address<Affine>{0x240};
  call.record = affineOf(1, 1, 0, 2);
  call.accumulator = Affine(0x900);
  call.init = false;
  call.finish = false;
  call.output = Address<Affine>{0x300, affineOf(0, 0, 0, 1), 128, 2};
  call.part = boxOf(1);
  call.acquire = {{0, 1}};
  call.release = {{1, 2}};
  Call<Affine> last = call;
  last.finish = true;
  Call<Affine> first = call;
  first.init = true;
  Call<Affine> unknown = call;
  unknown.kernel = KernelId(99);
  return {
      on(EngineKind::Sequencer, 0, {},
         {item(Start{{EngineKind::DdrIn, 0, 1, 1}}),
          item(Wait<Affine>{{EngineKind::Wire, 0, 2}, 3})}),
      on(EngineKind::DdrIn, 1, {0, 0, 1, 2},
         {item(makeLoad(endOf(0), endOf(64), boxOf(0))),
          item(makeLoad({}, recordEndOf(64), recordOf(affineOf(0, 0, 1, 0))))}),
      on(EngineKind::DdrOut, 0, {0, 1, 1, 1}, {item(makeWrite(endOf(0), endOf(64), boxOf(1)))}),
      on(EngineKind::Wire, 0, {0, 2, 1, 1},
         {item(makeSend(1, endOf(0), {{0, 2, 4, 2, 1}, {5, 6, 1, 1, 0}}, boxOf(0))),
          item(makeSend(affineOf(0, 0, 1, 0), recordEndOf(0), {{0, 2, 4, 2, 1}}, recordOf(3)))}),
      on(EngineKind::CoreIn, 1, {0, 0, 4, 2}, {item(makeReceive(2, endOf(0), boxOf(0)))}),
      on(EngineKind::Core, 0, {1, 0, 1, 4},
         {Item{Loop{14, {item(first), Item{Loop{2, {item(call)}}}, item(last)}}}, item(unknown)}),
      andOn({4, 1, 1, 1},
            on(EngineKind::CoreOut, 0, {1, 0, 2, 4},
               {item(makeWriteFm(endOf(0), {{0, endOf(1)}, {1, endOf(2)}}, boxOf(1)))})),
      atTheEnd(
          on(EngineKind::Sequencer, 0, {}, {item(Wait<Affine>{{EngineKind::DdrOut, 0, 1, 0}, 0})})),
  };
}

std::vector<Kernel> kernelsOfEverything() {
  std::vector<Kernel> kernels;
  for (const OpKind op : {OpKind::Conv, OpKind::DepthwiseConv, OpKind::MaxPool, OpKind::AveragePool,
                          OpKind::Add, OpKind::Mul, OpKind::Table, OpKind::Assemble}) {
    Kernel k;
    k.op = op;
    k.name = "layer \"1\"\n";
    if (op != OpKind::Conv) {
      kernels.push_back(k);
      continue;
    }
    k.window = {3, 5, 2, 1, 1, 2, 1, 2, 3, 4};
    k.tensorHeight = 56;
    k.tensorWidth = 28;
    k.inputBlocks = 2;
    k.outputBlocks = 4;
    k.outputColumns = 14;
    k.inputZero = -3;
    k.outputZero = 5;
    k.clamp = {-5, 90};
    k.kernelYWhole = 7;
    k.countIncludesPad = true;
    k.rescale = {1 << 30, 31};
    k.multiplierA = 12;
    k.multiplierB = -12;
    k.shift = 20;
    k.negativeScale = true;
    k.weightZeros = true;
    k.recordAt = 144;
    k.sharesRecord = true;
    k.broadcasts = true;
    k.tablePerChannel = true;
    k.tableLines = true;
    k.moves = {{{{0, 2, 1, 3, 8}}, {{8, 1, 0, 1, 8}, {0, 1, 8, 1, 8}}, 0}};
    k.fill = -7;
    k.multipliesInput = true;
    k.gateZero = 3;
    k.productZero = -4;
    k.productClamp = {-80, 60};
    k.looksUp = true;
    k.lookedUpZero = 11;
    k.lookedUpClamp = {-90, 70};
    k.addsInput = true;
    k.addedToZero = -9;
    k.addedToClamp = {-100, 20};
    kernels.push_back(k);
  }
  return kernels;
}
}  // namespace

Program programOfEverything() {
  Program p;
  p.model = "everything";
  p.modelSha256 = "00ff";
  p.weightsSha256 = "11ee";
  p.deviceSha256 = "22dd";
  p.weightsAddress = 4096;
  p.weightsBytes = 2304;
  p.records = {{0, 576, 4}, {576, 576, 4}, {1152, 576, 3}, {1728, 576, 0, 64}};
  p.ddrBytes = 8192;
  p.frames = 2;
  p.batch = 4;
  p.inputs = {{"x", TensorId(0), ElementType::Uint8, {1, 16, 16, 16}, {1, 16, 16, 16}, "NCHW"}};
  p.outputs = {{"y", TensorId(1), ElementType::Float32, {1, 32}, {1, 32}, "NC"},
               {"z", TensorId(1), ElementType::Int8, {}, {}, ""}};
  p.tensors = {{"x",
                {16, 16, 16},
                0.0625,
                3,
                true,
                0,
                4096,
                true,
                {{0, 64, 0, 16, 0, 8, 0, 2}, {1, 64, 0, 16, 8, 8, 0, 2}},
                TensorId(0),
                0},
               {"caf\xc3\xa9\x01\xff\\",
                {16, 16, 32},
                0.1,
                0,
                false,
                std::nullopt,
                0,
                false,
                {},
                TensorId(0),
                2}};
  p.layers = {{"conv1", "Conv", TensorId(1), "W/2 x COUT/2"}};
  p.kernels = kernelsOfEverything();
  p.buffers = {{"ring", TileKind::Core, {0, 0, 2, 2}, 64, 576, StepId(0), {}, TensorId(0)},
               {"slice", TileKind::Memtile, {0, 1, 1, 1}, 0, 64, {}, StepId(0), {}},
               {"weights", TileKind::Ddr, {}, 4096, 2304, StepId(0), StepId(0), {}}};
  p.locks = {
      {{TileKind::Core, 1, 2}, 3, 4, {EngineKind::CoreIn, 1, 2, 1}, {EngineKind::Core, 1, 2}},
      {{TileKind::Memtile, 0, 1}, 0, 0, {EngineKind::DdrIn, 0, 1, 0}, {EngineKind::Wire, 0, 2}},
      {{TileKind::Memtile, 0, 1},
       1,
       0,
       {EngineKind::CoreOut, 1, 1, 0},
       {EngineKind::DdrOut, 0, 1, 1}}};
  p.sections = sectionsOfEverything();
  p.hostOperators = {"Softmax"};
  return p;
}

}  // namespace heddle
