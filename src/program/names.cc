#include "heddle/program/names.h"

namespace heddle {
namespace {

struct Mnemonic {
  const Program& program;
  std::string_view operator()(const Start&) const { return "START"; }
  std::string_view operator()(const Wait<Affine>&) const { return "WAIT"; }
  std::string_view operator()(const Transfer<Affine>& i) const { return mnemonic(i); }
  std::string_view operator()(const Call<Affine>& i) const {
    const bool known = i.kernel.valid() && i.kernel.at() < program.kernels.size();
    return known ? mnemonic(program.kernels[i.kernel.at()].op) : "CALL";
  }
};

std::string pair(std::int32_t a, std::int32_t b) {
  return "(" + std::to_string(a) + "," + std::to_string(b) + ")";
}

}  // namespace

std::string_view word(EngineKind kind) {
  switch (kind) {
    case EngineKind::Sequencer:
      return "sequencer";
    case EngineKind::DdrIn:
      return "ddr-in";
    case EngineKind::DdrOut:
      return "ddr-out";
    case EngineKind::Wire:
      return "wire";
    case EngineKind::CoreIn:
      return "core-in";
    case EngineKind::Core:
      return "core";
    case EngineKind::CoreOut:
      return "core-out";
  }
  return "";
}

std::string_view word(TileKind kind) {
  switch (kind) {
    case TileKind::Ddr:
      return "ddr";
    case TileKind::Memtile:
      return "mem";
    case TileKind::Core:
      return "core";
  }
  return "";
}

std::string_view mnemonic(OpKind op) { return formOf(op).mnemonic; }

std::string_view mnemonic(const Transfer<Affine>& transfer) {
  const TransferForm& form = transfer.form();
  const bool weights = transfer.part.content == Content::Weights && !form.weights.empty();
  return weights ? form.weights : form.activations;
}

std::string_view mnemonic(const Instruction& instruction, const Program& program) {
  return std::visit(Mnemonic{program}, instruction.as);
}

std::string toText(const Engine& e) {
  std::string name(word(e.kind));
  const std::string channel = "." + std::to_string(e.channel);
  switch (e.kind) {
    case EngineKind::Sequencer:
      return name;
    case EngineKind::DdrIn:
    case EngineKind::DdrOut:
      return name + "(" + std::to_string(e.column) + ")" + channel;
    case EngineKind::Wire:
      return name + "(" + std::to_string(e.column) + ")";
    case EngineKind::Core:
      return name + pair(e.row, e.column);
    case EngineKind::CoreIn:
    case EngineKind::CoreOut:
      return name + pair(e.row, e.column) + channel;
  }
  return name;
}

std::string toText(const Tile& t) {
  std::string name(word(t.kind));
  switch (t.kind) {
    case TileKind::Ddr:
      return name;
    case TileKind::Memtile:
      return name + "(" + std::to_string(t.column) + ")";
    case TileKind::Core:
      return name + pair(t.row, t.column);
  }
  return name;
}

}  // namespace heddle
