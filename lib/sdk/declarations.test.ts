import { describe, expect, test } from 'vitest';
import type { RunEvent } from '@/lib/core/events/run-event';
import { defineAgent } from './define-agent';
import { machineOf } from './machine-of';
import { recordOf } from './record';
import { Scope } from './scope';
import { tool } from './tool';

const run = async () => undefined;

describe('a declaration', () => {
  test('is refused with everything that is wrong with it, by name', () => {
    const wrong = () =>
      defineAgent({
        name: 'a',
        initial: 'nowhere',
        states: {
          one: { to: ['two'], tools: ['ghost'], run },
          $odd: { to: [], run },
          last: { to: ['one'], final: true, run },
        },
        tools: {},
      });
    for (const part of ['nowhere', 'leads to two', 'tool ghost', '$odd', 'leads nowhere', 'last is final'])
      expect(wrong).toThrow(part);
  });

  test('a tool that contradicts itself is refused', () => {
    expect(() => tool({ effect: 'idempotent', keyed: false, run })).toThrow('keyed');
    expect(() => tool({ effect: 'read', timeoutMs: 0, run })).toThrow('timeoutMs');
    for (const name of ['timeoutMs', 'retries', 'settlesWithinMs', 'keyValidForMs']) {
      expect(() => tool({ effect: 'external', run, [name]: 2 ** 31 })).toThrow(name);
      expect(() => tool({ effect: 'external', run, [name]: 2 ** 31 - 1 })).not.toThrow();
    }
    expect(() => tool({ effect: 'read', run, verify: async () => ({ outcome: 'unknown' }) })).toThrow(
      'verify',
    );
  });

  test('its digest covers what is declared and no function text', () => {
    const agent = (version: string | undefined, fn: () => Promise<unknown>) =>
      defineAgent({
        name: 'a',
        initial: 's',
        states: { s: { to: [], final: true, ...(version === undefined ? {} : { version }), run: fn } },
      });
    const plain = machineOf(agent(undefined, run)).digest;
    expect(machineOf(agent(undefined, async () => 'another body')).digest).toBe(plain);
    expect(machineOf(agent('2', run)).digest).not.toBe(plain);
  });
});

describe('keys', () => {
  test('count the calls of a name in their own scope, and escape what would split an address in two ways', () => {
    const visit = new Scope('lookup#2');
    expect([visit.mint('a'), visit.mint('b/c'), visit.mint('a')]).toEqual([
      'lookup#2/a#1',
      'lookup#2/b%2fc#1',
      'lookup#2/a#2',
    ]);
    const branch = new Scope('lookup#2/par#1:x', visit);
    expect(branch.mint('a')).toBe('lookup#2/par#1:x/a#1');
    expect(branch.within(visit)).toBe(true);
    visit.end();
    expect(branch.over).toBe(true);
  });

  test('a name is raced where another order of answers would have swapped its numbers', () => {
    const scope = new Scope('s#1');
    expect(scope.raced('a', 1, undefined)).toBe(false);
    expect(scope.raced('a', 2, 1)).toBe(false); // caused by a call made when `a` was minted: it cannot come before
    expect(scope.raced('a', 3, 1)).toBe(true); // caused by an older call: its answer could have come first
  });
});

describe('the record', () => {
  let seq = 0;
  const line = (body: object): RunEvent =>
    ({ runId: 'r', seq: ++seq, at: 0, epoch: 1, by: 'worker', version: 1, ...body }) as unknown as RunEvent;
  const failed = (stepKey: string) =>
    line({
      kind: 'step.failed',
      stepKey,
      attempt: 1,
      failure: 'error',
      error: { type: 'E', message: '' },
      final: true,
    });
  const started = (stepKey: string) =>
    line({
      kind: 'step.started',
      stepKey,
      name: 'x',
      step: 'tool',
      effect: 'read',
      inputDigest: 'd',
      attempt: 1,
    });
  const end = (stepKey: string) =>
    line({ kind: 'run.failed', cause: 'error', error: { type: 'E', message: '' }, stepKey });

  test('a final failure that ended the run is tried again; one after which its scope went on is a result', () => {
    const events = [
      started('s#1/a#1'),
      failed('s#1/a#1'),
      started('s#1/b#1'),
      failed('s#1/b#1'),
      end('s#1/b#1'),
    ];
    expect([...recordOf(events, 's#1', { retry: true }).outcomes.keys()]).toEqual(['s#1/a#1']);
    expect([...recordOf(events, 's#1', { retry: false }).outcomes.keys()]).toEqual(['s#1/a#1', 's#1/b#1']);
  });

  test('the end of a branch that died of it is not the record’s, the end of its sibling is', () => {
    const left = (scope: string) => line({ kind: 'scope.left', scope });
    const events = [
      started('s#1/p#1:a/x#1'),
      failed('s#1/p#1:a/x#1'),
      left('s#1/p#1:a'),
      left('s#1/p#1:b'),
      end('s#1/p#1:a/x#1'),
    ];
    const record = recordOf(events, 's#1', { retry: true });
    expect([...record.calls.keys()]).toEqual(['s#1/p#1:a/x#1', 's#1/p#1:b/$left']);
    expect(record.outcomes.size).toBe(0);
  });
});
