import { describe, expect, test } from 'vitest';
import type { RunEvent } from '@/lib/core/events/run-event';
import { defineAgent } from './define-agent';
import type { PlanToCheck } from './journal-port';
import { machineOf } from './machine-of';
import type { Operation } from './operation';
import { contradiction } from './plan-check';
import { pathOf, recordOf } from './record';
import { Scope } from './scope';
import { tool } from './tool';
import { startWorker } from './worker';

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

  test('is refused where a list, a name, a model or a limit is missing or cannot be used', () => {
    const client = { complete: async () => ({ message: { role: 'assistant' } }) };
    const wrong = () =>
      defineAgent({
        name: 'a',
        initial: 'one',
        states: {
          one: { run } as never,
          two: { to: [], final: true, tools: 'look', run } as never,
          ['__proto__']: { to: ['two'], run },
        },
        tools: { ['__proto__']: tool({ effect: 'read', run }) },
        llms: {
          long: { model: 'm'.repeat(300), client },
          endless: { model: 'm', timeoutMs: Number.POSITIVE_INFINITY, client },
          half: { model: 'm', retries: 0.5, client },
        },
        checkpoints: { everySteps: 2 ** 40 },
      });
    for (const part of [
      'state one has no list of transitions',
      '“tools” of state two is no list',
      'state "__proto__" cannot',
      'tool "__proto__" cannot',
      'model of llm long',
      'timeoutMs of llm endless',
      'retries of llm half',
      'checkpoints.everySteps',
    ])
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

  test('has a digest of its orders’ limits, which are refused where they cannot be kept', () => {
    const agent = (limits?: object) =>
      defineAgent({
        name: 'a',
        initial: 'end',
        states: { end: { to: [], final: true, run } },
        ...(limits === undefined ? {} : { limits }),
      });
    const all = [undefined, { steps: 5 }, { steps: 6 }, { costMicroUsd: 5 }].map((limits) =>
      machineOf(agent(limits)),
    );
    expect(new Set(all.map(({ digest }) => digest)).size).toBe(4);
    expect(all.map(({ machine }) => machine.limits)).toEqual([
      undefined,
      { steps: 5 },
      { steps: 6 },
      { costMicroUsd: 5 },
    ]);
    expect(machineOf(agent({})).digest).toBe(all[0]?.digest);
    for (const [limits, why] of [
      [{ steps: 0 }, 'limits.steps must be a whole number from 1'],
      [{ costMicroUsd: 0.5 }, 'limits.costMicroUsd must be a whole number from 1'],
      [{ stepz: 5 }, 'limits has no "stepz"'],
    ] as const)
      expect(() => agent(limits)).toThrow(why);
  });

  test('has a digest of which llm asks which model, and under which limits, whatever their order', () => {
    const client = { complete: async () => ({ message: { role: 'assistant' } }) };
    const digestOf = (
      llms: Readonly<Record<string, { model: string; timeoutMs?: number; retries?: number }>>,
    ) =>
      machineOf(
        defineAgent({
          name: 'a',
          initial: 'end',
          states: { end: { to: [], final: true, run } },
          llms: Object.fromEntries(Object.entries(llms).map(([name, llm]) => [name, { ...llm, client }])),
        }),
      ).digest;
    const plain = digestOf({ judge: { model: 'atlas' }, writer: { model: 'borealis' } });
    const same = digestOf({
      writer: { model: 'borealis', retries: 2 },
      judge: { model: 'atlas', timeoutMs: 120_000 },
    });
    expect(same).toBe(plain);
    const others = [
      { judge: { model: 'borealis' }, writer: { model: 'atlas' } },
      { judge: { model: 'atlas', timeoutMs: 5 }, writer: { model: 'borealis' } },
      { judge: { model: 'atlas' }, writer: { model: 'borealis', retries: 0 } },
      { judge: { model: 'atlas' }, editor: { model: 'borealis' } },
    ].map(digestOf);
    expect(new Set([plain, ...others]).size).toBe(5);
  });
});

