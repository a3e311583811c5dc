import { dehydrate, HydrationBoundary, QueryClient } from '@tanstack/react-query';
import type { Metadata } from 'next';
import { connection } from 'next/server';
import { preload } from 'react-dom';
import { RunPage } from '@/components/run/run-page';
import { runFirstReads, runQuery } from '@/lib/client/run-queries';
import { readRun } from '@/lib/server/pages';

interface Props {
  readonly params: Promise<{ readonly runId: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: decodeURIComponent((await params).runId) };
}

export default async function Page({ params }: Props) {
  const runId = decodeURIComponent((await params).runId);
  await connection();
  const run = await readRun(runId);
  const client = new QueryClient();
  if (run !== undefined) {
    client.setQueryData(runQuery(runId).queryKey, run);
    // They travel while the page's code is loaded.
    for (const url of runFirstReads(run)) preload(url, { as: 'fetch', crossOrigin: 'anonymous' });
  }
  return (
    <HydrationBoundary state={dehydrate(client)}>
      <RunPage runId={runId} />
    </HydrationBoundary>
  );
}
