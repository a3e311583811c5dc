import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Half of the work comes first, so that everything else takes its turns beside it and no core is idle at the end. */
const LONGEST = ['worker-killed.kill.test.ts', 'console-killed.kill.test.ts'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

/** Tests that kill or stop workers and processes. Part of `npm test`, not of `npm run check`. */
export default defineConfig({
  root: here('../../../'),
  resolve: { alias: { '@': here('../../../') } },
  test: {
    environment: 'node',
    include: ['lib/**/*.kill.test.ts'],
    globalSetup: [here('./global-setup.ts')],
    sequence: { sequencer: LongestFirst },
    // Two at a time: a file waits for leases and for starts of its console much of the time.
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
});
