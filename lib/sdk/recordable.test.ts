import { describe, expect, test } from 'vitest';
import { eventsOf, oneState, stages } from '@/lib/testing/sdk-stage';
import { newEvent } from '@/lib/wire/v1/events';
import type { Context } from './api';
import { defineAgent } from './define-agent';
import type { JournalPort } from './journal-port';

const stage = stages();
const { seen, begin } = stage;

const throwing = (error: () => unknown) =>
  seen('odd', { effect: 'read', retries: 0, answer: async () => Promise.reject(error()) });
const withMessage = (message: unknown, name: unknown = 'E') =>
  Object.assign(new Error('x'), { message, name });
const trap = () =>
  new Proxy(new Error('x'), {
    get: () => {
      throw new Error('trap');
    },
    getPrototypeOf: () => {
      throw new Error('trap');
    },
  });

/** Everything that is written of a run fits the console's schemas; the run ends, and not by a refusal. */
async function endsByName(): Promise<string> {
  await stage.lab.until('r', (status, _events, held) => ['completed', 'failed'].includes(status) && !held);
  const events = await stage.lab.events('r');
  for (const event of events) {
    const { runId: _r, seq: _s, epoch: _e, by: _b, version: _v, inherited: _i, ...body } = event;
    expect(newEvent.safeParse(JSON.parse(JSON.stringify(body))).error).toBeUndefined();
  }
  return eventsOf(events, 'run.failed')[0]?.error.message ?? 'completed';
}

describe('what the journal would refuse is refused where it is made, by name', () => {
  const long = 'x'.repeat(3_000);
  const asks: Record<string, (ctx: Context) => unknown> = {
    'a step name with U+0000': (ctx) => ctx.compute('a\u0000', 1, (x) => x),
    'a step name with half a character': (ctx) => ctx.compute('a\ud800', 1, (x) => x),
    'a step name that is no text': (ctx) => ctx.compute(Symbol('a') as never, 1, (x) => x),
    'a tool’s name that is no text': (ctx) => ctx.tool(Symbol('a') as never),
    'a model’s name that is no text': (ctx) => ctx.llm(Symbol('a') as never, {}),
    'a branch name with U+0000': (ctx) => ctx.parallel('p', { 'b\u0000': (c) => c.tool('look') }),
    'a branch name with half a character': (ctx) => ctx.parallel('p', { 'b\ud800': (c) => c.tool('look') }),
    'a branch name that is too long': (ctx) => ctx.parallel('p', { [long]: (c) => c.tool('look') }),
    'an address that is too long': (ctx) => {
      const nest = (c: Context, n: number): Promise<unknown> =>
        n === 0 ? c.tool('look') : c.parallel('p'.repeat(200), { ['b'.repeat(200)]: (d) => nest(d, n - 1) });
      return nest(ctx, 6);
    },
    'a role that is too long': (ctx) => ctx.messages.append({ role: long }),
    'a role with U+0000': (ctx) => ctx.messages.append({ role: 'r\u0000' }),
    'a variable’s name that is too long': (ctx) => ctx.vars.set(long, 1),
    'a variable’s name that is no text': (ctx) => ctx.vars.set(7 as never, 1),
    'an “until” between two milliseconds': (ctx) => ctx.ask('q', { prompt: '?', until: 1.5 }),
    'an “until” beyond all time': (ctx) => ctx.ask('q', { prompt: '?', until: Number.POSITIVE_INFINITY }),
    'a value that is too large': (ctx) => ctx.vars.set('big', 'y'.repeat(34_000_000)),
    'a value that throws when it is read': (ctx) =>
      ctx.vars.set('odd', {
        get boom() {
          throw new Error('getter');
        },
      }),
  };
  test.each(Object.keys(asks))('%s', async (name) => {
    await begin(
      oneState({ look: seen('look', { effect: 'read' }) }, async (ctx) => void (await asks[name]?.(ctx))),
    );
    expect(await endsByName()).not.toBe('completed');
    const [failed] = eventsOf(await stage.lab.events('r'), 'run.failed');
    expect(['AgentCodeError', 'NotRecordable']).toContain(failed?.error.type);
    expect(stage.lab.warnings).toEqual([]);
  });
});

