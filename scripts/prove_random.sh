#!/usr/bin/env bash
# Proves COUNT random graphs on random meshes from seed FIRST on (10,000 take some minutes); CI runs a slice of these.
# The first failure prints its seed and a small graph that still fails.
#   scripts/prove_random.sh [FIRST [COUNT]]
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install_deps.sh test
scripts/build.sh dev prove_random
build/dev/tests/property/prove_random "${1:-1}" "${2:-10000}"
