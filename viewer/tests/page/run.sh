#!/usr/bin/env bash
# One file of page tests, run.sh NODE FILE; status 77 where there is no Chromium to open a page with.
CHROMIUM=${CHROMIUM:-$(command -v chromium)} || { echo "skipped: no chromium (scripts/install_deps.sh test)"; exit 77; }
export CHROMIUM
exec "${1:?NODE}" node_modules/vitest/vitest.mjs run --config vitest.page.config.ts "tests/page/${2:?FILE}"