describe('what a tool throws is recorded, whatever it is', () => {
  const thrown: Record<string, () => unknown> = {
    'a text of three million characters': () => new Error('m'.repeat(3_000_000)),
    'a message that is no text': () => withMessage({ a: 1 }),
    'a name that is no text': () => withMessage('m', Symbol('n')),
    'half a character': () => new Error('\ud800 and \u0000'),
    'an object that cannot be shown': () => ({
      toString() {
        throw new Error('gotcha');
      },
    }),
    'a proxy that throws': trap,
    nothing: () => undefined,
  };
  test.each(Object.keys(thrown))('%s', async (name) => {
    const odd = throwing(thrown[name] as () => unknown);
    await begin(oneState({ odd }, async (ctx) => void (await ctx.tool('odd').catch(() => undefined))));
    expect(await endsByName()).toBe('completed');
    const [failed] = eventsOf(await stage.lab.events('r'), 'step.failed');
    expect(failed?.error.message.length).toBeLessThanOrEqual(1_000_000);
    if (name.includes('three million')) expect(failed?.error.message).toContain('3000000 characters in all');
  });

  test.each(Object.keys(thrown))('and so is the end of a run by %s', async (name) => {
    await begin(
      oneState({}, async () => {
        throw (thrown[name] as () => unknown)();
      }),
    );
    expect(await endsByName()).not.toBe('completed');
  });
});

describe('a probe’s answer is recorded, whatever it says', () => {
  const answers: Record<string, () => Promise<unknown>> = {
    'a receipt that is a number': async () => ({ outcome: 'happened', result: { id: 1 }, receipt: 42 }),
    'a note that is no text': async () => ({ outcome: 'unknown', note: { why: 1 } }),
    'an error of a million characters': () => Promise.reject(new Error('x'.repeat(1_200_000))),
    'an outcome that there is not': async () => ({ outcome: 'banana' }),
    'nothing at all': async () => undefined,
  };
  test.each(Object.keys(answers))('%s', async (name) => {
    let asked = 0;
    const pay = seen('pay', {
      effect: 'external',
      keyed: true,
      timeoutMs: 50,
      settlesWithinMs: 10,
      answer: () => new Promise(() => undefined),
      verify: async () => {
        asked++;
        return (await answers[name]?.()) as never;
      },
    });
    await begin(oneState({ pay }, (ctx) => ctx.tool('pay')));
    await stage.lab.until('r', (status, _events, held) => status === 'waiting' && !held);
    await stage.lab.command('r', { mode: 'verify', stepKey: 'work#1/pay#1' } as never);
    await stage.lab.until('r', (_status, events) => eventsOf(events, 'command.ended').length === 1);
    await stage.lab.pass(3_000);
    expect(asked).toBe(1);
    const [verified] = eventsOf(await stage.lab.events('r'), 'effect.verified');
    expect(newEvent.safeParse(bodyOf(verified)).error).toBeUndefined();
  });

  test('and one that the journal does not take ends its order, so that nobody asks again', async () => {
    let asked = 0;
    const pay = seen('pay', {
      effect: 'external',
      keyed: true,
      timeoutMs: 50,
      settlesWithinMs: 10,
      answer: () => new Promise(() => undefined),
      verify: async () => {
        asked++;
        return { outcome: 'unknown' };
      },
    });
    const refusing = (port: JournalPort): JournalPort => ({
      ...port,
      append: async (runId, batch) =>
        batch.events.some(({ kind }) => kind === 'effect.verified')
          ? { ok: false, problem: { kind: 'refused', detail: 'it is not taken' } }
          : port.append(runId, batch),
    });
    const worker = await stage.lab.worker([oneState({ pay }, (ctx) => ctx.tool('pay'))], { port: refusing });
    stage.workers.push(worker);
    void worker.start('a', { runId: 'r' });
    await stage.lab.until('r', (status, _events, held) => status === 'waiting' && !held);
    await stage.lab.command('r', { mode: 'verify', stepKey: 'work#1/pay#1' } as never);
    await stage.lab.pass(5_000);
    expect(asked).toBe(1);
    expect(eventsOf(await stage.lab.events('r'), 'command.ended')).toMatchObject([
      { outcome: 'refused', detail: expect.stringContaining('it is not taken') as unknown },
    ]);
    expect(await stage.lab.status('r')).toBe('waiting');
  });
});

