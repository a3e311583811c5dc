import { expect, it } from 'vitest';
import { newEvent } from './events';
import { batch } from './worker';

const digest = 'a'.repeat(64);
const intent = {
  idempotencyKey: 'k',
  generation: 1,
  argsDigest: digest,
  sendBy: 1,
  timeoutMs: 1,
  settlesWithinMs: 1,
  keyValidForMs: 1,
  guarded: true,
  verifiable: true,
};
const started = (over: Partial<typeof intent> = {}, attempt = 1) => ({
  kind: 'step.started',
  stepKey: 'work#1/pay#1',
  name: 'pay',
  step: 'tool',
  effect: 'external',
  attempt,
  inputDigest: digest,
  intent: { ...intent, ...over },
});
const most = 2 ** 31 - 1;

it.each(['generation', 'timeoutMs', 'settlesWithinMs', 'keyValidForMs'] as const)(
  'an intent’s %s is bounded by what every store keeps',
  (name) => {
    expect(newEvent.safeParse(started({ [name]: most })).success).toBe(true);
    expect(newEvent.safeParse(started({ [name]: most + 1 })).success).toBe(false);
  },
);

it('attempts, epochs and batches are bounded in the same way', () => {
  expect(newEvent.safeParse(started({}, most)).success).toBe(true);
  expect(newEvent.safeParse(started({}, most + 1)).success).toBe(false);
  const sent = { epoch: most, batch: most, seenSeq: 0, events: [started()] };
  expect(batch.safeParse(sent).success).toBe(true);
  expect(batch.safeParse({ ...sent, epoch: most + 1 }).success).toBe(false);
  expect(batch.safeParse({ ...sent, batch: most + 1 }).success).toBe(false);
});
