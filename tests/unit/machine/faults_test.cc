// A hand-broken program for each fault that the Machine reports, and for each that verify reports
// before it.
#include <gtest/gtest.h>

#include <functional>

#include "heddle/canon/limits.h"
#include "heddle/machine/diagnostics.h"
#include "worked_convolution.h"

namespace heddle {
namespace {

using namespace heddle::testing;
using W = WorkedConvolution;
using ConvCall = Call<Affine>;

Diagnostic faultOf(const Result<SimulateResult>& result) {
  return result ? Diagnostic{} : result.diagnostics()[0];
}

// Cores (0,0) and (0,1) each look up the same constant row in a table of their own and write the
// result to one memtile.
struct TwiceComputed {
  Device device = paperLike(1, 2);
  ProgramBuilder b;
  WeightImage image;

  explicit TwiceComputed(bool sameTables) {
    image.bytes.assign(64 + 512, 7);  // the row of 8 pixels, two tables
    if (!sameTables) std::fill(image.bytes.begin() + 64 + 256, image.bytes.end(), std::uint8_t{9});
    b.weights(0, image);
    const TensorId in = b.tensor("in", {1, 8, 8}, 0), out = b.tensor("out", {1, 8, 8}, {});
    b.program.tensors[in.at()].constant = true;
    Kernel k;
    k.op = OpKind::Table;
    k.tensorWidth = k.outputColumns = 8;
    const KernelId kernel = b.kernel(k);
    const Part<Affine> row = box(in, 0, 0, 0, 1, 1, 8), result = box(out, 0, 0, 0, 1, 1, 8);
    const CoreRange both{0, 0, 1, 2};
    b.program.records = {{64, 256, 0}, {64 + 256, 256, 0}};
    const Part<Affine> table = recordPart(affine({.column = 1}));
    std::vector<Item> host;
    for (int c = 0; c < 2; ++c) host.push_back(item(Start{engine(EngineKind::DdrIn, 0, c, 0)}));
    for (int c = 0; c < 2; ++c) host.push_back(item(Start{engine(EngineKind::DdrIn, 0, c, 0)}));
    b.section(on(EngineKind::Sequencer), host);
    b.section(on(EngineKind::DdrIn, both),
              {item(makeLoad(end(0, {{}, 64}), end(0, {{}, 64}), row)),
               item(makeLoad({}, recordEnd(64, {}, {{0, 1}}), table))});
    b.section(on(EngineKind::Wire, both),
              {item(makeSend(affine({.column = 1}), recordEnd(64, {{0, 1}}),
                             {{0, affine({.column = 1}), 1, 1, 0}}, table)),
               item(makeSend(affine({.column = 1}), end(0, {{}, 64}),
                             {{0, affine({.column = 1}), 1, 1, 0}}, row))});
    b.section(on(EngineKind::CoreIn, both),
              {item(makeReceive(affine({.column = 1}), recordEnd(64), table)),
               item(makeReceive(affine({.column = 1}), end(0, {{}, 64}, {}, {{0, 1}}), row))});
    Call<Affine> call;
    call.kernel = kernel;
    RowRing<Affine> ring;
    ring.tensor = in;
    ring.rowBytes = 64;
    ring.columns = 8;
    call.inputs = {ring};
    call.weights = Address<Affine>{64, {}, 0, 1};
    call.record = affine({.column = 1});
    call.output = Address<Affine>{512, {}, 0, 1};
    call.part = result;
    call.acquire = {{0, 1}};
    call.release = {{1, 1}};
    b.section(on(EngineKind::Core, both), {item(call)});
    b.section(on(EngineKind::CoreOut, both),
              {item(makeWriteFm(end(512, {{}, 64}, {{1, 1}}),
                                {{affine({.column = 1}), end(512, {{}, 64})}}, result))});
    for (int c = 0; c < 2; ++c) {
      b.lock(memtile(c), 0, 0, engine(EngineKind::DdrIn, 0, c), engine(EngineKind::Wire, 0, c));
      b.lock(core(0, c), 0, 0, engine(EngineKind::CoreIn, 0, c), engine(EngineKind::Core, 0, c));
      b.lock(core(0, c), 1, 0, engine(EngineKind::Core, 0, c), engine(EngineKind::CoreOut, 0, c));
    }
  }
};

Lock& lockOf(W& w, const Tile& tile, std::int32_t index) {
  for (Lock& lock : w.b.program.locks)
    if (lock.tile == tile && lock.index == index) return lock;
  HEDDLE_CHECK(false) << "no such lock";
  return w.b.program.locks[0];
}

struct Breakage {
  const char* name;
  const char* code;
  std::function<void(W&)> apply;
  bool timeAloneFinds = true;
  const char* says = "";  // where several rules have the code
};

class ProgramFaults : public ::testing::TestWithParam<Breakage> {};

TEST_P(ProgramFaults, IsReported) {
  W w;
  GetParam().apply(w);
  const Result<SimulateResult> run = w.run();
  const Diagnostic fault = faultOf(run);
  EXPECT_EQ(fault.code, GetParam().code) << toText(fault);
  EXPECT_NE(toText(run.diagnostics()).find(GetParam().says), std::string::npos)
      << toText(run.diagnostics());
  EXPECT_FALSE(fault.where.empty());
  EXPECT_FALSE(fault.mend.empty());
  const Result<SimulateResult> time = w.time();
  if (GetParam().timeAloneFinds) {
    EXPECT_EQ(faultOf(time).code, GetParam().code);
  }
}

const Breakage kBreakages[] = {
    // The program is malformed.
    {"KernelThatIsNotThere", "PROG001",
     [](W& w) { w.leaf<ConvCall>(W::Body).kernel = KernelId(1); }},
    {"TensorThatIsNotThere", "PROG001",
     [](W& w) { w.leaf<ConvCall>(W::Body).part.tensor = TensorId(7); }},
    {"RingOfATensorThatIsNotThere", "PROG001",
     [](W& w) { w.leaf<ConvCall>(W::Body).inputs[0].tensor = TensorId{}; }},
    {"LoopWithoutIterations", "PROG002",
     [](W& w) { std::get<Loop>(w.b.program.sections[1].items[0].as).count = 0; }},
    {"LoopWithoutABody", "PROG002",
     [](W& w) { std::get<Loop>(w.b.program.sections[1].items[0].as).body.clear(); }},
    {"LoopsNestedTooDeep", "PROG002",
     [](W& w) {
       std::vector<Item>& items = w.b.program.sections[1].items;
       for (std::size_t i = 0; i < kMaxLoopDepth; ++i) items = {loop(1, std::move(items))};
     }},
    {"LayerThatIsNotThere", "PROG001", [](W& w) { w.b.program.sections[3].step = StepId(1); }},
    {"InstructionOnTheWrongEngine", "PROG003",
     [](W& w) { w.b.program.sections[3].engines.kind = EngineKind::DdrIn; }},
    {"StrideOfZero", "PROG004", [](W& w) { w.b.program.kernels[0].window.strideX = 0; }},
    {"DilationBelowZero", "PROG004", [](W& w) { w.b.program.kernels[0].window.dilationY = -1; }},
    {"RingWithoutRows", "PROG004", [](W& w) { w.leaf<ConvCall>(W::Body).inputs[0].length = 0; }},
    {"RowsThatOverlap", "PROG006",
     [](W& w) { w.leaf<ConvCall>(W::Body).inputs[0].rowBytes = 136; }},
    {"CallWithoutARecord", "PROG006", [](W& w) { w.leaf<ConvCall>(W::Body).weights.reset(); }},
    {"RecordWithAPattern", "PROG006",
     [](W& w) { w.leaf<Transfer<Affine>>(W::LoadWeights).destination.pattern.run = 8; }},
    {"RecordFromAnotherPlace", "PROG006",
     [](W& w) { w.leaf<Transfer<Affine>>(W::LoadWeights).source.address.base = 8; }},
    {"CallWithoutAnOutput", "PROG006", [](W& w) { w.leaf<ConvCall>(W::Body).output.reset(); }},
    {"CallOfNoRows", "PROG004", [](W& w) { w.leaf<ConvCall>(W::Body).part.rows = 0; }},
    {"CallOfMoreRowsThanPlaces", "PROG006",
     [](W& w) {
       w.leaf<ConvCall>(W::Body).part.rows = 2;
       w.leaf<ConvCall>(W::Body).output->slots = 1;
     },
     true, "a call writes more rows than it has places for"},
    {"CallOfMoreRowsThanAnyMayHave", "PROG006",
     [](W& w) {
       Shape& shape = w.b.program.tensors[1].shape;
       shape.height = 2 * kMaxCallRows;
       Port& port = w.b.program.outputs[0];
       port = portOf(port.name, port.tensor, shape);
       w.b.program.ddrBytes += shape.height * 16 * 32;
       w.leaf<ConvCall>(W::Body).part.rows = kMaxCallRows + 1;
       w.leaf<ConvCall>(W::Body).output->slots = kMaxCallRows + 1;
     },
     true, "compute at most 256 rows"},
    {"ReductionWithoutAnAccumulator", "PROG006",
     [](W& w) { w.leaf<ConvCall>(W::Body).init = false; }},
    {"SumCutOverTime", "PROG006",
     [](W& w) {
       w.b.program.kernels[0].op = OpKind::Add;
       w.leaf<ConvCall>(W::Body).finish = false;
     },
     true, "a kernel without a window is cut over time"},
    {"InputThatIsAbsent", "PROG006",
     [](W& w) { w.leaf<ConvCall>(W::Body).inputs[0].absent = true; }},
    {"RingOfFewerBlocksThanTheKernelReads", "PROG006",
     [](W& w) { w.leaf<ConvCall>(W::Body).inputs[0].blocks = 1; }},
    {"RecordThatTheKernelDoesNotRead", "PROG006",
     [](W& w) { w.b.program.kernels[0].op = OpKind::MaxPool; }},
    {"InputThatIsAConstant", "PROG006",
     [](W& w) {
       w.b.program.tensors[0].constant = true;
       w.b.program.tensors[0].ddr = W::kWeightsAt;
       w.b.program.weightsBytes = 16 * 16 * 16;
       w.b.program.ddrBytes = W::kWeightsAt + 16 * 16 * 16;
       w.b.program.records = {{0, W::kRecord, 4}};
     }},
    {"InputThatIsAnotherToo", "PROG006",
     [](W& w) { w.b.program.inputs.push_back(w.b.program.inputs[0]); }},
    {"OutputThatIsAPart", "PROG006",
     [](W& w) {
       w.b.program.tensors.push_back(w.b.program.tensors[1]);
       w.b.program.tensors[1].root = TensorId(2);
       w.b.program.tensors[2].root = TensorId(2);
     }},
    {"InputThatIsComputed", "PROG006",
     [](W& w) {
       Port& port = w.b.program.inputs[0];
       port = portOf(port.name, w.out, w.b.program.tensors[1].shape);
     }},
    {"FramesInOnePlace", "PROG004", [](W& w) { w.b.program.frames = 2; }},
    {"MoreFramesThanStepsAreToldApartIn", "PROG004",
     [](W& w) {
       w.b.program.frames = 1024;
       w.b.program.steps.resize(5000, LayerId(0));
     },
     true, "more frames than so many tensors or steps"},
    {"RowsOfSeveralImages", "PROG006",
     [](W& w) {
       w.b.program.batch = 2;
       for (std::vector<Port>* ports : {&w.b.program.inputs, &w.b.program.outputs})
         for (Port& port : *ports) {
           Shape image = w.b.program.tensors[port.tensor.at()].shape;
           image.height /= 2;
           port = portOf(port.name, port.tensor, image);
         }
       w.leaf<ConvCall>(W::Body).part.rows = 2;
     }},
    {"AverageOfFewerRowsThanItsPart", "PROG004",
     [](W& w) { w.b.program.kernels[0].op = OpKind::AveragePool; }},
    {"AverageOfMoreTapsThanAnyHas", "PROG004",
     [](W& w) { w.b.program.kernels[0].kernelYWhole = 1 << 19; }},
    {"MoveThatWritesAnOutputTwice", "PROG004",
     [](W& w) {
       w.b.program.kernels[0].moves = {
           {{{.to = 0, .from = 0, .count = 8}, {.to = 0, .from = 0, .count = 1}},
            {{.to = 0, .from = 0, .count = 16}},
            -1}};
     }},
    {"PadBelowZero", "PROG004", [](W& w) { w.b.program.kernels[0].window.padLeft = -1; }},
    {"WindowOfMoreTapsThanAnyHas", "PROG004",
     [](W& w) { w.b.program.kernels[0].window.kernelY = 1 << 19; }},
    {"RowFartherThanAnyTensor", "PROG004",
     [](W& w) { w.leaf<ConvCall>(W::Body).inputs[0].row.base = 1 << 23; }},
    {"EmptyClamp", "PROG004",
     [](W& w) {
       w.b.program.kernels[0].clamp = {5, 4};
     }},
    {"SlotsOfZero", "PROG004",
     [](W& w) { w.leaf<Transfer<Affine>>(W::ReceiveMain).destination.address.slots = 0; }},
    {"LockUsedZeroTimes", "PROG004", [](W& w) { w.leaf<ConvCall>(W::Body).acquire[0].count = 0; }},
    {"LockDeclaredTwice", "PROG009",
     [](W& w) { w.b.program.locks.push_back(w.b.program.locks[0]); }},
    {"ReceiverNamedTwice", "PROG008",
     [](W& w) {
       Transfer<Affine>& send = w.leaf<Transfer<Affine>>(W::SendMain);
       send.to.push_back(send.to[0]);
     }},
    {"RootThatIsNoRoot", "PROG001", [](W& w) { w.b.program.tensors[1].root = TensorId(5); }},
    {"PixelsOfItself", "PROG006",
     [](W& w) {
       w.b.program.tensors[1].sampling = Sampling{{0, 1}, {0, 1}};
     }},
    {"PixelsThatAreNotThere", "PROG006",
     [](W& w) {
       w.b.program.tensors.push_back(w.b.program.tensors[0]);
       w.b.program.tensors.back().sampling = Sampling{{0, 1}, {1, 1}};
     }},
    {"PixelsOutOfDdr", "PROG001",
     [](W& w) {
       w.b.program.tensors.push_back(w.b.program.tensors[0]);
       w.b.program.tensors.back().sampling = Sampling{{0, 1}, {0, 1}};
       w.leaf<Transfer<Affine>>(W::LoadRow).part.tensor = TensorId(2);
     }},

    // What the device does not have.
    {"CoreThatIsNotThere", "PROG001",
     [](W& w) { w.b.program.sections[9].engines.ranges[0].rows = 3; }},
    {"ChannelThatIsNotThere", "PROG001", [](W& w) { w.b.program.sections[2].engines.channel = 2; }},
    {"LockBelowZero", "PROG004", [](W& w) { w.b.program.locks[0].index = -1; }},
    {"InitialValueBelowZero", "PROG004", [](W& w) { w.b.program.locks[0].initial = -1; }},
    {"WireThatDoesNotReachTheCore", "PROG008",
     [](W& w) { w.leaf<Transfer<Affine>>(W::SendMain).to[0].column = Affine(1); }},
    {"MemtileThatDoesNotFeedTheWire", "PROG008", [](W& w) { w.device.wires[1].feeders = {1}; }},
    {"WireThatIsNotThere", "PROG001",
     [](W& w) { w.leaf<Transfer<Affine>>(W::ReceiveMain).wire = Affine(4); }},
    {"MemtileThatIsNotThere", "PROG001",
     [](W& w) { w.leaf<Transfer<Affine>>(W::WriteFmRow).memtile = Affine(2); }},

    // Addresses.
    {"RowsBeyondTheMemtile", "PROG005",
     [](W& w) {
       w.leaf<Transfer<Affine>>(W::LoadRow).destination.address.base.base = 512 * 1024 - 120;
     }},
    {"OneCellBeyondTheCore", "PROG005",
     [](W& w) {
       w.leaf<Transfer<Affine>>(W::ReceiveWeights).destination.address.base =
           Affine(48 * 1024 - W::kRecord + 8);
     }},
    {"AddressWithinACell", "PROG005",
     [](W& w) { w.leaf<Transfer<Affine>>(W::ReceiveMain).destination.address.base.base = 4; }},
    {"RowOfTheRingWithinACell", "PROG005",
     [](W& w) { w.leaf<ConvCall>(W::Body).inputs[0].rowBytes = 148; }},
    {"RunOfHalfACell", "PROG005",
     [](W& w) {
       w.leaf<Transfer<Affine>>(W::SendMain).source.pattern = {{{32, 4}}, 4};
     }},
    {"TensorWithinACell", "PROG005", [](W& w) { w.b.program.tensors[0].ddr = 4; }},
    {"InputWithoutAPlaceInDdr", "PROG005", [](W& w) { w.b.program.tensors[0].ddr.reset(); }},
    {"ConstantOutsideTheWeights", "PROG005", [](W& w) { w.b.program.tensors[0].constant = true; }},
    {"MoreBytesThanTheMemoryHas", "PROG005",
     [](W& w) {
       w.leaf<Transfer<Affine>>(W::ReceiveMain).destination.pattern = {{{1000, 0}}, 128};
     }},
    {"BelowTheCore", "PROG005",
     [](W& w) { w.leaf<Transfer<Affine>>(W::ReceiveMain).destination.address.base.base = -8; }},
    {"RowsBeyondDdr", "PROG005",
     [](W& w) {
       w.leaf<Transfer<Affine>>(W::WriteRow0).destination.address.base.base = W::kWeightsAt;
     }},
    {"SlotBelowZero", "PROG004",
     [](W& w) { w.leaf<Transfer<Affine>>(W::ReceiveMain).destination.address.slot.base = -1; }},
    {"OutputBeyondTheCore", "PROG005",
     [](W& w) { w.leaf<ConvCall>(W::Tail).output->base = Affine(48 * 1024); }},
    {"AddressThatOverflows", "PROG004",
     [](W& w) { w.leaf<ConvCall>(W::Body).output->base.loop[0] = std::int64_t{1} << 62; }},

    // Deadlock and locks.
    {"ChannelNeverStarted", "PROG011",
     [](W& w) { w.b.program.sections[0].items.erase(w.b.program.sections[0].items.begin()); }},
    {"WaitForAnEntryThatNeverComes", "PROG011",
     [](W& w) { w.leaf<Wait<Affine>>(W::FirstWait).entry = Affine(1); }},
    {"TokenMissing", "PROG011", [](W& w) { lockOf(w, core(1, 0), 0).initial = 0; }},
    {"SenderThatSendsOnceTooSeldom", "PROG011",
     [](W& w) { std::get<Loop>(w.b.program.sections[5].items[0].as).count = 15; }},
    {"OneReleaseTooMany", "PROG012", [](W& w) { w.leaf<ConvCall>(W::Tail).release[1].count = 3; }},
    {"ProducerIsAnotherQueue", "PROG009",
     [](W& w) { lockOf(w, memtile(0), 0).producer.channel = 1; }},
    {"ConsumerIsAnotherQueue", "PROG009",
     [](W& w) { lockOf(w, core(0, 0), 1).consumer = engine(EngineKind::CoreOut); }},
    {"LockNeverDeclared", "PROG009",
     [](W& w) { w.leaf<ConvCall>(W::Body).acquire[0].lock = Affine(8); }},
    {"LockAboveItsMaximum", "MACH006", [](W& w) { w.device.limits.lockMaximum = 4; }},

    {"LockOfAQueueThatIsNotThere", "PROG001",
     [](W& w) { w.b.program.locks[0].producer.column = 7; }},

    // Ends that disagree.
    {"PatternSmallerThanThePart", "PROG006",
     [](W& w) { w.leaf<Transfer<Affine>>(W::SendMain).source.pattern.run = 120; }},
    {"SentAndReceivedSizesDiffer", "PROG010",
     [](W& w) {
       Transfer<Affine>& receive = w.leaf<Transfer<Affine>>(W::ReceiveHalo);
       receive.part.blocks = 1;
       receive.destination.pattern.dimensions.clear();
     }},
    {"HaloBeforeMain", "PROG010",
     [](W& w) {
       std::vector<Item>& body = std::get<Loop>(w.b.program.sections[7].items[0].as).body;
       std::swap(body[0], body[1]);
     }},
    {"SentAndReceivedRowsDiffer", "PROG010",
     [](W& w) { w.leaf<Transfer<Affine>>(W::ReceiveHalo).part.y.loop[0] = 0; }},
    {"PartOutsideItsTensor", "PROG004",
     [](W& w) { w.leaf<Transfer<Affine>>(W::LoadRow).part.y.base = 16; }},
    {"PartOutsideTheImage", "PROG005", [](W& w) { w.b.program.records[1].offset += 8; }},
    {"RecordThatIsNotThere", "PROG004",
     [](W& w) { w.leaf<Transfer<Affine>>(W::LoadWeights).part.y.base = 1; }},

    // Bytes.
    {"RowReadBeforeItIsWritten", "MACH008",
     [](W& w) { w.leaf<Transfer<Affine>>(W::SendMain).source.address.base.base = 6144; }, false},
    {"RingOnePixelOff", "MACH009",
     [](W& w) { w.leaf<ConvCall>(W::Head).inputs[0].base = Affine(8); }, false},
    {"RingOneRowOff", "MACH009",
     [](W& w) { w.leaf<ConvCall>(W::Body).inputs[0].ringOffset = Affine(1); }, false},
    {"RecordOfTheOtherRow", "MACH009", [](W& w) { w.leaf<ConvCall>(W::Body).record = Affine(0); },
     false},
    {"RowsOfTheOtherSlice", "MACH009",
     [](W& w) { w.leaf<Transfer<Affine>>(W::LoadRow).source.address.base.column = 0; }, false},
    {"WindowWiderThanTheRing", "MACH009",
     [](W& w) { w.leaf<ConvCall>(W::Body).inputs[0].column.base = -2; }, false},
    {"RingOverwrittenBeforeItIsRead", "MACH010",
     [](W& w) {
       for (Lock& lock : w.b.program.locks)
         if (lock.tile.kind == TileKind::Core && lock.index == 0) lock.initial = 5;
     },
     false},
    {"OutputWrittenWhileItIsSent", "MACH011",
     [](W& w) {
       w.device.rates.coreWrite = {50'000'000};
       for (Lock& lock : w.b.program.locks)
         if (lock.tile.kind == TileKind::Core && lock.index == 6) lock.initial = 3;
     },
     false},
    {"RowReadWhileItArrives", "MACH011",
     [](W& w) {
       w.leaf<Transfer<Affine>>(W::SendMain).source.acquire.clear();
       Uses& released = w.leaf<Transfer<Affine>>(W::LoadRow).destination.release;
       released.erase(released.begin());
       w.device.rates.ddrRead = {50'000'000};
     },
     false},
    {"OutputSentSoonEnoughOnlyOnThisDevice", "MACH019",
     [](W& w) {
       for (Lock& lock : w.b.program.locks)
         if (lock.tile.kind == TileKind::Core && lock.index == 6) lock.initial = 3;
     },
     false},
    {"OutputThatTheSequencerDoesNotAwait", "MACH019",
     [](W& w) { w.b.program.sections[0].items.pop_back(); }, false},
    {"RowNeverComputed", "MACH013",
     [](W& w) {
       Shape& shape = w.b.program.tensors[1].shape;
       shape.height = 17;
       Port& port = w.b.program.outputs[0];
       port = portOf(port.name, port.tensor, shape);
       w.b.program.ddrBytes += 17 * 16 * 32;
     },
     false},
    {"OutputNeverWritten", "MACH013",
     [](W& w) {
       for (const W::Leaf leaf : {W::WriteRow0, W::WriteRow1})
         w.leaf<Transfer<Affine>>(leaf).destination.address.base.base += 65536;
       w.b.program.ddrBytes += 65536;
     },
     false},
    {"ChannelStartedOnceTooOften", "PROG012",
     [](W& w) { w.b.program.sections[0].items.push_back(w.b.program.sections[0].items[0]); }},
    {"GammaOfBlocksThatAreNotThere", "MACH015", [](W& w) { w.image.bytes[16] = 0x17; }, false},
    {"GammaOfFewerBlocks", "MACH015", [](W& w) { w.image.bytes[16] = 0x07; }, false},
    {"RecordTooSmall", "PROG006",
     [](W& w) {
       for (WeightRecord& r : w.b.program.records) r.bytes -= 8;
     }},
    {"TableOfFewerBlocks", "PROG006",
     [](W& w) {
       for (WeightRecord& r : w.b.program.records) --r.kept;
     }},

    // Size and surroundings.
    {"LoopWithoutAnEnd", "PROG002",
     [](W& w) { std::get<Loop>(w.b.program.sections[1].items[0].as).count = INT64_MAX; }},
    {"MemoryWithoutAnEnd", "PROG004", [](W& w) { w.b.program.ddrBytes = INT64_MAX; }},
    {"WindowWithoutAnEnd", "MACH016",
     [](W& w) { w.b.program.kernels[0].window.strideX = 1 << 19; }},
    {"ImageOfAnotherProgram", "MACH017", [](W& w) { w.image.bytes.pop_back(); }, false},
    {"InputOfAnotherSize", "MACH017", [](W& w) { w.input.pop_back(); }, false},
};

INSTANTIATE_TEST_SUITE_P(HandBroken, ProgramFaults, ::testing::ValuesIn(kBreakages),
                         [](const auto& breakage) { return std::string(breakage.param.name); });

TEST(MachineFault, EveryCodeHasAHandBrokenProgram) {
  for (const MachineDiagnostic& d : kMachineDiagnostics) {
    const std::string code = d.code;
    // These two have tests of their own below.
    if (code == "MACH012" || code == "MACH014") continue;
    EXPECT_TRUE(std::any_of(std::begin(kBreakages), std::end(kBreakages), [&](const Breakage& b) {
      return code == b.code;
    })) << code;
  }
}

TEST(MachineFault, ACallOfTooManyTapsIsTooLarge) {
  ProgramBuilder b;
  const TensorId in = b.tensor("in", {1, 1, 8}, {}), out = b.tensor("out", {1, 5500, 8}, {});
  Kernel k;
  k.op = OpKind::MaxPool;
  k.outputColumns = 5500;
  Call<Affine> call;
  RowRing<Affine> ring;
  ring.tensor = in;
  ring.rowBytes = 8;
  call.inputs = {ring};
  call.output = Address<Affine>{8, {}, 0, 1};
  call.part = box(out, 0, 0, 0, 1, 1, 5500);
  call.kernel = b.kernel(k);
  b.section(on(EngineKind::Core), {item(call)});
  const auto run = [&] { return simulateTime(*verified(b.program, paperLike(1, 1))); };
  EXPECT_TRUE(run());
  b.program.kernels[0].window.kernelX = 1 << 20;
  EXPECT_EQ(faultOf(run()).code, "MACH016");
}

TEST(MachineFault, OverwrittenBytesNameBothWriters) {
  W w;  // the ring has 4 places, its space lock lets 5 rows in
  for (Lock& lock : w.b.program.locks)
    if (lock.tile.kind == TileKind::Core && lock.index == 0) lock.initial = 5;
  EXPECT_EQ(toText(faultOf(w.run())),
            "error[MACH010] cycle 1236, core (0,0), instruction 22 (CONV) of layer 'layer': the "
            "bytes that it means "
            "to read were overwritten before\n"
            "  what:  core (0,0), address 0: expected tensor 'in' row 0 block 0 column 0, found "
            "tensor 'in' row 4 "
            "block 0 column 0, written by instruction 16 (LOADFM) of layer 'layer' on wire 0 "
            "'column0' (its end: cycle "
            "208); the right bytes were written at cycle 32 by instruction 16 (LOADFM) of layer "
            "'layer' on wire 0 "
            "'column0' (its end: cycle 64) and overwritten at cycle 176 by instruction 16 (LOADFM) "
            "of layer 'layer' on "
            "wire 0 'column0' (its end: cycle 208)\n"
            "  mend:  let the writer wait for a lock that this reader releases\n");
}

// Two cores of a row compute the same pixels with different tables.
TEST(MachineFault, PartsComputedTwiceMustAgree) {
  for (const bool same : {true, false}) {
    TwiceComputed twice(same);
    const Result<VerifiedProgram> program = verified(twice.b.program, twice.device);
    ASSERT_TRUE(program) << program.diagnostics();
    const Result<SimulateResult> result = simulateWithData(*program, twice.image, {});
    if (same)
      EXPECT_TRUE(result) << result.diagnostics();
    else
      EXPECT_EQ(faultOf(result).code, "MACH012");
  }
}

TEST(MachineFault, ARunOfExactlyTheAllowedCyclesIsFine) {
  const W w;
  const Result<SimulateResult> whole = w.run();
  ASSERT_TRUE(whole) << whole.diagnostics();
  EXPECT_TRUE(w.run({.maxCycles = whole->timeline.makespan}));
  EXPECT_EQ(faultOf(w.run({.maxCycles = whole->timeline.makespan - Cycles(1)})).code, "MACH014");
}

// Each of the 16 rows of the input gives the wires a token, and nothing holds the channel back: in
// this run the wires are fast enough, but they need not be.
TEST(HighestLockValue, IsThatOfAnyTimes) {
  W w;
  w.device.limits.lockMaximum = 15;
  EXPECT_TRUE(w.time());
  const Diagnostic fault = faultOf(w.run());
  EXPECT_EQ(fault.code, "MACH006");
  EXPECT_EQ(faultOf(w.time({.locksOfAnyTimes = true})), fault);
  EXPECT_NE(fault.what.find("reaches 16 where its consumer is slow"), std::string::npos)
      << toText(fault);
  w.device.limits.lockMaximum = 16;
  EXPECT_TRUE(w.run());
  EXPECT_TRUE(w.time({.locksOfAnyTimes = true}));
}

}  // namespace
}  // namespace heddle
