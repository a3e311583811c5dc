import { Glyph } from '@/components/ui/glyph';
import { Link } from '@/components/ui/link';
import type { EffectRow, PlanAnswer, RunSummary } from '@/lib/client/api-types';
import { planHref, runHref } from '@/lib/client/url-state';
import { callIn } from '@/lib/core/events/step-key';
import { modes } from './modes';

type Obstacle = PlanAnswer['obstacles'][number];

/** Nothing is left to do: why, and which other way there is. */
export function OverCard({ plan }: { readonly plan: PlanAnswer }) {
  return (
    <section className="side-card" aria-label="Nothing to do">
      <h2 data-tone="ok">
        <Glyph name="s-completed" toned />
        Nothing to {modes[plan.mode].word.toLowerCase()}
      </h2>
      <p className="small second">
        {plan.obstacles.map((obstacle) => obstacle.sentence).join(' ')}
        {plan.mode === 'resume' &&
          ' Fork it to go another way from one of its points, or replay it to see whether today’s code does the same.'}
      </p>
    </section>
  );
}

/** Where an effect in the way can be asked about or decided, or watched while it is under way. */
function WayToEffect({
  run,
  plan,
  stepKey,
  effects,
}: {
  readonly run: RunSummary;
  readonly plan: PlanAnswer;
  readonly stepKey: Obstacle['stepKey'];
  readonly effects: readonly EffectRow[];
}) {
  const step = plan.steps.find(({ key }) => key === stepKey);
  if (step?.ownerRunId == null || step.intentSeq === null) return null;
  const { ownerRunId, intentSeq } = step;
  const effect = effects.find(
    (each) => each.stepKey === stepKey && each.runId === ownerRunId && each.intentSeq === intentSeq,
  );
  if (effect?.status === 'in-doubt')
    return (
      <p>
        <Link className="link" href={planHref(ownerRunId, 'resume')}>
          Ask or decide in the plan of a resume {ownerRunId === run.id ? 'of this run' : 'of that run'}
        </Link>
      </p>
    );
  return (
    <p>
      <Link className="link" href={runHref(ownerRunId, intentSeq)}>
        Look at it in {ownerRunId === run.id ? 'this run' : 'that run'}
      </Link>
    </p>
  );
}

/** What stands in the way and has no card of its own. */
export function InTheWay({
  run,
  plan,
  obstacles,
  effects,
}: {
  readonly run: RunSummary;
  readonly plan: PlanAnswer;
  readonly obstacles: readonly Obstacle[];
  readonly effects: readonly EffectRow[];
}) {
  return (
    <section className="side-card" aria-label="In the way">
      <h2>In the way</h2>
      <ul className="small">
        {obstacles.map(({ kind, stepKey, sentence }) => (
          <li
            key={`${kind} ${stepKey}`}
            className="flex gap-2"
            data-tone={kind === 'needs-decision' ? 'attention' : 'bad'}
          >
            <Glyph name={kind === 'needs-decision' ? 'd-decide' : 'd-blocked'} toned />
            <div>
              {sentence}
              <WayToEffect run={run} plan={plan} stepKey={stepKey} effects={effects} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Confirmed with other arguments than the code asks for now: no order goes on past it, and two kinds go round it. */
export function ConflictCards({ run }: { readonly run: RunSummary }) {
  return run.conflicts.map((key) => (
    <section key={key} className="side-card" aria-label={`Other arguments ${callIn(key)}`}>
      <h2 data-tone="bad">
        <Glyph name="d-blocked" toned />
        Other arguments: <code>{callIn(key)}</code>
      </h2>
      <p className="small second">
        It is confirmed, and the code asks for it with other arguments now. Nothing is sent, and the recorded
        outcome is not given for another question. Go back to before the step that gave the new arguments.
      </p>
      <p className="small pt-1">
        <Link className="link" href={planHref(run.id, 'rewind', `step:${key}`)}>
          Plan a rewind
        </Link>{' '}
        ·{' '}
        <Link className="link" href={planHref(run.id, 'fork', `step:${key}`)}>
          Plan a fork with an edit
        </Link>
      </p>
    </section>
  ));
}
