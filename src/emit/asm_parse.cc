// parseAsm: the grammar run over the text; every whole line goes into the Program here.
#include <tao/pegtl.hpp>
#include <utility>

#include "asm_actions.h"
#include "heddle/emit/asm.h"
#include "heddle/program/names.h"

namespace heddle {
namespace asm_text {

// ---- declarations -------------------------------------------------------------------------------

// A declaration carries its number for the reader's sake; it must be the next one. A line that was
// at fault may have declared those that are missing: they are no fault of the lines below it.
template <class Input>
void expectNext(Reader& r, const Input& in, std::string_view kind, std::int32_t index,
                std::size_t next) {
  if (std::cmp_equal(index, next)) return;
  if (std::cmp_greater(index, next) && !r.faults.empty()) return;
  fail(r, in.position(), "ASM004", std::string(kind) + " out of order",
       "its number is " + std::to_string(index) + ", the next one is " + std::to_string(next),
       "number them from 0 in the order of the file");
}

template <class Input>
void sayOnce(Reader& r, const Input& in, Once line, std::string_view word) {
  bool& said = r.said[static_cast<std::size_t>(line)];
  if (said)
    fail(r, in.position(), "ASM007", "'" + std::string(word) + "' is said twice",
         "a file has one such line", "leave one of them");
  said = true;
}

template <>
struct Action<ModelLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    sayOnce(r, in, Once::Model, "model");
    r.program.model = r.draft.tensor.name;
    r.program.modelSha256 = r.draft.text;
  }
};
template <>
struct Action<DeviceLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    sayOnce(r, in, Once::Device, "device");
    r.program.deviceSha256 = r.draft.text;
  }
};
template <>
struct Action<WeightsLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    sayOnce(r, in, Once::Weights, "weights");
    r.program.weightsAddress = r.draft.buffer.address;
    r.program.weightsBytes = r.draft.buffer.size;
    r.program.weightsSha256 = r.draft.text;
  }
};
template <>
struct Action<DeclaredRecord> {
  static void apply0(Reader& r) { r.draft.declared = r.draft.index; }
};
template <>
struct Action<RecordsLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    expectNext(r, in, "a weight record", r.draft.declared, r.program.records.size());
    const std::int64_t most = kMaxRecords - static_cast<std::int64_t>(r.program.records.size());
    if (r.draft.recordCount < 1 || r.draft.recordCount > most)
      failRange(r, in.position(), std::to_string(r.draft.recordCount) + " records", 1, most);
    WeightRecord record = r.draft.record;
    for (std::int64_t i = 0; i < r.draft.recordCount; ++i) {
      r.program.records.push_back(record);
      // Of hostile numbers the sum may wrap: verify finds the record outside of the image.
      record.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(record.offset) +
                                                static_cast<std::uint64_t>(record.bytes));
    }
  }
};
template <>
struct Action<DdrLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    sayOnce(r, in, Once::Ddr, "ddr");
    r.program.ddrBytes = r.draft.ddrBytes;
    r.program.frames = r.draft.frames;
    r.program.batch = r.draft.batch;
  }
};
template <>
struct Action<HostLine> {
  static void apply0(Reader& r) { r.program.hostOperators.push_back(r.draft.text); }
};
template <>
struct Action<InputLine> {
  static void apply0(Reader& r) { r.program.inputs.push_back(std::move(r.draft.port)); }
};
template <>
struct Action<OutputLine> {
  static void apply0(Reader& r) { r.program.outputs.push_back(std::move(r.draft.port)); }
};

