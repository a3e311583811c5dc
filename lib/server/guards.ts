/** What a guard looks at. `peer` is the socket's remote address; `undefined` means that it is not known. */
export interface Caller {
  readonly peer: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  readonly fetchMode: string | undefined;
  readonly fetchDest: string | undefined;
}

export interface Refusal {
  readonly kind: 'foreign-address' | 'foreign-host' | 'cross-site';
  readonly detail: string;
}

/**
 * Why a request is refused, or `undefined`. Without a sign-in only this machine's own pages and programs may talk to
 * the console: the peer is loopback, `Host` names loopback (no DNS rebinding), and no other site is behind it.
 * The port in `Host` is free, since a tunnel may lead here; `Origin` must then equal `Host`.
 */
export function refuse(caller: Caller): Refusal | undefined {
  if (!isLoopbackAddress(caller.peer)) {
    return {
      kind: 'foreign-address',
      detail: 'Until sign-in exists, the console answers requests from this machine only.',
    };
  }
  if (!isLoopbackHost(caller.host)) {
    return {
      kind: 'foreign-host',
      detail: 'The Host header must name this machine: localhost, 127.0.0.1 or [::1].',
    };
  }
  if (isFollowedLink(caller)) return undefined;
  const crossSite =
    (caller.origin !== undefined && !sameOrigin(caller.origin, caller.host)) ||
    (caller.fetchSite !== undefined && caller.fetchSite !== 'same-origin' && caller.fetchSite !== 'none');
  return crossSite
    ? { kind: 'cross-site', detail: 'The request comes from another site’s page.' }
    : undefined;
}

export function isLoopbackAddress(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  return plain === '::1' || /^127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(plain);
}

/** `localhost:3000`, `127.0.0.1`, `[::1]:3000`; a trailing dot or anything after the port is foreign. */
export function isLoopbackHost(host: string | undefined): boolean {
  const name = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i.exec(host ?? '')?.[1]?.toLowerCase();
  if (name === undefined) return false;
  return name === 'localhost' || name === '[::1]' || isLoopbackAddress(name);
}

/** A link on another page that a person followed: it only shows a page, so it is no forgery. */
const isFollowedLink = (caller: Caller): boolean =>
  caller.method === 'GET' &&
  caller.fetchMode === 'navigate' &&
  caller.fetchDest === 'document' &&
  caller.origin === undefined &&
  !isApiPath(caller.path);

/** Whether the API answers, if only that there is nothing: never a page. */
export const isApiPath = (path: string): boolean => /^\/+(?:api|v1)(?:\/|$)/.test(path);

const sameOrigin = (origin: string, host: string | undefined): boolean =>
  origin === `http://${host}` || origin === `https://${host}`;

/** Sent with every answer: no framing (clickjacked approvals), no sniffing, no address in referrers. */
export const safetyHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;
