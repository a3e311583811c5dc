'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useQueryStates } from 'nuqs';
import { useState } from 'react';
import { tabParams } from '@/components/run/inspector-tabs';
import { Button } from '@/components/ui/button';
import { seen } from '@/components/ui/format';
import { ProblemNote } from '@/components/ui/problem-note';
import { type ApiProblem, apiUrl, getJson, runPath } from '@/lib/client/api';
import type { RunSummary } from '@/lib/client/api-types';
import { curlLine } from '@/lib/client/curl';
import { sessionQuery } from '@/lib/client/session-queries';
import { runParams } from '@/lib/client/url-state';
import { copyText } from './copy-text';
import { type Shown, shownAt } from './shown';

const TOKEN_NOTE = 'The token is not in it: the shell’s variable RERAIL_TOKEN must hold one';

/** The run, and what the inspector shows, as JSON and as the call that gives it. */
export function ExportCopy({ run }: { readonly run: RunSummary }) {
  const client = useQueryClient();
  const [{ tab, seq }] = useQueryStates({ ...tabParams, seq: runParams.seq });
  const at = Math.max(1, Math.min(seq ?? run.headSeq, run.headSeq));
  return (
    <section className="export-row" aria-label="Copy">
      <div className="grow">
        <h3>Copy</h3>
        <ul className="export-links">
          <Copied shown={{ what: 'Summary of the run', url: apiUrl(runPath(run.id)) }} />
          <Copied shown={shownAt(client, run, tab, at)} />
        </ul>
      </div>
    </section>
  );
}

function Copied({ shown }: { readonly shown: Shown }) {
  const session = useQuery(sessionQuery).data;
  const [problem, setProblem] = useState<ApiProblem | undefined>(undefined);
  const json = async () => {
    const answer = await getJson<unknown>(shown.url);
    setProblem(answer.ok ? undefined : answer.problem);
    if (answer.ok) await copyText(JSON.stringify(answer.value, null, 2), `${shown.what}: JSON`);
  };
  const line = () =>
    curlLine(new URL(shown.url, window.location.origin).href, { token: session?.signIn !== false });
  return (
    <li>
      <span className="grow clip" title={shown.what}>
        {seen(shown.what)}
        {problem !== undefined && <ProblemNote title={problem.title} detail={problem.detail} />}
      </span>
      <Button size="small" glyph="copy" label={`Copy as JSON: ${shown.what}`} onPress={() => void json()}>
        JSON
      </Button>
      <Button
        size="small"
        glyph="copy"
        label={`Copy as cURL: ${shown.what}`}
        {...(session?.signIn !== false && { title: TOKEN_NOTE })}
        onPress={() => void copyText(line(), `${shown.what}: cURL`)}
      >
        cURL
      </Button>
    </li>
  );
}
