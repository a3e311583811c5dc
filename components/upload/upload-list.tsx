'use client';

import { Button } from '@/components/ui/button';
import { plural } from '@/components/ui/format';
import { Glyph, type GlyphName } from '@/components/ui/glyph';
import { Link } from '@/components/ui/link';
import type { ApiProblem } from '@/lib/client/api';
import type { Upload, UploadReport, UploadState } from '@/lib/client/uploads';
import { runHref } from '@/lib/client/url-state';
import {
  capital,
  refusalOf,
  runWords,
  shareOf,
  stateWords,
  type Told,
  toldOf,
  uploadTone,
} from './upload-words';

const glyphs = {
  waits: 's-queued',
  sends: 's-running',
  reads: 's-running',
  done: 's-completed',
  refused: 's-failed',
  stopped: 's-cancelled',
} as const satisfies Record<UploadState['kind'], GlyphName>;

/** So many notes, and runs, are drawn at once; the rest is counted. */
const SHOWN = 200;

interface Acts {
  readonly onStop: (key: number) => void;
  readonly onAgain: (key: number) => void;
}

/** Every file with what became of it. */
export function UploadList({ all, ...acts }: Acts & { readonly all: readonly Upload[] }) {
  return (
    <ul className="uploads" aria-label="Files">
      {all.map((upload) => (
        <li key={upload.key} data-tone={uploadTone[upload.state.kind]} aria-label={upload.file.name}>
          <UploadItem upload={upload} {...acts} />
        </li>
      ))}
    </ul>
  );
}

function UploadItem({ upload, onStop, onAgain }: Acts & { readonly upload: Upload }) {
  const { key, file, state } = upload;
  const underWay = state.kind === 'waits' || state.kind === 'sends' || state.kind === 'reads';
  const share = shareOf(upload);
  return (
    <>
      <div className="upload-line">
        <Glyph name={glyphs[state.kind]} toned />
        <strong className="clip" dir="auto" title={file.name}>
          {file.name}
        </strong>
        <span className="grow second">{stateWords(upload)}</span>
        {underWay ? (
          <Button size="small" label={`Stop ${file.name}`} onPress={() => onStop(key)}>
            Stop
          </Button>
        ) : (
          state.kind !== 'done' && (
            <Button size="small" label={`Send ${file.name} again`} onPress={() => onAgain(key)}>
              Try again
            </Button>
          )
        )}
      </div>
      {(state.kind === 'sends' || state.kind === 'reads') && (
        <progress
          className="bar-progress"
          aria-label={`Bytes of ${file.name} sent`}
          max={1}
          value={share ?? 1}
        />
      )}
      {state.kind === 'done' && <Report report={state.report} />}
      {state.kind === 'refused' && <Refused problem={state.problem} />}
    </>
  );
}

function Report({ report }: { readonly report: UploadReport }) {
  const { runs, warnings } = report;
  return (
    <>
      <ul className="upload-runs">
        {runs.slice(0, SHOWN).map((run) => (
          <li key={run.id}>
            <Link className="link mono clip" dir="auto" href={runHref(run.id)} title={run.id}>
              {run.id}
            </Link>
            <span className="second">
              {run.status}, {runWords(run)}
            </span>
          </li>
        ))}
        {runs.length > SHOWN && (
          <li className="second">and {runs.length - SHOWN} more, in the list of runs</li>
        )}
      </ul>
      {warnings.length > 0 && (
        <details className="upload-notes" open={warnings.length <= 5}>
          <summary>{plural(warnings.length, 'note')}: what was skipped, or inferred, and where</summary>
          <ul>
            {warnings.slice(0, SHOWN).map((warning, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a report does not change
              <li key={n}>
                <Line told={toldOf(warning)} />
              </li>
            ))}
            {warnings.length > SHOWN && <li>and {warnings.length - SHOWN} more</li>}
          </ul>
        </details>
      )}
    </>
  );
}

interface Format {
  readonly format: string;
  readonly title: string;
}
const isFormat = (found: unknown): found is Format =>
  typeof found === 'object' && found !== null && 'format' in found && 'title' in found;

function Line({ told: { place, message } }: { readonly told: Told }) {
  return place === '' ? (
    <span dir="auto">{capital(message)}</span>
  ) : (
    <>
      <code dir="auto">{place}</code> <span dir="auto">{message}</span>
    </>
  );
}

/** Why the console took nothing of it, where that is, and what it would take. */
function Refused({ problem }: { readonly problem: ApiProblem }) {
  const known = problem.members['known'];
  const formats = Array.isArray(known) ? known.filter(isFormat) : [];
  return (
    <div className="upload-refused">
      {formats.length > 0 ? (
        <>
          <p>The content is of no known format. Known are:</p>
          <ul>
            {formats.map(({ format, title }) => (
              <li key={format}>
                {title} <span className="third">({format})</span>
              </li>
            ))}
          </ul>
        </>
      ) : (
        <ul>
          {refusalOf(problem)
            .slice(0, SHOWN)
            .map((told, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a refusal does not change
              <li key={n}>
                <Line told={told} />
              </li>
            ))}
        </ul>
      )}
    </div>
  );
}
