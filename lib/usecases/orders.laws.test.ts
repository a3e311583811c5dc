import { createHash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type CommandId,
  type Epoch,
  type EpochMs,
  epochMs,
  type RunId,
  type Seq,
  sha256,
  type WorkerId,
} from '@/lib/core/events/ids';
import type { EventOf, NewEvent, RunEvent } from '@/lib/core/events/run-event';
import { machineDigestOf } from '@/lib/core/machine/drift';
import type { RunRecord } from '@/lib/core/projections/records';
import { foldRun } from '@/lib/core/projections/run-state';
import { sdkWorkerEngine } from '@/lib/engines/sdk-worker/sdk-worker';
import { deskMachine } from '@/lib/testing/api-client';
import { memoryStore } from '@/lib/testing/memory-store';
import { refOf } from '@/lib/testing/random-journal';
import { must } from '@/lib/testing/sdk-console';
import { appendEvents } from './append-events';
import { type Claimed, claimRun } from './claim-run';
import type { Command } from './command';
import { createRun } from './create-run';
import type { UsecaseDeps } from './deps';
import { giveCommand } from './give-command';
import { heartbeat } from './heartbeat';
import { judgeLeases, judgeRun } from './judge-leases';
import { makePlan } from './make-plan';
import { putMachine } from './put-machine';
import { type ReleaseOutcome, releaseLease } from './release-lease';

/*
 * One run, an operator who orders anything, and workers that are frozen, cut off, thought dead and come back at any moment,
 * through the console's own use-cases. Whatever they do: an order ends once, nothing is taken up without its plan, no order
 * is left open where nobody will carry it out, and one epoch writes.
 */

const hash = (content: Uint8Array | string) => sha256(createHash('sha256').update(content).digest('hex'));
const LEASE_MS = 1_000;
const digest = machineDigestOf(deskMachine, hash);
const id = 'run' as RunId;
const error = { type: 'Error', message: 'boom' };

/** Weighted: what ends the run or takes it elsewhere is rare, or nothing else would be met. */
const ORDERS = [
  'resume',
  'answer',
  'resume',
  'pause',
  'rewind',
  'resume',
  'pause',
  'answer',
  'resume',
  'cancel',
] as const;
/** What happens next, by weight. */
const ACTS = [
  'order',
  'claim',
  'beat',
  'wait',
  'judge',
  'go live',
  'claim',
  'work',
  'release',
  'order',
  'wait',
  'beat',
] as const;

/** A worker's hold, kept though it may have been taken away long ago. */
interface Hold {
  readonly leaseId: Claimed['leaseId'];
  readonly epoch: Epoch;
  readonly workerId: WorkerId;
  /** The order that it was given a plan for. */
  readonly order: CommandId | undefined;
  batch: number;
  seen: Seq;
  isLive: boolean;
}

class World {
  now: EpochMs = epochMs(1_700_000_000_000);
  readonly holds: Hold[] = [];
  readonly claims: { readonly claimed: Claimed; readonly before: RunRecord }[] = [];
  private count = 0;
  private questions = 0;
  readonly store = memoryStore({ now: () => this.now });
  readonly deps: UsecaseDeps = {
    store: this.store,
    engine: sdkWorkerEngine(),
    ids: { next: (prefix) => `${prefix}_${++this.count}` },
    hash,
    leaseMs: LEASE_MS,
    judgedFrom: epochMs(0),
    actor: 'op',
  };

  run = async (): Promise<RunRecord> => {
    const run = await this.store.run(id);
    if (run === undefined) throw new Error('the run is there');
    return run;
  };
  events = () => this.store.events(id, { limit: 100_000 });

  async begin(): Promise<void> {
    must(await putMachine(this.deps, { digest, machine: deskMachine }));
    const { answer } = must(
      await createRun(this.deps, {
        runId: id,
        workerId: 'w0' as WorkerId,
        agent: 'desk',
        machineDigest: digest,
        input: undefined,
        tags: [],
      }),
    );
    this.took({ ...answer, epoch: answer.epoch }, 'w0' as WorkerId, undefined);
    const place = { visit: 'plan#1', name: '', entrySeq: 0 as Seq, othersSeq: 0 as Seq };
    await this.append(this.holds[0], [
      { kind: 'state.entered', key: 'plan#1', state: 'plan', visit: 1 },
      { kind: 'checkpoint.saved', trigger: 'manual', ...place },
    ]);
  }

  private took(
    { leaseId, epoch, headSeq }: Pick<Claimed, 'leaseId' | 'epoch' | 'headSeq'>,
    workerId: WorkerId,
    order: CommandId | undefined,
  ): void {
    const isLive = order === undefined;
    this.holds.push({ leaseId, epoch: epoch as Epoch, workerId, order, batch: 0, seen: headSeq, isLive });
  }

