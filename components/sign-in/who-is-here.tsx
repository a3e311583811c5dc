'use client';

import { useMutation, useQuery } from '@tanstack/react-query';
import { Glyph } from '@/components/ui/glyph';
import { orThrow, problemOf } from '@/lib/client/api';
import { type Session, sessionQuery, signOut } from '@/lib/client/session-queries';

const roleWords = {
  viewer: 'viewer: may look',
  operator: 'operator: may look and give orders',
  admin: 'admin: may do everything',
} as const satisfies Record<NonNullable<Session['role']>, string>;

/** Who is signed in, and the way out. Nothing where this console asks nobody to sign in. */
export function WhoIsHere() {
  const { data } = useQuery(sessionQuery);
  const leaving = useMutation({
    mutationFn: async () => orThrow(await signOut()),
    // A whole load, so that nothing that was read stays behind.
    onSuccess: () => window.location.replace('/sign-in'),
  });
  if (data?.kind !== 'person' || data.actor === null || data.role === null) return null;
  const words = `${data.actor}, ${roleWords[data.role]}`;
  return (
    <button
      type="button"
      aria-label={`Sign out ${data.actor}, ${data.role}`}
      title={leaving.isError ? problemOf(leaving.error).detail : `${words}. Click to sign out.`}
      onClick={() => leaving.mutate()}
    >
      <Glyph name={leaving.isError ? 's-failed' : 'k-human'} />
      <span className="word clip" dir="auto">
        {data.actor}
      </span>
      <span className="count">Sign out</span>
    </button>
  );
}
