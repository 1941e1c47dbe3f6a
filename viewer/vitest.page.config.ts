// The page as a whole, in a browser: HEDDLE_PAGES names the folder that tests/page/make_pages.sh has filled.
import { defineConfig } from "vitest/config";

export default defineConfig({ test: { include: ["tests/page/**/*.test.ts"], testTimeout: 120000, hookTimeout: 60000, fileParallelism: false } });