  async claim(): Promise<void> {
    const workerId = `w${this.holds.length}` as WorkerId;
    const before = await this.run();
    const claimed = must(
      await claimRun(
        { ...this.deps, log: { error: (about) => expect(about).toBeUndefined() } },
        { claimId: randomUUID(), workerId, agents: [{ name: 'desk', machineDigest: digest }], waitMs: 0 },
        new AbortController().signal,
      ),
    );
    if (claimed === undefined) return;
    this.claims.push({ claimed, before });
    this.took(claimed, workerId, claimed.plan === undefined ? undefined : claimed.command?.commandId);
  }

  /** What a worker sends, however late; refused or not. */
  async append(hold: Hold | undefined, events: readonly NewEvent[]): Promise<boolean> {
    if (hold === undefined) return false;
    const payloads = [refOf({ prompt: '?' }), refOf(1)].map((ref, n) => ({
      ...ref,
      body: Buffer.from(JSON.stringify(n === 0 ? { prompt: '?' } : 1)),
    }));
    const ask = { runId: id, epoch: hold.epoch, batch: hold.batch + 1, seenSeq: hold.seen, events, payloads };
    const before = await this.run();
    const result = await appendEvents(this.deps, ask);
    if (!result.ok) return false;
    // One epoch writes.
    expect(before.epoch).toBe(hold.epoch);
    const { firstSeq, headSeq } = result.value;
    const stored = await this.store.events(id, { after: (firstSeq - 1) as Seq, limit: 1_000 });
    expect(stored.map(({ kind }) => kind)).toEqual(events.map(({ kind }) => kind));
    hold.batch += 1;
    hold.seen = headSeq;
    return true;
  }

  async goLive(hold: Hold): Promise<void> {
    if (hold.isLive || hold.order === undefined) return;
    const end = { kind: 'command.ended', commandId: hold.order, outcome: 'done' } as const;
    if (await this.append(hold, [end])) hold.isLive = true;
  }

  async work(hold: Hold, what: number): Promise<void> {
    const { state } = await this.run();
    const pause = state.pending?.mode === 'pause' ? (state.pending.commandId as CommandId) : undefined;
    const n = ++this.questions;
    const key = `plan#1/approve#${n}` as EventOf<'question.asked'>['stepKey'];
    const inputDigest = hash('1');
    const said: readonly (readonly NewEvent[])[] = [
      [{ kind: 'message.appended', role: 'user', message: refOf(1) }],
      pause === undefined
        ? [{ kind: 'run.paused' }]
        : [{ kind: 'run.paused' }, { kind: 'command.ended', commandId: pause, outcome: 'done' }],
      [{ kind: 'run.failed', cause: 'error', error }],
      [{ kind: 'message.appended', role: 'user', message: refOf(1) }],
      [
        { kind: 'step.started', stepKey: key, name: 'approve', step: 'human', attempt: 1, inputDigest },
        {
          kind: 'question.asked',
          questionId: key as never,
          stepKey: key,
          question: refOf({ prompt: '?' }),
          questionDigest: refOf({ prompt: '?' }).sha256,
        },
        { kind: 'run.waiting', on: [{ stepKey: key, for: 'question' }] },
      ],
      [{ kind: 'command.ended', commandId: (hold.order ?? 'none') as CommandId, outcome: 'withdrawn' }],
      [{ kind: 'run.completed' }],
    ];
    await this.append(hold, said[what % said.length] ?? []);
  }

  async order(what: number): Promise<void> {
    const run = await judgeRun(this.deps, await this.run());
    const commandId = `c${++this.count}` as CommandId;
    const [question] = Object.values(run.state.questions).filter(({ status }) => status === 'open');
    const given = { commandId, reason: '' };
    const kind = ORDERS[what % ORDERS.length];
    if (kind === 'resume' || kind === 'rewind') {
      const mode = kind;
      const from = mode === 'resume' ? 'latest' : 'cp_3';
      const ask = { mode, from, edits: [], decisions: {}, options: {} } as const;
      const plan = await makePlan(this.deps, { runId: id, ...ask });
      if (!plan.ok) return;
      const command = { ...ask, ...given, planDigest: plan.value.plan.digest };
      await giveCommand(this.deps, { runId: id, command });
      return;
    }
    const answer: Command | undefined = question && {
      ...given,
      mode: 'answer',
      questionId: question.questionId,
      questionDigest: question.questionDigest,
      value: true,
    };
    const command = kind === 'pause' || kind === 'cancel' ? { ...given, mode: kind } : answer;
    if (command !== undefined) await giveCommand(this.deps, { runId: id, command });
  }

