import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Tests that kill real processes. Part of `npm test`, not of `npm run check`. */
export default defineConfig({
  root: here('../../../'),
  resolve: { alias: { '@': here('../../../') } },
  test: {
    environment: 'node',
    include: ['lib/**/*.kill.test.ts'],
    globalSetup: [here('./global-setup.ts')],
    // One file at a time: each one overlaps its own runs and uses both cores.
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
});
