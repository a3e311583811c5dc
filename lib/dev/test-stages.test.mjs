import { afterEach, expect, it, vi } from 'vitest';
import { PrepareError } from './prepare.mjs';
import { runStage } from './test-stages.mjs';

afterEach(() => vi.restoreAllMocks());

it.each([
  ['an error', new Error('no space left'), 'no space left'],
  ['what a preparation says', new PrepareError('npm ci failed.', 'EACCES'), 'EACCES\nnpm ci failed.'],
  ['anything else', 'thrown', 'thrown'],
])(
  'counts a stage that breaks off with %s as failed, so that the stages after it and the last line follow',
  async (_, thrown, said) => {
    const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const run = async () => {
      throw thrown;
    };
    expect(await runStage({ name: 'breaks', run })).toMatchObject({ passed: 0, failed: 1, skipped: 0 });
    expect(printed.mock.calls.flat().join('\n')).toContain(said);
  },
);
