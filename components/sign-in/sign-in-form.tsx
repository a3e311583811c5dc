'use client';

import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Button } from '@/components/ui/button';
import { Glyph } from '@/components/ui/glyph';
import { type ApiProblem, apiUrl, getJson, orThrow, problemOf } from '@/lib/client/api';
import { type Session, signIn } from '@/lib/client/session-queries';

/** A whole load: everything on the page is read anew as whoever signed in. */
const go = (next: string) => window.location.replace(next);

/**
 * Somebody who followed a link from another site has no cookie on that first request (`SameSite=Strict`), though the
 * browser holds it: this page asks for itself, and goes on where it finds a session.
 */
function useSignedIn(next: string): void {
  useEffect(() => {
    const gone = new AbortController();
    getJson<Session>(apiUrl('/session'), gone.signal).then(
      (answer) => {
        if (answer.ok && answer.value.kind !== null) go(next);
      },
      // Taken back: the page is gone.
      () => undefined,
    );
    return () => gone.abort();
  }, [next]);
}

/** Name and token. `next` is an address of this console. */
export function SignInForm({ next }: { readonly next: string }) {
  const [name, setName] = useState('');
  const [token, setToken] = useState('');
  useSignedIn(next);
  const entering = useMutation({
    mutationFn: async () => orThrow(await signIn({ name, token })),
    onSuccess: () => go(next),
  });
  const problem = entering.isError ? problemOf(entering.error) : undefined;
  const missing = name.trim() === '' ? 'Enter your name' : token === '' ? 'Enter a token' : undefined;
  const wait = entering.isPending || entering.isSuccess ? 'Signing in…' : missing;
  return (
    <main className="sign-in">
      <form
        className="sign-in-card"
        aria-labelledby="sign-in-title"
        onSubmit={(event) => {
          event.preventDefault();
          if (wait === undefined) entering.mutate();
        }}
      >
        <h1 id="sign-in-title">Sign in to Rerail</h1>
        <label htmlFor="sign-in-name">
          Your name
          <span className="small second">As journal and audit will show it.</span>
        </label>
        <input
          id="sign-in-name"
          className="text"
          autoComplete="username"
          maxLength={80}
          // biome-ignore lint/a11y/noAutofocus: the page has nothing else to do
          autoFocus
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <label htmlFor="sign-in-token">
          Token
          <span className="small second">Whoever runs this console gives it out.</span>
        </label>
        <input
          id="sign-in-token"
          className="text mono"
          type="password"
          autoComplete="current-password"
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        <div role="alert">{problem && <Refused problem={problem} />}</div>
        <Button type="submit" kind="primary" size="large" onPress={() => undefined} reason={wait}>
          {entering.isPending ? 'Signing in…' : 'Sign in'}
        </Button>
      </form>
    </main>
  );
}

function Refused({ problem }: { readonly problem: ApiProblem }) {
  const seconds = problem.members['retryAfterSeconds'];
  return (
    <p className="note" data-tone="bad">
      <Glyph name="s-failed" />
      <span className="grow">
        {typeof seconds === 'number'
          ? `Too many wrong tokens came from this address. Try again in ${seconds} seconds.`
          : problem.detail}
      </span>
    </p>
  );
}
