// What a user may ask of a sweep: on the command line, in a sweep file, or both.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heddle/driver/options.h"

namespace heddle {

// Where a word of a user stands, for messages: "--mesh 1..8x1..8" or "study.yaml:7".
struct Argument {
  std::string text, where;
  bool ofFile = false;  // what a command line or a call says takes its place
};

// `NAME=EXPRESSION` of --define.
struct Definition {
  std::string name;
  Argument expression;
};

// A script for Slurm instead of the sweep.
struct SlurmOptions {
  Argument jobs;                                   // "8": parts of the sweep
  std::optional<Argument> pointTime, pointMemory;  // what a point may take: "10m", "4GiB"
  std::vector<std::string> arguments;  // of the sweep, without folder, threads and these
};

// Empty or absent: not said. What the command line says takes the place of the file's.
struct SweepOptions {
  std::string file;  // YAML, may be empty
  std::vector<std::string> models;
  std::vector<Argument> masks;     // "none,half.npz", with {model} for the network's name
  std::optional<bool> applyMasks;  // where they drop weights that are not zero
  std::string device;              // path or built-in name; empty: paper
  std::vector<Argument> meshes;    // "1..8x1..8", "4x4,8x8", "1,2,4x4"
  std::optional<bool> square;      // only meshes with as many rows as columns
  std::vector<Argument> varied;    // "links.{wire,memtile.read}=4GB/s,8GB/s"
  std::vector<Argument> settings;  // "KEY=VALUE", for all points
  std::optional<bool> propagate, reorder, verify, estimate;
  std::optional<Argument> effort;  // of the planner: 0 to 3
  std::optional<Argument> fuse;    // "auto", "off", "conv1..pool2:8": planner/fuse.h
  std::optional<Argument> frames;  // in a run
  std::optional<Argument> batch;   // inferences of a frame: a dimension, "1,2,4"
  std::optional<std::uint64_t> seed;
  std::optional<Cycles> maxCycles;
  std::optional<Argument> where;        // which points there are
  std::vector<Definition> definitions;  // columns of the user's
  std::vector<Argument> required;
  std::optional<Argument> maximized, minimized;
  std::optional<Argument> samples;  // so many places of the grid, drawn by the seed
  std::optional<Argument> refine;   // rounds of looking around the best of these
  std::optional<Argument> budget;   // "5m": of the wall clock
  std::optional<Argument> threads;  // absent: as many as there are cores
  std::optional<Argument> shard;    // "2/8": the second of eight parts
  std::optional<SlurmOptions> slurm;
  std::string title;
  std::string out;      // folder
  std::string version;  // of heddle
  Verbosity verbosity;
};

struct SweepTimelineOptions {
  std::string folder;  // that a sweep has filled
  std::string point;   // its name, or so much of it that it is the only one
  Verbosity verbosity;
};

struct CollectOptions {
  std::vector<std::string> folders;
  std::string out;  // folder; empty: the first of `folders`
  std::string version;
  bool open = false;  // the page, with xdg-open
  Verbosity verbosity;
};

}  // namespace heddle
