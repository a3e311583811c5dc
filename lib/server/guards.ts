import { isIP } from 'node:net';

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

/** Which doors there are: without tokens (`open`) only this machine's own. */
export interface Doors {
  readonly open: boolean;
  readonly hosts: ReadonlySet<string>;
}

/**
 * Why a request is refused, or `undefined`. Without tokens only this machine's own pages and programs may talk to the
 * console: the peer is loopback and `Host` names loopback. With tokens anybody may ask who shows one, under the names
 * that the console was given. Either way a page of another name that leads here (DNS rebinding) is refused, and so is
 * what another site's page is behind. The port in `Host` is free, since a tunnel may lead here; `Origin` must equal `Host`.
 */
export function refuse(caller: Caller, doors: Doors): Refusal | undefined {
  if (doors.open && !isLoopbackAddress(caller.peer)) {
    return {
      kind: 'foreign-address',
      detail: 'Without RERAIL_TOKEN the console answers requests from this machine only.',
    };
  }
  if (!isOwnHost(caller.host, doors)) {
    return {
      kind: 'foreign-host',
      detail: doors.open
        ? 'The Host header must name this machine: localhost, 127.0.0.1 or [::1].'
        : 'The Host header names no host of this console; RERAIL_HOSTS lists those that it answers to.',
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
  const name = hostName(host);
  if (name === undefined) return false;
  return name === 'localhost' || name === '[::1]' || isLoopbackAddress(name);
}

/** An address in the Host header was typed as an address: no name was rebound to it. */
function isOwnHost(host: string | undefined, { open, hosts }: Doors): boolean {
  if (isLoopbackHost(host)) return true;
  const name = hostName(host);
  if (open || name === undefined) return false;
  return hosts.has(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

const hostName = (host: string | undefined): string | undefined =>
  /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i.exec(host ?? '')?.[1]?.toLowerCase();

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

/** Sent with every answer that is no page: should a browser show one all the same, nothing of it runs. */
const NO_PAGE = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** Sent with every answer: no framing (clickjacked approvals), no sniffing, no address in referrers. */
export const safetyHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
} as const;

/** Of a page: the address of a shared run holds its secret, which goes nowhere with a link and into no index. */
export const pageHeaders = (path: string): Readonly<Record<string, string>> =>
  path.startsWith('/shared/')
    ? { ...safetyHeaders, 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex, nofollow' }
    : safetyHeaders;

/** Of the API: payloads are never a page. */
export const apiHeaders = { ...safetyHeaders, 'content-security-policy': NO_PAGE } as const;
