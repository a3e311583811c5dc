import type { NextRequest } from 'next/server';
import { refuse, safetyHeaders } from '@/lib/server/guards';
import { PEER_HEADER } from '@/lib/server/peer-header';
import { problemBody } from '@/lib/server/problems';

/** Next's first stop for every request, pages and files too: the same guards as on the console's own server. */
export function proxy(request: NextRequest): Response | undefined {
  const refusal = refuse({
    peer: request.headers.get(PEER_HEADER) ?? undefined,
    method: request.method,
    path: request.nextUrl.pathname,
    host: request.headers.get('host') ?? undefined,
    origin: request.headers.get('origin') ?? undefined,
    fetchSite: request.headers.get('sec-fetch-site') ?? undefined,
    fetchMode: request.headers.get('sec-fetch-mode') ?? undefined,
    fetchDest: request.headers.get('sec-fetch-dest') ?? undefined,
  });
  if (refusal === undefined) return undefined;
  return new Response(JSON.stringify(problemBody(refusal, 403)), {
    status: 403,
    headers: { ...safetyHeaders, 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  });
}
