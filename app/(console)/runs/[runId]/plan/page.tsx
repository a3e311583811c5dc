import type { Metadata } from 'next';
import { PlanPage } from '@/components/resume/plan-page';

interface Props {
  readonly params: Promise<{ readonly runId: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: `Plan for ${decodeURIComponent((await params).runId)}` };
}

export default async function Page({ params }: Props) {
  return <PlanPage runId={decodeURIComponent((await params).runId)} />;
}
