#!/usr/bin/env bash
# Searches with a libFuzzer target of tests/fuzz on all cores, RUNS executions in all; what it finds lies in build/fuzz/new.
#   scripts/fuzz.sh [TARGET [RUNS]]      host and 1,000,000 unless told otherwise
# Corpora of the search stay in build/fuzz/corpus, so that the next one goes on from there.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-host} runs=${2:-1000000}
[ -d "tests/fuzz/corpus/$target" ] || { echo "fuzz: no such target '$target'; there are: $(cd tests/fuzz/corpus && echo *)" >&2; exit 2; }
scripts/install_deps.sh test
CC=clang CXX=clang++ cmake -S . -B build/fuzz -G Ninja -DHEDDLE_FUZZ=ON -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build build/fuzz --target "fuzz_$target"
mkdir -p build/fuzz/new
# What costs time at each execution is off: stacks of allocations, leaks, and the counting that few finds need.
export ASAN_OPTIONS=malloc_context_size=0:detect_leaks=0:quarantine_size_mb=4
options=(-detect_leaks=0 -entropic=0 -use_cmp=0 -use_counters=0 -reduce_inputs=0 -artifact_prefix=build/fuzz/new/)
[ "$target" != host ] || options+=(-max_len=200)
cores=$(nproc)
jobs=()
for ((i = 0; i < cores; ++i)); do
  mkdir -p "build/fuzz/corpus/$target-$i"
  "build/fuzz/tests/fuzz/fuzz_$target" "${options[@]}" -runs=$((runs / cores)) "build/fuzz/corpus/$target-$i" \
    "tests/fuzz/corpus/$target" >"build/fuzz/$target-$i.log" 2>&1 &
  jobs+=($!)
done
status=0
for job in "${jobs[@]}"; do wait "$job" || status=1; done
tail -qn 1 build/fuzz/"$target"-*.log
[ $status = 0 ] || echo "fuzz: found something: build/fuzz/new, build/fuzz/$target-*.log" >&2
exit $status
