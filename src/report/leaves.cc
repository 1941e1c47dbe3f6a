#include "heddle/report/leaves.h"

#include "heddle/cost/cost.h"
#include "heddle/program/names.h"

namespace heddle {
namespace {

std::int64_t callMacs(const Kernel& kernel, std::int64_t blocks) {
  return kernelMacs({.op = kernel.op,
                     .blocks = blocks,
                     .taps = kernel.window.kernelY * kernel.window.kernelX,
                     .columns = kernel.outputColumns});
}

struct Describe {
  const Program& program;
  LeafFacts& facts;

  void transfer(Resource resource, std::string_view word, std::int64_t bytes) const {
    facts.resource = resource;
    facts.mnemonic = word;
    facts.bytes = bytes;
  }
  static bool carriesWeights(const Part<Affine>& part) { return part.content == Content::Weights; }
  static Resource wireFor(const Part<Affine>& part) {
    return carriesWeights(part) ? Resource::WeightsWire : Resource::InputWire;
  }

  void operator()(const Start&) const { facts.mnemonic = "START"; }
  void operator()(const Wait<Affine>&) const { facts.mnemonic = "WAIT"; }
  void operator()(const Load<Affine>& i) const {
    transfer(Resource::DdrRead, carriesWeights(i.part) ? "LOADW" : "LOAD",
             i.destination.pattern.bytes());
  }
  void operator()(const Write<Affine>& i) const {
    transfer(Resource::DdrWrite, "WRITE", i.source.pattern.bytes());
  }
  void operator()(const Send<Affine>& i) const {
    transfer(wireFor(i.part), carriesWeights(i.part) ? "LOADWM" : "LOADFM",
             i.source.pattern.bytes());
  }
  void operator()(const Receive<Affine>& i) const {
    transfer(wireFor(i.part), "RECV", i.destination.pattern.bytes());
  }
  void operator()(const WriteFm<Affine>& i) const {
    transfer(Resource::Output, "WRITEFM", i.source.pattern.bytes());
  }
  void operator()(const Call<Affine>& i) const {
    const Kernel& kernel = program.kernels[i.kernel.at()];
    facts.resource = Resource::Compute;
    facts.mnemonic = mnemonic(kernel.op);
    const bool skips = kernel.op == OpKind::Conv;
    const std::int64_t blocks = kernel.outputBlocks * (skips ? kernel.inputBlocks : 1);
    facts.macs = callMacs(kernel, skips ? i.keptBlocks : blocks);
    facts.macsDense = callMacs(kernel, blocks);
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
    std::visit(Describe{program, facts}, std::get<Instruction>(item.as).as);
  }
}

}  // namespace

std::vector<LeafFacts> leafFacts(const Program& program) {
  std::vector<LeafFacts> out;
  for (const Section& section : program.sections) append(program, section, section.items, out);
  return out;
}

}  // namespace heddle