test.each([
  { batchSize: 0 },
  { batchSize: 20_000 },
  { maxRuns: 0.5 },
  { graceMs: -1 },
  { backoff: { baseMs: Number.NaN, capMs: 1 } },
])('a worker refuses a setting that cannot be used, by name: %j', async (setting) => {
  const name = 'backoff' in setting ? 'baseMs' : Object.keys(setting)[0];
  await expect(startWorker({ console: 'http://127.0.0.1:9', agents: [], ...setting })).rejects.toThrow(name);
});

describe('a plan that shows an effect as done', () => {
  test.each([
    { answer: { kind: 'step.failed' }, said: 'skip', agrees: false },
    { answer: { kind: 'step.failed' }, said: 'reuse', agrees: true },
    { answer: { kind: 'step.reused', error: { type: 'E', message: 'no' } }, said: 'skip', agrees: false },
    { answer: { kind: 'step.completed' }, said: 'skip', agrees: true },
    { answer: { kind: 'step.skipped' }, said: 'reuse', agrees: true },
  ])('$said: contradicts a recorded $answer.kind? agrees: $agrees', ({ answer, said, agrees }) => {
    const plan = { steps: [{ key: 's#1/pay#1', disposition: said }] } as unknown as PlanToCheck;
    const op = { key: 's#1/pay#1', effect: 'external', step: 'tool' } as unknown as Operation;
    expect(contradiction(plan, [{ op, event: answer as never }], []) === undefined).toBe(agrees);
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
    expect(scope.mintIn(1, undefined, 'a')).toEqual({ key: 's#1/a#1', race: undefined });
    // Caused by a call made when `a` was minted: it cannot come before.
    expect(scope.mintIn(2, 1, 'a')).toEqual({ key: 's#1/a#2', race: undefined });
    // Caused by an older call: its answer could have come first.
    const { key, race } = scope.mintIn(3, 1, 'a');
    expect([key, race]).toEqual(['s#1/a#3', expect.stringContaining('which answer came first')]);
    // What lies below such a number depends on the same race.
    const branch = new Scope(`${key}:x`, scope, race);
    expect(new Scope('s#1/a#3:x/b#1:y', branch).mintIn(3, 1, 'c').race).toBe(race);
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

  test('late word of an earlier intent takes nothing back of what was said about the newest one', () => {
    const said = (intentSeq: number) =>
      line({
        kind: 'effect.verified',
        stepKey: 's#1/a#1',
        intentSeq,
        outcome: 'did-not-happen',
        source: 'probe',
      });
    const [first, second] = [started('s#1/a#1'), started('s#1/a#1')];
    const { settled } = recordOf([first, said(first.seq), second, said(second.seq), said(first.seq)], 's#1', {
      retry: true,
    });
    expect(settled.get('s#1/a#1')?.has(second.seq)).toBe(true);
  });

  test('an answer taken from what a rewind left behind stands in for one that is on the path; an audit of that one does not', () => {
    const reused = (sourceSeq: number) =>
      line({
        kind: 'step.reused',
        stepKey: 's#1/a#1',
        name: 'x',
        step: 'tool',
        effect: 'read',
        inputDigest: 'd',
        attempt: 1,
        sourceSeq,
      });
    const done = () => line({ kind: 'step.completed', stepKey: 's#1/a#1', attempt: 1, recorded: true });
    const [call, first, second] = [started('s#1/a#1'), done(), done()];
    const answerOf = (source: number) => {
      const event = reused(source);
      const path = pathOf([call, first, second, line({ kind: 'run.rewound', toSeq: first.seq }), event]);
      return { event, newest: recordOf(path, 's#1', { retry: true }).outcomes.get('s#1/a#1') };
    };
    const audit = answerOf(first.seq);
    expect(audit.newest).toBe(first);
    const answer = answerOf(second.seq);
    expect(answer.newest).toBe(answer.event);
  });
});
