import { useState } from 'react';
import { keyedDoubt } from '@/components/run/asking';
import type { PlanAnswer, PlanMode, RunSummary } from '@/lib/client/api-types';
import { ContextCard } from './context-card';
import { DriftCards } from './drift-strip';
import { EditsCard } from './edits-card';
import { EffectCard } from './effect-card';
import { LeftBehind } from './left-behind';
import { goesWithOrder, intentKey, isOver, takesDecisions } from './plan-draft';
import { ConflictCards, InTheWay, OverCard } from './plan-side';
import { ReplayCards } from './replay-cards';
import type { Planned } from './use-plan';
import { concerns, type PlanReads } from './use-plan-reads';

interface Props {
  readonly run: RunSummary;
  readonly mode: PlanMode;
  readonly plan: PlanAnswer;
  readonly planned: Pick<Planned, 'draft' | 'setDraft' | 'body' | 'act'>;
  readonly reads: Pick<PlanReads, 'effects' | 'fieldsFor'>;
  readonly reason: string;
}

/** What stands in the way and has no card of its own. */
const withoutCard = ({ plan, mode, reads }: Pick<Props, 'plan' | 'mode' | 'reads'>) =>
  plan.obstacles.filter(
    ({ kind, stepKey }) =>
      stepKey === null ||
      kind === 'needs-keep' ||
      !takesDecisions(mode) ||
      !reads.effects.some((effect) => effect.stepKey === stepKey && concerns(effect)),
  );

/** Beside the plan: everything that a person decides, enters or should see before the order. */
export function PlanCards(props: Props) {
  const { run, mode, plan, planned } = props;
  const { draft, setDraft } = planned;
  const inTheWay = withoutCard(props);
  return (
    <aside className="plan-side scroll" aria-label="Decisions">
      {isOver(plan) && <OverCard plan={plan} />}
      {!isOver(plan) && inTheWay.length > 0 && (
        <InTheWay run={run} plan={plan} obstacles={inTheWay} effects={props.reads.effects} />
      )}
      <ConflictCards run={run} />
      <DriftCards plan={plan} />
      {takesDecisions(mode) && <EffectCards {...props} />}
      {mode === 'fork' && (
        <EditsCard
          plan={plan}
          edits={draft.edits}
          onEdits={(change) => setDraft((now) => ({ ...now, edits: change(now.edits) }))}
        />
      )}
      {mode !== 'replay' && !isOver(plan) && (
        <LeftBehind plan={plan} keep={draft.keep} onKeep={(keep) => setDraft((now) => ({ ...now, keep }))} />
      )}
      {mode === 'replay' && <ReplayCards plan={plan} run={run} />}
      {mode !== 'replay' && !isOver(plan) && <ContextCard plan={plan} />}
    </aside>
  );
}

function EffectCards({ run, mode, planned, reads, reason }: Props) {
  const { draft, setDraft, body, act } = planned;
  const [here, setHere] = useState<string | undefined>(undefined);
  const shown = reads.effects.filter(
    (effect) => concerns(effect) || draft.decisions[intentKey(effect)] !== undefined,
  );
  const keyed = keyedDoubt(shown, (effect) => intentKey(effect) === here);
  return shown.map((effect) => (
    <EffectCard
      key={`${effect.stepKey} ${effect.generation}`}
      keyed={effect === keyed}
      onHere={() => setHere(intentKey(effect))}
      run={run}
      reason={reason}
      effect={effect}
      fields={reads.fieldsFor(effect)}
      draft={draft.decisions[intentKey(effect)]}
      decided={goesWithOrder(run.id, effect, mode) && body.decisions?.[effect.stepKey] !== undefined}
      onActed={() => act([effect.stepKey])}
      onDraft={(decision) =>
        setDraft((now) => ({
          ...now,
          decisions: { ...now.decisions, [intentKey(effect)]: decision },
        }))
      }
    />
  ));
}
