import { describe, expect, test } from 'vitest';
import type { RunEvent } from '@/lib/core/events/run-event';
import { eventsOf, oneState, stages } from '@/lib/testing/sdk-stage';
import type { Context, SecretSource, ToolCall, ToolOptions } from './api';
import { Rejected, StepFailed } from './errors';
import { machineOf } from './machine-of';
import { tool } from './tool';

const stage = stages();

/** Quotes and line ends are written otherwise in JSON text. */
const KEY = 'sk-"7f3a"\\9\nc1';
const sources = {
  set: () => Promise.resolve(KEY),
  missing: () => undefined,
  empty: () => '',
  broken: () => Promise.reject(new Error('the vault is sealed')),
  silent: () => new Promise<never>(() => undefined),
} satisfies Record<string, SecretSource>;

/** Calls that reached the outside, with what they were given. */
let sent: ToolCall['secrets'][] = [];
type Options = Partial<ToolOptions<unknown, unknown>>;
const payTool = (options: Options) =>
  tool<unknown, unknown>({
    effect: 'external',
    keyed: true,
    secrets: ['PAY_KEY'],
    ...options,
    run: (args, call) => {
      sent.push(call.secrets);
      return options.run === undefined ? Promise.resolve({ id: 're_1' }) : options.run(args, call);
    },
  });

/** Runs a state that calls `pay`, unless `work` says otherwise, until the run rests. */
async function ran(
  secrets: SecretSource,
  options: Options,
  work: (ctx: Context) => Promise<unknown> = (ctx) => ctx.tool('pay'),
): Promise<{ readonly status: string; readonly events: readonly RunEvent[] }> {
  sent = [];
  const worker = await stage.lab.worker([oneState({ pay: payTool(options) }, work)], { secrets });
  stage.workers.push(worker);
  void worker.start('a', { runId: 'r' });
  const rests = ['completed', 'failed', 'waiting'];
  await stage.lab.until('r', (status, _events, held) => rests.includes(status) && !held);
  const events = await stage.lab.events('r');
  const held = [JSON.stringify(events)];
  for (const [, sha256] of held.join().matchAll(/"sha256":"([0-9a-f]+)"/g))
    held.push(JSON.stringify(await stage.lab.payload(sha256 as never)));
  // Nowhere in what was recorded.
  expect(held.join()).not.toContain(JSON.stringify(KEY).slice(1, -1));
  return { status: await stage.lab.status('r'), events };
}

const effects = ['read', 'idempotent', 'external'] as const;

describe('a secret that a tool declares', () => {
  test('is part of its declaration by name, and of the machine’s digest, whatever the order', () => {
    const machine = (secrets: readonly string[]) =>
      machineOf(oneState({ pay: payTool({ secrets }) }, () => Promise.resolve()));
    expect(machine(['B', 'A']).machine.tools['pay']?.secrets).toEqual(['A', 'B']);
    expect(machine(['B', 'A']).digest).toBe(machine(['A', 'B', 'A']).digest);
    expect(machine(['A']).digest).not.toBe(machine([]).digest);
    expect(machine([]).machine.tools['pay']).not.toHaveProperty('secrets');
    for (const wrong of ['A', [''], ['__proto__'], [7]])
      expect(() => payTool({ secrets: wrong as never })).toThrow('secret');
  });

  test.each(effects)('is given to the call of a tool that is %s, and recorded nowhere', async (effect) => {
    expect((await ran(sources.set, { effect, keyed: effect !== 'read' })).status).toBe('completed');
    expect(sent).toEqual([{ PAY_KEY: KEY }]);
  });

  test.each(
    effects.flatMap((effect) =>
      (
        [
          ['missing', 'the secret PAY_KEY is not set'],
          ['empty', 'the secret PAY_KEY is not set'],
          ['broken', 'the secret PAY_KEY could not be had: Error: the vault is sealed'],
          ['silent', 'the secret PAY_KEY could not be had within 50 ms'],
        ] as const
      ).map(([how, why]) => ({ effect, how, why })),
    ),
  )(
    'that is $how fails a tool that is $effect as not sent, and says so by name',
    async ({ effect, how, why }) => {
      let caught: unknown;
      const { status, events } = await ran(
        sources[how],
        { effect, keyed: effect !== 'read', timeoutMs: 50 },
        async (ctx) => {
          caught = await ctx.tool('pay').catch((error: unknown) => error);
        },
      );
      expect(status).toBe('completed');
      expect(sent).toEqual([]);
      expect(caught).toBeInstanceOf(StepFailed);
      expect(eventsOf(events, 'step.failed')).toMatchObject([
        { failure: 'not-sent', final: true, error: { message: expect.stringContaining(why) as unknown } },
      ]);
      if (effect !== 'read')
        expect(await stage.lab.deps.store.effects('r' as never)).toMatchObject([{ status: 'failed' }]);
    },
  );

  test('is asked for at each call: what failed for want of it is sent once the worker has it', async () => {
    let key: string | undefined;
    const { status } = await ran(() => key, {});
    expect(status).toBe('failed');
    key = KEY;
    await stage.lab.order('r', 'resume');
    await stage.lab.until('r', (now) => now === 'completed');
    expect(sent).toEqual([{ PAY_KEY: KEY }]);
  });

  test('that is gone by the retry of a call in doubt leaves it in doubt: that nothing left settles nothing', async () => {
    let asked = 0;
    const { status, events } = await ran(() => (asked++ === 0 ? KEY : undefined), {
      effect: 'idempotent',
      run: () => Promise.reject(new Error('the line went dead')),
    });
    expect(status).toBe('waiting');
    expect(eventsOf(events, 'step.failed')).toMatchObject([
      { failure: 'error', final: false },
      { failure: 'not-sent', final: false },
    ]);
    expect(sent.length).toBe(1);
  });

  test('is given to the probe too, which says unknown without it', async () => {
    const verified = async (secrets: SecretSource) => {
      const probed: ToolCall['secrets'][] = [];
      await ran(secrets, {
        run: () => Promise.reject(new Error('the line went dead')),
        verify: (_args, call) => {
          probed.push(call.secrets);
          return Promise.resolve({ outcome: 'happened', result: { id: 're_1' } });
        },
      });
      await stage.lab.command('r', { mode: 'verify', stepKey: 'work#1/pay#1' } as never);
      await stage.lab.until('r', (_status, events) => eventsOf(events, 'effect.verified').length > 0);
      return { probed, said: eventsOf(await stage.lab.events('r'), 'effect.verified') };
    };
    expect(await verified(sources.set)).toMatchObject({
      probed: [{ PAY_KEY: KEY }],
      said: [{ outcome: 'happened' }],
    });
    stage.reset(6);
    let asked = 0;
    expect(await verified(() => (asked++ === 0 ? KEY : undefined))).toMatchObject({
      probed: [],
      said: [
        { outcome: 'unknown', note: expect.stringContaining('the secret PAY_KEY is not set') as unknown },
      ],
    });
  });
});

