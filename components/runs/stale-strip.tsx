'use client';

import { Button } from '@/components/ui/button';
import { clock, sentence, zoneAt } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { useNow } from '@/components/ui/time';
import { useZone } from '@/components/ui/zone';
import type { ApiProblem } from '@/lib/client/api';

/** Over rows that could not be read anew: since when, why, when it is tried again. */
export function StaleStrip({
  since,
  problem,
  nextAt,
  rowsAt,
  onTry,
  trying,
}: {
  readonly since: number;
  /** Absent: the rows can be read, changes are not told as they happen. */
  readonly problem?: ApiProblem | undefined;
  readonly nextAt: number;
  /** When the rows below were read; 0 where there are none. */
  readonly rowsAt: number;
  readonly onTry: () => void;
  readonly trying: boolean;
}) {
  const now = useNow();
  const zone = useZone();
  const left = Math.max(0, Math.ceil((nextAt - now) / 1_000));
  const time = (at: number) => `${clock(at, zone).slice(0, 8)} ${zoneAt(at, zone)}`;
  const why =
    problem === undefined
      ? 'The console answers, but does not tell of changes as they happen.'
      : sentence(
          problem.status === 0
            ? `${problem.title}: ${problem.detail}`
            : `The console answered ${problem.status}: ${problem.detail}`,
        );
  const rows = rowsAt === 0 ? '' : ` The rows below are from ${time(rowsAt)}.`;
  const details = () =>
    JSON.stringify(
      { page: window.location.href, since: new Date(since).toISOString(), problem: problem ?? null },
      undefined,
      2,
    );
  return (
    <div className="notice stale" data-tone={problem === undefined ? 'attention' : 'bad'} role="alert">
      <Glyph name={problem === undefined ? 's-interrupted' : 's-failed'} toned />
      <p className="grow" title={`${why}${rows}`}>
        <strong>Not live since {time(since)}.</strong> {why}
        {rows}{' '}
        <span aria-hidden="true">{trying ? 'Trying now.' : now === 0 ? '' : `Next try in ${left} s.`}</span>
      </p>
      <Button size="small" onPress={onTry}>
        Try now
      </Button>
      <Button
        kind="quiet"
        size="small"
        glyph="copy"
        onPress={() => void navigator.clipboard.writeText(details())}
      >
        Copy details
      </Button>
    </div>
  );
}
