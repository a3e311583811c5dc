import { type NextRequest, NextResponse } from 'next/server';
import { apiPaths } from '@/lib/server/api-paths';
import { isApiPath, refuse, safetyHeaders } from '@/lib/server/guards';
import type { Outgoing } from '@/lib/server/http';
import { PEER_HEADER } from '@/lib/server/peer-header';
import { missAnswer, problemAnswer } from '@/lib/server/problems';
import { router } from '@/lib/server/router';

const find = router(apiPaths);

/**
 * Next's first stop for every request, pages and files too: the same guards, headers and refusals as on the console's
 * own server.
 */
export function proxy(request: NextRequest): Response {
  const path = request.nextUrl.pathname;
  const refusal = refuse({
    peer: request.headers.get(PEER_HEADER) ?? undefined,
    method: request.method,
    path,
    host: request.headers.get('host') ?? undefined,
    origin: request.headers.get('origin') ?? undefined,
    fetchSite: request.headers.get('sec-fetch-site') ?? undefined,
    fetchMode: request.headers.get('sec-fetch-mode') ?? undefined,
    fetchDest: request.headers.get('sec-fetch-dest') ?? undefined,
  });
  if (refusal !== undefined) return answered(problemAnswer(refusal, 403));
  if (isApiPath(path)) {
    const match = find(request.method, path);
    if (match.kind !== 'found') return answered(missAnswer(match));
  }
  return NextResponse.next({ headers: safetyHeaders });
}

const answered = ({ status, headers, body }: Outgoing): Response =>
  new Response(body as string, { status, headers: { ...safetyHeaders, ...headers } });