template <>
struct Action<DeclaredTensor> {
  static void apply0(Reader& r) { r.draft.declared = r.draft.tensor.root.index = r.draft.index; }
};
template <>
struct Action<SamplingText> {
  static void apply0(Reader& r) { r.draft.tensor.sampling = r.draft.sampling; }
};
template <>
struct Action<TensorLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    expectNext(r, in, "a tensor", r.draft.declared, r.program.tensors.size());
    r.draft.tensor.scale = r.draft.real;
    r.program.tensors.push_back(std::move(r.draft.tensor));
  }
};
template <>
struct Action<SliceLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    if (r.program.tensors.empty())
      fail(r, in.position(), "ASM004", "a slice without a tensor", "no tensor is declared above it",
           "write slices below their tensor");
    Slice& slice = r.draft.slice;
    if (r.draft.wholeSlice) slice.blocks = blocksOf(r.program.tensors.back().shape);
    r.program.tensors.back().slices.push_back(slice);
  }
};
template <>
struct Action<DeclaredLayer> {
  static void apply0(Reader& r) { r.draft.declared = r.draft.index; }
};
template <>
struct Action<LayerLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    expectNext(r, in, "a layer", r.draft.declared, r.program.layers.size());
    r.program.layers.push_back(std::move(r.draft.layer));
  }
};
template <>
struct Action<DeclaredStep> {
  static void apply0(Reader& r) { r.draft.declared = r.draft.index; }
};
template <>
struct Action<StepLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    expectNext(r, in, "a step", r.draft.declared, r.program.steps.size());
    r.program.steps.emplace_back();
    r.program.steps.back().index = r.draft.index;
  }
};
template <class Input>
void checkStepWord(Reader& r, const Input& in) {
  if (r.draft.saysStep != r.program.steps.empty()) return;
  fail(r, in.position(), "ASM004", "a layer is named where a step is due, or a step for a layer",
       std::to_string(r.program.steps.size()) + " steps are declared",
       "say 'step' where steps are declared, 'layer' where each layer is one step");
}
template <>
struct Action<DeclaredKernel> {
  static void apply0(Reader& r) { r.draft.declared = r.draft.index; }
};
template <>
struct Action<KernelLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    expectNext(r, in, "a kernel", r.draft.declared, r.program.kernels.size());
    r.draft.kernel.op = r.draft.op;
    r.program.kernels.push_back(std::move(r.draft.kernel));
  }
};
template <>
struct Action<MoveLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    if (r.program.kernels.empty())
      fail(r, in.position(), "ASM004", "a move without a kernel", "no kernel is declared above it",
           "write moves below their kernel");
    r.program.kernels.back().moves.push_back(std::move(r.draft.move));
  }
};
template <>
struct Action<BufferLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    checkStepWord(r, in);
    r.draft.buffer.kind = r.draft.tileKind;
    r.draft.buffer.tiles = r.draft.range;
    r.program.buffers.push_back(std::move(r.draft.buffer));
  }
};
template <>
struct Action<LockLine> {
  static void apply0(Reader& r) {
    Draft& d = r.draft;
    r.program.locks.push_back({d.tile, d.lock.index, d.lock.initial, d.producer, d.consumer});
  }
};

// ---- sections and loops -------------------------------------------------------------------------

template <>
struct Action<SectionLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    if (!r.openLoops.empty())
      fail(r, in.position(), "ASM005", "a section begins inside a loop",
           std::to_string(r.openLoops.size()) + " loops are open", "close them with '}'");
    checkStepWord(r, in);
    r.inSection = true;
    r.program.sections.push_back({r.draft.step,
                                  {r.draft.engineKind, r.draft.channel, std::move(r.draft.ranges)},
                                  {},
                                  r.draft.lastFrame});
  }
};

template <class Input>
void add(Reader& r, const Input& in, Item item) {
  if (!r.inSection)
    fail(r, in.position(), "ASM004", "an instruction outside of a section",
         "no 'on' line stands above it",
         "say whose queue it is in: on core row 0 column 0, layer 0:");
  if (++r.instructions > kMaxInstructions)
    fail(r, in.position(), "ASM006", "the program is too long",
         "it has more than " + std::to_string(kMaxInstructions) + " instructions and loops",
         "write repetitions as loops, or choose a smaller network", Severity::DoesNotFit);
  (r.openLoops.empty() ? r.program.sections.back().items : r.openLoops.back().body)
      .push_back(std::move(item));
}

template <>
struct Action<LoopLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    if (r.openLoops.size() >= kMaxLoopDepth)
      fail(r, in.position(), "ASM005", "loops are nested too deep",
           "this would be depth " + std::to_string(r.openLoops.size() + 1) + ", the deepest is " +
               std::to_string(kMaxLoopDepth),
           "unroll one of the loops");
    r.openLoops.push_back({r.draft.loopCount, {}});
  }
};
template <>
struct Action<LoopEnd> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    if (r.openLoops.empty())
      fail(r, in.position(), "ASM005", "'}' without a loop", "no loop is open here",
           "take it away");
    Loop loop = std::move(r.openLoops.back());
    r.openLoops.pop_back();
    add(r, in, {std::move(loop)});
  }
};

// ---- instructions -------------------------------------------------------------------------------

template <class Input, class I>
void addInstruction(Reader& r, const Input& in, I instruction) {
  add(r, in, {Instruction{std::move(instruction)}});
}

