import { randomBytes } from 'node:crypto';
import { type NextRequest, NextResponse } from 'next/server';
import { apiPaths } from '@/lib/server/api-paths';
import { contentPolicy, NONCE_HEADER } from '@/lib/server/content-policy';
import { credentialsOf, type Gate, refusedAtGate } from '@/lib/server/gate';
import { gate } from '@/lib/server/gate-of';
import { apiHeaders, isApiPath, pageHeaders, refuse, safetyHeaders } from '@/lib/server/guards';
import type { Outgoing } from '@/lib/server/http';
import { toldToExporter } from '@/lib/server/otlp-answer';
import { PEER_HEADER } from '@/lib/server/peer-header';
import { missAnswer, problemAnswer } from '@/lib/server/problems';
import { router } from '@/lib/server/router';
import { signInAddress } from '@/lib/server/sign-in-address';

const find = router(apiPaths);

/**
 * Next's first stop for every request, pages and files too: the same guards, headers and refusals as on the console's
 * own server. It also stands before the pages there: they are shown to whoever is signed in, each with a policy of its
 * own about what may run.
 */
export function proxy(request: NextRequest): Response {
  const path = request.nextUrl.pathname;
  const header = (name: string) => request.headers.get(name) ?? undefined;
  const doors = gate();
  const refused = (answer: Outgoing) =>
    answered(toldToExporter(answer, { path, contentType: header('content-type') }));
  const refusal = refuse(
    {
      peer: header(PEER_HEADER),
      method: request.method,
      path,
      host: header('host'),
      origin: header('origin'),
      fetchSite: header('sec-fetch-site'),
      fetchMode: header('sec-fetch-mode'),
      fetchDest: header('sec-fetch-dest'),
    },
    doors,
  );
  if (refusal !== undefined) return refused(problemAnswer(refusal, 403));
  if (isApiPath(path)) {
    const match = find(request.method, path);
    return match.kind === 'found' ? NextResponse.next({ headers: apiHeaders }) : refused(missAnswer(match));
  }
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return answered(missAnswer({ kind: 'method-not-allowed', allow: 'GET, HEAD' }));
  return isFile(path) ? NextResponse.next({ headers: safetyHeaders }) : page(request, doors);
}

/** Scripts, styles, fonts and the icon: the same for everybody, and the sign-in page needs them. */
const isFile = (path: string): boolean => path.startsWith('/_next/static/') || path === '/icon.svg';

/** Pages for those who are not signed in: where one signs in, and what whoever has a link may see. */
const isOpenPage = (path: string): boolean => path === '/sign-in' || path.startsWith('/shared/');

function page(request: NextRequest, doors: Gate): Response {
  const { pathname, search } = request.nextUrl;
  if (!isOpenPage(pathname)) {
    const entered = doors.enter(credentialsOf((name) => request.headers.get(name) ?? undefined));
    if (!entered.ok) return answered(refusedAtGate(entered.problem));
    if (entered.value === undefined)
      return NextResponse.redirect(new URL(signInAddress(pathname + search), request.nextUrl), {
        status: 307,
        headers: { ...safetyHeaders, 'cache-control': 'no-store' },
      });
  }
  const nonce = randomBytes(16).toString('base64');
  const policy = contentPolicy(nonce, process.env.NODE_ENV === 'development');
  const headers = new Headers(request.headers);
  headers.set(NONCE_HEADER, nonce);
  // Next takes the nonce for its own scripts from here.
  headers.set('content-security-policy', policy);
  return NextResponse.next({
    request: { headers },
    headers: { ...pageHeaders(pathname), 'content-security-policy': policy },
  });
}

const answered = ({ status, headers, body }: Outgoing): Response =>
  new Response(body as BodyInit, { status, headers: { ...apiHeaders, ...headers } });
