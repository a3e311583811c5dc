import type { Metadata } from 'next';
import { RunPage } from '@/components/run/run-page';

interface Props {
  readonly params: Promise<{ readonly runId: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: decodeURIComponent((await params).runId) };
}

export default async function Page({ params }: Props) {
  return <RunPage runId={decodeURIComponent((await params).runId)} />;
}