template <>
struct Action<StartLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    addInstruction(r, in, Start{r.draft.engine});
  }
};
template <>
struct Action<WaitLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    addInstruction(r, in, Wait<Affine>{r.draft.engine, r.draft.waitEntry});
  }
};

// A mnemonic ends in W where weights move; the part must say the same.
template <class Input>
void checkContent(Reader& r, const Input& in, std::string_view activations,
                  std::string_view weights) {
  const bool isWeights =
      in.string_view().starts_with(weights);  // the activations' one is its beginning
  if (isWeights == (r.draft.part.content == Content::Weights)) return;
  fail(r, in.position(), "ASM004", "the mnemonic and the part do not agree",
       isWeights ? std::string(weights) + " moves activations here"
                 : std::string(activations) + " moves weights here",
       "write " + std::string(isWeights ? activations : weights));
}

template <TransferKind kind, class Input>
void addTransfer(Reader& r, const Input& in) {
  Draft& d = r.draft;
  constexpr const TransferForm& form = formOf(kind);
  if constexpr (!form.weights.empty() && form.weights != form.activations)
    checkContent(r, in, form.activations, form.weights);
  d.transfer.kind = kind;
  d.transfer.part = d.part;
  addInstruction(r, in, std::move(d.transfer));
}

template <>
struct Action<LoadLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    addTransfer<TransferKind::Load>(r, in);
  }
};
template <>
struct Action<WriteLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    addTransfer<TransferKind::Write>(r, in);
  }
};
template <>
struct Action<SendLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    addTransfer<TransferKind::Send>(r, in);
  }
};
template <>
struct Action<ReceiveLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    addTransfer<TransferKind::Receive>(r, in);
  }
};
template <>
struct Action<WriteFmLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    addTransfer<TransferKind::WriteFm>(r, in);
  }
};
template <>
struct Action<CallLine> {
  template <class Input>
  static void apply(const Input& in, Reader& r) {
    Draft& d = r.draft;
    const bool known = d.call.kernel.valid() && d.call.kernel.at() < r.program.kernels.size();
    if (!d.anyCall && (!known || r.program.kernels[d.call.kernel.at()].op != d.op))
      fail(r, in.position(), "ASM004", "the mnemonic and the kernel do not agree",
           known ? "kernel k" + std::to_string(d.call.kernel.index) + " is a " +
                       std::string(mnemonic(r.program.kernels[d.call.kernel.at()].op))
                 : "no such kernel is declared above",
           "name the kernel that was meant");
    d.call.part = d.part;
    d.call.acquire = std::move(d.acquire);
    d.call.release = std::move(d.release);
    addInstruction(r, in, std::move(d.call));
  }
};

// ---- the file -----------------------------------------------------------------------------------

template <class Rule>
struct Control : peg::normal<Rule> {
  template <class Input, class... States>
  [[noreturn]] static void raise(const Input& in, Reader& r, States&&...) {
    if constexpr (requires { Rule::expected(); }) {
      failExpected(r, in.position(), Rule::expected(),
                   {in.current(), static_cast<std::size_t>(in.end() - in.current())});
    } else {
      throw InternalError("a rule that cannot fail has failed");
    }
  }
};

}  // namespace asm_text

Result<Program> parseAsm(const std::string& text, const std::string& name) {
  using namespace asm_text;
  Reader reader(name);
  tao::pegtl::memory_input<tao::pegtl::tracking_mode::lazy> input(text.data(), text.size(), name);
  try {
    if (!tao::pegtl::parse<File<LineFault>, Action, Control>(input, reader)) {
      return Diagnostic{.code = "ASM001",
                        .where = name + ":1:1",
                        .summary = "not a program of this version",
                        .what = "the first line is not " + std::string(kVersion),
                        .mend = "give a program.asm that this version of heddle has written"};
    }
    if (!reader.openLoops.empty())
      fail(reader, input.position(), "ASM005", "a loop is not closed",
           std::to_string(reader.openLoops.size()) + " loops are open at the end of the file",
           "close them with '}'");
    static constexpr std::array<std::string_view, 4> kOnceWords = {"model", "device", "weights",
                                                                   "ddr"};
    for (std::size_t i = 0; i < kOnceWords.size(); ++i)
      if (!reader.said[i])
        fail(reader, input.position(), "ASM007",
             "the line '" + std::string(kOnceWords[i]) + "' is missing", "a file has one such line",
             "add it");
  } catch (const LineFault&) {
  } catch (const TooManyFaults&) {
    reader.faults.stop();
  }
  if (!reader.faults.empty()) return reader.faults.take();
  return std::move(reader.program);
}

}  // namespace heddle
