// Words of the asm that program/names.h does not have.
#pragma once
#include <array>
#include <string_view>

namespace heddle::asm_text {

inline constexpr std::string_view kVersion = "heddle.asm/2";

// In the order of ElementType.
inline constexpr std::array<std::string_view, 3> kElements = {"float32", "int8", "uint8"};

// Words of the grammar beside the mnemonics of kTransferForms and kKernelForms, to guess which one
// a misspelled word was meant to be.
inline constexpr std::array kWords = {
    "START",     "WAIT",        "CALL",        "loop",         "on",        "model",
    "device",    "weights",     "ddr",         "host",         "input",     "output",
    "tensor",    "slice",       "layer",       "kernel",       "move",      "buffer",
    "lock",      "sequencer",   "ddr-in",      "ddr-out",      "wire",      "core-in",
    "core",      "core-out",    "mem",         "row",          "rows",      "column",
    "columns",   "channel",     "layers",      "steps",        "acquire",   "release",
    "entry",     "for",         "mod",         "by",           "block",     "order",
    "blocks",    "of",          "in",          "ring",         "offset",    "holds",
    "absent",    "record",      "kept",        "padding",      "sum",       "init",
    "add",       "finish",      "keep",        "out",          "and",       "to",
    "from",      "step",        "none",        "sha256",       "size",      "shape",
    "view",      "axes",        "float32",     "int8",         "uint8",     "scale",
    "zero",      "constant",    "root",        "op",           "split",     "window",
    "stride",    "dilation",    "pad",         "zeros",        "clamp",     "whole",
    "count-pad", "rescale",     "multipliers", "shift",        "fill",      "negative-scale",
    "table",     "per-channel", "channels",    "adds-to",      "frames",    "batch",
    "per-frame", "last",        "frame",       "weight-zeros", "record-at", "shares-record",
    "looks-up",  "lines",       "broadcast",   "multiplies"};

}  // namespace heddle::asm_text
