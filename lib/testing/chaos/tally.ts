import { afterAll, afterEach } from 'vitest';

/** Counts the kill points of a test file whose tests state what must hold one by one; a failed test is a violation. */
export function tally(what: string): { killed(): void } {
  let points = 0;
  let violations = 0;
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') violations += 1;
  });
  afterAll(() => {
    process.stdout.write(`kill points ${points}, violations ${violations} (${what})\n`);
  });
  return {
    killed: () => {
      points += 1;
    },
  };
}
