import { Button } from '@/components/ui/button';
import { sentence } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { ProblemNote } from '@/components/ui/problem-note';
import type { ApiProblem } from '@/lib/client/api';
import type { PlanMode, RunSummary } from '@/lib/client/api-types';

/** This kind of order cannot be given to the run: why, and which other kinds can. */
export function Impossible({
  run,
  mode,
  reason,
  onMode,
}: {
  readonly run: RunSummary;
  readonly mode: PlanMode;
  readonly reason: string;
  readonly onMode: (mode: PlanMode) => void;
}) {
  return (
    <div className="notice" data-tone="attention" role="status" aria-label="Not possible">
      <Glyph name="lock" />
      <span className="clip" title={reason}>
        {sentence(reason)}
      </span>
      <span className="grow" />
      {(['fork', 'replay'] as const)
        .filter((each) => each !== mode && run.actions[each].possible)
        .map((each) => (
          <Button key={each} size="small" onPress={() => onMode(each)}>
            Plan a {each}
          </Button>
        ))}
    </div>
  );
}

/** Why no plan could be made, and what makes one. */
export function PlanProblem({
  problem,
  hasPlan,
  onRewind,
  onNewest,
  onAgain,
}: {
  readonly problem: ApiProblem;
  /** The last plan that could be made is still shown. */
  readonly hasPlan: boolean;
  readonly onRewind: () => void;
  readonly onNewest: () => void;
  readonly onAgain: () => void;
}) {
  const said = [problem.detail, ...problem.errors.map((each) => `${each.path}: ${each.message}`)]
    .map(sentence)
    .join(' ');
  return (
    <ProblemNote
      title={problem.kind === 'use-rewind' ? 'An older point needs a rewind' : problem.title}
      detail={hasPlan ? `${said} Below is the last plan that could be made.` : said}
    >
      {problem.kind === 'use-rewind' ? (
        <Button size="small" onPress={onRewind}>
          Plan a rewind
        </Button>
      ) : problem.kind === 'no-such-point' ? (
        <Button size="small" onPress={onNewest}>
          Start from the newest point
        </Button>
      ) : (
        <Button size="small" onPress={onAgain}>
          Plan again
        </Button>
      )}
    </ProblemNote>
  );
}
