import { dehydrate, HydrationBoundary, QueryClient } from '@tanstack/react-query';
import type { Metadata } from 'next';
import { connection } from 'next/server';
import { PlanPage } from '@/components/resume/plan-page';
import { runQuery } from '@/lib/client/run-queries';
import { readRun } from '@/lib/server/pages';

interface Props {
  readonly params: Promise<{ readonly runId: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: `Plan for ${decodeURIComponent((await params).runId)}` };
}

export default async function Page({ params }: Props) {
  const runId = decodeURIComponent((await params).runId);
  await connection();
  const run = await readRun(runId);
  const client = new QueryClient();
  if (run !== undefined) client.setQueryData(runQuery(runId).queryKey, run);
  return (
    <HydrationBoundary state={dehydrate(client)}>
      <PlanPage runId={runId} />
    </HydrationBoundary>
  );
}
