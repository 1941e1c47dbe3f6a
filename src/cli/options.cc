#include "options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <sstream>

#include "heddle/planner/fuse.h"
#include "heddle/support/words.h"
#include "version.h"

namespace heddle {
namespace {

constexpr const char* kSummary =
    "heddle compiles a quantized neural network for an array of AIE cores, proves the program by "
    "executing it, and\n"
    "shows where the time goes.";
constexpr const char* kExitStatus =
    "exit status: 0 done, 1 bad input, 2 usage, 3 does not fit, 70 a bug of heddle, 130 "
    "interrupted";

// Thrown by the readers of values below, caught in parseCommandLine.
struct BadValue {
  Diagnostic diagnostic;
};

[[noreturn]] void badValue(const std::string& where, std::string summary, std::string what,
                           std::string mend) {
  throw BadValue{
      {"CLI002", where, std::move(summary), std::move(what), std::move(mend), Severity::Usage}};
}

std::optional<std::int64_t> wholeNumber(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// "4x4", "1x3x224x224"
std::optional<std::vector<std::int64_t>> numbersBetweenX(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (;;) {
    const std::size_t x = text.find('x');
    const std::optional<std::int64_t> number = wholeNumber(text.substr(0, x));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    if (x == std::string_view::npos) return numbers;
    text.remove_prefix(x + 1);
  }
}

std::pair<std::int64_t, std::int64_t> readMesh(const std::string& text) {
  const auto numbers = numbersBetweenX(text);
  if (!numbers || numbers->size() != 2)
    badValue("--mesh " + text, "'" + text + "' is not rows x columns", "",
             "write it like '--mesh 4x4'");
  return {(*numbers)[0], (*numbers)[1]};
}

std::pair<std::string, std::string> readSetting(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    badValue("--set " + text, "'" + text + "' is not KEY=VALUE", "",
             "write it like '--set links.ddr.read=2GB/s'");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::pair<std::string, std::vector<std::int64_t>> readShape(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const auto numbers =
      numbersBetweenX(std::string_view(text).substr(equals == std::string::npos ? 0 : equals + 1));
  if (equals == std::string::npos || equals == 0 || !numbers)
    badValue("--shape " + text, "'" + text + "' is not NAME=SIZES", "",
             "write it like '--shape input=1x3x224x224'");
  return {text.substr(0, equals), *numbers};
}

Stage readStage(const std::string& option, const std::string& text) {
  const std::optional<Stage> stage = stageNamed(text);
  if (!stage) {
    const auto nearest = nearestWord(text, stageNames());
    badValue(option + " " + text, "there is no stage '" + text + "'",
             "stages: " + joinWords(stageNames()),
             nearest ? "write '" + *nearest + "'" : "use one of these");
  }
  return *stage;
}

void setFuse(const std::string& text, PlanOptions& options) {
  if (const auto wrong = readFuse(text, options))
    badValue("--fuse " + text, "'" + *wrong + "' is no group of layers", kFuseWords,
             "write it like '--fuse conv1..pool2:8'");
}

bool isOfDigits(const std::string& text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

std::uint64_t readNumber(const std::string& option, const std::string& text) {
  const std::optional<std::int64_t> number = wholeNumber(text);
  if (!number)
    badValue(option + " " + text, "'" + text + "' is not a whole number",
             isOfDigits(text) ? "it is larger than " + std::to_string(INT64_MAX) : "",
             "write it like '" + option + " 1'");
  return static_cast<std::uint64_t>(*number);
}

template <class T>
T readWord(const std::string& option, const std::string& text,
           const std::vector<std::pair<std::string, T>>& words) {
  std::vector<std::string> names;
  for (const auto& [word, value] : words) {
    if (word == text) return value;
    names.push_back(word);
  }
  const auto nearest = nearestWord(text, names);
  badValue(option + " " + text, "'" + text + "' is none of the words for it",
           "words: " + joinWords(names),
           nearest ? "write '" + option + " " + *nearest + "'" : "use one of these");
}

std::int64_t readRatio(const std::string& text) {  // in millionths
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 1))
    badValue("--ratio " + text, "'" + text + "' is no ratio from 0 to 1", "",
             "write it like '--ratio 0.5'");
  return std::llround(value * 1e6);
}

void readBlock(const std::string& text, PruneOptions& options) {
  constexpr std::int64_t kLargest = 1 << 20;
  const auto numbers = numbersBetweenX(text);
  if (!numbers || numbers->size() != 2 || std::ranges::min(*numbers) < 1 ||
      std::ranges::max(*numbers) > kLargest)
    badValue("--block " + text, "'" + text + "' is not output channels x input channels of a block",
             "", "write it like '--block 8x8'");
  options.blockRows = (*numbers)[0];
  options.blockColumns = (*numbers)[1];
}

void readBalance(const std::string& text, PruneOptions& options) {
  if (text == "none") return;
  const std::size_t colon = text.find(':');
  const std::string axis = text.substr(0, colon);
  const std::optional<std::int64_t> groups =
      colon == std::string::npos ? std::nullopt
                                 : wholeNumber(std::string_view(text).substr(colon + 1));
  if ((axis != "cout" && axis != "cin") || !groups || *groups < 1 || *groups > kMostGroups)
    badValue("--balance " + text, "'" + text + "' is not none, cout:N or cin:N",
             "N is from 1 to " + std::to_string(kMostGroups), "write it like '--balance cout:4'");
  options.balance = axis == "cout" ? BalanceAxis::Outputs : BalanceAxis::Inputs;
  options.groups = *groups;
}

std::vector<std::string> readKeep(const std::vector<std::string>& texts) {
  std::vector<std::string> words;
  for (std::string_view text : texts)
    for (;;) {
      const std::size_t comma = text.find(',');
      words.emplace_back(text.substr(0, comma));
      if (comma == std::string_view::npos) break;
      text.remove_prefix(comma + 1);
    }
  return words;
}

// The texts that CLI11 collects; read into options once all are there.
struct Texts {
  std::vector<std::string> paths;
  std::vector<std::string> models, meshes, varied, definitions, required;
  std::string where, maximized, minimized, threads, shard, samples, refine, budget, timeline;
  std::string slurmJobs, pointTime, pointMemory;
  bool square = false, estimate = false;
  std::string format;
  bool cycles = false, open = false;
  std::string path, device, mesh, out, seed, effort, fuse, frames, batch, stopAfter, dump,
      maxCycles, dumpTensors;
  std::vector<std::string> settings, shapes, inputs, outputs;
  std::vector<std::pair<std::string, std::string>> from;
  bool noPropagate = false, noReorder = false, noVerify = false, data = false, quantized = false;
  std::string masks, block = "8x8", ratio, importance = "l2", scope = "layer", balance = "none",
                     steps;
  std::string capacity, seconds;
  std::string sort = "layer";
  std::vector<std::string> keep;
  bool applyMasks = false, sensitivity = false;
  Verbosity verbosity;
};

void addVerbosity(CLI::App& command, Texts& t,
                  const char* json = "print one JSON object instead of the summary") {
  command.add_flag("--json", t.verbosity.json, json);
  command.add_flag("-v,--verbose", t.verbosity.verbose, "say each step and its time on stderr");
  command.add_flag("-q,--quiet", t.verbosity.quiet, "say nothing but faults");
}
void addSet(CLI::App& command, Texts& t, const char* help) {
  command.add_option("--set", t.settings, help)->type_name("KEY=VALUE")->allow_extra_args(false);
}
void addDevice(CLI::App& command, Texts& t) {
  command.add_option("--mesh", t.mesh, "rows and columns of the array")->type_name("RxC");
  addSet(command, t, "replace a value of the description, e.g. links.ddr.read=2GB/s");
}
void addShape(CLI::App& command, Texts& t) {
  command
      .add_option("--shape", t.shapes,
                  "sizes of an input, in place of the model's or where it leaves them open, e.g. "
                  "input=1x3x224x224")
      ->type_name("NAME=SIZES")
      ->allow_extra_args(false);
}
void addArrays(CLI::App& command, Texts& t) {
  command.add_option("--input", t.inputs, "array for an input of the model")
      ->type_name("[NAME=]FILE.npy")
      ->allow_extra_args(false);
  command.add_option("--output", t.outputs, "where to write an output of the model")
      ->type_name("[NAME=]FILE.npy")
      ->allow_extra_args(false);
}
void addMasks(CLI::App& command, Texts& t, const char* type = "FILE.npz") {
  command.add_option("--masks", t.masks, "masks of the weights, by the names of the initializers")
      ->type_name(type);
}
void addEffort(CLI::App& command, Texts& t) {
  command
      .add_option("--effort", t.effort,
                  "of the planner: 0 the paper's dataflow, 1 the fastest of a menu by estimate "
                  "(default), 2 and 3 by simulation of some plans, of many")
      ->type_name("N");
}
void addFuse(CLI::App& command, Texts& t) {
  command
      .add_option("--fuse", t.fuse,
                  "layers whose tensors spill are tiled depth-wise: auto (default) where that is "
                  "faster, off, or the named groups, in so many tiles")
      ->type_name("auto|off|FIRST..LAST[:TILES],...");
}
void addFrames(CLI::App& command, Texts& t) {
  command
      .add_option("--frames", t.frames,
                  "how often one run goes through the program, one frame right behind the other "
                  "(default 1)")
      ->type_name("N");
}
void addBatch(CLI::App& command, Texts& t, const std::string& values) {
  command
      .add_option("--batch", t.batch,
                  "inferences of a frame, which go through the array together: weights come once "
                  "for all of them (default 1)")
      ->type_name(values);
}
void addSeed(CLI::App& command, Texts& t, const std::string& of) {
  command.add_option("--seed", t.seed, "seed of " + of + " (default 1)")->type_name("N");
}

void describeCompile(CLI::App& app, Texts& t) {
  CLI::App& c = *app.add_subcommand(
      "compile", "compile a model, prove the program, write its timeline and report");
  c.footer("example:\n  heddle compile build/models/resnet50.onnx --mesh 4x4 -o out/resnet50-4x4");
  c.add_option("MODEL", t.path, "ONNX file of a quantized network")->type_name("FILE.onnx");
  c.add_option("--device", t.device, "description of the array, or 'paper' (default) or 'switched'")
      ->type_name("FILE.yaml");
  addDevice(c, t);
  c.add_option("-o,--out", t.out, "folder for the results")->type_name("OUT");
  addShape(c, t);
  addMasks(c, t);
  c.add_flag("--apply-masks", t.applyMasks, "compile the model with zeros for what the masks drop");
  addEffort(c, t);
  addFuse(c, t);
  addFrames(c, t);
  addBatch(c, t, "N|auto");
  c.add_flag("--no-propagate", t.noPropagate, "compute channels too that no output depends on");
  c.add_flag("--no-reorder", t.noReorder, "keep channel blocks in the order of the model");
  c.add_flag("--no-verify", t.noVerify, "do not execute the program with data");
  addSeed(c, t, "the input that verification uses");
  c.add_option("--stop-after", t.stopAfter, "stop after a stage: " + joinWords(stageNames()))
      ->type_name("STAGE");
  c.add_option("--from", t.from,
               "begin a stage (plan, memory-plan, program) with a file instead of the stage before")
      ->type_name("STAGE FILE")
      ->allow_extra_args(false);
  c.add_option("--dump", t.dump, "also write every artefact up to a stage as text, to OUT/dump")
      ->type_name("STAGE");
  c.add_option("--max-cycles", t.maxCycles, "give up a simulation that takes longer")
      ->type_name("N");
  addVerbosity(c, t);
}

void describeSimulate(CLI::App& app, Texts& t) {
  CLI::App& c = *app.add_subcommand("simulate", "run a compiled program on the simulated array");
  c.footer("example:\n  heddle simulate out/resnet50-4x4 --data --input x.npy --output y.npy");
  c.add_option("OUT", t.path, "folder with program.asm, weights.bin and device.yaml")
      ->type_name("FOLDER");
  addSet(c, t, "another rate or time of the device, e.g. links.ddr.read=2GB/s");
  c.add_flag("--data", t.data, "move and compute real values, not time only");
  addArrays(c, t);
  addSeed(c, t, "inputs that are not given");
  c.add_option("--max-cycles", t.maxCycles, "give up a simulation that takes longer")
      ->type_name("N");
  addVerbosity(c, t);
}

void describeInterpret(CLI::App& app, Texts& t) {
  CLI::App& c = *app.add_subcommand("interpret", "compute a model with the reference interpreter");
  c.footer(
      "example:\n  heddle interpret build/models/mlp.onnx --input x.npy --output y.npy "
      "--dump-tensors tensors");
  c.add_option("MODEL", t.path, "ONNX file of a quantized network")->type_name("FILE.onnx");
  addArrays(c, t);
  c.add_option("--dump-tensors", t.dumpTensors, "folder for every quantized tensor, as NAME.npy")
      ->type_name("DIR");
  c.add_flag("--quantized", t.quantized,
             "start and end at the quantized tensors, without operators of the host");
  addShape(c, t);
  addSeed(c, t, "inputs that are not given");
  addVerbosity(c, t);
}

void describeInspect(CLI::App& app, Texts& t) {
  CLI::App& c =
      *app.add_subcommand("inspect", "say what a model, a device description or a result is");
  c.footer("example:\n  heddle inspect hw_configs/paper.yaml --mesh 8x8");
  c.add_option("PATH", t.path, "FILE.onnx, FILE.yaml or a folder that compile wrote");
  addDevice(c, t);
  addShape(c, t);
  addMasks(c, t);
  addVerbosity(c, t);
}

void describeCompare(CLI::App& app, Texts& t) {
  CLI::App& c = *app.add_subcommand(
      "compare", "say layer by layer how two results differ, and what sparsity gained");
  c.footer("example:\n  heddle compare out/resnet50-4x4 out/resnet50-50-4x4 --sort gain");
  c.add_option("OUT", t.paths, "two folders that compile wrote, or their report.json")
      ->type_name("FOLDER FOLDER")
      ->expected(0, 2);
  c.add_option("--sort", t.sort,
               "layers as in the network, layer (default), or by cycles gained: gain")
      ->type_name("WORD");
  addVerbosity(c, t);
}

void describeExplain(CLI::App& app, Texts& t) {
  CLI::App& c = *app.add_subcommand(
      "explain", "say why a run takes its time: what binds, and why a layer is mapped as it is");
  c.footer(
      "examples:\n  heddle explain out/resnet50-4x4\n"
      "  heddle explain out/resnet50-4x4 s2b1_a");
  c.add_option("OUT LAYER", t.paths, "folder that compile wrote, and a layer's name")
      ->type_name("FOLDER [NAME]")
      ->expected(0, 2);
  addVerbosity(c, t);
}

void describePrune(CLI::App& app, Texts& t) {
  CLI::App& c = *app.add_subcommand(
      "prune", "write a model with zeros for the least important blocks of its weights");
  c.footer(
      "examples:\n  heddle prune build/models/resnet50.onnx -o resnet50-50.onnx --ratio 0.5 --keep "
      "first\n  heddle prune build/models/mlp.onnx --sensitivity");
  c.add_option("MODEL", t.path, "ONNX file of a quantized network")->type_name("FILE.onnx");
  c.add_option("-o,--out", t.out, "the pruned model; its masks lie beside it, as FILE.masks.npz")
      ->type_name("FILE.onnx");
  c.add_option("--ratio", t.ratio, "of the blocks that go, from 0 to 1")->type_name("R");
  c.add_option("--block", t.block, "output channels x input channels of a block (default 8x8)")
      ->type_name("RxC");
  c.add_option("--importance", t.importance, "of a block's values: l1, l2 (default), variance")
      ->type_name("WORD");
  c.add_option("--scope", t.scope,
               "whether each layer gives its share or the network: layer (default), network")
      ->type_name("WORD");
  c.add_option("--balance", t.balance,
               "none (default), or cout:N, cin:N: equally many blocks in N groups of channels")
      ->type_name("WORD");
  c.add_option("--keep", t.keep, "layers that stay: first, last or names, with commas")
      ->type_name("LAYERS")
      ->allow_extra_args(false);
  c.add_option("--steps", t.steps, "of scope network: reach the ratio in so many steps (default 1)")
      ->type_name("K");
  addMasks(c, t);
  c.add_flag("--apply-masks", t.applyMasks, "set to zero what the masks drop");
  c.add_flag("--sensitivity", t.sensitivity,
             "also print how much the output changes where one layer alone is pruned");
  c.add_option("--input", t.inputs, "of --sensitivity: array for a quantized input of the network")
      ->type_name("[NAME=]FILE.npy")
      ->allow_extra_args(false);
  addSeed(c, t, "inputs of --sensitivity that are not given");
  addShape(c, t);
  addVerbosity(c, t);
}

void describeView(CLI::App& app, Texts& t) {
  CLI::App& c = *app.add_subcommand(
      "view", "write the page of a run, of two beside each other, or of a sweep");
  c.footer(
      "examples:\n  heddle view out/resnet50-4x4 --open\n"
      "  heddle view out/resnet50-4x4 out/resnet50-8x8 -o compare.html");
  c.add_option("OUT", t.paths,
               "one or two folders that compile wrote, or their timeline.json; or one of sweep")
      ->type_name("FOLDER")
      ->expected(0, 2);
  c.add_option("-o,--out", t.out,
               "the page (default: OUT/timeline.html; of two runs A-vs-B.html here)")
      ->type_name("FILE");
  c.add_flag("--open", t.open, "open it with xdg-open");
  c.add_flag("-q,--quiet", t.verbosity.quiet, "say nothing but faults");
}

void describeExport(CLI::App& app, Texts& t) {
  CLI::App& c = *app.add_subcommand("export", "write a timeline in the format of another tool");
  c.footer(
      "examples:\n  heddle export out/resnet50-4x4 --format perfetto\n"
      "  heddle export out/resnet50-4x4 --format csv -o - | head");
  c.add_option("OUT", t.path, "folder that compile wrote, or its timeline.json")
      ->type_name("FOLDER");
  c.add_option("--format", t.format, "one of: " + joinWords(exportFormatNames()))
      ->type_name("FORMAT");
  c.add_option("-o,--out", t.out,
               "the file, - for standard output (default: OUT/timeline with its ending)")
      ->type_name("FILE");
  c.add_flag("--cycles", t.cycles, "show one cycle as one nanosecond (csv is in cycles anyway)");
  c.add_flag("-q,--quiet", t.verbosity.quiet, "say nothing but faults");
}

void describeAllocate(CLI::App& app, Texts& t) {
  CLI::App& c = *app.add_subcommand(
      "allocate", "give buffers whose times are known their offsets in one memory");
  c.footer("example:\n  heddle allocate buffers.csv --capacity 1048576 -o offsets.csv");
  c.add_option("FILE", t.path, "table of buffers: id,lower,upper,size")->type_name("FILE.csv");
  c.add_option("--capacity", t.capacity, "bytes of the memory")->type_name("N");
  c.add_option("-o,--out", t.out, "the table with offsets (default: - for standard output)")
      ->type_name("FILE");
  c.add_option("--seconds", t.seconds, "stop the search after so long (default 10)")
      ->type_name("S");
  addVerbosity(c, t);
}

void addList(CLI::App& command, const char* option, std::vector<std::string>& place,
             const char* help, const char* type) {
  command.add_option(option, place, help)->type_name(type)->allow_extra_args(false);
}

void describeSweep(CLI::App& app, Texts& t) {
  CLI::App& c = *app.add_subcommand(
      "sweep", "compile models for every mesh, bandwidth and memory, and answer questions");
  c.footer(
      "examples:\n"
      "  heddle sweep --model a.onnx --model b.onnx --mesh 1..8x1..8 -o out/sweep\n"
      "  heddle sweep study.yaml -o out/study\n"
      "  heddle sweep --timeline 3f9c -o out/sweep\n"
      "Quote braces: --vary 'links.{wire,memtile.read}=4GB/s,8GB/s' varies both keys together.");
  c.add_option("FILE", t.paths, "sweep file with the same keys; options replace what it says")
      ->type_name("FILE.yaml");
  addList(c, "--model", t.models, "ONNX file of a quantized network; may be repeated", "FILE.onnx");
  c.add_option("--device", t.device, "description of the array, or 'paper' (default) or 'switched'")
      ->type_name("FILE.yaml");
  addMasks(c, t, "none,FILE.npz");
  c.add_flag("--apply-masks", t.applyMasks, "compile with zeros for what the masks drop");
  addList(c, "--mesh", t.meshes, "rows and columns: 1..8x1..8, 4x4,8x8 or 1,2,4x4", "MESHES");
  c.add_flag("--square", t.square, "of these only the square ones");
  addList(c, "--vary", t.varied, "values of a key of the device; in braces several keys together",
          "KEY=V,V");
  addList(c, "--set", t.settings, "replace a value of the description for all points", "KEY=VALUE");
  c.add_option("-o,--out", t.out, "folder of the sweep; it goes on where it was left")
      ->type_name("DIR");
  c.add_flag("--estimate", t.estimate,
             "the planner's closed form alone: no program, no simulation");
  addEffort(c, t);
  addFuse(c, t);
  addFrames(c, t);
  addBatch(c, t, "N,N,...");
  c.add_flag("--no-verify", t.noVerify, "do not execute the programs with data");
  c.add_flag("--no-propagate", t.noPropagate, "compute channels too that no output depends on");
  c.add_flag("--no-reorder", t.noReorder, "keep channel blocks in the order of the model");
  addSeed(c, t, "the inputs that verification uses, and of --samples");
  c.add_option("--max-cycles", t.maxCycles, "give up a simulation that takes longer")
      ->type_name("N");
  c.add_option("--threads", t.threads, "points at the same time (default: the number of cores)")
      ->type_name("K");
  c.add_option("--samples", t.samples, "of a large grid only N devices, drawn by the seed")
      ->type_name("N");
  c.add_option("--refine", t.refine, "then K times the neighbours of the best of them")
      ->type_name("K");
  c.add_option("--budget", t.budget, "begin no point after so long: 90s, 5m, 2h")
      ->type_name("TIME");
  c.add_option("--shard", t.shard, "only the I-th of N parts; 'collect' puts them together")
      ->type_name("I/N");
  c.add_option("--print-slurm", t.slurmJobs,
               "do nothing but print a script for Slurm: the sweep in N jobs, then 'collect'")
      ->type_name("N");
  c.add_option("--point-time", t.pointTime,
               "of --print-slurm: what a point may take (default 5m); 90s, 5m, 2h")
      ->type_name("TIME");
  c.add_option("--point-memory", t.pointMemory,
               "of --print-slurm: what a point may take (default 2GiB)")
      ->type_name("SIZE");
  c.add_option("--where", t.where, "which points there are, as in 'cores <= 32'")
      ->type_name("EXPR");
  addList(c, "--define", t.definitions, "a column of your own, as in 'area=cores + memtiles'",
          "NAME=EXPR");
  addList(c, "--require", t.required, "what a device has to keep, as in 'resnet50.ms <= 2'",
          "EXPR");
  c.add_option("--maximize", t.maximized, "what is wanted, as in 'geomean(ips)/area'")
      ->type_name("EXPR");
  c.add_option("--minimize", t.minimized, "the same the other way round")->type_name("EXPR");
  c.add_option("--timeline", t.timeline,
               "compile a point of the sweep in DIR again, whole: DIR/timelines/POINT")
      ->type_name("POINT");
  addVerbosity(c, t, "print a line of JSON for each point, and one at the end");
}

void describeCollect(CLI::App& app, Texts& t) {
  CLI::App& c = *app.add_subcommand("collect", "make tables and a page of one or more sweeps");
  c.footer("example:\n  heddle collect out/part1 out/part2 -o out/all");
  c.add_option("DIR", t.paths, "folders that sweep filled")->type_name("FOLDER...");
  c.add_option("-o,--out", t.out, "folder for results.csv, .jsonl, .sqlite and sweep.html")
      ->type_name("OUT");
  c.add_flag("--open", t.open, "open the page with xdg-open");
  c.add_flag("-q,--quiet", t.verbosity.quiet, "say nothing but faults");
}

Diagnostic missing(const std::string& command, const std::string& what, const std::string& mend) {
  return {"CLI003",       command.empty() ? "heddle" : "heddle " + command, what, "", mend,
          Severity::Usage};
}

DeviceOverrides overridesOf(const Texts& t) {
  DeviceOverrides overrides;
  if (!t.mesh.empty()) overrides.mesh = readMesh(t.mesh);
  for (const std::string& text : t.settings) overrides.settings.push_back(readSetting(text));
  return overrides;
}
ShapeSettings shapesOf(const Texts& t) {
  ShapeSettings shapes;
  for (const std::string& text : t.shapes) shapes.push_back(readShape(text));
  return shapes;
}
std::uint64_t seedOf(const Texts& t) { return t.seed.empty() ? 1 : readNumber("--seed", t.seed); }
std::int64_t batchOf(const Texts& t) {
  if (t.batch.empty()) return 1;
  const std::uint64_t batch = readNumber("--batch", t.batch);
  if (batch < 1 || batch > static_cast<std::uint64_t>(kMaxBatch))
    badValue("--batch " + t.batch, "a frame cannot have so many inferences",
             "from 1 to " + std::to_string(kMaxBatch),
             "write it like '--batch 4', or '--batch auto'");
  return static_cast<std::int64_t>(batch);
}

std::int64_t framesOf(const Texts& t) {
  if (t.frames.empty()) return 1;
  const std::uint64_t frames = readNumber("--frames", t.frames);
  if (frames < 1 || frames > static_cast<std::uint64_t>(kMaxFrames))
    badValue("--frames " + t.frames, "a run cannot have so many frames",
             "from 1 to " + std::to_string(kMaxFrames), "write it like '--frames 8'");
  return static_cast<std::int64_t>(frames);
}
std::optional<Cycles> maxCyclesOf(const Texts& t) {
  if (t.maxCycles.empty()) return std::nullopt;
  return Cycles(static_cast<std::int64_t>(readNumber("--max-cycles", t.maxCycles)));
}

// What would be dropped without a word: a plan or program that is given says for itself how it came
// about, and the report comes last.
void checkGiven(const Texts& t, const CompileOptions& o) {
  std::vector<std::string> said;
  for (const auto& [option, text] :
       {std::pair("--frames", t.frames), {"--effort", t.effort}, {"--fuse", t.fuse}})
    if (!text.empty()) said.push_back(std::string(option) + " " + text);
  if (o.choosesBatch) said.push_back("--batch " + t.batch);
  if (t.noReorder) said.emplace_back("--no-reorder");
  for (const Stage stage : {Stage::Plan, Stage::Program})
    if (o.from.contains(stage) && !said.empty())
      badValue(said[0], "the file of '--from' says it",
               "--from " + name(stage) + " " + o.from.at(stage), "leave it out");
  if (o.stopAfter && *o.stopAfter < Stage::Report && t.verbosity.json)
    badValue("--json", "it prints the report, which comes last", "--stop-after " + t.stopAfter,
             "leave one of the two out");
  if (o.stopAfter && o.dump && *o.stopAfter < *o.dump)
    badValue("--dump " + t.dump, "the stage lies behind the last one",
             "--stop-after " + t.stopAfter,
             "stop after that one or a later one, or leave --dump out");
}

Result<Command> compileOf(const Texts& t) {
  if (t.path.empty())
    return missing("compile", "the model is missing", "write 'heddle compile MODEL.onnx -o OUT'");
  CompileOptions o;
  o.model = {.path = t.path,
             .shapes = shapesOf(t),
             .masks = t.masks,
             .applyMasks = t.applyMasks,
             .propagate = !t.noPropagate};
  if (!t.device.empty()) o.device = t.device;
  o.overrides = overridesOf(t);
  o.out = t.out;
  if (t.applyMasks && t.masks.empty())
    return missing("compile", "--apply-masks needs masks", "add '--masks FILE.npz'");
  if (!t.effort.empty()) o.plan.effort = static_cast<int>(readNumber("--effort", t.effort));
  if (o.plan.effort > kMostPlanEffort)
    badValue("--effort " + t.effort, "'" + t.effort + "' is no effort of the planner",
             "from 0 to " + std::to_string(kMostPlanEffort), "write it like '--effort 0'");

  setFuse(t.fuse, o.plan);
  o.plan.frames = framesOf(t);
  o.choosesBatch = t.batch == "auto";
  if (!o.choosesBatch) o.model.batch = batchOf(t);
  o.plan.reorder = !t.noReorder;
  o.verify = !t.noVerify;
  o.seed = seedOf(t);
  if (!t.stopAfter.empty()) o.stopAfter = readStage("--stop-after", t.stopAfter);
  if (!t.dump.empty()) o.dump = readStage("--dump", t.dump);
  for (const auto& [stage, file] : t.from) {
    const Stage from = readStage("--from", stage);
    if (from != Stage::Plan && from != Stage::MemoryPlan && from != Stage::Program)
      badValue("--from " + stage, "the stage '" + stage + "' cannot begin with a file", "",
               "use one of: plan, memory-plan, program");
    o.from[from] = file;
  }
  checkGiven(t, o);
  if (o.stopAfter && !o.from.empty() && o.from.rbegin()->first > *o.stopAfter)
    badValue("--stop-after " + t.stopAfter, "the stage lies before the one that begins with a file",
             "--from " + name(o.from.rbegin()->first), "stop after that one or a later one");
  if (o.choosesBatch && o.stopAfter && *o.stopAfter < Stage::Plan)
    badValue("--batch auto", "it is chosen with the plan", "--stop-after " + t.stopAfter,
             "stop after a later stage, or give a number");
  o.maxCycles = maxCyclesOf(t);
  o.verbosity = t.verbosity;
  if (o.out.empty() && !o.stopAfter && !o.verbosity.json)
    return missing("compile", "the folder for the results is missing",
                   "add '-o OUT', or '--json' for the report alone");
  if (o.out.empty() && o.dump) return missing("compile", "--dump needs a folder", "add '-o OUT'");
  return Command(std::move(o));
}

Result<Command> simulateOf(const Texts& t) {
  if (t.path.empty())
    return missing("simulate", "the folder is missing", "write 'heddle simulate OUT'");
  if (!t.data && (!t.inputs.empty() || !t.outputs.empty()))
    return missing("simulate", "--input and --output need --data", "add '--data'");
  return Command(SimulateCommandOptions{.folder = t.path,
                                        .settings = overridesOf(t).settings,
                                        .data = t.data,
                                        .inputs = t.inputs,
                                        .outputs = t.outputs,
                                        .seed = seedOf(t),
                                        .maxCycles = maxCyclesOf(t),
                                        .verbosity = t.verbosity});
}

Result<Command> interpretOf(const Texts& t) {
  if (t.path.empty())
    return missing("interpret", "the model is missing", "write 'heddle interpret MODEL.onnx'");
  InterpretOptions o;
  o.model = t.path;
  o.shapes = shapesOf(t);
  o.inputs = t.inputs;
  o.outputs = t.outputs;
  if (!t.dumpTensors.empty()) o.dumpTensors = t.dumpTensors;
  o.quantized = t.quantized;
  o.seed = seedOf(t);
  o.verbosity = t.verbosity;
  return Command(std::move(o));
}

Result<Command> inspectOf(const Texts& t) {
  if (t.path.empty())
    return missing("inspect", "the path is missing", "write 'heddle inspect PATH'");
  return Command(InspectOptions{.path = t.path,
                                .overrides = overridesOf(t),
                                .shapes = shapesOf(t),
                                .masks = t.masks,
                                .verbosity = t.verbosity});
}

Result<Command> compareOf(const Texts& t) {
  if (t.paths.size() < 2)
    return missing("compare",
                   t.paths.empty() ? "the folders are missing" : "the second folder is missing",
                   "write 'heddle compare OUT1 OUT2'");
  return Command(CompareOptions{
      .a = t.paths[0],
      .b = t.paths[1],
      .order = readWord<CompareOrder>(
          "--sort", t.sort, {{"layer", CompareOrder::Layer}, {"gain", CompareOrder::Gain}}),
      .verbosity = t.verbosity});
}

Result<Command> explainOf(const Texts& t) {
  if (t.paths.empty())
    return missing("explain", "the folder is missing",
                   "write 'heddle explain OUT' or 'heddle explain OUT LAYER'");
  ExplainOptions o{.folder = t.paths[0], .layer = {}, .verbosity = t.verbosity};
  if (t.paths.size() > 1) o.layer = t.paths[1];
  return Command(std::move(o));
}

PruneOptions blocksOf(const Texts& t) {
  PruneOptions o;
  readBlock(t.block, o);
  if (!t.ratio.empty()) o.ratioMillionths = readRatio(t.ratio);
  o.importance = readWord<Importance>(
      "--importance", t.importance,
      {{"l1", Importance::L1}, {"l2", Importance::L2}, {"variance", Importance::Variance}});
  o.scope = readWord<PruneScope>("--scope", t.scope,
                                 {{"layer", PruneScope::Layer}, {"network", PruneScope::Network}});
  readBalance(t.balance, o);
  o.keep = readKeep(t.keep);
  if (!t.steps.empty()) o.steps = static_cast<std::int64_t>(readNumber("--steps", t.steps));
  if (o.steps < 1 || o.steps > kMostPruneSteps)
    badValue("--steps " + t.steps, "'" + t.steps + "' is no number of steps",
             "from 1 to " + std::to_string(kMostPruneSteps), "write it like '--steps 4'");
  return o;
}

Result<Command> pruneOf(const Texts& t) {
  const auto missingHere = [](const std::string& what, const std::string& mend) {
    return missing("prune", what, mend);
  };
  if (t.path.empty())
    return missingHere("the model is missing",
                       "write 'heddle prune MODEL.onnx -o OUT.onnx --ratio 0.5'");
  if (t.out.empty() && !t.sensitivity)
    return missingHere("the name of the pruned model is missing", "add '-o OUT.onnx'");
  if (!t.out.empty() && t.ratio.empty() && t.masks.empty())
    return missingHere("it is not said what goes", "add '--ratio 0.5' or '--masks FILE.npz'");
  if (t.applyMasks && t.masks.empty())
    return missingHere("--apply-masks needs masks", "add '--masks FILE.npz'");
  if (!t.sensitivity && !t.inputs.empty())
    return missingHere("--input needs --sensitivity", "add '--sensitivity'");
  PruneCommandOptions o;
  o.model = t.path;
  o.shapes = shapesOf(t);
  const PruneOptions blocks = blocksOf(t);
  if (blocks.steps > 1 && blocks.scope != PruneScope::Network)
    return missingHere("--steps needs --scope network", "add '--scope network', or leave it out");
  if (!t.ratio.empty() || t.sensitivity) o.blocks = blocks;
  o.masks = t.masks;
  o.applyMasks = t.applyMasks;
  o.out = t.out;
  o.sensitivity = t.sensitivity;
  o.inputs = t.inputs;
  o.seed = seedOf(t);
  o.verbosity = t.verbosity;
  return Command(std::move(o));
}

Result<Command> viewOf(const Texts& t) {
  if (t.paths.empty()) return missing("view", "the folder is missing", "write 'heddle view OUT'");
  return Command(
      ViewOptions{.paths = t.paths, .out = t.out, .open = t.open, .verbosity = t.verbosity});
}

Result<Command> exportOf(const Texts& t) {
  if (t.path.empty())
    return missing("export", "the folder is missing", "write 'heddle export OUT --format FORMAT'");
  if (t.format.empty())
    return missing("export", "the format is missing",
                   "add '--format' with one of: " + joinWords(exportFormatNames()));
  const std::optional<ExportFormat> format = exportFormatNamed(t.format);
  if (!format) {
    const auto nearest = nearestWord(t.format, exportFormatNames());
    badValue("--format " + t.format, "there is no format '" + t.format + "'",
             "formats: " + joinWords(exportFormatNames()),
             nearest ? "write '" + *nearest + "'" : "use one of these");
  }
  return Command(ExportOptions{.path = t.path,
                               .format = *format,
                               .scale = t.cycles ? TimeScale::Nanosecond : TimeScale::Seconds,
                               .out = t.out,
                               .verbosity = t.verbosity});
}

std::vector<Argument> wordsOf(const std::string& option, const std::vector<std::string>& texts) {
  std::vector<Argument> words;
  for (const std::string& text : texts) words.push_back({text, option + " " + text});
  return words;
}
std::optional<Argument> wordOf(const std::string& option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  return Argument{text, option + " " + text};
}

std::vector<Definition> definitionsOf(const std::vector<std::string>& texts) {
  std::vector<Definition> definitions;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      badValue("--define " + text, "'" + text + "' is not NAME=EXPRESSION", "",
               "write it like '--define area=cores+memtiles'");
    definitions.push_back({text.substr(0, equals), {text.substr(equals + 1), "--define " + text}});
  }
  return definitions;
}

// What was said to the command, less these options, so that it can be said again.
std::vector<std::string> saidAgain(const CLI::App& command,
                                   const std::vector<std::string>& without) {
  std::vector<std::string> files, options;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    if (option->get_lnames().empty()) {
      for (const std::string& file : option->results()) files.push_back(file);
      continue;
    }
    const std::string name = option->get_lnames().front();
    if (std::ranges::find(without, name) != without.end()) continue;
    const bool isFlag = option->get_items_expected_max() == 0;
    for (const std::string& value : option->results())
      options.push_back("--" + name + (isFlag ? "" : "=" + value));
  }
  files.insert(files.end(), options.begin(), options.end());
  return files;
}

std::optional<SlurmOptions> slurmOf(const Texts& t, const CLI::App& command) {
  if (t.slurmJobs.empty()) return std::nullopt;
  if (!t.shard.empty())
    badValue("--shard " + t.shard, "the jobs are the parts of the sweep", "", "leave it out");
  return SlurmOptions{
      .jobs = {t.slurmJobs, "--print-slurm " + t.slurmJobs},
      .pointTime = wordOf("--point-time", t.pointTime),
      .pointMemory = wordOf("--point-memory", t.pointMemory),
      .arguments = saidAgain(command, {"print-slurm", "point-time", "point-memory", "out",
                                       "threads", "json", "verbose", "quiet"})};
}

Result<Command> sweepOf(const Texts& t, const CLI::App& command) {
  if (t.paths.size() > 1) {
    const bool braces = t.paths.back().find('=') != std::string::npos;
    badValue(t.paths[1], "there is one sweep file at most", "",
             braces ? "quote what has braces in it" : "name one");
  }
  if (t.out.empty())
    return missing("sweep", "the folder for the points is missing", "add '-o DIR'");
  if (!t.timeline.empty()) {
    const std::string others =
        t.device + t.masks + t.effort + t.fuse + t.frames + t.batch + t.maxCycles;
    if (!t.paths.empty() || !t.models.empty() || !t.meshes.empty() || !t.varied.empty() ||
        !t.settings.empty() || !others.empty() || t.estimate)
      badValue("--timeline " + t.timeline, "a point is compiled as its record says", "",
               "write 'heddle sweep --timeline POINT -o DIR'");
    return Command(
        SweepTimelineOptions{.folder = t.out, .point = t.timeline, .verbosity = t.verbosity});
  }
  SweepOptions o;
  if (!t.paths.empty()) o.file = t.paths.front();
  o.models = t.models;
  o.masks = wordsOf("--masks", t.masks.empty() ? std::vector<std::string>{} : std::vector{t.masks});
  if (t.applyMasks) o.applyMasks = true;
  o.device = t.device;
  o.meshes = wordsOf("--mesh", t.meshes);
  o.varied = wordsOf("--vary", t.varied);
  o.settings = wordsOf("--set", t.settings);
  if (t.square) o.square = true;
  if (t.noPropagate) o.propagate = false;
  if (t.noReorder) o.reorder = false;
  if (t.noVerify) o.verify = false;
  if (t.estimate) o.estimate = true;
  o.effort = wordOf("--effort", t.effort);
  o.fuse = wordOf("--fuse", t.fuse);
  o.frames = wordOf("--frames", t.frames);
  o.batch = wordOf("--batch", t.batch);
  if (!t.seed.empty()) o.seed = seedOf(t);
  o.maxCycles = maxCyclesOf(t);
  o.where = wordOf("--where", t.where);
  o.definitions = definitionsOf(t.definitions);
  o.required = wordsOf("--require", t.required);
  o.maximized = wordOf("--maximize", t.maximized);
  o.minimized = wordOf("--minimize", t.minimized);
  o.samples = wordOf("--samples", t.samples);
  o.refine = wordOf("--refine", t.refine);
  o.budget = wordOf("--budget", t.budget);
  o.threads = wordOf("--threads", t.threads);
  o.shard = wordOf("--shard", t.shard);
  o.slurm = slurmOf(t, command);
  if (!o.slurm && !(t.pointTime + t.pointMemory).empty())
    return missing("sweep", "--point-time and --point-memory need --print-slurm",
                   "add '--print-slurm N'");
  o.out = t.out;
  o.version = kVersion;
  o.verbosity = t.verbosity;
  return Command(std::move(o));
}

Result<Command> collectOf(const Texts& t) {
  if (t.paths.empty())
    return missing("collect", "the folder is missing", "write 'heddle collect DIR -o OUT'");
  return Command(CollectOptions{.folders = t.paths,
                                .out = t.out,
                                .version = kVersion,
                                .open = t.open,
                                .verbosity = t.verbosity});
}

std::vector<std::string> optionNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

const CLI::App* chosenCommand(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? nullptr : chosen.front();
}

Result<Command> allocateOf(const Texts& t) {
  const auto missingHere = [](const std::string& what) {
    return missing("allocate", what, "write 'heddle allocate FILE.csv --capacity 1048576'");
  };
  if (t.path.empty()) return missingHere("the table of buffers is missing");
  if (t.capacity.empty()) return missingHere("the capacity is missing");
  AllocateOptions o{.path = t.path, .out = t.out, .verbosity = t.verbosity};
  o.capacity = static_cast<std::int64_t>(readNumber("--capacity", t.capacity));
  if (o.capacity == 0)
    badValue("--capacity 0", "a memory of no bytes holds nothing", "",
             "write it like '--capacity 1048576'");
  if (!t.seconds.empty()) o.seconds = static_cast<std::int64_t>(readNumber("--seconds", t.seconds));
  return Command(std::move(o));
}

// "links.ddr.read=2GB/s", "links.{wire,memtile.read}=4GB/s,8GB/s"; a path may have a = behind a /.
bool isSetting(const std::string& word) {
  const std::string_view key = std::string_view(word).substr(0, word.find('='));
  return key.size() < word.size() && !key.empty() && std::ranges::all_of(key, [](unsigned char c) {
           return std::isalnum(c) || c == '.' || c == ',' || c == '{' || c == '}';
         });
}

// --set A=1 B=2 as --set A=1 --set B=2: an option of any number of words would swallow the model.
std::vector<std::string> withEachSetting(const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  std::string option;  // whose settings may follow
  for (const std::string& word : arguments) {
    const bool first = !words.empty() && words.back() == option;
    if (!option.empty() && !first && isSetting(word)) words.push_back(option);
    if (!first && !isSetting(word)) option.clear();
    if (word == "--set" || word == "--vary") option = word;
    words.push_back(word);
  }
  return words;
}

Diagnostic unknownWord(const CLI::App& app, const std::string& word) {
  const CLI::App* command = chosenCommand(app);
  const bool option = word.starts_with("-");
  const std::vector<std::string> candidates =
      command && !option ? std::vector<std::string>{}
      : command          ? optionNames(*command)
      : option           ? std::vector<std::string>{"--help", "--version"}
                         : std::vector<std::string>{"compile", "simulate", "interpret", "inspect",
                                                    "explain", "compare",  "prune",     "view",
                                                    "export",  "allocate", "sweep",     "collect"};
  const std::string bare = word.substr(0, word.find('='));
  const auto nearest = nearestWord(bare, candidates);
  const std::string where = command ? "heddle " + command->get_name() : "heddle";
  return {"CLI001",
          where,
          std::string("unknown ") +
              (option    ? "option"
               : command ? "argument"
                         : "command") +
              " '" + word + "'",
          candidates.empty() ? "" : "known: " + joinWords(candidates),
          nearest ? "write '" + *nearest + "'" : "see '" + where + " --help'",
          Severity::Usage};
}

}  // namespace

