'use client';

import { useRef, useState } from 'react';
import { impossibleNow } from '@/components/run/run-words';
import { Button, ButtonLink } from '@/components/ui/button';
import { plural, whole } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { problemOf } from '@/lib/client/api';
import { planHref } from '@/lib/client/url-state';
import { download, exportRuns } from './export-runs';
import { alikeWords, noneCancellable, type Selection } from './selection';

const SEVERAL =
  'A resume is planned for one run at a time: open its plan. Resuming many at once comes with Rescue.';

/** What is done with the runs that were picked out. */
export function BulkBar({
  selection,
  total,
  onClear,
  onCancel,
  onAll,
}: {
  readonly selection: Selection;
  /** How many runs match the filters. */
  readonly total: number;
  readonly onClear: () => void;
  readonly onCancel: () => void;
  /** Picks out every run that matches; `told` hears how far it is. */
  readonly onAll: (told: (so: number, of: number) => void, signal: AbortSignal) => Promise<void>;
}) {
  const runs = [...selection.values()];
  const work = useWork();
  const { words, state } = alikeWords(selection);
  const [only] = runs;
  const busy = work.words === undefined ? undefined : 'Something else is under way';
  return (
    <div className="bulk" role="toolbar" aria-label={`${plural(runs.length, 'run')} selected`}>
      <strong role="status">{whole(runs.length)} selected</strong>
      <span className="second small alike">
        {words} {state !== undefined && <code className="clip">{state}</code>}
      </span>
      <span className="sep" />
      {work.words !== undefined || work.problem !== undefined ? (
        <>
          <span className="small" role={work.problem === undefined ? 'status' : 'alert'}>
            {work.problem ?? work.words}
          </span>
          <Button size="small" onPress={work.end}>
            {work.problem === undefined ? 'Stop' : 'Close'}
          </Button>
        </>
      ) : (
        <>
          {runs.length === 1 && only !== undefined ? (
            <ButtonLink
              kind="primary"
              size="small"
              glyph="resume"
              href={planHref(only.id, 'resume')}
              reason={impossibleNow(only, 'resume')}
            >
              Plan a resume…
            </ButtonLink>
          ) : (
            <Button size="small" glyph="resume" reason={SEVERAL} onPress={() => undefined}>
              Plan a resume of {whole(runs.length)}…
            </Button>
          )}
          <Button
            size="small"
            glyph="download"
            title={runs.length === 1 ? 'The run as one file' : 'A ZIP with one file for each run'}
            onPress={() =>
              work.begin(`Exporting ${plural(runs.length, 'run')}`, async (tell, signal) =>
                download(
                  await exportRuns(
                    [...selection.keys()],
                    (done) => tell(`Exporting: ${whole(done)} of ${whole(runs.length)}`),
                    signal,
                  ),
                ),
              )
            }
          >
            Export
          </Button>
          <Button size="small" glyph="stop" reason={busy ?? noneCancellable(runs)} onPress={onCancel}>
            Cancel…
          </Button>
          {total > runs.length && (
            <>
              <span className="sep" />
              <button
                type="button"
                className="link small"
                onClick={() =>
                  work.begin('Looking for the others', (tell, signal) =>
                    onAll((so, of) => tell(`Selecting: ${whole(so)} of ${whole(of)}`), signal),
                  )
                }
              >
                Select all {whole(total)} in this list
              </button>
            </>
          )}
        </>
      )}
      <button
        type="button"
        className="btn"
        data-kind="quiet"
        data-icon=""
        data-size="small"
        title="Clear the selection (Esc)"
        aria-label="Clear the selection"
        onClick={onClear}
      >
        <Glyph name="x" />
      </button>
    </div>
  );
}

/** One long piece of work at a time, which can be stopped. */
function useWork() {
  const [words, setWords] = useState<string | undefined>();
  const [problem, setProblem] = useState<string | undefined>();
  const stop = useRef<AbortController | undefined>(undefined);
  return {
    words,
    problem,
    begin: (first: string, work: (tell: (words: string) => void, signal: AbortSignal) => Promise<void>) => {
      const mine = new AbortController();
      stop.current = mine;
      setWords(first);
      setProblem(undefined);
      work((next) => !mine.signal.aborted && setWords(next), mine.signal)
        .catch((error: unknown) => {
          if (!mine.signal.aborted) setProblem(problemOf(error).detail);
        })
        .finally(() => {
          if (stop.current === mine) setWords(undefined);
        });
    },
    end: () => {
      stop.current?.abort();
      stop.current = undefined;
      setWords(undefined);
      setProblem(undefined);
    },
  };
}
