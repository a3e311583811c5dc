import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { SignInForm } from '@/components/sign-in/sign-in-form';
import { credentialsOf } from '@/lib/server/gate';
import { gate } from '@/lib/server/gate-of';
import { sameSitePath } from '@/lib/server/sign-in-address';

export const metadata: Metadata = { title: 'Sign in' };

export default async function SignInPage({
  searchParams,
}: {
  readonly searchParams: Promise<Readonly<Record<string, string | string[] | undefined>>>;
}) {
  const { next } = await searchParams;
  const target = sameSitePath(Array.isArray(next) ? next[0] : next);
  const asked = await headers();
  const entered = gate().enter(credentialsOf((name) => asked.get(name) ?? undefined));
  if (entered.ok && entered.value !== undefined) redirect(target);
  return <SignInForm next={target} />;
}
