'use client';

import { useQuery } from '@tanstack/react-query';
import { absolute, plural } from '@/components/ui/format';
import { Badge, Mark } from '@/components/ui/mark';
import { EmptyNote, Skeleton } from '@/components/ui/problem-note';
import { useZone, type Zone } from '@/components/ui/zone';
import type { EffectRow } from '@/lib/client/api-types';
import { effectsQuery } from '@/lib/client/run-queries';
import { callIn } from '@/lib/core/events/step-key';
import { EffectTag } from './effect-tag';
import type { InspectorMoment } from './inspector-moment';
import { Unread } from './unread';
import { badgeView, confirmedWords, effectStatusView, isFromTrace } from './views';

function detailOf(effect: EffectRow, zone: Zone): string {
  const parts = [
    effect.receipt === null ? undefined : `Receipt ${effect.receipt}`,
    effect.confirmedBy === null ? undefined : `confirmed ${confirmedWords[effect.confirmedBy]}`,
    `intended at seq ${effect.intentSeq}, ${absolute(Date.parse(effect.intentAt), zone)}`,
    effect.executions === 1 ? undefined : `may have left ${effect.executions} times`,
    effect.guarded ? undefined : 'unguarded',
    effect.held ? 'held' : undefined,
    effect.askAgainAt === null
      ? undefined
      : `a “not found” counts from ${absolute(Date.parse(effect.askAgainAt), zone)}`,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

export function EffectsTab({
  run,
  settled: seq,
  onMove,
}: Pick<InspectorMoment, 'run' | 'settled' | 'onMove'>) {
  const query = useQuery(effectsQuery(run.id, seq));
  const zone = useZone();
  if (query.isError) return <Unread what="The effects" error={query.error} onAgain={query.refetch} />;
  if (!query.data) return <Skeleton rows={4} />;
  const effects = query.data.items;
  if (effects.length === 0)
    return (
      <EmptyNote title={`No effect up to seq ${seq}`}>
        {isFromTrace(run)
          ? 'The trace does not say what its calls do to the world: some of its steps may have changed something.'
          : 'Up to the cursor there is no idempotent or external call.'}
      </EmptyNote>
    );
  const count = (status: EffectRow['status']) => effects.filter((effect) => effect.status === status).length;
  return (
    <>
      <p className="section small second">
        Ledger at seq {seq}: {count('confirmed')} confirmed, {count('in-doubt')} in doubt,{' '}
        {plural(effects.length, 'effect')}
      </p>
      <ul aria-label="Effects">
        {effects.map((effect) => (
          <li key={`${effect.stepKey} ${effect.generation}`} className="effect-row">
            <Mark view={effectStatusView[effect.status]} />
            <button
              type="button"
              className="clip"
              onClick={() => effect.runId === run.id && onMove(effect.intentSeq, 'jump')}
              title={effect.stepKey}
            >
              <code>{callIn(effect.stepKey)}</code>
            </button>
            <EffectTag effect={effect.effect} />
            {effect.perhapsTwice === true && (
              <span className="sub">
                <Badge view={badgeView['perhaps-twice']} /> an earlier call is said to have happened, and the
                newest may have as well
              </span>
            )}
            <span className="sub">{detailOf(effect, zone)}</span>
            <code className="sub clip" title={effect.idempotencyKey}>
              key {effect.idempotencyKey}
            </code>
          </li>
        ))}
      </ul>
    </>
  );
}
