#!/usr/bin/env bash
# Installs what the tests need, builds with warnings as errors, holds the tree to clang-format and clang-tidy, runs a
# sanitized build of the unit and property tests, then every test. Ends with ctest's summary of the latter.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf '\n== %s (%d:%02d since the start)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }
status=0

say "packages"
scripts/install_deps.sh test
if [ -f tests/differential/package.json ]; then
  # Without its install scripts ONNX Runtime's package downloads nothing but itself.
  (cd tests/differential && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
fi

say "build (preset ci: warnings are errors)"
scripts/build.sh ci
say "each public header compiles alone"
cmake --build --preset ci --target all_verify_interface_header_sets
say "clang-format and clang-tidy"
scripts/tidy.py || status=1
say "unit and property tests under the address and undefined-behaviour sanitizers"
scripts/build.sh asan sanitized_tests
ctest --preset asan || status=1

say "all tests"
ctest --preset ci --output-junit "$PWD/build/ci/junit.xml" || status=1

# A test may skip for want of ../shared, of Node or of the network's packages; here nothing is wanting. Only a terminal may be.
shared=${HEDDLE_SHARED:-../shared}
skipped=$(grep -o '<testcase name="[^"]*"[^>]*status="notrun"' build/ci/junit.xml | cut -d'"' -f2) || true
/usr/bin/python3 -c 'import pty; pty.openpty()' 2>/dev/null || skipped=$(grep -vxE "e2e\.(Terminal|Names)" <<<"$skipped") || true
if [ -d "$shared" ] && [ -n "$skipped" ]; then
  printf 'test.sh: these tests skipped although %s is there:\n%s\n' "$shared" "$skipped" >&2
  status=1
fi
exit $status