describe('what holds the text of a secret is not recorded, and says where it stands', () => {
  const FOUND = 'it holds the secret PAY_KEY';

  test('in a result: the call has finished, and nothing goes on from there', async () => {
    const run = () => Promise.resolve({ debug: [{ sentWith: `Bearer ${KEY}` }] });
    const { status, events } = await ran(sources.set, { run });
    expect(status).toBe('failed');
    expect(eventsOf(events, 'step.completed')).toMatchObject([
      {
        recorded: false,
        problem: expect.stringMatching(/at \$\.debug\[0\]\.sentWith: it holds the secret PAY_KEY/) as unknown,
      },
    ]);
    expect(eventsOf(events, 'run.failed')).toMatchObject([{ cause: 'not-recorded' }]);
  });

  test.each([
    ['an argument', (ctx: Context) => ctx.tool('pay', { a: { b: KEY } }), '$.a.b'],
    ['a name in an argument', (ctx: Context) => ctx.tool('pay', { [KEY]: 1 }), '$ (a name in it)'],
    ['a variable', (ctx: Context) => Promise.resolve(ctx.vars.set('key', [KEY])), '$[0]'],
    [
      'a message',
      (ctx: Context) => Promise.resolve(ctx.messages.append({ role: 'user', content: KEY })),
      '$.content',
    ],
  ] as const)('in %s', async (_what, leak, path) => {
    const { status, events } = await ran(sources.set, {}, async (ctx) => {
      await ctx.tool('pay');
      await leak(ctx);
    });
    expect(status).toBe('failed');
    const [failed] = eventsOf(events, 'run.failed');
    expect(failed?.error?.message).toContain(path);
    expect(failed?.error?.message).toContain(FOUND);
    expect(sent.length).toBe(1);
  });

  test('in an error of a tool: what kind of failure it is, is recorded all the same', async () => {
    const { events } = await ran(sources.set, {
      run: () => Promise.reject(new Rejected(`no account has the key ${KEY}`)),
    });
    expect(eventsOf(events, 'step.failed')).toMatchObject([
      {
        failure: 'rejected',
        final: true,
        error: { type: 'NotRecordable', message: expect.stringContaining(FOUND) as unknown },
      },
    ]);
  });

  test('in an error of the code, which ends the run', async () => {
    const { events } = await ran(sources.set, {}, async (ctx) => {
      await ctx.tool('pay');
      throw new Error(`${KEY} is odd`);
    });
    expect(eventsOf(events, 'run.failed')).toMatchObject([
      { error: { message: expect.stringContaining(FOUND) as unknown } },
    ]);
  });

  test('in a receipt', async () => {
    const { status, events } = await ran(sources.set, { receipt: () => KEY });
    expect(status).toBe('completed');
    expect(eventsOf(events, 'step.completed')).toMatchObject([
      { receipt: expect.stringContaining(FOUND) as unknown },
    ]);
  });
});