describe('a batch that the journal refuses all the same', () => {
  test('ends the run with the reason; an outcome that was in it is told as evidence', async () => {
    const pay = seen('pay', { effect: 'external', keyed: true, settlesWithinMs: 100 });
    const refusing = (port: JournalPort): JournalPort => ({
      ...port,
      append: async (runId, batch) =>
        batch.events.some(({ kind }) => kind === 'step.completed')
          ? { ok: false, problem: { kind: 'refused', detail: '400 bad-request: role is too long' } }
          : port.append(runId, batch),
    });
    const worker = await stage.lab.worker([oneState({ pay }, (ctx) => ctx.tool('pay'))], { port: refusing });
    stage.workers.push(worker);
    void worker.start('a', { runId: 'r' });
    await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
    await stage.lab.pass(500);
    const [failed] = eventsOf(await stage.lab.events('r'), 'run.failed');
    expect(failed?.error).toMatchObject({
      type: 'JournalRefused',
      message: expect.stringContaining('role is too long') as unknown,
    });
    expect(await stage.lab.deps.store.effects('r' as never)).toMatchObject([
      { status: 'confirmed', confirmedBy: 'late-worker' },
    ]);
  });
});

test('a failure that the code wraps without its cause is tried again with the next resume', async () => {
  const look = seen('look', {
    effect: 'read',
    retries: 0,
    answer: async (n) => {
      if (n === 1) throw new Error('down');
      return n;
    },
  });
  await begin(
    oneState({ look }, async (ctx) => {
      try {
        await ctx.tool('look');
      } catch {
        throw new Error('lookup failed');
      }
    }),
  );
  await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
  await stage.lab.order('r', 'resume');
  await stage.lab.until('r', (status) => status === 'completed');
  expect(stage.names()).toEqual(['look', 'look']);
});

test('the text of a broken stream is kept where the failure is final, too', async () => {
  const agent = defineAgent({
    name: 'a',
    initial: 'work',
    states: { work: { to: [], final: true, run: (ctx) => ctx.llm('m', { messages: [] }) } },
    llms: {
      m: {
        model: 'm',
        retries: 1,
        client: {
          complete: async (_request, call) => {
            call.onText('Half an answ');
            throw Object.assign(new Error('gone'), { code: 'ECONNRESET' });
          },
        },
      },
    },
  });
  await begin(agent);
  await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
  const failed = eventsOf(await stage.lab.events('r'), 'step.failed');
  expect(failed.map(({ final }) => final)).toEqual([false, true]);
  for (const { partial } of failed)
    expect(partial && (await stage.lab.payload(partial.sha256))).toBe('Half an answ');
});

test('code that has left its record is found out though the wall clock goes back meanwhile', async () => {
  let changed = false;
  const agent = oneState({ look: seen('look', { effect: 'read' }) }, async (ctx) => {
    if (changed) await new Promise(() => undefined);
    await ctx.tool('look');
    await ctx.ask('go', { prompt: '?' });
  });
  const first = await begin(agent);
  await stage.lab.until('r', (status, _events, held) => status === 'waiting' && !held);
  first.kill();
  changed = true;
  await stage.answer('yes');
  const { clock } = stage.lab;
  const now = clock.now.bind(clock);
  let back = 0;
  clock.now = () => now() - back;
  stage.workers.push(await stage.lab.worker([agent]));
  await stage.lab.until('r', (status) => status === 'running');
  clock.after(100, () => {
    back = 60_000;
  });
  await stage.lab.pass(2_000);
  expect(eventsOf(await stage.lab.events('r'), 'divergence.found').length).toBe(1);
});

const bodyOf = (event: object | undefined): unknown => {
  const { runId: _r, seq: _s, epoch: _e, by: _b, version: _v, ...body } = event as Record<string, unknown>;
  return JSON.parse(JSON.stringify(body));
};
