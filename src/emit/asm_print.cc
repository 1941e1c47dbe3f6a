// printAsm: one line a declaration, one line an instruction. What has its default value is not
// written.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

#include "asm_words.h"
#include "heddle/emit/asm.h"
#include "heddle/program/names.h"
#include "heddle/program/visit.h"
#include "heddle/support/visible.h"
#include "heddle/tiling/pixel_map.h"

namespace heddle {
namespace {
using namespace asm_text;

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  void records();
  void header();
  void code();
  AsmListing take();

 private:
  // ---- tokens ----
  Printer& word(std::string_view w) {
    out_ += w;
    return *this;
  }
  Printer& number(std::int64_t n) {
    char buffer[24];
    out_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, n).ptr);
    return *this;
  }
  Printer& hex(std::int64_t n) {
    if (n < 0) return number(n);
    char buffer[24];
    out_ += "0x";
    out_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, n, 16).ptr);
    return *this;
  }
  Printer& real(double d) {
    char buffer[40];
    out_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, d).ptr);
    return *this;
  }
  Printer& quoted(std::string_view text);
  template <class Tag>
  Printer& id(std::string_view sigil, Id<Tag> id) {
    if (!id.valid()) return word("none");
    return word(sigil).number(id.index);
  }
  Printer& field(std::string_view name, std::int64_t value, std::int64_t byDefault) {
    return value == byDefault ? *this : word(" ").word(name).word(" ").number(value);
  }
  Printer& flag(std::string_view name, bool set) { return set ? word(" ").word(name) : *this; }
  Printer& span(std::string_view one, std::string_view many, std::int64_t first,
                std::int64_t count);

  // ---- operands ----
  void term(std::int64_t coefficient, std::string_view variable, bool first);
  Printer& affine(const Affine& a, bool addressBase = false);
  Printer& address(const Address<Affine>& a);
  Printer& locks(std::string_view verb, const std::vector<LockUse<Affine>>& uses);
  Printer& end(const End<Affine>& e);
  Printer& place(const PlacedEnd<Affine>& at);
  Printer& range(std::string_view name, const Affine& start, std::int64_t count);
  Printer& part(const Part<Affine>& p);
  Printer& axis(std::string_view name, const AxisMap& map);
  Printer& integers(const std::vector<std::int64_t>& list);
  void ring(const RowRing<Affine>& r);
  void sendTo(const SendTo<Affine>& to);

  // ---- instructions ----
  void instruction(const Instruction& i);
  void operator()(const Start& i);
  void operator()(const Wait<Affine>& i);
  void operator()(const Transfer<Affine>& i);
  void operator()(const Call<Affine>& i);
  void callData(const Call<Affine>& i);

  // ---- declarations ----
  void port(std::string_view direction, const Port& p);
  void tensor(std::size_t index);
  void kernel(std::size_t index);
  void buffer(const Buffer& b);
  void lock(const Lock& l);
  void engines(const EngineSet& e);
  void items(const std::vector<Item>& items, std::size_t depth);
  void line() { out_ += '\n'; }

  const Program& program_;
  std::string out_;
  std::vector<std::size_t> instructions_;  // where each begins in out_
};

