import { createHash } from 'node:crypto';
import { type Sha256, sha256 } from '@/lib/core/events/ids';
import type { Hash, PayloadRef } from '@/lib/core/events/payload';
import type { NewEvent } from '@/lib/core/events/run-event';
import { keyIn, visitPath } from '@/lib/core/events/step-key';
import type { Machine } from '@/lib/core/machine/machine';

/* A long run for the measurements of reading: one state in a loop, ten steps a visit, a checkpoint every three steps. */

export const hash: Hash = (content) => sha256(createHash('sha256').update(content).digest('hex'));

export const machine: Machine = {
  agent: 'bench-long',
  provenance: 'declared',
  initial: 'work',
  states: {
    work: { transitions: ['work', 'end'], tools: ['look'] },
    end: { transitions: [], tools: [], final: true },
  },
  tools: {
    look: {
      effect: 'read',
      keyed: false,
      verify: false,
      timeoutMs: 1_000,
      settlesWithinMs: 0,
      keyValidForMs: 0,
      retries: 0,
    },
  },
};

export const STEPS_A_VISIT = 10;
/** state.entered, two events a step, three checkpoints, state.left. */
export const EVENTS_A_VISIT = 1 + 2 * STEPS_A_VISIT + 3 + 1;

export interface ValueText {
  readonly ref: PayloadRef;
  readonly text: string;
}

const value = (text: string): ValueText => ({
  ref: { sha256: hash(text) as Sha256, bytes: Buffer.byteLength(text), codec: 'json' },
  text,
});
/** Fifty values that all steps share: what is measured is the journal, not the payloads. */
export const values: readonly ValueText[] = Array.from({ length: 50 }, (_, i) =>
  value(JSON.stringify({ query: `item ${i}`, note: 'x'.repeat(80) })),
);

const valueAt = (n: number): PayloadRef => {
  const found = values[n % values.length];
  if (found === undefined) throw new Error('there are no values');
  return found.ref;
};

/** Events of the `visit`-th visit, 1 and up. */
export function visitEvents(visit: number): readonly NewEvent[] {
  const key = visitPath('work', visit);
  const events: NewEvent[] = [
    { kind: 'state.entered', key, state: 'work', visit, ...(visit === 1 ? {} : { from: 'work' }) },
  ];
  for (let n = 1; n <= STEPS_A_VISIT; n++) {
    const input = valueAt(visit + n);
    const at = keyIn(key, 'look', n);
    events.push(
      {
        kind: 'step.started',
        stepKey: at,
        name: 'look',
        step: 'tool',
        effect: 'read',
        input,
        inputDigest: input.sha256,
        attempt: 1,
      },
      { kind: 'step.completed', stepKey: at, attempt: 1, recorded: true, result: valueAt(visit * n) },
    );
    if (n % 3 === 0) {
      const zero = 0 as never;
      events.push({
        kind: 'checkpoint.saved',
        trigger: 'every-n-steps',
        visit: key,
        name: '',
        entrySeq: zero,
        othersSeq: zero,
      });
    }
  }
  events.push({ kind: 'state.left', key, state: 'work', visit, to: 'work' });
  return events;
}

/** One `compute` step as a worker sends it when nothing else goes on: both events, and values that no other step has. */
export function stepWithPayloads(n: number) {
  const input = value(String(n));
  const result = value(JSON.stringify({ i: n, body: 'x'.repeat(100) }));
  const stepKey = keyIn(visitPath('work', 1), 'noop', n + 1);
  const events: readonly NewEvent[] = [
    {
      kind: 'step.started',
      stepKey,
      name: 'noop',
      step: 'compute',
      effect: 'pure',
      input: input.ref,
      inputDigest: input.ref.sha256,
      attempt: 1,
    },
    { kind: 'step.completed', stepKey, attempt: 1, recorded: true, result: result.ref },
  ];
  const payloads = [input, result].map(({ ref, text }) => ({ sha256: ref.sha256, codec: ref.codec, text }));
  return { events, payloads };
}
