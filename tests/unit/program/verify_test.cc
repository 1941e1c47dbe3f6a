// Every fault that verify finds, in a correct program with one thing broken; and that it finds none
// in the correct one.
#include "heddle/program/verify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "heddle/device/keys.h"
#include "heddle/emit/asm.h"

namespace heddle {
namespace {

// The convolution of docs/asm.md on a 2x2 of paper.yaml, kept as it was printed once.
std::string printedConvolution() {
  std::ifstream in(HEDDLE_SOURCE_DIR "/tests/golden/asm/worked_conv.asm");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Device deviceWith(std::vector<std::pair<std::string, std::string>> settings = {}) {
  const Result<Device> device = readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml",
                                           {.mesh = {{2, 2}}, .settings = std::move(settings)});
  HEDDLE_CHECK(device) << toText(device.diagnostics());
  return *device;
}

struct Edit {
  std::string from, to;
};

Program programAfter(const std::vector<Edit>& edits) {
  std::string text = printedConvolution();
  for (const Edit& e : edits) {
    const std::size_t at = text.find(e.from);
    HEDDLE_CHECK(at != std::string::npos) << "no '" << e.from << "' in the program";
    text.replace(at, e.from.size(), e.to);
  }
  Result<Program> program = parseAsm(text, "worked_conv.asm");
  HEDDLE_CHECK(program) << toText(program.diagnostics());
  return std::move(*program);
}

Diagnostics faultsOf(const std::vector<Edit>& edits, const Device& device) {
  return verify(programAfter(edits), device);
}

// What verify says of the convolution after the edits.
std::string faultsAfter(const std::vector<Edit>& edits, const Device& device = deviceWith()) {
  return toText(faultsOf(edits, device));
}

TEST(Verify, FindsNothingInACorrectProgram) {
  EXPECT_EQ(faultsAfter({}), "");
  // The ports and the tensors' names are for people and hosts; nothing of the run depends on them.
  EXPECT_EQ(faultsAfter({{"tensor %0 \"input\"", "tensor %0 \"other\""}}), "");
}

// With a tensor more: pixels of the input, or what `text` says.
Edit alsoTensor(const std::string& text) {
  return {"\nlayer 0", "tensor %2 \"some\" " + text + "\n\nlayer 0"};
}
const char* const kHalf = "8x8x16 scale 1 root %0 rows 1 by 2 columns 0 by 2";
const char* const kAllRows = "16x16x16 scale 1 root %0 rows 0 by 1 columns 0 by 1";

TEST(Verify, KnowsPixelsOfAnotherTensor) {
  EXPECT_EQ(faultsAfter({alsoTensor(kHalf)}), "");
  // The transfers to cores, and the calls, may name them.
  std::string text = printedConvolution();
  std::vector<Edit> all{alsoTensor(kAllRows)};
  for (const char* verb : {"LOADFM", "RECV"})
    for (std::size_t at = 0; (at = text.find(std::string(verb) + " %0[", at)) != std::string::npos;
         ++at)
      all.push_back({std::string(verb) + " %0[", std::string(verb) + " %2["});
  EXPECT_EQ(faultsAfter(all), "");
}

// Each rectangle is looked at: what lies between them need not be there.
TEST(Verify, TakesSectionsForSeveralRectangles) {
  EXPECT_EQ(faultsAfter({{"on core rows 0-1 columns 0-1",
                          "on core row 0 columns 0-1 and row 1 columns 0-1"},
                         {"on wire columns 2-3", "on wire column 2 and column 3"}}),
            "");
}

TEST(Verify, FindsPixelsThatAreNotThere) {
  for (const char* text : {
           "8x8x16 scale 1 root %0 rows 2 by 2 columns 0 by 2",  // ends behind the last
           "8x8x16 scale 1 root %0 rows 0 by 2 columns 2 by 2",
           "8x8x16 scale 1 root %0 rows -1 by 2 columns 0 by 2",
           "8x8x16 scale 1 root %0 rows 0 by 0 columns 0 by 2",
           "8x8x16 scale 1 root %0 rows 0 by 99999999999 columns 0 by 2",
           "8x8x16 scale 1 root %0",                             // not all of them
           "8x8x32 scale 1 root %0 rows 0 by 2 columns 0 by 2",  // more channels
       }) {
    SCOPED_TRACE(text);
    const Diagnostics faults = faultsOf({alsoTensor(text)}, deviceWith());
    ASSERT_FALSE(faults.empty());
    EXPECT_EQ(faults[0].code, "PROG006");
    EXPECT_EQ(faults[0].summary, "the view is not inside its root");
  }
  const Diagnostics own =
      faultsOf({alsoTensor("8x8x16 scale 1 rows 0 by 1 columns 0 by 1")}, deviceWith());
  ASSERT_FALSE(own.empty());
  EXPECT_EQ(own[0].code, "PROG006");
  EXPECT_EQ(own[0].summary, "the tensor has pixels of itself");
  EXPECT_EQ(own[0].what, "channel block 0, rows 0 by 1 columns 0 by 1 of %2; 8x8x16 of 8x8x16");
  // What goes to DDR, or comes from there or out of a core, is of whole tensors.
  for (const auto& [verb, named] : std::vector<std::pair<std::string, std::string>>{
           {"LOAD ", "%0["}, {"WRITE ", "%1["}, {"WRITEFM ", "%1["}, {"CONV k0 ", "%1["}}) {
    SCOPED_TRACE(verb);
    const Diagnostics faults =
        faultsOf({alsoTensor(kAllRows), {verb + named, verb + "%2["}}, deviceWith());
    ASSERT_FALSE(faults.empty());
    EXPECT_EQ(faults[0].code, "PROG001");
    EXPECT_EQ(faults[0].summary, "its part is of a tensor that is not there");
  }
}

struct FaultCase {
  std::vector<Edit> edits;
  const char* fault;
};
class VerifyFault : public ::testing::TestWithParam<FaultCase> {};

TEST_P(VerifyFault, IsFound) { EXPECT_EQ(faultsAfter(GetParam().edits), GetParam().fault); }

INSTANTIATE_TEST_SUITE_P(
    NotThere, VerifyFault,
    ::testing::Values(
        FaultCase{
            {{"on core rows 0-1", "on core rows 0-2"}},
            "error[PROG001] core(0,0) to core(2,1): a section is for engines that are not there\n"
            "  what:  the device has 2 x 2 with 1 channels of this kind\n"
            "  mend:  name engines of the device\n"},
        FaultCase{
            {{"on core rows 0-1 columns 0-1", "on core row 0 columns 0-1 and row 2 column 1"}},
            "error[PROG001] core(0,0) to core(0,1) and core(2,1): a section is for engines "
            "that are not there\n"
            "  what:  the device has 2 x 2 with 1 channels of this kind\n"
            "  mend:  name engines of the device\n"},
        FaultCase{
            {{"on core rows 0-1 columns 0-1", "on core rows 0-1 columns 0-1 and row 1 column 1"}},
            "error[PROG001] core(0,0) to core(1,1) and core(1,1): a section names an engine "
            "twice\n"
            "  what:  core(1,1)\n"
            "  mend:  let its rectangles have none in common\n"},
        FaultCase{{{"wire(2 + row) ->", "wire(4 + row) ->"}},
                  "error[PROG001] layer 0 'conv', core-in(0,0).1 to core-in(1,1).1, instruction 19 "
                  "(RECV): the wire is "
                  "out of range\n"
                  "  what:  it goes from 4 to 5, allowed is 0 to 3\n"
                  "  mend:  keep it in this range\n"},
        FaultCase{{{"START ddr-in(0).1", "START ddr-in(5).1"}},
                  "error[PROG001] layer 0 'conv', sequencer, instruction 27 (START): its DDR "
                  "channel is not there\n"
                  "  what:  ddr-in(5).1\n"
                  "  mend:  name a ddr-in or ddr-out of the device\n"},
        FaultCase{{{"LOADFM %0", "LOADFM %9"}},
                  "error[PROG001] layer 0 'conv', wire(0), instruction 6 (LOADFM): its part is of "
                  "a tensor that is not "
                  "there\n"
                  "  what:  %9\n"
                  "  mend:  name a tensor that is its own root\n"},
        FaultCase{{{"on wire column 0, layer 0", "on wire column 0, layer 3"}},
                  "error[PROG001] wire(0): its step is not there\n"
                  "  what:  step 3\n"
                  "  mend:  name a step of the schedule\n"},
        FaultCase{
            {{"lock L2 in core(0,0)", "lock L2 in core(0,5)"}},
            "error[PROG001] lock L2 in core(0,5): its tile, producer or consumer is not there\n"
            "  what:  core(0,5), core(0,0), core-out(0,0).0\n"
            "  mend:  locks lie in memtiles and cores of the device\n"}));

INSTANTIATE_TEST_SUITE_P(
    Loops, VerifyFault,
    ::testing::Values(
        FaultCase{{{"loop 13 {", "loop 0 {"}},
                  "error[PROG002] layer 0, core(0,0) to core(1,1), before instruction 22: a loop "
                  "cannot be executed\n"
                  "  what:  0 iterations of 1 items at depth 1\n"
                  "  mend:  give it 1 to 50000000 iterations, a body, and a depth of at most 6\n"},
        FaultCase{{{"loop 13 {", "loop 99999999999 {"}},
                  "error[PROG002] layer 0, core(0,0) to core(1,1), before instruction 22: a loop "
                  "cannot be executed\n"
                  "  what:  99999999999 iterations of 1 items at depth 1\n"
                  "  mend:  give it 1 to 50000000 iterations, a body, and a depth of at most 6\n"},
        FaultCase{{{"CONV k0 %1[y 2 + i0,", "CONV k0 %1[y 2 + i1,"}},
                  "error[PROG002] layer 0 'conv', core(0,0) to core(1,1), instruction 22 (CONV): a "
                  "number counts with "
                  "a loop that is not around it\n"
                  "  what:  1 loops are around it\n"
                  "  mend:  use i0 to i0\n"}));

INSTANTIATE_TEST_SUITE_P(
    Numbers, VerifyFault,
    ::testing::Values(
        FaultCase{{{"on core-out rows 0-1 columns 0-1 channel 0", "on core rows 0-1 columns 0-1"}},
                  "error[PROG003] layer 0 'conv', core(0,0) to core(1,1), instruction 24 "
                  "(WRITEFM): an instruction in "
                  "a queue that does not execute it\n"
                  "  what:  the queue of a core\n"
                  "  mend:  move it to a core-out\n"
                  "error[PROG003] layer 0 'conv', core(0,0) to core(1,1), instruction 25 "
                  "(WRITEFM): an instruction in "
                  "a queue that does not execute it\n"
                  "  what:  the queue of a core\n"
                  "  mend:  move it to a core-out\n"
                  "error[PROG003] layer 0 'conv', core(0,0) to core(1,1), instruction 26 "
                  "(WRITEFM): an instruction in "
                  "a queue that does not execute it\n"
                  "  what:  the queue of a core\n"
                  "  mend:  move it to a core-out\n"},
        FaultCase{{{"WRITE %1[y 14 + i0,", "WRITE %1[y 15 + i0,"}},
                  "error[PROG004] layer 0 'conv', ddr-out(0).0 to ddr-out(1).0, instruction 3 "
                  "(WRITE): the first row "
                  "is out of range\n"
                  "  what:  it goes from 15 to 16, allowed is 0 to 15\n"
                  "  mend:  keep it in this range\n"},
        FaultCase{{{"y i0, block 0 for 2, x 8*column for 8] ddr",
                    "y 9223372036854775807*i0, block 0 for 2, x 8*column for 8] ddr"}},
                  "error[PROG004] layer 0 'conv', ddr-in(0).0 to ddr-in(1).0, instruction 0 "
                  "(LOAD): a number is too "
                  "large\n"
                  "  what:  its terms may add up to more than 2^62\n"
                  "  mend:  write a smaller one\n"},
        FaultCase{{{"ring @0x13b0", "ring @0xc000"}},
                  "error[PROG005] layer 0 'conv', core(0,0) to core(1,1), instruction 20 (CONV): "
                  "input 0 lies outside "
                  "of the core's operand memory\n"
                  "  what:  it takes 2544 B from 49152 on at row 0, column 0, there are 49152 B\n"
                  "  mend:  place it inside\n"},
        FaultCase{{{"@0x13b0 + (0 mod 16)*160", "@0x13b0 + (0 mod 0)*160"}},
                  "error[PROG004] layer 0 'conv', core-in(0,0).0 to core-in(1,0).0, instruction 11 "
                  "(RECV): the "
                  "destination has slots out of range\n"
                  "  what:  0 slots of 160 B\n"
                  "  mend:  give it 1 to 1048576 slots\n"},
        FaultCase{{{"record 0 for 2 @0x0 size 2456", "record 0 for 2 @0x8 size 2456"}},
                  "error[PROG005] record 1: a weight record does not lie in the weight image\n"
                  "  what:  2456 B at 2464 of 4912 B; both are multiples of 8\n"
                  "  mend:  place it inside\n"},
        FaultCase{
            {{"record 0 for 2 @0x0 size 2456 kept 4", "record 0 for 2 @0x0 size 2456 kept -1"}},
            "error[PROG004] record 0: the number of kept blocks is out of range\n"
            "  what:  -1\n"
            "  mend:  count the blocks that the record holds\n"
            "error[PROG004] record 1: the number of kept blocks is out of range\n"
            "  what:  -1\n"
            "  mend:  count the blocks that the record holds\n"},
        FaultCase{{{"LOADW record[column]", "LOADW record[1 + column]"}},
                  "error[PROG004] layer 0 'conv', ddr-in(0).1 to ddr-in(1).1, instruction 1 "
                  "(LOADW): the number of the weight record is out of range\n"
                  "  what:  it goes from 1 to 2, allowed is 0 to 1\n"
                  "  mend:  keep it in this range\n"},
        FaultCase{{{"\"conv weights\" in core rows 0-1 columns 0-1",
                    "\"conv weights\" in core rows 0-1 column 0"}},
                  "error[PROG005] layer 0 'conv', core-in(0,0).1 to core-in(1,1).1, instruction 19 "
                  "(RECV): the destination lies in no buffer of its tile\n"
                  "  what:  it takes 2456 B at row 0, column 1\n"
                  "  mend:  declare a buffer of this layer that covers it, in each tile\n"
                  "error[PROG005] layer 0 'conv', core(0,0) to core(1,1), instruction 20 (CONV): "
                  "the weight record lies in no buffer of its tile\n"
                  "  what:  it takes 2456 B at row 0, column 1\n"
                  "  mend:  declare a buffer of this layer that covers it, in each tile\n"
                  "error[PROG005] layer 0 'conv', core(0,0) to core(1,1), instruction 21 (CONV): "
                  "the weight record lies in no buffer of its tile\n"
                  "  what:  it takes 2456 B at row 0, column 1\n"
                  "  mend:  declare a buffer of this layer that covers it, in each tile\n"
                  "error[PROG005] layer 0 'conv', core(0,0) to core(1,1), instruction 22 (CONV): "
                  "the weight record lies in no buffer of its tile\n"
                  "  what:  it takes 2456 B at row 0, column 1, i0 = 0\n"
                  "  mend:  declare a buffer of this layer that covers it, in each tile\n"
                  "error[PROG005] layer 0 'conv', core(0,0) to core(1,1), instruction 23 (CONV): "
                  "the weight record lies in no buffer of its tile\n"
                  "  what:  it takes 2456 B at row 0, column 1\n"
                  "  mend:  declare a buffer of this layer that covers it, in each tile\n"},
        FaultCase{{{"slice mem(1) @0x200", "slice mem(1) @0x7ff00"}},
                  "error[PROG005] tensor %0 'input': a slice lies outside of its memtile\n"
                  "  what:  at 524032\n"
                  "  mend:  place it inside\n"}));

INSTANTIATE_TEST_SUITE_P(
    Sizes, VerifyFault,
    ::testing::Values(
        FaultCase{{{"-> mem @0x200 + 128*i0 [128 B]", "-> mem @0x200 + 128*i0 [64 B]"}},
                  "error[PROG006] layer 0 'conv', ddr-in(0).0 to ddr-in(1).0, instruction 0 "
                  "(LOAD): the destination "
                  "and the part do not have the same size\n"
                  "  what:  64 B and 128 B\n"
                  "  mend:  make them equal\n"},
        FaultCase{
            {{"record 0 for 2 @0x0 size 2456 kept 4", "record 0 for 2 @0x0 size 2448 kept 4"}},
            "error[PROG006] layer 0 'conv', core(0,0) to core(1,1), instruction 20 (CONV): "
            "the weight record is not as long as its kernel and kept blocks say\n"
            "  what:  record 0 has 2448 B, of them 0 padding, and keeps 4 blocks of the kernel's 2 "
            "x 2\n"
            "  mend:  give the whole record\n"
            "error[PROG006] layer 0 'conv', core(0,0) to core(1,1), instruction 21 (CONV): "
            "the weight record is not as long as its kernel and kept blocks say\n"
            "  what:  record 0 has 2448 B, of them 0 padding, and keeps 4 blocks of the kernel's 2 "
            "x 2\n"
            "  mend:  give the whole record\n"
            "error[PROG006] layer 0 'conv', core(0,0) to core(1,1), instruction 22 (CONV): "
            "the weight record is not as long as its kernel and kept blocks say\n"
            "  what:  record 0 has 2448 B, of them 0 padding, and keeps 4 blocks of the kernel's 2 "
            "x 2\n"
            "  mend:  give the whole record\n"
            "error[PROG006] layer 0 'conv', core(0,0) to core(1,1), instruction 23 (CONV): "
            "the weight record is not as long as its kernel and kept blocks say\n"
            "  what:  record 0 has 2448 B, of them 0 padding, and keeps 4 blocks of the kernel's 2 "
            "x 2\n"
            "  mend:  give the whole record\n"},
        FaultCase{{{"LOADW record[column] -> mem @0xa00 + (0 mod 8)*2456",
                    "LOADW record[column] ddr @0x3000 -> mem @0xa00 + (0 mod 8)*2456"}},
                  "error[PROG006] layer 0 'conv', ddr-in(0).1 to ddr-in(1).1, instruction 1 "
                  "(LOADW): the source of a weight record is not empty\n"
                  "  what:  its place in DDR stands in the table of records\n"
                  "  mend:  leave it empty\n"},
        FaultCase{
            {{"-> @0x0 + (0 mod 2)*2456 release", "-> @0x0 + (0 mod 2)*2456 [2456 B] release"}},
            "error[PROG006] layer 0 'conv', core-in(0,0).1 to core-in(1,1).1, instruction 19 "
            "(RECV): the destination has a pattern of its own\n"
            "  what:  a weight record is contiguous, and as long as its table says\n"
            "  mend:  leave the pattern out\n"},
        FaultCase{{{"ring @0x13b0 [16 by 160 B]", "ring @0x13b0 [16 by 136 B]"}},
                  "error[PROG006] layer 0 'conv', core(0,0) to core(1,1), instruction 20 (CONV): a "
                  "row of input 0 is "
                  "smaller than what it holds\n"
                  "  what:  136 B for 144 B\n"
                  "  mend:  make room for the row\n"},
        FaultCase{{{"%1[y 0, block 2*row for 2, x 8*column for 8] in",
                    "%1[y 0 for 3, block 2*row for 2, x 8*column for 8] in"}},
                  "error[PROG006] layer 0 'conv', core(0,0) to core(1,1), instruction 20 (CONV): a "
                  "call writes more rows than it has places for\n"
                  "  what:  3 rows, 2 places\n"
                  "  mend:  give each row a place\n"},
        FaultCase{{{"axes \"NHWC\"", "axes \"NHW\""}},
                  "error[PROG013] input 'input': its axes are not those of its tensor\n"
                  "  what:  axes 'NHW', tensor 16x16x16\n"
                  "  mend:  give the view one extent for each of its axes, equal to the tensor's; "
                  "several of "
                  "its columns may be channels of one\n"},
        FaultCase{{{"view [1, 16, 16, 16]", "view [1, 16, 48, 16]"}},
                  "error[PROG013] input 'input': its axes are not those of its tensor\n"
                  "  what:  axes 'NHWC', tensor 16x16x16\n"
                  "  mend:  give the view one extent for each of its axes, equal to the tensor's; "
                  "several of its columns may be channels of one\n"}));

INSTANTIATE_TEST_SUITE_P(
    Ways, VerifyFault,
    ::testing::Values(FaultCase{{{"-> core(0 for 2, 0).0", "-> core(0 for 2, 1).0"}},
                                "error[PROG008] layer 0 'conv', wire(0), instruction 6 (LOADFM): a "
                                "receiving column on wire "
                                "'column0' is out of range\n"
                                "  what:  it goes from 1 to 1, allowed is 0 to 0\n"
                                "  mend:  keep it in this range\n"},
                      FaultCase{{{"-> core(0 for 2, 0).0", "-> core(0 for 2, 0).0, core(0, 0).0"}},
                                "error[PROG008] layer 0 'conv', wire(0), instruction 6 (LOADFM) at "
                                "i0 = 0: a transfer names a "
                                "receiver twice\n"
                                "  what:  core-in(0,0).0\n"
                                "  mend:  name it once\n"},
                      FaultCase{
                          {{"@0x0 + 256*row + (i0 mod 2)*128 [128 B] release L(7 + row)",
                            "@0x0 + 256*row + (i0 mod 2)*128 [128 B] release L(7 + row) and "
                            "mem(0) @0x0 [128 B]"}},
                          "error[PROG008] layer 0 'conv', core-out(0,0).0 to core-out(1,1).0, "
                          "instruction 24 (WRITEFM): the "
                          "core cannot write there\n"
                          "  what:  2 memtiles, the device allows 1 to 1\n"
                          "  mend:  write to one after the other\n"}));

INSTANTIATE_TEST_SUITE_P(
    Locks, VerifyFault,
    ::testing::Values(
        FaultCase{{{"lock L3 in core(1,1) = 0 from core-out(1,1).0 to core(1,1)\n", ""}},
                  "error[PROG009] layer 0 'conv', core(1,1), instruction 22 (CONV) at "
                  "i0 = 0: a lock that is not "
                  "declared\n"
                  "  what:  L3 in core(1,1)\n"
                  "  mend:  declare it\n"},
        FaultCase{{{"acquire L0, L1 release L2", "acquire L0, L1 release L0"}},
                  "error[PROG009] layer 0 'conv', core(1,1), instruction 20 (CONV): a "
                  "lock released by another queue "
                  "than its producer\n"
                  "  what:  L0 in core(1,1) goes from core-in(1,1).0 to core(1,1)\n"
                  "  mend:  use one lock for each pair of queues\n"},
        FaultCase{{{"acquire L0, L1 release L2", "acquire L0, L1, L2 release L2"}},
                  "error[PROG009] layer 0 'conv', core(1,1), instruction 20 (CONV): a "
                  "lock acquired by another queue "
                  "than its consumer\n"
                  "  what:  L2 in core(1,1) goes from core(1,1) to core-out(1,1).0\n"
                  "  mend:  use one lock for each pair of queues\n"},
        FaultCase{{{"lock L3 in core(1,1)", "lock L2 in core(1,1)"}},
                  "error[PROG009] lock L2 in core(1,1): the lock is declared twice\n"
                  "  mend:  give each lock a number of its own\n"}));

INSTANTIATE_TEST_SUITE_P(
    Runs, VerifyFault,
    ::testing::Values(
        FaultCase{{{"LOADFM %0[y i0, block 0 for 2, x 8] mem(1)",
                    "LOADFM %0[y i0, block 0 for 2, x 9] mem(1)"}},
                  "error[PROG010] layer 0 'conv', wire(0), instruction 7 (LOADFM) at i0 = 0: "
                  "sender and receiver do "
                  "not mean the same part\n"
                  "  what:  it sends %0[y 0, block 0 for 2, x 9]; layer 0 'conv', "
                  "core-in(0,0).0, "
                  "instruction 12 (RECV) receives %0[y 0, block 0 for 2, x 8]\n"
                  "  mend:  give both ends one part\n"},
        FaultCase{{{"acquire L0, L1 release L2", "acquire L0, L1, L3 release L2"}},
                  "error[PROG011] layer 0 'conv', core-out(0,0).0, instruction 24 (WRITEFM) at i0 "
                  "= 0: the program "
                  "stands still\n"
                  "  what:  layer 0 'conv', core-out(0,0).0, instruction 24 (WRITEFM) at i0 = 0 "
                  "waits for lock L2 of "
                  "core(0,0), from core(0,0); layer 0 'conv', core(0,0), instruction 20 (CONV) "
                  "waits for lock L3 of "
                  "core(0,0), from core-out(0,0).0\n"
                  "  mend:  change the order in one of these queues\n"},
        FaultCase{{{"  START ddr-in(0).1\n", ""}},
                  "error[PROG011] layer 0 'conv', sequencer, instruction 38 (WAIT): the program "
                  "stands still\n"
                  "  what:  layer 0 'conv', sequencer, instruction 38 (WAIT) waits for the end of "
                  "entry 1, from "
                  "ddr-out(0).0; layer 0 'conv', ddr-out(0).0, instruction 2 (WRITE) at i0 = 0 "
                  "waits for lock L7 of "
                  "mem(0), from core-out(0,0).0; layer 0 'conv', core-out(0,0).0, instruction 24 "
                  "(WRITEFM) at i0 = 0 "
                  "waits for lock L2 of core(0,0), from core(0,0); layer 0 'conv', core(0,0), "
                  "instruction 20 (CONV) "
                  "waits for lock L1 of core(0,0), from core-in(0,0).1; layer 0 'conv', "
                  "core-in(0,0).1, instruction 19 "
                  "(RECV) waits for a transfer, from wire(2); layer 0 'conv', wire(2), instruction "
                  "10 (LOADWM) waits "
                  "for lock L3 of mem(0), from ddr-in(0).1; layer 0 'conv', ddr-in(0).1, "
                  "instruction 1 (LOADW) waits "
                  "for a START, from sequencer\n"
                  "  mend:  change the order in one of these queues\n"},
        FaultCase{{{"core(-2 + column, 0 for 2).1", "core(-2 + column, 0).1"}},
                  "error[PROG011] layer 0 'conv', sequencer, instruction 41 (WAIT): the program "
                  "stands still\n"
                  "  what:  layer 0 'conv', sequencer, instruction 41 (WAIT) waits for the end of "
                  "entry 1, from "
                  "ddr-out(1).0; layer 0 'conv', ddr-out(1).0, instruction 2 (WRITE) at i0 = 0 "
                  "waits for lock L7 of "
                  "mem(1), from core-out(0,1).0; layer 0 'conv', core-out(0,1).0, instruction 24 "
                  "(WRITEFM) at i0 = 0 "
                  "waits for lock L2 of core(0,1), from core(0,1); layer 0 'conv', core(0,1), "
                  "instruction 20 (CONV) "
                  "waits for lock L1 of core(0,1), from core-in(0,1).1; layer 0 'conv', "
                  "core-in(0,1).1, instruction 19 "
                  "(RECV) waits for a transfer, from wire(2); wire(2) has ended\n"
                  "  mend:  have the last of them do what is waited for\n"},
        FaultCase{
            {{"acquire L7 release L5 -> ddr", "acquire L7 release 2*L5 -> ddr"}},
            "error[PROG012] lock L5 in mem(0): the lock does not end as it began\n"
            "  what:  it begins with 0 and ends with 14, from ddr-out(0).0 to core-out(0,0).0\n"
            "  mend:  release as often as it is acquired\n"
            "error[PROG012] lock L5 in mem(1): the lock does not end as it began\n"
            "  what:  it begins with 0 and ends with 14, from ddr-out(1).0 to core-out(0,1).0\n"
            "  mend:  release as often as it is acquired\n"},
        FaultCase{{{"  WAIT ddr-out(0).0 entry 1\n",
                    "  START ddr-in(0).0\n  WAIT ddr-out(0).0 entry 1\n"}},
                  "error[PROG012] ddr-in(0).0: more is started than there is\n"
                  "  what:  2 STARTs for 1 entries\n"
                  "  mend:  start each entry once\n"}));

struct LimitCase {
  const char* key;
  const char *tooSmall, *justEnough;
  std::vector<Edit> edits;  // where the program as it is needs nothing of the limit
  const char* fault;
};
// The second of the convolution's two records keeps a block less.
const Edit kUnequalRecords{"record 0 for 2 @0x0 size 2456 kept 4\n",
                           "record 0 @0x0 size 2456 kept 4\nrecord 1 @0x998 size 1880 kept 3\n"};
class VerifyLimit : public ::testing::TestWithParam<LimitCase> {};

// One fault for each limit: the place that needs most.
TEST_P(VerifyLimit, IsNamedWithWhatIsNeeded) {
  const LimitCase& c = GetParam();
  EXPECT_EQ(faultsAfter(c.edits, deviceWith({{c.key, c.tooSmall}})), c.fault);
  EXPECT_EQ(faultsAfter(c.edits, deviceWith({{c.key, c.justEnough}})), "");
}

const LimitCase kLimitCases[] = {
    {"limits.granularity",
     "16 B",
     "8 B",
     {},
     "error[PROG007] layer 0 'conv', ddr-in(0).1 to ddr-in(1).1, instruction 1 (LOADW): a weight "
     "record is finer than the device addresses\n"
     "  what:  it needs 8 B, 'limits.granularity' is 16 B\n"
     "  mend:  choose a device with 'limits.granularity' of 8 B or a divisor of it, "
     "or another mesh or network\n"},
    {"limits.core.descriptors",
     "7",
     "8",
     {},
     "error[PROG007] core(0,0): the program needs more descriptors than the tile has\n"
     "  what:  it needs 8, 'limits.core.descriptors' is 7\n"
     "  mend:  choose a device with 'limits.core.descriptors' of 8 or more, or "
     "another mesh or network\n"},
    {"limits.core.dimensions",
     "1",
     "2",
     {{"160 [2 by 72, 64 B]", "160 [2 by 72, 1 by 0, 64 B]"}},
     "error[PROG007] layer 0 'conv', core-in(0,0).0 to core-in(1,0).0, instruction 11 "
     "(RECV): the destination has more dimensions than a descriptor\n"
     "  what:  it needs 2, 'limits.core.dimensions' is 1\n"
     "  mend:  choose a device with 'limits.core.dimensions' of 2 or more, or another "
     "mesh or network\n"},
    {"limits.core.locks",
     "3",
     "4",
     {},
     "error[PROG007] lock L3 in core(0,0), from core-out(0,0).0 to core(0,0): the "
     "tile has too few locks\n"
     "  what:  it needs 4, 'limits.core.locks' is 3\n"
     "  mend:  choose a device with 'limits.core.locks' of 4 or more, or another mesh "
     "or network\n"},
    {"limits.memtile.descriptors",
     "11",
     "12",
     {},
     "error[PROG007] mem(0): the program needs more descriptors than the tile has\n"
     "  what:  it needs 12, 'limits.memtile.descriptors' is 11\n"
     "  mend:  choose a device with 'limits.memtile.descriptors' of 12 or more, or "
     "another mesh or network\n"},
    {"limits.memtile.dimensions",
     "1",
     "2",
     {{"-> mem @0x200 + 128*i0 [128 B]", "-> mem @0x200 + 128*i0 [2 by 64, 1 by 0, 64 B]"}},
     "error[PROG007] layer 0 'conv', ddr-in(0).0 to ddr-in(1).0, instruction 0 (LOAD): the "
     "destination has more dimensions than a descriptor\n"
     "  what:  it needs 2, 'limits.memtile.dimensions' is 1\n"
     "  mend:  choose a device with 'limits.memtile.dimensions' of 2 or more, or another "
     "mesh or network\n"},
    {"limits.memtile.locks",
     "8",
     "9",
     {},
     "error[PROG007] lock L8 in mem(0), from core-out(1,0).0 to ddr-out(0).1: the "
     "tile has too few locks\n"
     "  what:  it needs 9, 'limits.memtile.locks' is 8\n"
     "  mend:  choose a device with 'limits.memtile.locks' of 9 or more, or another "
     "mesh or network\n"},
    {"limits.shim.descriptors",
     "5",
     "6",
     {},
     "error[PROG007] the shim tile of memtile 0: the program needs more descriptors "
     "than the tile has\n"
     "  what:  it needs 6, 'limits.shim.descriptors' is 5\n"
     "  mend:  choose a device with 'limits.shim.descriptors' of 6 or more, or "
     "another mesh or network\n"},
    {"limits.shim.dimensions",
     "1",
     "2",
     {{"[2 by 128, 64 B] -> mem", "[2 by 128, 1 by 0, 64 B] -> mem"}},
     "error[PROG007] layer 0 'conv', ddr-in(0).0 to ddr-in(1).0, instruction 0 "
     "(LOAD): the source has more dimensions than a descriptor\n"
     "  what:  it needs 2, 'limits.shim.dimensions' is 1\n"
     "  mend:  choose a device with 'limits.shim.dimensions' of 2 or more, or another "
     "mesh or network\n"},
    {"limits.recordLengths",
     "1",
     "unlimited",
     {kUnequalRecords},
     "error[PROG007] layer 0 'conv', ddr-in(0).1 to ddr-in(1).1, instruction 1 "
     "(LOADW): the weight records of a layer differ in length\n"
     "  what:  it needs 2, 'limits.recordLengths' is 1\n"
     "  mend:  choose a device with 'limits.recordLengths' of unlimited, or another "
     "mesh or network\n"},
    {"limits.locksPerDescriptor",
     "1",
     "2",
     {},
     "error[PROG007] layer 0 'conv', ddr-in(0).0 to ddr-in(1).0, instruction 0 "
     "(LOAD): the destination uses more locks than a descriptor can\n"
     "  what:  it needs 2, 'limits.locksPerDescriptor' is 1\n"
     "  mend:  choose a device with 'limits.locksPerDescriptor' of 2 or more, or "
     "another mesh or network\n"}};
INSTANTIATE_TEST_SUITE_P(Limits, VerifyLimit, ::testing::ValuesIn(kLimitCases));

// But for limits.lockMaximum, of which the convolution needs 1: a test below has locks of more.
TEST(Verify, EveryLimitOfADeviceHasACase) {
  for (const DeviceNumber& number : numbersOf(deviceWith())) {
    const auto isFor = [&](const LimitCase& c) { return number.key == c.key; };
    EXPECT_TRUE(!number.key.starts_with("limits.") || number.key == "limits.lockMaximum" ||
                std::ranges::any_of(kLimitCases, isFor))
        << number.key;
  }
}

// Each record goes its way in a step of its own: what moves it sees only records of one length.
TEST(Verify, RecordsOfALayerHaveOneLengthInAllItsStepsWhereTheDeviceWantsThat) {
  Program program = programAfter({kUnequalRecords});
  program.steps = {LayerId(0), LayerId(0)};
  for (Buffer& buffer : program.buffers) buffer.last = StepId(1);
  std::vector<Section> sections;
  for (Section& section : program.sections) {
    const bool byRow = section.engines.kind == EngineKind::CoreIn;
    const bool ofRecords =
        section.engines.channel == 1 ||
        (section.engines.kind == EngineKind::Wire && section.engines.ranges[0].column == 2);
    Section later = section;
    if (ofRecords && section.engines.kind != EngineKind::DdrOut) {
      (byRow ? section.engines.ranges[0].rows : section.engines.ranges[0].columns) = 1;
      later.step = StepId(1);
      CoreRange& range = later.engines.ranges[0];
      (byRow ? range.rows : range.columns) = 1;
      ++(byRow ? range.row : range.column);
      sections.push_back(std::move(later));
    }
    sections.push_back(std::move(section));
  }
  program.sections = std::move(sections);
  EXPECT_EQ(toText(verify(program, deviceWith())), "");
  const Diagnostics faults = verify(program, deviceWith({{"limits.recordLengths", "1"}}));
  ASSERT_EQ(faults.size(), 1u) << faults;
  EXPECT_EQ(faults[0].summary, "the weight records of a layer differ in length");
}

// The lock's token is of no use, but that is another fault.
TEST(Verify, NamesALockThatBeginsWithMoreThanItCanHold) {
  const Diagnostics faults = faultsOf({{"lock L3 in core(1,1) = 0", "lock L3 in core(1,1) = 70"}},
                                      deviceWith({{"limits.lockMaximum", "63"}}));
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[1].what, "it needs 70, 'limits.lockMaximum' is 63");
  EXPECT_EQ(faults[1].severity, Severity::DoesNotFit);
}

Transfer<Affine>* firstOf(TransferKind kind, std::vector<Item>& items) {
  for (Item& item : items) {
    if (Loop* loop = std::get_if<Loop>(&item.as)) {
      if (Transfer<Affine>* found = firstOf(kind, loop->body)) return found;
    } else if (auto* transfer = std::get_if<Transfer<Affine>>(&std::get<Instruction>(item.as).as);
               transfer && transfer->kind == kind) {
      return transfer;
    }
  }
  return nullptr;
}

// No file can say so, but a program that is made otherwise may.
TEST(Verify, ALoadHasOneDestination) {
  Program program = programAfter({});
  for (Section& section : program.sections)
    if (Transfer<Affine>* load = firstOf(TransferKind::Load, section.items)) {
      load->further.push_back({0, load->destination});
      break;
    }
  const Diagnostics faults = verify(program, deviceWith());
  ASSERT_FALSE(faults.empty());
  EXPECT_TRUE(std::ranges::any_of(faults, [](const Diagnostic& fault) {
    return fault.code == "PROG008" && fault.what == "2 are named";
  })) << toText(faults);
}

TEST(Verify, TellsWhatDoesNotFitFromWhatIsWrong) {
  EXPECT_EQ(faultsOf({}, deviceWith({{"limits.core.locks", "1"}})).at(0).severity,
            Severity::DoesNotFit);
  EXPECT_EQ(faultsOf({{"  START ddr-in(0).1\n", ""}}, deviceWith()).at(0).severity,
            Severity::BadInput);
}

// Beside each lock from a core to its sending channel a second one that does the same: where it
// begins with a token, the first one sees to it that nobody ever takes it.
std::string withLocksTwice(int initial) {
  std::string text = printedConvolution();
  const auto replaceAll = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  replaceAll(" release L2\n", " release L2, L4\n");
  replaceAll(" acquire L2 release L3 ->", " acquire L2, L4 release L3 ->");
  replaceAll(" acquire L2 -> mem(column)", " acquire L2, L4 -> mem(column)");
  for (const std::string core : {"(0,0)", "(0,1)", "(1,0)", "(1,1)"}) {
    const std::string line =
        "lock L3 in core" + core + " = 0 from core-out" + core + ".0 to core" + core + "\n";
    replaceAll(line, line + "lock L4 in core" + core + " = " +
                         std::to_string(core == "(1,1)" ? initial : 0) + " from core" + core +
                         " to core-out" + core + ".0\n");
  }
  Result<Program> program = parseAsm(text, "worked_conv.asm");
  HEDDLE_CHECK(program) << toText(program.diagnostics());
  return toText(verify(*program, deviceWith()));
}

TEST(Verify, FindsTokensThatNobodyEverTakes) {
  EXPECT_EQ(withLocksTwice(0), "");
  EXPECT_EQ(withLocksTwice(1),
            "error[PROG012] lock L4 in core(1,1): the lock begins with more than is ever taken\n"
            "  what:  it begins with 1, 0 are taken before core(1,1) releases, by core-out(1,1).0\n"
            "  mend:  begin with 0\n");
  // A token that some order of the run takes is no fault of this kind.
  EXPECT_EQ(faultsAfter({{"lock L3 in core(1,1) = 0", "lock L3 in core(1,1) = 1"}}), "");
}

TEST(Verify, StopsAtTwentyFaults) {
  Program program = *parseAsm(printedConvolution(), "worked_conv.asm");
  program.locks.resize(100, {.tile = {TileKind::Ddr}});
  const Diagnostics faults = verify(program, deviceWith());
  ASSERT_EQ(faults.size(), 21u);
  EXPECT_EQ(faults.back().where, "program 'worked_conv'");
  EXPECT_EQ(faults.back().summary, "there may be more faults");
}

}  // namespace
}  // namespace heddle
