import { describe, expect, test } from 'vitest';
import { mayHaveHappenedTwice } from '@/lib/core/projections/ledger';
import type { Lab, LabWorkerOptions } from '@/lib/testing/sdk-lab';
import { eventsOf as of, oneState, stages } from '@/lib/testing/sdk-stage';
import type { ToolOptions } from './api';
import { NotSent, Rejected, Unavailable } from './errors';
import type { JournalPort } from './journal-port';
import { tool } from './tool';

const stage = stages();
const TIMEOUT_MS = 9_000;
const KEY = 'work#1/pay#1';

type Answer = 'happened' | 'rejected' | 'not-sent' | 'unavailable';
const thrown = {
  rejected: () => new Rejected('refused'),
  'not-sent': () => new NotSent('no connection'),
  unavailable: () => new Unavailable('gateway'),
};

/** A payment whose calls the test answers, whenever it likes: the tool does not mind its signal. */
function payment(options: Partial<ToolOptions<unknown, unknown>> = {}) {
  const calls: { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }[] = [];
  const got: unknown[] = [];
  let probes = 0;
  const pay = tool({
    effect: 'external',
    keyed: false,
    timeoutMs: TIMEOUT_MS,
    settlesWithinMs: 10,
    run: () => new Promise((resolve, reject) => calls.push({ resolve, reject })),
    // Wrong about the first call: it is still on its way.
    verify: async () => ({ outcome: probes++ === 0 ? ('did-not-happen' as const) : ('unknown' as const) }),
    ...options,
  });
  const agent = oneState(
    { pay },
    async (ctx) => {
      got.push(await ctx.tool('pay', {}));
    },
    { autoVerify: true },
  );
  const answer = (n: number, how: Answer) => {
    const call = calls[n - 1];
    if (how === 'happened') call?.resolve({ id: `re_${n}` });
    else call?.reject(thrown[how]());
  };
  return { calls, got, agent, answer };
}

const row = async () => (await stage.lab.deps.store.effects('r' as never))[0];

async function host(agent: Parameters<Lab['worker']>[0][number], options: LabWorkerOptions = {}) {
  const worker = await stage.lab.worker([agent], options);
  stage.workers.push(worker);
  void worker.start('a', { runId: 'r' });
  return worker;
}

/** The first call has timed out and was found not to have happened; the second one is out. */
async function secondIsOut(options: LabWorkerOptions = {}) {
  const played = payment();
  const worker = await host(played.agent, options);
  await stage.lab.until('r', () => played.calls.length === 2);
  return { ...played, worker };
}

/** Another worker takes the run for a probe and gives it back: the first one is fenced, and knows it. */
async function fence(agent: Parameters<Lab['worker']>[0][number], cut: (isCut: boolean) => void) {
  cut(true);
  await stage.lab.until('r', (status) => status === 'interrupted');
  stage.workers.push(await stage.lab.worker([agent]));
  await stage.lab.command('r', { mode: 'verify', stepKey: KEY } as never);
  await stage.lab.until(
    'r',
    (_status, events, held) =>
      of(events, 'effect.verified').some(({ commandId }) => commandId !== undefined) && !held,
  );
  cut(false);
  await stage.lab.pass(4_000);
}

const answers: readonly Answer[] = ['happened', 'rejected', 'not-sent', 'unavailable'];
const pairs = answers.flatMap((first) => answers.map((second) => [first, second] as const));
const cases = [
  ...pairs.flatMap(([first, second]) => [
    { order: [1, 2], said: { 1: first, 2: second } },
    { order: [2, 1], said: { 1: first, 2: second } },
  ]),
  ...answers.flatMap((said) => [
    { order: [1], said: { 1: said } },
    { order: [2], said: { 2: said } },
  ]),
] as { readonly order: readonly (1 | 2)[]; readonly said: { readonly [N in 1 | 2]?: Answer } }[];

