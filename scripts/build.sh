#!/usr/bin/env bash
# Builds a preset of CMakePresets.json: scripts/build.sh [PRESET, default release] [TARGET...]
# All but release build tests too and need scripts/install_deps.sh test; release needs scripts/install_deps.sh build.
# `release` leaves the executable at build/heddle, any other preset builds in build/PRESET.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
cmake --preset "$preset" "${launcher[@]}" -Wno-dev --log-level=WARNING
cmake --build --preset "$preset" ${1:+--target "$@"}
