'use client';

import { Button } from '@/components/ui/button';
import { CopyButton } from '@/components/ui/copy-button';
import { clock, zoneAt } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { useNow } from '@/components/ui/time';
import { useZone } from '@/components/ui/zone';
import type { ApiProblem } from '@/lib/client/api';
import { answerWords } from './run-words';

/** How long after one try to read what is shown the next one comes. */
export const AGAIN_MS = 5_000;

export interface Stale {
  /** Since when changes are not heard of as they happen, or nothing can be read; epoch ms, as the others. */
  readonly since: number;
  /** Why the newest try to read anew failed; undefined where it did not, or there was none. */
  readonly problem: ApiProblem | undefined;
  /** Of when what is shown is. */
  readonly shownAt: number;
  readonly nextAt: number;
  readonly onTry: () => void;
  readonly trying: boolean;
}

function whyWords({ since, problem, shownAt }: Stale): string {
  if (problem !== undefined) return answerWords(problem);
  return shownAt > since ? 'The console answers, but does not tell of changes as they happen.' : '';
}

/** A strip over what may be behind: since when, why, of when it is, when it is tried again. */
export function NotLive({ stale }: { readonly stale: Stale }) {
  const { since, problem, shownAt, nextAt, onTry, trying } = stale;
  const now = useNow();
  const zone = useZone();
  const time = (at: number) => `${clock(at, zone).slice(0, 8)} ${zoneAt(at, zone)}`;
  const why = whyWords(stale);
  const from = `What is shown is from ${time(shownAt)}.`;
  const left = Math.max(0, Math.ceil((nextAt - now) / 1_000));
  return (
    <section
      className="notice stale"
      aria-label="Not live"
      data-tone={problem === undefined ? 'attention' : 'bad'}
    >
      <Glyph name={problem === undefined ? 's-interrupted' : 's-failed'} toned />
      <p className="grow" title={[why, from].filter(Boolean).join(' ')}>
        {/* Told once, and again where the reason is another one; the times go on in silence. */}
        <span role="alert">
          <strong>Not live since {time(since)}.</strong> {why}
        </span>{' '}
        {from}{' '}
        <span aria-hidden="true">{trying ? 'Trying now.' : now === 0 ? '' : `Next try in ${left} s.`}</span>
      </p>
      <Button size="small" onPress={onTry}>
        Try now
      </Button>
      <CopyButton
        text={JSON.stringify(
          { since: new Date(since).toISOString(), problem: problem ?? null },
          undefined,
          2,
        )}
        what="details"
      />
    </section>
  );
}