Result<Command> parseCommandLine(const std::vector<std::string>& arguments) {
  CLI::App app(kSummary, "heddle");
  app.set_version_flag("--version", std::string("heddle ") + kVersion);
  app.footer(kExitStatus);
  Texts texts;
  describeCompile(app, texts);
  describeSimulate(app, texts);
  describeInterpret(app, texts);
  describeInspect(app, texts);
  describeExplain(app, texts);
  describeCompare(app, texts);
  describePrune(app, texts);
  describeView(app, texts);
  describeExport(app, texts);
  describeAllocate(app, texts);
  describeSweep(app, texts);
  describeCollect(app, texts);
  app.allow_extras();
  for (CLI::App* command : app.get_subcommands({})) command->allow_extras();
  std::vector<std::string> words = withEachSetting(arguments);
  std::ranges::reverse(words);  // CLI11 takes them last first
  try {
    app.parse(std::move(words));
    const std::vector<std::string> extras = app.remaining(true);
    if (!extras.empty()) return unknownWord(app, extras.front());
    const CLI::App* command = chosenCommand(app);
    if (!command)
      return missing("", "the command is missing",
                     "write 'heddle compile', or see 'heddle --help'");
    if (command->get_name() == "compile") return compileOf(texts);
    if (command->get_name() == "simulate") return simulateOf(texts);
    if (command->get_name() == "interpret") return interpretOf(texts);
    if (command->get_name() == "explain") return explainOf(texts);
    if (command->get_name() == "compare") return compareOf(texts);
    if (command->get_name() == "prune") return pruneOf(texts);
    if (command->get_name() == "view") return viewOf(texts);
    if (command->get_name() == "export") return exportOf(texts);
    if (command->get_name() == "allocate") return allocateOf(texts);
    if (command->get_name() == "sweep") return sweepOf(texts, *command);
    if (command->get_name() == "collect") return collectOf(texts);
    return inspectOf(texts);
  } catch (const CLI::CallForHelp&) {
    const CLI::App* command = chosenCommand(app);
    return Command(PrintText{(command ? command : &app)->help(command ? "heddle" : "")});
  } catch (const CLI::CallForVersion&) {
    return Command(PrintText{std::string("heddle ") + kVersion + "\n"});
  } catch (const CLI::ParseError& e) {
    const CLI::App* command = chosenCommand(app);
    const std::string where = command ? "heddle " + command->get_name() : "heddle";
    return Diagnostic{"CLI002", where, e.what(), "", "see '" + where + " --help'", Severity::Usage};
  } catch (const BadValue& bad) {
    return bad.diagnostic;
  }
}

}  // namespace heddle
