#!/usr/bin/env bash
# Masks of real pruned networks as layers: how many of their 8x8 blocks are empty, what that gains, and that it is exact.
# Installs and builds what is missing and hands all options to patterns.py, whose --help names them.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/install_deps.sh build
scripts/build.sh
exec scripts/bench/patterns.py "$@"
