import { describe, expect, test } from 'vitest';
import type { JournalPort } from './journal-port';
import { inherited, replayInChild } from './replay-child';
import type { ReplayTask } from './replay-entry';

describe('options of Node that a replay’s process inherits', () => {
  const LOADING = ['--import', 'tsx', '-r', './dotenv.cjs', '--conditions=dev', '--max-old-space-size=512'];

  test('those under which modules load', () => {
    expect(inherited(LOADING)).toEqual(LOADING);
  });

  test.each([
    { about: 'a debugger', own: ['--inspect'] },
    { about: 'a debugger that waits', own: ['--inspect-brk=127.0.0.1:9229', '--inspect-publish-uid=http'] },
    { about: 'a debugger’s port', own: ['--inspect-port', '9230'] },
    { about: 'a program', own: ['--input-type=module', '-e', 'import "./worker.mjs"'] },
    { about: 'another spelling of it', own: ['--input-type', 'module', '--eval', '--print', '-p', '1'] },
    { about: 'watching', own: ['--watch', '--watch-path', './lib', '--watch-preserve-output'] },
    { about: 'a run as a test', own: ['--test', '--test-only'] },
  ])('none of $about', ({ own }) => {
    expect(inherited([...LOADING, ...own])).toEqual(LOADING);
    expect(inherited([...own, ...LOADING])).toEqual(LOADING);
  });
});

test('a module that loads for longer than the lease does not lose it', async () => {
  let beats = 0;
  let beatOften: () => void = () => undefined;
  const often = new Promise<void>((resolve) => {
    beatOften = resolve;
  });
  const heartbeat = async () => {
    if (++beats === 3) beatOften();
    return { leaseMs: 60, others: [] };
  };
  const task = {
    kind: 'task',
    url: 'data:text/javascript,setInterval(() => {}, 1e9); await new Promise(() => {});',
    agent: 'a',
    claim: { runId: 'r', epoch: 1, headSeq: 1, leaseMs: 60 },
  };
  const replay = replayInChild(
    { heartbeat } as unknown as JournalPort,
    task as unknown as ReplayTask,
    () => undefined,
  );
  await often;
  replay.abandon();
  expect(await replay.ended).toBe('stopped');
});
