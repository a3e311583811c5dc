'use client';

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from '@/components/ui/button';
import { plural, size } from '@/components/ui/format';
import { ProblemNote } from '@/components/ui/problem-note';
import { apiUrl, runPath } from '@/lib/client/api';
import type { RunSummary } from '@/lib/client/api-types';
import { fileName } from '@/lib/client/download';
import { exportSizesQuery } from '@/lib/client/share-queries';
import { useDownload } from './use-download';

/** Longer runs are not exported only to say how large their files are. */
const MEASURED = 20_000;

export function ExportFiles({ run }: { readonly run: RunSummary }) {
  const isMeasured = run.headSeq <= MEASURED;
  const sizes = useQuery({ ...exportSizesQuery(run.id, run.headSeq), enabled: isMeasured });
  const unknown = isMeasured
    ? sizes.isError
      ? 'size not known'
      : 'measuring …'
    : 'a long run: its size shows as it comes';
  const html = sizes.data?.html;
  return (
    <>
      <File
        run={run}
        name="Native file"
        as="native"
        ending="rerail.ndjson"
        bytes={sizes.data?.native.bytes}
        unknown={unknown}
      >
        All of the run, byte for byte. Uploaded to another console it is the identical run.
      </File>
      <File
        run={run}
        name="Web page"
        as="html"
        ending="rerail.html"
        bytes={html?.bytes}
        unknown={unknown}
        reason={html === null ? 'This console was built without the page of a copy.' : undefined}
      >
        One HTML file that shows this page, read-only, with no network and no console. Values above 8 MiB, and
        what goes beyond 128 MiB of them, are left out and named in it.
        {html && html.leftOut.values > 0 && (
          <b>
            {' '}
            Here: {plural(html.leftOut.values, 'value')}, {size(html.leftOut.bytes)}.
          </b>
        )}
      </File>
    </>
  );
}

function File({
  run,
  name,
  as,
  ending,
  bytes,
  unknown,
  reason,
  children,
}: {
  readonly run: RunSummary;
  readonly name: string;
  readonly as: 'native' | 'html';
  readonly ending: string;
  readonly bytes: number | undefined;
  /** In place of the size. */
  readonly unknown: string;
  readonly reason?: string | undefined;
  readonly children: ReactNode;
}) {
  const { state, begin, cancel } = useDownload();
  const going = state.kind === 'going';
  return (
    <section className="export-row" aria-label={name}>
      <div className="grow">
        <h3>
          {name} <span className="third">{bytes === undefined ? unknown : size(bytes)}</span>
        </h3>
        <p className="second">{children}</p>
        {going && (
          <progress
            aria-label={`${name}: ${size(state.bytes)} so far`}
            {...(bytes !== undefined && { max: bytes, value: Math.min(bytes, state.bytes) })}
          />
        )}
        <p role="status" className="small second">
          {going && `${size(state.bytes)}${bytes === undefined ? '' : ` of ${size(bytes)}`}`}
          {state.kind === 'done' && `Saved as ${state.name}, ${size(state.bytes)}`}
        </p>
        {state.kind === 'failed' && <ProblemNote title={state.problem.title} detail={state.problem.detail} />}
      </div>
      {going ? (
        <Button onPress={cancel}>Stop</Button>
      ) : (
        <Button
          glyph="download"
          label={`Download the ${name.toLowerCase()}`}
          reason={reason}
          onPress={() => begin(apiUrl(runPath(run.id, '/export'), { as }), fileName(run.id, ending))}
        >
          Download
        </Button>
      )}
    </section>
  );
}