describe.each([{ fenced: false }, { fenced: true }])(
  'two attempts of one payment, fenced: $fenced',
  ({ fenced }) => {
    test.each(cases)('answers in the order $order: $said', async ({ order, said }) => {
      let isCut = false;
      const { agent, answer, calls, got } = await secondIsOut({ isCutOff: () => isCut });
      if (fenced)
        await fence(agent, (cut) => {
          isCut = cut;
        });
      for (const n of order) {
        answer(n, said[n] as Answer);
        await stage.lab.pass(100);
      }
      await stage.lab.pass(1_000);

      const events = await stage.lab.events('r');
      const [first, second] = of(events, 'step.started').map(({ seq }) => seq);
      const refused = said[2] === 'rejected' || said[2] === 'not-sent';
      const isTwice = said[1] === 'happened' && said[2] !== undefined && !refused;

      // Everything that was said is told on the intent that it is about, and on no other.
      const told = (n: 1 | 2) => {
        const about = n === 1 ? first : second;
        if (said[n] === undefined || said[n] === 'unavailable' || (n === 2 && !fenced)) return [];
        return [[about, said[n] === 'happened' ? 'happened' : 'did-not-happen']];
      };
      expect(
        of(events, 'effect.verified')
          .filter(({ source }) => source === 'late-worker')
          .map(({ intentSeq, outcome }) => [intentSeq, outcome]),
      ).toEqual(order.flatMap(told));

      const effect = await row();
      if (said[2] === 'happened') {
        expect(effect).toMatchObject({ status: 'confirmed', intentSeq: second });
        expect(await stage.lab.payload(effect?.result?.sha256 as never)).toEqual({ id: 're_2' });
      } else if (refused && said[1] === 'happened') {
        expect(effect).toMatchObject({ status: 'confirmed', intentSeq: first });
        expect(await stage.lab.payload(effect?.result?.sha256 as never)).toEqual({ id: 're_1' });
      } else if (refused) expect(effect?.status).toBe('failed');
      else expect(effect?.status).toBe(said[2] === undefined && !fenced ? 'intended' : 'in-doubt');
      expect(effect && mayHaveHappenedTwice(effect)).toBe(
        isTwice || (said[2] === undefined && said[1] === 'happened'),
      );

      // Nothing is sent a third time, and the code is given what the ledger says.
      if (effect?.status === 'confirmed') {
        if ((await stage.lab.status('r')) !== 'completed') {
          await stage.lab.until('r', (_status, _events, held) => !held);
          await stage.lab.order('r', 'resume');
          await stage.lab.until('r', (status) => status === 'completed');
        }
        expect(got).toEqual([await stage.lab.payload(effect.result?.sha256 as never)]);
      } else expect(got).toEqual([]);
      expect(calls.length).toBe(2);
      expect(stage.lab.warnings).toEqual([]);
    });
  },
);

describe('while the second attempt is out', () => {
  test('a stopping worker waits for it, though the first one has answered', async () => {
    const { answer, worker } = await secondIsOut();
    answer(1, 'happened');
    await stage.lab.pass(100);
    let isStopped = false;
    void worker.stop().then(() => {
      isStopped = true;
    });
    await stage.lab.pass(6_000);
    expect(worker.left()).toContain('1 of them with a call out');
    answer(2, 'happened');
    await stage.lab.until('r', () => isStopped);
    const effect = await row();
    expect(effect).toMatchObject({ status: 'confirmed', executions: 2 });
    expect(await stage.lab.payload(effect?.result?.sha256 as never)).toEqual({ id: 're_2' });
    expect(effect && mayHaveHappenedTwice(effect)).toBe(true);
  });

  test('its time-out leaves it in doubt, whatever the first one said', async () => {
    const { answer, calls, got } = await secondIsOut();
    answer(1, 'happened');
    await stage.lab.until('r', (_status, events) => of(events, 'step.failed').length === 2);
    await stage.lab.pass(1_000);
    const effect = await row();
    expect(effect?.status).toBe('in-doubt');
    expect(effect && mayHaveHappenedTwice(effect)).toBe(true);
    expect([calls.length, got]).toEqual([2, []]);
  });
});

