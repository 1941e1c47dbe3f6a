#!/usr/bin/env bash
# Installs what the tests need, builds with warnings as errors, holds the tree to clang-format and clang-tidy, then runs every
# test once: units, properties and replays of hostile files in a build with sanitizers, the others in the optimized build.
# Ends with ctest's summary.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf '\n== %s (%d:%02d since the start)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }
status=0

say "packages"
scripts/install_deps.sh ci
# clang comes while g++ builds, and while clang does, what only running the tests needs.
mkdir -p build
scripts/install_deps.sh checks >build/packages.log 2>&1 &
packages=$!

say "build (preset ci: warnings are errors; each public header compiles alone)"
scripts/build.sh ci all all_verify_interface_header_sets
wait $packages || { cat build/packages.log >&2; exit 1; }
# Without its install scripts ONNX Runtime's package downloads nothing but itself.
{ scripts/install_deps.sh test && npm ci --prefix tests/differential --ignore-scripts --no-audit --no-fund --loglevel=error; } \
  >build/packages.log 2>&1 &
packages=$!

say "clang-format and clang-tidy, and the build with the address and undefined-behaviour sanitizers"
scripts/build.sh asan >build/asan.log 2>&1 &
sanitized=$!
scripts/tidy.py || status=1
wait $sanitized || { cat build/asan.log >&2; exit 1; }

say "all tests"
wait $packages || { cat build/packages.log >&2; exit 1; }
mkdir -p build/tests
printf 'subdirs("%s")\n' "$PWD/build/asan" "$PWD/build/ci" >build/tests/CTestTestfile.cmake
export ASAN_OPTIONS=allow_addr2line=1:malloc_context_size=4 UBSAN_OPTIONS=allow_addr2line=1:print_stacktrace=1
ctest --test-dir build/tests --parallel 2 --output-on-failure --no-tests=error \
  --output-junit "$PWD/build/tests/junit.xml" || status=1

# A test may skip for want of ../shared, of Node or of the network's packages; here nothing is wanting. Only a terminal may be.
shared=${HEDDLE_SHARED:-../shared}
skipped=$(grep -o '<testcase name="[^"]*"[^>]*status="notrun"' build/tests/junit.xml | cut -d'"' -f2) || true
/usr/bin/python3 -c 'import pty; pty.openpty()' 2>/dev/null || skipped=$(grep -vxE "e2e\.(Terminal|Names)" <<<"$skipped") || true
if [ -d "$shared" ] && [ -n "$skipped" ]; then
  printf 'test.sh: these tests skipped although %s is there:\n%s\n' "$shared" "$skipped" >&2
  status=1
fi
exit $status
