// A run small enough to check by hand: two layers on a 1x2 mesh with wires like the paper's.
//
//   cycles       0    10   20   30   40   50   60
//   DDR in (0)   [load x ][ldw]
//   row wire               .  [w ]
//   column wire       .......[x ]  (waits for the load)
//   core 0,0                 ....[ conv    ][ conv   ]
#pragma once
#include "../devices.h"
#include "../graphs.h"
#include "../machine/transfers.h"
#include "heddle/machine/machine.h"
#include "heddle/program/program.h"

namespace heddle::testing {

inline Device reportedPaper(std::int64_t rows, std::int64_t columns) {
  Device d = paperLike(rows, columns);
  d.name = "paper";
  d.notModelled = {"fabric reprogramming"};
  return d;
}

inline CanonicalGraph twoConvs() {
  CanonicalGraph g;
  g.name = "two";
  g.tensors = {{.name = "x", .shape = {4, 4, 8}},
               {.name = "y", .shape = {4, 4, 8}},
               {.name = "z", .shape = {4, 4, 8}}};
  const auto conv = [](const char* name, std::size_t in, std::size_t out) {
    Conv c;
    c.weights.own().resize(64);
    return CanonicalOp{name, "Conv", {TensorId(in)}, TensorId(out), c};
  };
  g.ops = {conv("first", 0, 1), conv("second", 1, 2)};
  g.inputs = {portOf("x", TensorId(0), {4, 4, 8})};
  g.outputs = {{.name = "z", .tensor = TensorId(2)}};
  return g;
}

// Leaves: 0 LOAD x, 1 LOADW, 2 LOADFM x, 3 LOADWM, 4 CONV first, 5 CONV second.
inline Program twoConvsProgram() {
  Program p;
  p.model = "two";
  p.modelSha256 = "00";
  p.tensors = {
      {.name = "x", .shape = {4, 4, 8}, .slices = {{0, 0, 0, 4, 0, 4, 0, 1}}, .root = TensorId(0)},
      {.name = "y",
       .shape = {4, 4, 8},
       .slices = {{0, 128, 0, 4, 0, 4, 0, 1}},
       .root = TensorId(1)},
      {.name = "z", .shape = {4, 4, 8}, .root = TensorId(2)}};
  p.layers = {{"first", "Conv", TensorId(1), "W/2"}, {"second", "Conv", TensorId(2), "W/2"}};
  Kernel k{.op = OpKind::Conv, .name = "first"};
  k.outputColumns = 4;
  p.kernels = {k};
  p.buffers = {{"weights", TileKind::Memtile, {0, 0, 1, 1}, 1024, 64, StepId(0), StepId(0), {}},
               {"ring", TileKind::Core, {0, 0, 1, 2}, 0, 256, StepId(0), StepId(1), {}}};
  p.hostOperators = {"Softmax 'probabilities'"};
  const auto end = [](std::int64_t run) {
    End<Affine> e;
    e.pattern.run = run;
    return e;
  };
  End<Affine> staged;
  staged.address.base = 1024;
  p.records = {{0, 64, 1}};
  const auto part = [](std::size_t tensor) {
    Part<Affine> q;
    q.tensor = TensorId(tensor);
    return q;
  };
  Part<Affine> weights;
  weights.content = Content::Weights;
  const auto section = [&](std::size_t layer, EngineKind kind, auto... instructions) {
    Section s{StepId(layer), {kind, 0, {{0, 0, 1, 1}}}, {}};
    (s.items.push_back({Instruction{instructions}}), ...);
    p.sections.push_back(s);
  };
  section(0, EngineKind::DdrIn, makeLoad(end(128), end(128), part(0)),
          makeLoad({}, staged, weights));
  section(0, EngineKind::Wire, makeSend(0, end(128), {{}}, part(0)));
  Section row{StepId(0), {EngineKind::Wire, 0, {{0, 2, 1, 1}}}, {}};
  row.items.push_back({Instruction{makeSend(0, staged, {{}}, weights)}});
  p.sections.push_back(row);
  const auto call = [&](std::size_t in, std::size_t out) {
    Call<Affine> c;
    c.kernel = KernelId(0);
    c.inputs.resize(1);
    c.inputs[0].tensor = TensorId(in);
    c.part.tensor = TensorId(out);
    return c;
  };
  section(0, EngineKind::Core, call(0, 1));
  section(1, EngineKind::Core, call(1, 2));
  return p;
}

inline SimulateResult twoConvsRun() {
  const auto slice = [](std::int64_t ready, std::int64_t start, std::int64_t end, std::int32_t leaf,
                        std::size_t layer, WaitKind wait = WaitKind::None, SliceRef cause = {}) {
    return SpanSlice{start, end, ready, leaf, LayerId(layer), wait, -1, -1, cause};
  };
  SimulateResult r;
  r.timeline.makespan = Cycles(62);
  r.timeline.tracks = {
      {{EngineKind::DdrIn, 0, 0, 0}, {slice(0, 0, 20, 0, 0), slice(20, 20, 28, 1, 0)}},
      {{EngineKind::Wire, 0, 0, 0}, {slice(0, 20, 30, 2, 0, WaitKind::Lock, {0, 0})}},
      {{EngineKind::Wire, 0, 2, 0}, {slice(0, 28, 32, 3, 0, WaitKind::Lock, {0, 1})}},
      {{EngineKind::Core, 0, 0, 0},
       {slice(0, 32, 48, 4, 0, WaitKind::Lock, {2, 0}), slice(48, 48, 60, 5, 1)}}};
  r.traffic.ddrRead = Bytes(192);
  r.stepEnd = {Cycles(48), Cycles(60)};
  r.macs = 2 * 256;
  return r;
}

}  // namespace heddle::testing
