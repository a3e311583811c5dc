import { createHash } from 'node:crypto';
import { epoch, epochMs, type RunId, runId, type StepKey, seq, sha256, stepKey } from '@/lib/core/events/ids';
import type { Codec, Payload, PayloadRef } from '@/lib/core/events/payload';
import { EVENT_VERSION, type EventBody, type RunEvent, type Writer } from '@/lib/core/events/run-event';
import type { EffectRecord, RunRecord, RunState, StepRecord } from '@/lib/core/projections/records';
import { emptyState } from '@/lib/core/projections/run-state';
import type { Change, Store, WriteAsk, WriteContext } from '@/lib/usecases/ports';

/*
 * Rows for tests of stores: well-formed, and without the meaning that `core` would give them, which a store must not
 * depend on.
 */

export const digest = (content: string | Uint8Array) =>
  sha256(createHash('sha256').update(content).digest('hex'));

export function payload(content: string | Uint8Array, codec: Codec = 'json'): Payload {
  const body = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return { sha256: digest(body), bytes: body.byteLength, codec, body };
}

export const refOf = ({ sha256, bytes, codec }: Payload): PayloadRef => ({ sha256, bytes, codec });

const runningState = (agent: string): RunState => ({ ...emptyState(agent), status: 'running' });

export const newRunRecord = (id: string, over: Partial<RunRecord> = {}): RunRecord => ({
  runId: runId(id),
  root: runId(id),
  home: 'here',
  source: 'sdk',
  createdAt: epochMs(1_000),
  updatedAt: epochMs(1_000),
  headSeq: seq(0),
  edition: 0,
  epoch: epoch(1),
  lastBatch: 0,
  state: runningState('refund-desk'),
  ledgerVersion: 0,
  ...over,
});

export const message = (content: Payload): EventBody => ({
  kind: 'message.appended',
  role: 'user',
  message: refOf(content),
});
export const queued: EventBody = { kind: 'run.queued', reason: 'created' };

export interface Append {
  readonly bodies?: readonly EventBody[];
  readonly by?: Writer;
  readonly payloads?: readonly Payload[];
  /** The row before its first event, or what changes in it. */
  readonly run?: Partial<RunRecord>;
  readonly rest?: Partial<Omit<Change, 'run' | 'events' | 'payloads'>>;
}

/** The change that appends these events after the context's head. */
export function appendTo(id: RunId, context: WriteContext, append: Append): Change {
  const before = { ...(context.run ?? newRunRecord(id)), ...append.run };
  const head = context.run?.headSeq ?? 0;
  const events = (append.bodies ?? []).map(
    (body, i): RunEvent => ({
      runId: id,
      seq: seq(head + i + 1),
      at: context.now,
      epoch: before.epoch,
      by: append.by ?? 'worker',
      version: EVENT_VERSION,
      ...body,
    }),
  );
  const headSeq = seq(head + events.length);
  return {
    run: {
      ...before,
      updatedAt: append.run?.updatedAt ?? context.now,
      headSeq,
      state: { ...before.state, seq: headSeq },
    },
    events,
    payloads: append.payloads ?? [],
    steps: [],
    effects: [],
    questions: [],
    checkpoints: [],
    snapshots: [],
    ...append.rest,
  };
}

/** Appends and answers the new head; anything but success is a failed test. */
export async function append(
  store: Store,
  id: string,
  what: Append | ((context: WriteContext) => Append),
  ask: Partial<Omit<WriteAsk<number, never>, 'runId' | 'decide'>> = {},
): Promise<number> {
  const run = runId(id);
  const done = await store.commit<number, never>({
    ...ask,
    runId: run,
    decide: (context) => {
      const change = appendTo(run, context, typeof what === 'function' ? what(context) : what);
      return { ok: true, value: { value: change.run.headSeq, change } };
    },
  });
  if (!done.ok) throw new Error('an append without conditions was refused');
  return done.value;
}

export const stepRecord = (key: string, over: Partial<StepRecord> = {}): StepRecord => ({
  stepKey: stepKey(key),
  line: 0,
  name: 'search_orders',
  kind: 'tool',
  effect: 'read',
  status: 'completed',
  attempt: 1,
  executions: 1,
  startedSeq: seq(1),
  startedAt: epochMs(1_000),
  attemptSeq: seq(1),
  inputDigest: digest(key),
  ...over,
});

export const effectRecord = (root: RunId, key: StepKey, over: Partial<EffectRecord> = {}): EffectRecord => ({
  root,
  stepKey: key,
  generation: 1,
  idempotencyKey: `${root} ${key}`,
  runId: root,
  name: 'create_refund',
  effect: 'external',
  status: 'intended',
  intent: {
    idempotencyKey: `${root} ${key}`,
    generation: 1,
    argsDigest: digest(key),
    sendBy: epochMs(9_000),
    timeoutMs: 5_000,
    settlesWithinMs: 60_000,
    keyValidForMs: 86_400_000,
    guarded: true,
    verifiable: true,
  },
  intentSeq: seq(1),
  epoch: epoch(1),
  firstIntentAt: epochMs(1_000),
  intentAt: epochMs(1_000),
  attempt: 1,
  executions: 1,
  doubtBefore: false,
  ...over,
});

export const stepStarted = (key: string, intent?: EffectRecord['intent']): EventBody => ({
  kind: 'step.started',
  stepKey: stepKey(key),
  name: 'create_refund',
  step: 'tool',
  effect: intent === undefined ? 'read' : 'external',
  attempt: 1,
  inputDigest: digest(key),
  ...(intent === undefined ? {} : { intent }),
});