  async beat(hold: Hold): Promise<void> {
    await heartbeat(this.deps, { leaseId: hold.leaseId, epoch: hold.epoch, seenSeq: hold.seen });
  }

  async release(hold: Hold, what: number): Promise<void> {
    const outcomes: readonly ReleaseOutcome[] = ['hand-over', 'hand-over', 'done', 'waiting', 'paused'];
    const outcome = outcomes[what % outcomes.length] ?? 'done';
    await releaseLease(this.deps, { leaseId: hold.leaseId, epoch: hold.epoch, outcome });
  }
}

type Act = readonly [what: number, hold: number, how: number];

async function act(world: World, [what, which, how]: Act): Promise<void> {
  const hold = world.holds[world.holds.length - 1 - (which % Math.min(2, world.holds.length))];
  if (hold === undefined) return;
  switch (ACTS[what % ACTS.length]) {
    case 'order':
      return world.order(how);
    case 'claim':
      return world.claim();
    case 'go live':
      return world.goLive(hold);
    case 'work':
      return hold.isLive || how % 8 === 0 ? world.work(hold, how) : undefined;
    case 'beat':
      return world.beat(hold);
    case 'release':
      return world.release(hold, how);
    case 'wait':
      world.now = epochMs(world.now + (how % 3) * 600);
      return undefined;
    default:
      await judgeLeases(world.deps);
  }
}

const ended = (event: RunEvent): event is EventOf<'command.ended'> =>
  event.kind === 'command.ended' && event.late === undefined;

async function check(world: World): Promise<void> {
  const events = await world.events();
  const run = await world.run();
  expect(run.state, 'stored and folded state').toEqual(foldRun(events));

  // Open orders by the journal alone: accepted, ended, and taken up again by name.
  const open = new Map<CommandId, boolean>();
  for (const event of events) {
    if (event.kind === 'command.accepted') {
      expect(open.has(event.commandId)).toBe(false);
      open.set(event.commandId, true);
    } else if (ended(event)) {
      expect(open.get(event.commandId), `${event.commandId} ends once, seq ${event.seq}`).toBe(true);
      open.set(event.commandId, false);
    } else if (event.kind === 'run.resumed' && event.revived && event.commandId !== undefined) {
      expect(open.get(event.commandId), `${event.commandId} was withdrawn`).toBe(false);
      open.set(event.commandId, true);
    }
  }
  const left = [...open].flatMap(([commandId, isOpen]) => (isOpen ? [commandId] : []));
  expect(run.state.pending === undefined ? [] : [run.state.pending.commandId]).toEqual(left);

  // Once the judge has looked, an order is open only where somebody holds the run or may claim it for that order.
  const judged = await judgeRun(world.deps, run);
  const { pending, status, queue } = judged.state;
  const isHeld = judged.lease !== undefined && judged.lease.expiresAt > world.now;
  if (pending !== undefined && !isHeld)
    expect([status, queue?.reason, queue?.commandId]).toEqual(['queued', 'command', pending.commandId]);

  // Whoever was given the run while an order was open was given its plan; else none was accepted that still stands.
  for (const { claimed, before } of world.claims) {
    const order = before.state.pending;
    if (order === undefined || order.mode === 'pause') continue;
    expect(claimed.command?.commandId, 'the order that is open').toBe(order.commandId);
    expect(claimed.plan).toBeDefined();
  }
}

it('an order ends once and is carried out by its plan or not at all, whoever dies, freezes and comes back', async () => {
  const arbitrary = fc.array(fc.tuple(fc.nat(200), fc.nat(3), fc.nat(60)), {
    minLength: 30,
    maxLength: 70,
    size: 'max',
  });
  const met = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(arbitrary, async (acts) => {
      const world = new World();
      await world.begin();
      for (const one of acts) {
        await act(world, one as Act);
        await check(world);
      }
      for (const event of await world.events()) {
        const what =
          event.kind === 'run.resumed' && event.revived
            ? `revived${event.commandId === undefined ? '' : ' with its order'}`
            : event.kind === 'command.ended' && event.late
              ? 'late end'
              : event.kind;
        met.set(what, (met.get(what) ?? 0) + 1);
      }
    }),
    { numRuns: 80 },
  );
  // A law that is never put to the test says little.
  for (const what of ['revived with its order', 'late end', 'run.rewound', 'run.cancelled'])
    expect(met.get(what) ?? 0, what).toBeGreaterThan(0);
}, 120_000);
