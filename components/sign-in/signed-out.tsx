'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Glyph } from '@/components/ui/glyph';
import { problemOf } from '@/lib/client/api';
import { signInHref } from '@/lib/client/session-queries';

/**
 * Told once any read is refused for want of a session: what is on the page stays, entered text too. Signing in in
 * another tab is enough, since the cookie is one for all.
 */
export function SignedOut() {
  const client = useQueryClient();
  const [href, setHref] = useState<string | undefined>(undefined);
  useEffect(
    () =>
      client.getQueryCache().subscribe((event) => {
        if (event.type !== 'updated') return;
        if (event.action.type === 'success') setHref(undefined);
        if (event.action.type === 'error' && problemOf(event.action.error).kind === 'not-signed-in')
          setHref(signInHref(window.location));
      }),
    [client],
  );
  return (
    <div role="status" aria-live="polite">
      {href !== undefined && (
        <p className="signed-out">
          <Glyph name="info" />
          You are signed out. What is shown may be old.
          <a className="btn" data-size="small" href={href}>
            Sign in
          </a>
        </p>
      )}
    </div>
  );
}
