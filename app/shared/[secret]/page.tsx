import type { Metadata } from 'next';
import { connection } from 'next/server';
import { Suspense } from 'react';
import { SharedRun } from '@/components/export/shared-run';

/** The secret stands in the address: it must not go anywhere with a link, nor into an index. */
export const metadata: Metadata = {
  title: 'A shared run',
  referrer: 'no-referrer',
  robots: { index: false, follow: false },
};

export default async function SharedPage({
  params,
}: {
  readonly params: Promise<{ readonly secret: string }>;
}) {
  const { secret } = await params;
  await connection();
  return (
    <Suspense>
      <SharedRun secret={decodeURIComponent(secret)} />
    </Suspense>
  );
}
