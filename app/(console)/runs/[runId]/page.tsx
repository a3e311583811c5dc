import { dehydrate, HydrationBoundary, QueryClient } from '@tanstack/react-query';
import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { connection } from 'next/server';
import { preload } from 'react-dom';
import { RunPage } from '@/components/run/run-page';
import { runFirstReads, runQuery } from '@/lib/client/run-queries';
import { readRun } from '@/lib/server/pages';

interface Props {
  readonly params: Promise<{ readonly runId: string }>;
  readonly searchParams: Promise<{ readonly seq?: string | readonly string[] }>;
}

export async function generateMetadata({ params }: Pick<Props, 'params'>): Promise<Metadata> {
  return { title: decodeURIComponent((await params).runId) };
}

export default async function Page({ params, searchParams }: Props) {
  const runId = decodeURIComponent((await params).runId);
  await connection();
  const run = await readRun(runId);
  const client = new QueryClient();
  if (run !== undefined) {
    client.setQueryData(runQuery(runId).queryKey, run);
    // They travel while the page's code is loaded. A navigation within the console has that code already, and maybe the
    // answers: what was sent for and not asked for at once would answer a later question with what has changed since.
    const isDocument = (await headers()).get('accept')?.includes('text/html') === true;
    const { seq } = await searchParams;
    const asked = typeof seq === 'string' && /^\d+$/.test(seq) ? Number(seq) : null;
    for (const url of isDocument ? runFirstReads(run, asked) : [])
      preload(url, { as: 'fetch', crossOrigin: 'anonymous' });
  }
  return (
    <HydrationBoundary state={dehydrate(client)}>
      <RunPage runId={runId} />
    </HydrationBoundary>
  );
}
