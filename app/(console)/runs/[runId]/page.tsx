import { dehydrate, HydrationBoundary, QueryClient } from '@tanstack/react-query';
import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { connection } from 'next/server';
import { preload } from 'react-dom';
import { RunPage } from '@/components/run/run-page';
import type { RunSummary } from '@/lib/client/api-types';
import { openingKey, runFirstReads, runQuery } from '@/lib/client/run-queries';
import { OPENING, openingSteps } from '@/lib/client/step-windows';
import { readRun, readStepsAround } from '@/lib/server/pages';

type Search = Readonly<Record<'seq' | 'show' | 'find', string | readonly string[] | undefined>>;
interface Props {
  readonly params: Promise<{ readonly runId: string }>;
  readonly searchParams: Promise<Search>;
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
    // For a document alone. A navigation within the console has the page's code already, and maybe the answers: what was
    // sent for and not asked for at once would answer a later question with what has changed since.
    const isDocument = (await headers()).get('accept')?.includes('text/html') === true;
    if (isDocument) await begin(client, run, await searchParams);
  }
  return (
    <HydrationBoundary state={dehydrate(client)}>
      <RunPage runId={runId} />
    </HydrationBoundary>
  );
}

const one = (value: Search[keyof Search]) => (typeof value === 'string' ? value : undefined);

/** The first rows come with the page; everything else that it asks for travels while its code is loaded. */
async function begin(client: QueryClient, run: RunSummary, search: Search): Promise<void> {
  const seq = one(search.seq);
  const asked = seq !== undefined && /^\d+$/.test(seq) ? Number(seq) : null;
  const { first, lists } = runFirstReads(run, asked);
  for (const url of first) preload(url, { as: 'fetch', crossOrigin: 'anonymous' });
  // After the styles, without which nothing is drawn.
  for (const url of lists) preload(url, { as: 'fetch', crossOrigin: 'anonymous', fetchPriority: 'low' });
  // Which steps match a filter, only all of them tell.
  const isWhole = (one(search.show) ?? 'all') === 'all' && (one(search.find) ?? '') === '';
  if (!isWhole || run.headSeq === 0) return;
  const at = Math.max(1, Math.min(asked ?? run.headSeq, run.headSeq));
  const read = await readStepsAround(run.id, at, OPENING);
  if (read !== undefined) client.setQueryData(openingKey(run), openingSteps(read));
}