describe('the first attempt answers before the second one has left', () => {
  const check = async (played: ReturnType<typeof payment>) => {
    await stage.lab.until('r', (status) => status === 'completed');
    expect(played.calls.length).toBe(1);
    expect(played.got).toEqual([{ id: 're_1' }]);
    const effect = await row();
    expect(effect).toMatchObject({ status: 'confirmed', executions: 1 });
    expect(effect && mayHaveHappenedTwice(effect)).toBe(false);
    expect(stage.lab.warnings).toEqual([]);
  };

  test.each([1, 2, 3, 4, 5])('with its intent on the way: it does not leave (seed %i)', async (seed) => {
    stage.reset(seed);
    const played = payment();
    let intents = 0;
    await host(played.agent, {
      onPoint: (point) => {
        if (point === 'effect:before-intent' && ++intents === 2) played.answer(1, 'happened');
      },
    });
    await check(played);
    // The lineage may have refused the intent by then; where it did not, the attempt is known not to have left.
    const events = await stage.lab.events('r');
    expect(of(events, 'step.failed').map(({ attempt, failure }) => [attempt, failure])).toEqual(
      of(events, 'step.started').map(({ attempt }) => [attempt, attempt === 1 ? 'timeout' : 'not-sent']),
    );
  });

  test('with the ledger on the way that said so', async () => {
    const played = payment();
    let reads = 0;
    await host(played.agent, {
      port: (port): JournalPort => ({
        ...port,
        ledger: async (runId) => {
          const ledger = await port.ledger(runId);
          if (++reads === 1) played.answer(1, 'happened');
          await stage.lab.clock.delay(5);
          return ledger;
        },
      }),
    });
    await check(played);
  });

  test('between two sends of the second one', async () => {
    const played = payment({ retries: 3 });
    await host(played.agent, { backoff: { baseMs: 2_000, capMs: 2_000 } });
    await stage.lab.until('r', () => played.calls.length === 2);
    played.answer(2, 'not-sent');
    await stage.lab.pass(100);
    played.answer(1, 'happened');
    await stage.lab.until('r', (status) => status === 'completed');
    expect(played.calls.length).toBe(2);
    expect(played.got).toEqual([{ id: 're_1' }]);
    expect(await row()).toMatchObject({ status: 'confirmed', executions: 1 });
  });

  test('and what it answered cannot be recorded: it waits for a person, who decides it once', async () => {
    const played = payment();
    let intents = 0;
    await host(played.agent, {
      onPoint: (point) => {
        if (point === 'effect:before-intent' && ++intents === 2) played.calls[0]?.resolve({ f: () => 1 });
      },
    });
    await stage.lab.until('r', (_status, events) => of(events, 'effect.verified').length === 2);
    await stage.lab.pass(1_000);
    const effect = await row();
    expect([effect?.status, played.calls.length]).toEqual(['in-doubt', 1]);
    await stage.lab.command('r', {
      mode: 'decide',
      decisions: { [KEY]: { intentSeq: effect?.intentSeq, outcome: 'did-not-happen' } },
    } as never);
    await stage.lab.until('r', (_status, _events, held) => !held);
    await stage.lab.order('r', 'resume');
    await stage.lab.until('r', () => played.calls.length === 2);
    played.answer(2, 'happened');
    await stage.lab.until('r', (status) => status === 'completed');
    expect(played.got).toEqual([{ id: 're_2' }]);
  });
});

test('an idempotent call is answered by its newest attempt alone; what an older one says is told of that one', async () => {
  const played = payment({ effect: 'idempotent', keyed: true, timeoutMs: 50, retries: 1 });
  await host(played.agent);
  await stage.lab.until('r', () => played.calls.length === 2);
  played.answer(1, 'happened');
  await stage.lab.pass(30);
  expect(played.got).toEqual([]);
  played.answer(2, 'happened');
  await stage.lab.until('r', (status) => status === 'completed');
  expect(played.got).toEqual([{ id: 're_2' }]);
  const events = await stage.lab.events('r');
  const [first] = of(events, 'step.started');
  expect(of(events, 'effect.verified')).toMatchObject([
    { source: 'late-worker', outcome: 'happened', intentSeq: first?.seq },
  ]);
});
