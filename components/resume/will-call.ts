import { plural } from '@/components/ui/format';
import type { PlanAnswer, PlannedStep } from '@/lib/client/api-types';
import { unescapeName } from '@/lib/core/events/step-key';

/** What an order would surely do outside, and what it would not do again. */
export interface WillCall {
  /** Each call with how often, such as `send_mail 1` or `pay 1, same key`. */
  readonly calls: readonly string[];
  /** What may be called beyond the frontier, besides. */
  readonly mayCall: number;
  /** Confirmed effects that answer from the record. */
  readonly notAgain: number;
}

type Plan = Pick<PlanAnswer, 'mode' | 'steps' | 'envelope'>;

const times = (steps: readonly PlannedStep[]): readonly (readonly [string, number])[] => {
  const counts = new Map<string, number>();
  for (const { name } of steps) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts];
};

const isEffect = ({ effect }: PlannedStep) => effect === 'external' || effect === 'idempotent';

export function willCall({ mode, steps, envelope }: Plan): WillCall {
  // A question asks a person, a timer waits, and a pure step stays inside.
  const out = steps.filter(({ kind, effect }) => kind !== 'wait' && kind !== 'human' && effect !== 'pure');
  const executed = out.filter(({ disposition }) => disposition === 'execute');
  const retried = out.filter(({ disposition }) => disposition === 'retry-same-key');
  const people = steps.filter(
    ({ kind, disposition }) => kind === 'human' && disposition === 'execute',
  ).length;
  return {
    calls: [
      ...times(executed).map(([name, n]) => `${unescapeName(name)} ${n}`),
      ...times(retried).map(([name, n]) => `${unescapeName(name)} ${n}, same key`),
      ...(people > 0 ? [plural(people, 'person', 'people')] : []),
    ],
    mayCall: mode === 'replay' ? 0 : envelope.tools.filter(({ effect }) => effect !== 'pure').length,
    notAgain: steps.filter(
      (step) =>
        isEffect(step) &&
        (step.disposition === 'skip' || step.disposition === 'restored') &&
        step.intentSeq !== null,
    ).length,
  };
}

/** Calls that a replay answers from the record, by what they did to the world: `10 reads, 1 external`. */
export function fromTheRecord(steps: readonly PlannedStep[]): string {
  const answered = steps.filter(
    ({ disposition }) => disposition === 'reuse' || disposition === 'skip' || disposition === 'restored',
  );
  const count = (effect: PlannedStep['effect']) => answered.filter((step) => step.effect === effect).length;
  const parts = [
    count('read') > 0 && plural(count('read'), 'read'),
    count('idempotent') > 0 && `${count('idempotent')} idempotent`,
    count('external') > 0 && `${count('external')} external`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? 'none was recorded' : parts.join(', ');
}
