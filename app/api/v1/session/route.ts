import { fail, ok } from '@/lib/core/shared/result';
import { openEndpoint } from '@/lib/server/endpoint';
import type { Incoming } from '@/lib/server/http';
import { presentSession } from '@/lib/server/present/session';
import { noteAudit } from '@/lib/usecases/note-audit';
import { sessionAnswer, signInBody } from '@/lib/wire/v1/session';

/** Browsers name the scheme of the page that they post from. */
const isSecure = (request: Incoming): boolean => request.header('origin')?.startsWith('https://') === true;

const cookieHeader = { 'set-cookie': 'The session’s cookie.' };

export const GET = openEndpoint({
  doc: {
    id: 'getSession',
    tag: 'Access',
    summary: 'Who is signed in',
    description: 'Says as whom the console takes the request, and whether it asks for a token at all.',
    answers: { 200: { says: 'Who asks; `kind` is null where nobody is signed in.', json: sessionAnswer } },
  },
  run: async ({ gate }, { request }) => ok(presentSession(gate, request.principal)),
  status: { ok: 200 },
});

export const POST = openEndpoint({
  doc: {
    id: 'signIn',
    tag: 'Access',
    summary: 'Sign in with a browser',
    description:
      'Takes a name, which journal and audit will show, and a token; gives a cookie. Programs need none of this: they send the token with each request.',
    answers: { 200: { says: 'Signed in.', json: sessionAnswer, headers: cookieHeader } },
  },
  body: signInBody,
  run: async (deps, { body, request }) => {
    const signedIn = deps.gate.signIn({ ...body, peer: request.peer, secure: isSecure(request) });
    if (!signedIn.ok) {
      const { kind } = signedIn.problem;
      // What is refused unseen is not written down either: it would fill the list.
      if (kind === 'bad-token')
        await noteAudit(
          { ...deps, actor: '' },
          {
            action: 'sign-in-refused',
            detail: `A wrong token, from ${request.peer ?? 'an unknown address'}.`,
          },
        );
      return fail(signedIn.problem);
    }
    const { principal, token, setCookie } = signedIn.value;
    await noteAudit(
      { ...deps, actor: principal.actor },
      {
        action: 'sign-in',
        detail: `As ${principal.role}, by the token ${token}, from ${request.peer ?? 'an unknown address'}.`,
      },
    );
    return ok({ session: presentSession(deps.gate, principal), setCookie });
  },
  status: { ok: 200, 'bad-token': 401, 'too-many-attempts': 429, 'bad-name': 422, 'sign-in-not-needed': 409 },
  answer: ({ session, setCookie }) => ({
    status: 200,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'set-cookie': setCookie,
    },
    body: JSON.stringify(session),
  }),
});

export const DELETE = openEndpoint({
  doc: {
    id: 'signOut',
    tag: 'Access',
    summary: 'Sign out',
    description: 'Ends the session of the cookie that comes along; without one nothing happens.',
    answers: { 204: { says: 'Signed out.', empty: true, headers: cookieHeader } },
  },
  run: async (deps, { request }) => {
    const setCookie = deps.gate.signOut(request.header('cookie'), isSecure(request));
    if (request.principal?.kind === 'person')
      await noteAudit({ ...deps, actor: request.principal.actor }, { action: 'sign-out' });
    return ok(setCookie);
  },
  status: { ok: 204 },
  answer: (setCookie) => ({
    status: 204,
    headers: { 'cache-control': 'no-store', ...(setCookie !== '' && { 'set-cookie': setCookie }) },
    body: undefined,
  }),
});
