import { expect, it, vi } from 'vitest';
import type { Hotkey } from '@/components/ui/hotkeys';
import type { CheckpointRow, GraphAt, RunSummary } from '@/lib/client/api-types';
import { checkpointCommands, keyCommands, runCommands, stateCommands } from './commands';

const possible = { possible: true, reason: null };
const run = (more: Partial<RunSummary> = {}) =>
  ({
    id: 'r/1',
    checkpoint: { n: 7 },
    next: { action: 'resume', from: 'cp_87', sentence: '' },
    actions: {
      resume: possible,
      fork: possible,
      replay: { possible: false, reason: 'No worker that has the agent is connected.' },
      rewind: possible,
      verify: possible,
    },
    ...more,
  }) as unknown as RunSummary;
const hotkey = (key: string, reason?: string): Hotkey => ({ key, what: `does ${key}`, run: vi.fn(), reason });

it('every order leads to its plan, and one that is not possible says why', () => {
  const commands = runCommands(run(), []);
  expect(
    commands.map(({ id, reason, act }) => [id, reason ?? (act.kind === 'go' ? act.href : act.kind)]),
  ).toEqual([
    ['resume', '/runs/r%2F1/plan?mode=resume&from=cp_87'],
    ['fork', '/runs/r%2F1/plan?mode=fork'],
    ['replay', 'No worker that has the agent is connected.'],
    ['rewind', '/runs/r%2F1/plan?mode=rewind'],
    ['verify', '/runs/r%2F1/plan?mode=resume&from=cp_87'],
    ['export', '/runs/r%2F1?open=export'],
    ['copy-link', 'copy-link'],
  ]);
});

it('where the page has bound a key, the command is that key: it knows the cursor', () => {
  const fork = hotkey('b', 'Where the cursor stands is not loaded');
  const command = runCommands(run(), [fork]).find(({ id }) => id === 'fork');
  expect(command).toMatchObject({
    key: 'b',
    words: 'Fork from the cursor…',
    reason: 'Where the cursor stands is not loaded',
    act: { kind: 'press', run: fork.run },
  });
});

it('every other key is a command too, once, and by what the page binds it to', () => {
  const here = [hotkey('b'), hotkey('Escape'), hotkey('c'), hotkey('Mod+k'), hotkey('Escape')];
  const taken = runCommands(run(), here);
  expect(keyCommands(here, taken).map(({ key, words }) => [key, words])).toEqual([
    ['Escape', 'Does Escape'],
    ['c', 'Does c'],
  ]);
});

it('a state leads to its last visit, and one that was never visited says so', () => {
  const graph = {
    states: [
      { name: 'plan', visits: 2, lastSeq: 30 },
      { name: 'close', visits: 0, lastSeq: null },
    ],
  } as unknown as GraphAt;
  expect(stateCommands(graph, (seq) => `?seq=${seq}`)).toMatchObject([
    { words: 'plan', note: '2 visits, last at seq 30', act: { href: '?seq=30' } },
    { words: 'close', reason: 'Never visited' },
  ]);
  expect(stateCommands(undefined, String)).toEqual([]);
});

it('checkpoints stand newest first, by what had just happened', () => {
  const checkpoint = (n: number) => ({ id: `cp_${n}`, n, seq: n * 10, name: 'after a' }) as CheckpointRow;
  expect(
    checkpointCommands([checkpoint(1), checkpoint(2)], ({ id }) => id).map(({ words, act }) => [words, act]),
  ).toEqual([
    ['Checkpoint 2, after a', { kind: 'go', href: 'cp_2' }],
    ['Checkpoint 1, after a', { kind: 'go', href: 'cp_1' }],
  ]);
});
