import { epochMs, stepKey } from '../core/events/ids';
import type { AttemptFailure, Intent, NewEvent } from '../core/events/run-event';
import type { EffectRecord } from '../core/projections/records';
import { refOf, type TestLineage, testHash } from './random-journal';

/** The intent of a call that is about to leave; `over` is what a test says of it. */
export const testIntent = (lineage: TestLineage, over: Partial<Intent> = {}): Intent => ({
  idempotencyKey: 'k',
  generation: 1,
  argsDigest: testHash('a'),
  sendBy: epochMs(lineage.now + 500),
  timeoutMs: 200,
  settlesWithinMs: 200,
  keyValidForMs: 86_400_000,
  guarded: true,
  verifiable: true,
  ...over,
});

/** The first call of a tool in `work`: the events that its worker writes about each attempt, and its row in the ledger. */
export function testCall(name: string) {
  const key = stepKey(`work#1/${name}#1`);
  return {
    key,
    send: (
      lineage: TestLineage,
      attempt: number,
      effect: 'external' | 'idempotent',
      over: Partial<Intent> = {},
    ): NewEvent => ({
      kind: 'step.started',
      stepKey: key,
      name,
      step: 'tool',
      effect,
      attempt,
      inputDigest: testHash('a'),
      input: refOf('a'),
      intent: testIntent(lineage, over),
    }),
    fails: (failure: AttemptFailure, attempt = 1, final = false): NewEvent => ({
      kind: 'step.failed',
      stepKey: key,
      attempt,
      failure,
      error: { type: 'E', message: failure },
      final,
    }),
    row: (lineage: TestLineage): EffectRecord | undefined =>
      lineage.ledger().find((one) => one.stepKey === key),
  };
}
