'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '@/components/ui/button';
import { moment } from '@/components/ui/format';
import { ProblemNote } from '@/components/ui/problem-note';
import { useZone } from '@/components/ui/zone';
import type { ApiProblem } from '@/lib/client/api';
import { problemOf } from '@/lib/client/api';
import type { RunSummary } from '@/lib/client/api-types';
import { sessionQuery } from '@/lib/client/session-queries';
import {
  makeShare,
  revokeShare,
  type ShareMade,
  type ShareRow,
  sharesQuery,
} from '@/lib/client/share-queries';
import { copyText } from './copy-text';

const spans = [
  ['1h', 'an hour'],
  ['1d', 'a day'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['90d', '90 days'],
] as const;

/** Makes links to the run, and ends them. */
export function ExportLink({ run }: { readonly run: RunSummary }) {
  const client = useQueryClient();
  const session = useQuery(sessionQuery).data;
  const shares = useQuery(sharesQuery(run.id));
  const [span, setSpan] = useState('7d');
  const [made, setMade] = useState<ShareMade | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | undefined>(undefined);
  const lock =
    session?.role === 'viewer' ? 'This needs the role operator' : busy ? 'Wait for the answer' : undefined;

  const settle = async <Value,>(
    asked: Promise<
      { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly problem: ApiProblem }
    >,
    done: (value: Value) => void,
  ) => {
    setBusy(true);
    setProblem(undefined);
    const answer = await asked;
    setBusy(false);
    if (answer.ok) done(answer.value);
    else setProblem(answer.problem);
    await client.invalidateQueries({ queryKey: sharesQuery(run.id).queryKey });
  };
  const revoke = (share: ShareRow) =>
    void settle(revokeShare(share.id), () => {
      if (made?.id === share.id) setMade(undefined);
    });
  const zone = useZone();
  const open = shares.data?.filter(({ status }) => status === 'open') ?? [];
  const over = (shares.data?.length ?? 0) - open.length;
  return (
    <section className="export-row" aria-label="Read-only link">
      <div className="grow">
        <h3>Read-only link</h3>
        <p className="second">
          Whoever has it sees this run, live and without signing in, until it expires or is revoked: no other
          run, and no order.
        </p>
        {made !== undefined && <Made share={made} />}
        {problem !== undefined && <ProblemNote title={problem.title} detail={problem.detail} />}
        {shares.isError && (
          <ProblemNote title="The links could not be read" detail={problemOf(shares.error).detail} />
        )}
        {open.length > 0 && (
          <ul className="export-links" aria-label="Links that are open">
            {open.map((share) => (
              <li key={share.id}>
                <span className="grow">
                  by {share.createdBy}, until {moment(Date.parse(share.expiresAt), zone)}
                </span>
                <Button size="small" reason={lock} label="Revoke this link" onPress={() => revoke(share)}>
                  Revoke
                </Button>
              </li>
            ))}
          </ul>
        )}
        {over > 0 && <p className="small third">{over} more expired or revoked.</p>}
      </div>
      <span className="flex gap-2">
        <select
          className="text"
          aria-label="How long the link lasts"
          value={span}
          onChange={(event) => setSpan(event.target.value)}
        >
          {spans.map(([value, word]) => (
            <option key={value} value={value}>
              for {word}
            </option>
          ))}
        </select>
        <Button glyph="link" reason={lock} onPress={() => void settle(makeShare(run.id, span), setMade)}>
          Make a link
        </Button>
      </span>
    </section>
  );
}

/** The one time that the link is shown. */
function Made({ share }: { readonly share: ShareMade }) {
  const address = new URL(share.path, window.location.origin).href;
  return (
    <div className="export-made">
      <input
        className="text mono"
        readOnly
        aria-label="The link"
        value={address}
        onFocus={(event) => event.target.select()}
      />
      <Button glyph="copy" kind="primary" onPress={() => void copyText(address, 'The link was')}>
        Copy
      </Button>
      <p className="small second" role="status">
        Shown this once: the console keeps no copy of its secret.
      </p>
    </div>
  );
}
