import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { ApiPage } from '@/components/api-reference/api-page';
import { readReference } from '@/lib/server/openapi/reference';

export const metadata: Metadata = { title: 'API' };

type Search = Readonly<Partial<Record<'op' | 'schema' | 'q', string | string[]>>>;
const first = (value: string | string[] | undefined) => [value].flat()[0];

export default async function ApiReference({ searchParams }: { readonly searchParams: Promise<Search> }) {
  const { op, schema, q } = await searchParams;
  const given = await headers();
  const reference = await readReference((name) => given.get(name) ?? undefined);
  return <ApiPage {...reference} op={first(op)} schema={first(schema)} search={first(q) ?? ''} />;
}
