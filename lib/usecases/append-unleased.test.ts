import { describe, expect, it } from 'vitest';
import type { EventKind } from '@/lib/core/events/run-event';
import { claim, TestWorker } from '@/lib/testing/api-client';
import { clockedConsole } from '@/lib/testing/clocked-console';
import { asUploaded } from '@/lib/testing/uploaded-run';

/* What a writer without a lease may append to a copy: what a worker did. Orders, answers and claims are the console's. */

const LOOKUP = 'plan#1/lookup#1';
const REFUND = 'plan#1/create_refund#1';
const QUESTION = 'plan#1/approve#1';

const { api, console } = clockedConsole();

const digest = 'a'.repeat(64);
const decided = (intentSeq: number, outcome = 'did-not-happen') => ({
  kind: 'effect.decided',
  stepKey: REFUND,
  decision: { intentSeq, outcome },
  actor: 'op',
  reason: '',
  commandId: 'c',
});

/** A copy in which a refund was sent, and what is appended to it. */
async function copy() {
  const worker = await TestWorker.create(api);
  await worker.write(
    worker.enter('plan'),
    worker.read(LOOKUP),
    worker.external(REFUND),
    worker.start(QUESTION, { step: 'human' }),
    worker.ask(QUESTION),
  );
  await asUploaded(console().store, worker.runId);
  const intentSeq = worker.head - 2;
  const append = (events: readonly unknown[]) => {
    const { payloads = [] } = worker.batch([]);
    return api.post(`${worker.path}/events`, { expectedSeq: worker.head, events, payloads });
  };
  return { worker, intentSeq, append };
}

type Copy = Awaited<ReturnType<typeof copy>>;
type Sent = Readonly<Record<string, unknown>>;
/** Of every kind one event, and whether a writer without a lease may say it. */
const kinds: Readonly<Record<EventKind, readonly ['writer' | 'console', (at: Copy) => Sent]>> = {
  'run.queued': ['console', () => ({ reason: 'command' })],
  'run.started': ['console', () => ({ agent: 'other', tags: [] })],
  'run.waiting': ['writer', () => ({ on: [{ stepKey: QUESTION, for: 'question' }] })],
  'run.paused': ['writer', () => ({})],
  'run.interrupted': ['writer', () => ({ cause: 'recorded' })],
  'run.resumed': ['console', () => ({ workerId: 'w1', revived: true })],
  'run.rewound': ['console', () => ({ toSeq: 2, kept: [], commandId: 'c' })],
  'run.completed': ['writer', () => ({})],
  'run.failed': ['writer', () => ({ cause: 'error', error: { type: 'E', message: 'm' } })],
  'run.cancelled': ['writer', () => ({})],
  'state.entered': ['writer', ({ worker }) => worker.enter('refund')],
  'state.left': ['writer', ({ worker }) => worker.leave('plan', 1, 'refund')],
  'scope.left': ['writer', () => ({ scope: 'plan#1/a' })],
  'step.started': ['writer', ({ worker }) => worker.read('plan#1/lookup#2')],
  'step.completed': ['writer', ({ worker }) => worker.done(LOOKUP)],
  'step.failed': [
    'writer',
    () => ({
      stepKey: REFUND,
      attempt: 1,
      failure: 'timeout',
      error: { type: 'E', message: 'm' },
      final: true,
    }),
  ],
  'step.reused': [
    'writer',
    ({ worker }) => ({ ...worker.read('plan#1/lookup#3'), attempt: undefined, result: worker.value(1) }),
  ],
  'step.skipped': [
    'writer',
    ({ worker }) => ({ ...worker.read('plan#1/lookup#4'), attempt: undefined, result: worker.value(1) }),
  ],
  'value.recorded': ['writer', () => ({ key: 'plan#1/time#1', of: 'time', value: 1 })],
  'api.unavailable': ['writer', () => ({ api: 'psp', failures: 3, failure: 'timeout' })],
  'api.recovered': ['writer', () => ({ api: 'psp' })],
  'variables.patched': [
    'writer',
    ({ worker }) => ({ patch: [{ op: 'add', path: '/a', value: worker.value(1) }] }),
  ],
  'message.appended': ['writer', ({ worker }) => ({ role: 'user', message: worker.value('hi') })],
  'context.compacted': ['writer', () => ({ layer: 'all', keptMessages: 1 })],
  'checkpoint.saved': [
    'writer',
    () => ({ trigger: 'imported', visit: 'plan#1', name: '', entrySeq: 0, othersSeq: 0 }),
  ],
  'effect.verified': [
    'writer',
    ({ intentSeq }) => ({ stepKey: REFUND, intentSeq, outcome: 'unknown', source: 'probe' }),
  ],
  'effect.decided': ['console', ({ intentSeq }) => decided(intentSeq)],
  'effect.conflict': [
    'writer',
    ({ worker }) => ({
      stepKey: REFUND,
      asked: worker.value(1),
      askedDigest: digest,
      recordedDigest: digest,
    }),
  ],
  'question.asked': ['writer', ({ worker }) => worker.ask('plan#1/approve#2')],
  'question.answered': [
    'console',
    ({ worker }) => ({
      questionId: QUESTION,
      stepKey: QUESTION,
      value: worker.value(true),
      actor: 'op',
      commandId: 'c',
    }),
  ],
  'question.expired': ['console', () => ({ questionId: QUESTION, stepKey: QUESTION })],
  'command.accepted': ['console', () => ({ commandId: 'c', mode: 'cancel', actor: 'op', reason: '' })],
  'command.ended': ['console', () => ({ commandId: 'c', outcome: 'done' })],
  'divergence.found': ['writer', () => ({ stepKey: LOOKUP, what: 'input', sentence: 's' })],
};
const said = (kind: string, more: Sent): Sent => ({ ...more, kind });

