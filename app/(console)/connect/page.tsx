import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { ConnectPage } from '@/components/connect/connect-page';
import { wayOf } from '@/components/connect/ways';
import { readConnect } from '@/lib/server/connect';

export const metadata: Metadata = { title: 'Connect' };

export default async function Connect({
  searchParams,
}: {
  readonly searchParams: Promise<{ readonly via?: string | string[] }>;
}) {
  const { via } = await searchParams;
  const given = await headers();
  const connect = await readConnect((name) => given.get(name) ?? undefined);
  return <ConnectPage way={wayOf([via].flat()[0])} {...connect} />;
}
