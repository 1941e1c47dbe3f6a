#!/usr/bin/env bash
# Proves COUNT random networks on random meshes from seed FIRST on (10,000 take some minutes); CI runs a slice of these.
# The first failure prints its seed and a small network that still fails.
#   scripts/prove_random.sh [graphs|models|plans|tiles|masks] [FIRST [COUNT]]
# graphs (unless told otherwise) builds canonical networks up; models builds ONNX files from the operators down, and
# reads them like any other; plans makes legal plans that no planner would make, on arrays with any wires; tiles
# tiles random stretches of layers depth-wise; masks leaves blocks of weights out of single convolutions, and tells where
# fewer blocks take longer.
set -euo pipefail
cd "$(dirname "$0")/.."
program=prove_random
case ${1:-} in
  graphs) shift ;;
  models) program=prove_operators; shift ;;
  plans) program=prove_plans; shift ;;
  tiles) program=prove_tiles; shift ;;
  masks) program=prove_masks; shift ;;
esac
scripts/install_deps.sh test
scripts/build.sh dev "$program"
"build/dev/tests/property/$program" "${1:-1}" "${2:-10000}"