AsmListing Printer::take() {
  AsmListing listing;
  std::size_t counted = 0;
  std::int64_t line = 0;
  for (const std::size_t at : instructions_) {
    line += std::count(out_.begin() + static_cast<std::ptrdiff_t>(counted),
                       out_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    counted = at;
    listing.lines.push_back(line);
  }
  listing.text = std::move(out_);
  return listing;
}

Printer& Printer::quoted(std::string_view text) {
  out_ += '"';
  while (!text.empty()) {
    const std::size_t length = utf8Length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    if (length == 0 || isControl(sequence)) {
      for (const char c : sequence) {
        char escape[5];
        std::snprintf(escape, sizeof escape, "\\x%02x", unsigned{static_cast<unsigned char>(c)});
        out_ += escape;
      }
    } else {
      if (sequence == "\"" || sequence == "\\") out_ += '\\';
      out_ += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  out_ += '"';
  return *this;
}

// " row 2" or " rows 0-3".
Printer& Printer::span(std::string_view one, std::string_view many, std::int64_t first,
                       std::int64_t count) {
  if (count == 1) return word(" ").word(one).word(" ").number(first);
  return word(" ").word(many).word(" ").number(first).word("-").number(first + count - 1);
}

void Printer::term(std::int64_t coefficient, std::string_view variable, bool first) {
  const bool negative = coefficient < 0;
  // 0 - n without overflow for the most negative number
  const std::uint64_t magnitude = negative
                                      ? std::uint64_t{0} - static_cast<std::uint64_t>(coefficient)
                                      : static_cast<std::uint64_t>(coefficient);
  word(first ? (negative ? "-" : "") : (negative ? " - " : " + "));
  if (magnitude != 1) {
    char buffer[24];
    out_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, magnitude).ptr);
    word("*");
  }
  word(variable);
}

Printer& Printer::affine(const Affine& a, bool addressBase) {
  static constexpr std::array<std::string_view, kMaxLoopDepth> kCounters = {"i0", "i1", "i2",
                                                                            "i3", "i4", "i5"};
  bool first = true;
  const auto add = [&](std::int64_t coefficient, std::string_view variable) {
    if (coefficient == 0) return;
    term(coefficient, variable, first);
    first = false;
  };
  const bool constant = a.row == 0 && a.column == 0 && a.loop == decltype(a.loop){};
  if (a.base != 0 || constant || addressBase) {
    addressBase ? hex(a.base) : number(a.base);
    first = false;
  }
  for (std::size_t k = 0; k < kMaxLoopDepth; ++k) add(a.loop[k], kCounters[k]);
  add(a.row, "row");
  add(a.column, "column");
  return *this;
}

Printer& Printer::address(const Address<Affine>& a) {
  word("@").affine(a.base, true);
  if (a.slot == Affine{} && a.slotStride == 0 && a.slots == 1) return *this;
  // One term stands alone, a sum in parentheses: (i0 mod 4), ((1 + i0) mod 4).
  const std::size_t start = out_.size() + 4;
  word(" + (").affine(a.slot);
  if (out_.find(' ', start) != std::string::npos) {
    out_.insert(start, 1, '(');
    word(")");
  }
  return word(" mod ").number(a.slots).word(")*").number(a.slotStride);
}

Printer& Printer::locks(std::string_view verb, const std::vector<LockUse<Affine>>& uses) {
  std::string_view separator = verb;
  for (const LockUse<Affine>& u : uses) {
    word(separator);
    if (u.count != 1) number(u.count).word("*");
    if (Affine constant(u.lock.base); constant == u.lock && u.lock.base >= 0)
      word("L").number(u.lock.base);
    else
      word("L(").affine(u.lock).word(")");
    separator = ", ";
  }
  return *this;
}

Printer& Printer::end(const End<Affine>& e) {
  address(e.address);
  if (e.pattern == Pattern{}) return locks(" acquire ", e.acquire).locks(" release ", e.release);
  word(" [");
  for (const Dimension& d : e.pattern.dimensions)
    number(d.count).word(" by ").number(d.stride).word(", ");
  number(e.pattern.run).word(" B]");
  return locks(" acquire ", e.acquire).locks(" release ", e.release);
}

Printer& Printer::range(std::string_view name, const Affine& start, std::int64_t count) {
  return word(name).word(" ").affine(start).field("for", count, 1);
}

Printer& Printer::part(const Part<Affine>& p) {
  if (p.content == Content::Weights) return word("record[").affine(p.y).word("]");
  id("%", p.tensor).word("[").range("y", p.y, p.rows).word(", ").range("block", p.block, p.blocks);
  return word(", ").range("x", p.x, p.columns).word("]");
}

Printer& Printer::axis(std::string_view name, const AxisMap& map) {
  word(" ").word(name).word(" [");
  std::string_view separator;
  for (const AxisRun& r : map) {
    word(separator)
        .word("to ")
        .number(r.to)
        .field("step", r.toStep, 1)
        .word(" from ")
        .number(r.from);
    field("step", r.fromStep, 1).word(" for ").number(r.count);
    separator = ", ";
  }
  return word("]");
}

Printer& Printer::integers(const std::vector<std::int64_t>& list) {
  word("[");
  std::string_view separator;
  for (const std::int64_t n : list) {
    word(separator).number(n);
    separator = ", ";
  }
  return word("]");
}

void Printer::operator()(const Start& i) { word(toText(i.channel)); }

void Printer::operator()(const Wait<Affine>& i) {
  word(toText(i.channel)).word(" entry ").affine(i.entry);
}

Printer& Printer::place(const PlacedEnd<Affine>& at) {
  switch (at.place) {
    case EndPlace::Ddr:
      return word(" ddr");
    case EndPlace::ChannelsMemtile:
      return word(" mem");
    case EndPlace::NamedMemtile:
      return word(" mem(").affine(*at.memtile).word(")");
    case EndPlace::Core:
      return *this;
  }
  return *this;
}

void Printer::operator()(const Transfer<Affine>& i) {
  part(i.part);
  if (i.kind == TransferKind::Receive) word(" wire(").affine(i.wire).word(")");
  forEachEnd(i, [&](const PlacedEnd<Affine>& at) {
    // A weight record's place in DDR stands in the table.
    if (at.place == EndPlace::Ddr && at.point == 0 && at.end == End<Affine>{}) return;
    if (at.point > 0) word(at.point == 1 ? " ->" : " and");
    place(at).word(" ").end(at.end);
  });
  for (std::string_view separator = " -> "; const SendTo<Affine>& to : i.to) {
    word(separator);
    sendTo(to);
    separator = ", ";
  }
}

void Printer::sendTo(const SendTo<Affine>& to) {
  word("core(").affine(to.row);
  if (to.rows != 1) word(" for ").number(to.rows);
  word(", ").affine(to.column);
  if (to.columns != 1) word(" for ").number(to.columns);
  word(").").number(to.channel);
}

void Printer::ring(const RowRing<Affine>& r) {
  word(" in ")
      .id("%", r.tensor)
      .word("[row ")
      .affine(r.row)
      .word(", column ")
      .affine(r.column)
      .word("]");
  word(" ring @")
      .affine(r.base, true)
      .word(" [")
      .number(r.length)
      .word(" by ")
      .number(r.rowBytes)
      .word(" B]");
  if (r.ringOffset != Affine{}) word(" offset ").affine(r.ringOffset);
  word(" holds [")
      .range("block", r.block, r.blocks)
      .word(", ")
      .range("x", r.origin, r.columns)
      .word("]");
  flag("absent", r.absent);
}

void Printer::callData(const Call<Affine>& i) {
  if (i.weights) word(" weights ").address(*i.weights);
  if (i.weights || i.record != Affine{}) word(" record[").affine(i.record).word("]");
  if (i.accumulator) word(" sum @").affine(*i.accumulator, true);
  if (!i.init || !i.finish) word(i.init ? " init" : " add").word(i.finish ? " finish" : " keep");
  if (i.output) word(" out ").address(*i.output);
}

void Printer::operator()(const Call<Affine>& i) {
  id("k", i.kernel).word(" ").part(i.part);
  for (const RowRing<Affine>& r : i.inputs) ring(r);
  callData(i);
  locks(" acquire ", i.acquire).locks(" release ", i.release);
}

void Printer::instruction(const Instruction& i) {
  instructions_.push_back(out_.size());
  word(mnemonic(i, program_)).word(" ");
  std::visit([this](const auto& operands) { (*this)(operands); }, i.as);
}

void Printer::port(std::string_view direction, const Port& p) {
  word(direction).word(" ").quoted(p.name).word(" ").id("%", p.tensor).word(" ");
  word(kElements[static_cast<std::size_t>(p.type)]).word(" shape ").integers(p.shape);
  word(" view ").integers(p.view).word(" axes ").quoted(p.axes).line();
}

void Printer::tensor(std::size_t index) {
  const ProgramTensor& t = program_.tensors[index];
  const TensorId id(index);
  word("tensor ")
      .Printer::id("%", id)
      .word(" ")
      .quoted(t.name)
      .word(" ")
      .number(t.shape.height)
      .word("x");
  number(t.shape.width).word("x").number(t.shape.channels).word(" scale ").real(t.scale);
  field("zero", t.zeroPoint, 0).flag("uint8", t.fromUint8);
  if (t.ddr) word(" ddr @").hex(*t.ddr);
  field("per-frame", t.frameStride, 0);
  flag("constant", t.constant);
  if (t.root != id) word(" root ").Printer::id("%", t.root);
  field("block", t.rootBlock, 0);
  if (t.sampling) word(" ").word(toText(*t.sampling));
  if (!t.blockOrder.empty()) word(" order ").integers(t.blockOrder);
  line();
  for (const Slice& s : t.slices) {
    word("  slice mem(")
        .number(s.memtile)
        .word(") @")
        .hex(s.address)
        .word(" [")
        .range("y", s.y, s.rows);
    word(", ").range("x", s.x, s.columns);
    if (s.block != 0 || s.blocks != blocksOf(t.shape)) word(", ").range("block", s.block, s.blocks);
    word("]").line();
  }
}

void Printer::kernel(std::size_t index) {
  const Kernel& k = program_.kernels[index];
  const Window& w = k.window;
  const auto pair = [&](std::string_view name, std::int64_t a, std::int64_t b,
                        std::int64_t byDefault) {
    if (a != byDefault || b != byDefault)
      word(" ").word(name).word(" ").number(a).word("x").number(b);
  };
  word("kernel ").id("k", KernelId(index)).word(" ").word(mnemonic(k.op)).word(" ").quoted(k.name);
  pair("window", w.kernelY, w.kernelX, 1);
  pair("stride", w.strideY, w.strideX, 1);
  pair("dilation", w.dilationY, w.dilationX, 1);
  if (w.padTop != 0 || w.padLeft != 0 || w.padBottom != 0 || w.padRight != 0)
    word(" pad ").integers({w.padTop, w.padLeft, w.padBottom, w.padRight});
  word(" input ")
      .number(k.tensorHeight)
      .word("x")
      .number(k.tensorWidth)
      .field("blocks", k.inputBlocks, 1);
  word(" output ").number(k.outputColumns).field("blocks", k.outputBlocks, 1);
  if (k.inputZero != 0 || k.inputZeroB != 0 || k.outputZero != 0)
    word(" zeros ").integers({k.inputZero, k.inputZeroB, k.outputZero});
  if (k.clamp != Clamp{}) word(" clamp ").integers({k.clamp.low, k.clamp.high});
  field("whole", k.kernelYWhole, 1).flag("count-pad", k.countIncludesPad);
  if (k.rescale != Multiplier{})
    word(" rescale ").number(k.rescale.multiplier).word(" >> ").number(k.rescale.shift);
  if (k.multiplierA != 0 || k.multiplierB != 0)
    word(" multipliers ").integers({k.multiplierA, k.multiplierB});
  field("shift", k.shift, 0)
      .flag("negative-scale", k.negativeScale)
      .flag("weight-zeros", k.weightZeros)
      .field("record-at", k.recordAt, 0)
      .flag("shares-record", k.sharesRecord)
      .flag("broadcast", k.broadcasts)
      .flag("per-channel", k.tablePerChannel)
      .flag("lines", k.tableLines)
      .field("fill", k.fill, 0);
  if (k.multipliesInput)
    word(" multiplies ")
        .integers({k.gateZero, k.productZero, k.productClamp.low, k.productClamp.high});
  if (k.looksUp)
    word(" looks-up ").integers({k.lookedUpZero, k.lookedUpClamp.low, k.lookedUpClamp.high});
  if (k.addsInput)
    word(" adds-to ").integers({k.addedToZero, k.addedToClamp.low, k.addedToClamp.high});
  line();
  for (const Kernel::Move& m : k.moves)
    word("  move")
        .axis("columns", m.columns)
        .axis("channels", m.channels)
        .field("table", m.table, -1)
        .line();
}

void Printer::buffer(const Buffer& b) {
  word("buffer ").quoted(b.name).word(" in ").word(heddle::word(b.kind));
  span("row", "rows", b.tiles.row, b.tiles.rows)
      .span("column", "columns", b.tiles.column, b.tiles.columns);
  word(" @").hex(b.address).word(" size ").number(b.size);
  word(program_.steps.empty() ? " layers " : " steps ");
  id("", b.first).word(" to ").id("", b.last);
  if (b.tensor.valid()) word(" tensor ").id("%", b.tensor);
  line();
}

void Printer::lock(const Lock& l) {
  word("lock L").number(l.index).word(" in ").word(toText(l.tile)).word(" = ").number(l.initial);
  word(" from ").word(toText(l.producer)).word(" to ").word(toText(l.consumer)).line();
}

// Which rows, columns and channel an engine of this kind has; they are written even where they are
// 0.
void Printer::engines(const EngineSet& e) {
  const bool sequencer = e.kind == EngineKind::Sequencer, wire = e.kind == EngineKind::Wire;
  const bool ddr = e.kind == EngineKind::DdrIn || e.kind == EngineKind::DdrOut;
  word("on ").word(heddle::word(e.kind));
  for (std::string_view separator; const CoreRange& r : e.ranges) {
    word(std::exchange(separator, " and"));
    if (!(sequencer || wire || ddr) || r.row != 0 || r.rows != 1)
      span("row", "rows", r.row, r.rows);
    if (!sequencer || r.column != 0 || r.columns != 1 || e.ranges.size() > 1)
      span("column", "columns", r.column, r.columns);
  }
  const bool channels = !(sequencer || wire || e.kind == EngineKind::Core);
  field("channel", e.channel, channels ? -1 : 0);
}

void Printer::items(const std::vector<Item>& items, std::size_t depth) {
  for (const Item& item : items) {
    out_.append(2 * (depth + 1), ' ');
    if (const Loop* loop = std::get_if<Loop>(&item.as)) {
      word("loop ")
          .number(loop->count)
          .word(" {  # i")
          .number(static_cast<std::int64_t>(depth))
          .line();
      this->items(loop->body, depth + 1);
      out_.append(2 * (depth + 1), ' ');
      word("}");
    } else {
      instruction(std::get<Instruction>(item.as));
    }
    line();
  }
}

// Records that follow each other in the image and are alike stand on one line.
void Printer::records() {
  const std::vector<WeightRecord>& all = program_.records;
  for (std::size_t i = 0; i < all.size();) {
    const WeightRecord& r = all[i];
    std::size_t end = i + 1;
    // Nobody has checked the numbers yet: the sum may wrap, as the parser's does.
    auto next = static_cast<std::uint64_t>(r.offset);
    while (end < all.size()) {
      next += static_cast<std::uint64_t>(r.bytes);
      if (all[end] != WeightRecord{static_cast<std::int64_t>(next), r.bytes, r.kept, r.padding})
        break;
      ++end;
    }
    word("record ").number(static_cast<std::int64_t>(i));
    if (end - i > 1) word(" for ").number(static_cast<std::int64_t>(end - i));
    word(" @").hex(r.offset).word(" size ").number(r.bytes);
    field("kept", r.kept, 0);
    field("padding", r.padding, 0).line();
    i = end;
  }
}

void Printer::header() {
  const Program& p = program_;
  word(kVersion).line();
  word("model ").quoted(p.model).word(" sha256 ").quoted(p.modelSha256).line();
  word("device sha256 ").quoted(p.deviceSha256).line();
  word("weights @").hex(p.weightsAddress).word(" size ").number(p.weightsBytes).word(" sha256 ");
  quoted(p.weightsSha256).line();
  records();
  word("ddr size ").number(p.ddrBytes);
  field("frames", p.frames, 1);
  field("batch", p.batch, 1).line();
  for (const Port& port : p.inputs) this->port("input", port);
  for (const Port& port : p.outputs) this->port("output", port);
  for (const std::string& op : p.hostOperators) word("host ").quoted(op).line();
  line();
  for (std::size_t i = 0; i < p.tensors.size(); ++i) tensor(i);
  line();
  for (std::size_t i = 0; i < p.layers.size(); ++i) {
    const Layer& l = p.layers[i];
    word("layer ")
        .id("", LayerId(i))
        .word(" ")
        .quoted(l.name)
        .word(" op ")
        .quoted(l.op)
        .word(" output ")
        .id("%", l.output);
    word(" split ").quoted(l.split).line();
  }
  for (std::size_t i = 0; i < p.steps.size(); ++i)
    word("step ").id("", StepId(i)).word(" layer ").id("", p.steps[i]).line();
  line();
  for (std::size_t i = 0; i < p.kernels.size(); ++i) kernel(i);
  line();
  for (const Buffer& b : p.buffers) buffer(b);
  line();
  for (const Lock& l : p.locks) lock(l);
}

void Printer::code() {
  StepId previous;
  for (const Section& s : program_.sections) {
    const LayerId layer = program_.layerOf(s.step);
    if (s.step != previous && layer.valid() && layer.at() < program_.layers.size()) {
      const Layer& l = program_.layers[layer.at()];
      word("\n# ---- layer ")
          .id("", layer)
          .word(" ")
          .quoted(l.name)
          .word(", ")
          .quoted(l.op)
          .word(", ")
          .quoted(l.split);
      word(" ----").line();
    }
    previous = s.step;
    engines(s.engines);
    word(program_.steps.empty() ? ", layer " : ", step ").id("", s.step);
    word(s.lastFrame ? ", last frame:" : ":").line();
    items(s.items, 0);
  }
}

}  // namespace

AsmListing listAsm(const Program& program) {
  Printer printer(program);
  printer.header();
  printer.code();
  return printer.take();
}

std::string printAsm(const Program& program) { return listAsm(program).text; }

}  // namespace heddle