describe('a writer without a lease', () => {
  it.each(Object.entries(kinds).map(([kind, [whose, make]]) => ({ kind, whose, make })))(
    '$kind is the $whose’s to say',
    async ({ kind, whose, make }) => {
      const at = await copy();
      const event = said(kind, make(at));
      const { payloads = [] } = at.worker.batch([]);
      const body = { expectedSeq: at.worker.head, events: [at.worker.enter('close'), event], payloads };
      const reply = await api.post(`${at.worker.path}/events`, body);
      const journal = await api.get(`${at.worker.path}/events?after=${at.worker.head}`);
      if (whose === 'writer') {
        expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200 });
        expect(journal.body.items[1]).toMatchObject({ kind, by: 'worker' });
      } else {
        expect(reply).toMatchObject({
          status: 422,
          body: {
            type: 'urn:rerail:problem:refused-event',
            index: 1,
            event: kind,
            detail: expect.any(String),
          },
        });
        expect(journal.body.items).toEqual([]);
      }
    },
  );

  it.each(['lease-lapsed', 'hand-over', 'order-refused'])(
    'does not say that a lease or an order ended: %s',
    async (cause) => {
      const { append } = await copy();
      expect(await append([{ kind: 'run.interrupted', cause }])).toMatchObject({
        status: 422,
        body: { type: 'urn:rerail:problem:refused-event', index: 0, event: 'run.interrupted' },
      });
    },
  );

  it('does not bring the late word of a fenced worker: there is no epoch that it could have been fenced in', async () => {
    const { append, intentSeq } = await copy();
    const late = { kind: 'effect.verified', stepKey: REFUND, intentSeq, source: 'late-worker' };
    expect(await append([{ ...late, outcome: 'happened' }])).toMatchObject({
      status: 422,
      body: { type: 'urn:rerail:problem:refused-event', index: 0, event: 'effect.verified' },
    });
  });
});

describe('a call that a fork of the copy has in flight here', () => {
  /** A copy, and a fork of it that is held here and has just sent the refund. */
  async function forked() {
    const worker = await TestWorker.create(api);
    const checkpoint = { trigger: 'manual', visit: 'plan#1', name: '', entrySeq: 0, othersSeq: 0 };
    await worker.write(worker.enter('plan'), { ...checkpoint, kind: 'checkpoint.saved' });
    await asUploaded(console().store, worker.runId);
    const [from] = (await api.get(`${worker.path}/checkpoints`)).body.items;
    await claim(api, { waitMs: 0 });
    const plan = await api.plan(worker.runId, { mode: 'fork', from: from.id });
    const ask = { mode: 'fork', from: from.id, planDigest: plan.body.digest };
    expect((await api.command(worker.runId, ask)).status).toBe(202);
    const claimed = await claim(api);
    expect(claimed.body).toMatchObject({ reason: 'fork' });
    const fork = TestWorker.of(api, claimed.body, 'w2');
    const intentSeq = await fork.write(fork.external(REFUND));
    return { worker, fork, intentSeq };
  }
  const rowOf = async ({ path }: TestWorker) => (await api.get(`${path}/effects`)).body.items;

  it.each(['happened', 'did-not-happen', 'hold'])(
    'is not settled by what a writer appends to the copy: %s',
    async (outcome) => {
      const { worker, fork, intentSeq } = await forked();
      const before = await rowOf(fork);
      expect(before).toMatchObject([{ runId: fork.runId, status: 'intended' }]);
      const reply = await api.post(`${worker.path}/events`, {
        expectedSeq: worker.head,
        events: [decided(intentSeq, outcome)],
      });
      expect(await rowOf(fork)).toEqual(before);
      expect(reply.status).toBe(422);
    },
  );

  it('stays as it is, whatever else a writer says of the same step on the copy', async () => {
    const { worker, fork, intentSeq } = await forked();
    const before = await rowOf(fork);
    const failure = { failure: 'not-sent', error: { type: 'E', message: 'm' }, final: true, attempt: 1 };
    const probe = { kind: 'effect.verified', stepKey: REFUND, intentSeq, source: 'probe' };
    for (const event of [
      { kind: 'step.failed', stepKey: REFUND, ...failure },
      { kind: 'step.completed', stepKey: REFUND, attempt: 1, recorded: true },
      { ...probe, outcome: 'happened' },
      { ...probe, outcome: 'did-not-happen' },
      { kind: 'run.interrupted', cause: 'recorded' },
      { kind: 'run.cancelled' },
    ]) {
      const { headSeq } = (await api.get(worker.path)).body;
      const reply = await api.post(`${worker.path}/events`, { expectedSeq: headSeq, events: [event] });
      expect(reply.status, JSON.stringify(reply.body)).toBe(200);
      expect(await rowOf(fork)).toEqual(before);
    }
  });
});
