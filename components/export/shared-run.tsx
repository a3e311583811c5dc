'use client';

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { RunPage } from '@/components/run/run-page';
import { Button } from '@/components/ui/button';
import { moment } from '@/components/ui/format';
import { ProblemNote, Skeleton } from '@/components/ui/problem-note';
import { useZone } from '@/components/ui/zone';
import { problemOf } from '@/lib/client/api';
import { sharedQuery, sharedSource } from '@/lib/client/shared-source';
import { readFrom } from '@/lib/client/source';
import { ConfinedFrame } from './confined-frame';

const READ_ONLY = 'A shared link only shows the run.';
/** Refusals after which the link opens nothing any more. */
const over: ReadonlySet<string> = new Set(['no-such-link', 'link-expired', 'link-revoked']);

/** The run of a link, for whoever has it. */
export function SharedRun({ secret }: { readonly secret: string }) {
  // Nothing is read while the server draws the page.
  useState(() => {
    if (typeof window !== 'undefined') readFrom(sharedSource(secret));
  });
  const query = useQuery(sharedQuery);
  const zone = useZone();
  const problem = query.isError ? problemOf(query.error) : undefined;
  if (problem !== undefined && (query.data === undefined || over.has(problem.kind))) {
    return (
      <main className="page empty-page">
        <div className="empty-box">
          <ProblemNote title={problem.title} detail={problem.detail}>
            {!over.has(problem.kind) && (
              <Button size="small" onPress={() => void query.refetch()}>
                Try again
              </Button>
            )}
          </ProblemNote>
        </div>
      </main>
    );
  }
  if (query.data === undefined)
    return (
      <main className="page">
        <Skeleton rows={14} />
      </main>
    );
  const { runId, sharedBy, expiresAt } = query.data;
  return (
    <ConfinedFrame
      runId={runId}
      label="About this link"
      reason={READ_ONLY}
      notice={
        <>
          Shared by {sharedBy} until {moment(Date.parse(expiresAt), zone)}. Read-only: this run and nothing
          else.
        </>
      }
    >
      <RunPage runId={runId} />
    </ConfinedFrame>
  );
}
