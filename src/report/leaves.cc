#include "heddle/report/leaves.h"

#include "heddle/cost/cost.h"
#include "heddle/program/names.h"

namespace heddle {
namespace {

std::int64_t callMacs(const Kernel& kernel, std::int64_t blocks, std::int64_t rows) {
  return kernelMacs({.op = kernel.op,
                     .blocks = blocks,
                     .taps = kernel.window.kernelY * kernel.window.kernelX,
                     .columns = kernel.outputColumns,
                     .rows = rows});
}

struct Describe {
  const Program& program;
  const CoreRange& engines;
  LeafFacts& facts;

  // Of the records that a number names in its loops and engines, the one where all begin.
  WeightRecord first(const Affine& number) const {
    const std::int64_t n = number.base + number.row * engines.row + number.column * engines.column;
    return n >= 0 && n < std::ssize(program.records) ? program.records[static_cast<std::size_t>(n)]
                                                     : WeightRecord{};
  }
  static Resource resourceOf(TransferKind kind, Content content) {
    switch (kind) {
      case TransferKind::Load:
        return Resource::DdrRead;
      case TransferKind::Write:
        return Resource::DdrWrite;
      case TransferKind::Send:
      case TransferKind::Receive:
        return content == Content::Weights ? Resource::WeightsWire : Resource::InputWire;
      case TransferKind::WriteFm:
        return Resource::Output;
    }
    return Resource::Sequencer;
  }

  void operator()(const Start&) const { facts.mnemonic = "START"; }
  void operator()(const Wait<Affine>&) const { facts.mnemonic = "WAIT"; }
  void operator()(const Transfer<Affine>& i) const {
    facts.movesRecord = i.part.content == Content::Weights;
    facts.resource = resourceOf(i.kind, i.part.content);
    facts.mnemonic = mnemonic(i);
    facts.bytes = facts.movesRecord ? first(i.part.y).bytes
                                    : (i.form().source ? i.source : i.destination).pattern.bytes();
  }
  void operator()(const Call<Affine>& i) const {
    const Kernel& kernel = program.kernels[i.kernel.at()];
    facts.resource = Resource::Compute;
    facts.mnemonic = mnemonic(kernel.op);
    const bool skips = kernel.op == OpKind::Conv;
    const std::int64_t blocks = kernel.outputBlocks * (skips ? kernel.inputBlocks : 1);
    if (skips) facts.macsOfBlock = callMacs(kernel, 1, i.part.rows);
    facts.macs = callMacs(kernel, skips ? first(i.record).kept : blocks, i.part.rows);
  }
};

void append(const Program& program, const Section& section, const std::vector<Item>& items,
            std::vector<LeafFacts>& out) {
  for (const Item& item : items) {
    if (const Loop* loop = std::get_if<Loop>(&item.as)) {
      append(program, section, loop->body, out);
      continue;
    }
    LeafFacts& facts = out.emplace_back();
    facts.engine = section.engines.kind;
    facts.layer = program.layerOf(section.step);
    facts.step = section.step;
    std::visit(Describe{program, section.engines.ranges.front(), facts},
               std::get<Instruction>(item.as).as);
  }
}

}  // namespace

std::int64_t bytesOfSlice(const LeafFacts& leaf, const SpanSlice& slice, const Program& program) {
  return leaf.movesRecord && slice.record >= 0
             ? program.records[static_cast<std::size_t>(slice.record)].bytes
             : leaf.bytes;
}

std::int64_t macsOfSlice(const LeafFacts& leaf, const SpanSlice& slice, const Program& program) {
  return leaf.macsOfBlock > 0 && slice.record >= 0
             ? leaf.macsOfBlock * program.records[static_cast<std::size_t>(slice.record)].kept
             : leaf.macs;
}

std::vector<LeafFacts> leafFacts(const Program& program) {
  std::vector<LeafFacts> out;
  for (const Section& section : program.sections) append(program, section, section.items, out);
  return out;
}

}  // namespace heddle
