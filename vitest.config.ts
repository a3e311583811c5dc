import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Unit, property and contract tests. Those that kill processes have a configuration of their own, `lib/testing/chaos/`. */
export default defineConfig({
  resolve: {
    alias: {
      '@': here('./'),
      // The real package throws outside Next.
      'server-only': here('./node_modules/server-only/empty.js'),
    },
  },
  test: {
    environment: 'node',
    include: ['{app,components,lib,prisma}/**/*.test.{ts,tsx,mjs}'],
    exclude: ['**/node_modules/**', '**/dist/**', '.next/**', '**/*.kill.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores: more workers than cores only makes the tests that start processes slower.
    maxWorkers: 2,
    // Loading the modules anew for every file takes longer than most files' tests. No test may depend on what a module holds.
    isolate: false,
  },
});
