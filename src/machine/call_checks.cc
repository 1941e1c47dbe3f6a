// What must hold for a kernel and a call of it before any number of theirs is used.
#include <algorithm>

#include "fault.h"
#include "heddle/canon/limits.h"
#include "heddle/program/visit.h"
#include "leaf.h"

namespace heddle::machine {
namespace {

constexpr std::int64_t kMaxRowBytes = std::int64_t{1} << 40;
constexpr std::int64_t kMaxWindowCells =
    1 << 22;  // that a call looks at; no core holds a hundredth of it

class CallChecks {
 public:
  explicit CallChecks(const Executable& x) : x_(x) {}

  void run(const Call<Affine>& call) {
    if (!call.kernel.valid() || call.kernel.at() >= x_.program->kernels.size())
      malformed("the program has no kernel " + std::to_string(call.kernel.index));
    const Kernel& kernel = x_.program->kernels[call.kernel.at()];
    checkKernel(kernel);
    checkOperandsOf(call, kernel);
  }

 private:
  void checkKernel(const Kernel& k) {
    const Window& w = k.window;
    for (const std::int64_t n :
         {w.kernelY, w.kernelX, w.strideY, w.strideX, w.dilationY, w.dilationX, k.tensorHeight,
          k.tensorWidth, k.inputBlocks, k.outputBlocks, k.outputColumns, k.kernelYWhole})
      if (!inRange(n, 1, kMaxExtent))
        malformed("the kernel has a size that cannot be: " + std::to_string(n));
    for (const std::int64_t pad : {w.padTop, w.padLeft, w.padBottom, w.padRight})
      if (!inRange(pad, 0, kMaxExtent))
        malformed("the kernel has a pad that cannot be: " + std::to_string(pad));
    constexpr std::int64_t kMaxMultiplier = std::int64_t{1} << 46;
    if (w.kernelY * w.kernelX > kMaxTaps || k.inputBlocks * k.outputBlocks > kMaxExtent)
      malformed("the kernel is larger than any core");
    if (!inRange(k.multiplierA, -kMaxMultiplier, kMaxMultiplier) ||
        !inRange(k.multiplierB, -kMaxMultiplier, kMaxMultiplier))
      malformed("a multiplier of the kernel is 2^46 or more");
    const Int128 span =
        Int128{k.outputColumns - 1} * w.strideX + Int128{w.kernelX - 1} * w.dilationX + 1;
    if (span * w.kernelY * std::max(k.inputBlocks, k.outputBlocks) > kMaxWindowCells)
      failTooLarge("MACH016", "kernel '" + k.name + "'",
                   "a call's window is larger than can be simulated",
                   "at most " + std::to_string(kMaxWindowCells) + " cells of 8 bytes",
                   "give the cores less memory (--set core.memory=...)");
    if (k.clamp.low > k.clamp.high || k.addedToClamp.low > k.addedToClamp.high)
      malformed("the kernel's clamp is empty");
    if (k.addsInput && k.op != OpKind::Conv) malformed("only a CONV adds an input");
    if (!inRange(k.recordAt, 0, k.op == OpKind::Conv ? kMaxDdrBytes : 0) ||
        k.recordAt % kBlock != 0 || (k.sharesRecord && k.op != OpKind::DepthwiseConv))
      malformed("only a CONV and a DWCONV share a record, in whole cells");
  }

  void checkOperandsOf(const Call<Affine>& i, const Kernel& k) {
    const bool assemble = k.op == OpKind::Assemble;
    const std::size_t inputs = inputsOf(k, i.finish);
    if (inputs > kMaxUses)
      malformed("the kernel needs " + std::to_string(inputs) + " inputs; at most " +
                std::to_string(kMaxUses));
    if (i.inputs.size() != inputs)
      malformed("the call has " + std::to_string(i.inputs.size()) +
                " inputs where its kernel needs " + std::to_string(inputs));
    for (std::size_t n = 0; n < i.inputs.size(); ++n) checkRing(i.inputs[n], k, n);
    if (!i.finish && !formOf(k.op).hasWindow) malformed("only reductions are cut over time");
    if (!(i.init && i.finish) && !i.accumulator)
      malformed("a reduction that is cut over time has an accumulator");
    if (i.finish && !i.output) malformed("a call that finishes has an output");
    if (assemble) checkMoves(i, k);
    if ((recordBytes(recordOf(k, i.finish, 0)) > 0) != i.weights.has_value())
      malformed(i.weights ? "the call has a weight record that its kernel does not read"
                          : "the call has no weight record");
    checkRoot(i.part.tensor);
    if (i.part.content != Content::Activation ||
        !inRange(i.part.rows, 1, assemble ? 1 : kMaxCallRows) || i.part.blocks != k.outputBlocks ||
        i.part.columns != k.outputColumns)
      malformed("the part is not rows that the kernel computes");
    if (i.output && i.part.rows > std::max<std::int64_t>(i.output->slots, 1))
      malformed("the call writes " + std::to_string(i.part.rows) + " rows, for which it has " +
                std::to_string(i.output->slots) + " places");
  }

  void checkRing(const RowRing<Affine>& ring, const Kernel& k, std::size_t input) {
    if (ring.absent) return;
    checkNamed(x_, ring.tensor);
    if (!inRange(ring.length, 1, kMaxExtent) || !inRange(ring.columns, 1, kMaxExtent) ||
        !inRange(ring.blocks, 1, kMaxExtent) ||
        !inRange(ring.rowBytes, ring.columns * ring.blocks * kBlock, kMaxRowBytes))
      malformed("a ring of rows cannot be");
    const std::int64_t needed = k.op == OpKind::Assemble             ? 1
                                : k.op == OpKind::Conv && input == 0 ? k.inputBlocks
                                                                     : k.outputBlocks;
    if (ring.blocks < needed)
      malformed("a ring holds " + std::to_string(ring.blocks) +
                " channel blocks where the kernel reads " + std::to_string(needed));
  }

  void checkMoves(const Call<Affine>& i, const Kernel& k) {
    constexpr std::int64_t kMaxTables = 1 << 16;
    for (std::size_t m = 0; m < k.moves.size(); ++m) {
      if (!inRange(k.moves[m].table, -1, kMaxTables))
        malformed("a move names a table that cannot be");
      const RowRing<Affine>& ring = i.inputs[m];
      if (ring.absent) continue;
      checkAxis(k.moves[m].columns, k.outputColumns, ring.columns);
      checkAxis(k.moves[m].channels, k.outputBlocks * kBlock, ring.blocks * kBlock);
    }
  }

  void checkAxis(const AxisMap& map, std::int64_t to, std::int64_t from) {
    if (map.size() > kMaxUses) malformed("a move has too many runs");
    for (const AxisRun& run : map) {
      const auto inside = [&](std::int64_t first, std::int64_t step, std::int64_t limit) {
        if (!inRange(first, 0, limit - 1) || !inRange(step, -kMaxExtent, kMaxExtent)) return false;
        return inRange(first + (run.count - 1) * step, 0, limit - 1);
      };
      if (run.count == 0) continue;
      if (!inRange(run.count, 1, kMaxExtent) || !inside(run.to, run.toStep, to) ||
          !inside(run.from, run.fromStep, from))
        malformed("a move reaches outside its rows");
    }
  }

  void checkRoot(TensorId tensor) { machine::checkRoot(x_, tensor); }
  [[noreturn]] void malformed(std::string what) const { failMalformed(x_, std::move(what)); }

  const Executable& x_;
};

}  // namespace

void checkCall(const Executable& executable, const Call<Affine>& call) {
  CallChecks(executable).run(call);
}

}  // namespace heddle::machine
