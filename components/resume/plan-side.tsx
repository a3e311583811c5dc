import { Glyph } from '@/components/ui/glyph';
import { Link } from '@/components/ui/link';
import type { PlanAnswer, RunSummary } from '@/lib/client/api-types';
import { planHref } from '@/lib/client/url-state';
import { callIn } from '@/lib/core/events/step-key';
import { modes } from './modes';
import { settles } from './plan-draft';

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

/** What stands in the way and has no card of its own. */
export function InTheWay({
  run,
  mode,
  obstacles,
}: {
  readonly run: RunSummary;
  readonly mode: PlanAnswer['mode'];
  readonly obstacles: readonly Obstacle[];
}) {
  const decide = !settles(mode) && obstacles.some(({ kind }) => kind === 'needs-decision');
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
            <span>{sentence}</span>
          </li>
        ))}
      </ul>
      {decide && (
        <p className="small pt-1">
          <Link className="link" href={planHref(run.id, 'resume')}>
            Decide it in the plan of a resume
          </Link>
          ; a {mode} takes the answer over.
        </p>
      )}
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
