import { invalid, type Outgoing } from './http';
import type { Match } from './router';

/** A problem as use-cases return it: a kind, and members that help the caller. */
export interface Problem {
  readonly kind: string;
}

const sentences: Readonly<Record<string, { readonly title: string; readonly detail: string }>> = {
  'invalid-request': { title: 'Invalid request', detail: 'The request does not have the documented shape.' },
  'body-too-large': {
    title: 'Body too large',
    detail: 'The body is larger than the limit that the answer names.',
  },
  'too-deep': {
    title: 'JSON too deep',
    detail: 'The JSON nests deeper than the limit that the answer names.',
  },
  'unsupported-media-type': {
    title: 'Unsupported media type',
    detail: 'The content type is not one of those accepted.',
  },
  'unsupported-encoding': {
    title: 'Unsupported content encoding',
    detail: 'Only gzip and identity are accepted.',
  },
  'body-stalled': {
    title: 'Body stalled',
    detail: 'Nothing came of the body for longer than the answer says. Send the request again.',
  },
  'body-too-slow': {
    title: 'Body too slow',
    detail: 'The body came more slowly than the answer says. Send it again over a faster line, or in parts.',
  },
  'no-room': {
    title: 'No room',
    detail: 'Too many uploads are on their way. Send this one again after as long as Retry-After says.',
  },
  'range-not-satisfiable': {
    title: 'Range not satisfiable',
    detail: 'The bytes that were asked for begin beyond the end.',
  },
  'client-gone': {
    title: 'Client gone',
    detail: 'The client closed the connection before its request was complete.',
  },
  'not-found': { title: 'Not found', detail: 'There is nothing under this address.' },
  'method-not-allowed': {
    title: 'Method not allowed',
    detail: 'The address exists, but not for this method.',
  },
  internal: { title: 'Internal error', detail: 'The console failed; its log has the details.' },
  'storage-full': {
    title: 'Storage full',
    detail:
      'There is no room left where the console keeps its database. What was acknowledged is kept; send this again once there is room.',
  },
  'copy-not-built': {
    title: 'Not built',
    detail: 'The page of a copy was not built: npm start builds it.',
  },
  'no-such-link': { title: 'No such link', detail: 'This console knows no such link.' },
  'link-expired': { title: 'Link expired', detail: 'This link has expired. Ask for a new one.' },
  'link-revoked': { title: 'Link revoked', detail: 'This link was revoked.' },
  'stale-epoch': { title: 'Stale epoch', detail: 'Another claim holds this run now. Stop writing to it.' },
  'batch-gap': { title: 'Batch gap', detail: 'The batch before this one is not stored.' },
  'batch-differs': { title: 'Batch differs', detail: 'Another content was stored under this batch number.' },
  'effect-exists': {
    title: 'Effect exists',
    detail: 'The call is open or confirmed somewhere in the lineage.',
  },
  moved: { title: 'Moved', detail: 'The run has moved on since the sequence number that was expected.' },
  'unknown-payloads': {
    title: 'Unknown payloads',
    detail: 'The events refer to payloads that are not stored.',
  },
  'unknown-machine': {
    title: 'Unknown machine',
    detail: 'Store the machine first: PUT /api/v1/machines/{digest}.',
  },
  'stale-plan': {
    title: 'Stale plan',
    detail: 'What the order would do has changed since the plan was shown. The new plan is attached.',
  },
  held: { title: 'Held', detail: 'A worker holds this run, or another order came first.' },
  'already-answered': { title: 'Already answered', detail: 'This was answered before; it counts once.' },
  mirror: {
    title: 'Mirror',
    detail: 'This is a copy of a run whose home is elsewhere. Inspect, replay or fork it here.',
  },
  'use-rewind': {
    title: 'Use rewind',
    detail: 'The point is older than the newest checkpoint; going back to it is a rewind.',
  },
  'command-differs': { title: 'Command id taken', detail: 'Another order was given under this commandId.' },
  'not-signed-in': {
    title: 'Not signed in',
    detail: 'This console asks for a token: Authorization: Bearer …, or sign in at /sign-in.',
  },
  'bad-token': { title: 'Wrong token', detail: 'This console does not know the token.' },
  'too-many-attempts': {
    title: 'Too many attempts',
    detail: 'Too many wrong tokens came from this address. Wait as long as Retry-After says.',
  },
  'bad-name': { title: 'Name refused', detail: 'The name cannot be shown as it is.' },
  'sign-in-not-needed': {
    title: 'No sign-in here',
    detail: 'This console asks nobody to sign in: no token is set.',
  },
  'needs-role': { title: 'Role missing', detail: 'The token’s role does not include this.' },
  'link-reads-one-run': {
    title: 'Read-only link',
    detail: 'A shared link reads one run and nothing else.',
  },
  exists: { title: 'Exists', detail: 'A run with this id exists.' },
};

const words = (kind: string) => kind.charAt(0).toUpperCase() + kind.slice(1).replaceAll('-', ' ');

/** The body of an `application/problem+json` answer; the problem's own members come along. */
export function problemBody(problem: Problem, status: number): Record<string, unknown> {
  const { kind, ...members } = problem;
  const known = sentences[kind];
  const own = members as { readonly detail?: unknown; readonly sentence?: unknown };
  const detail = own.detail ?? own.sentence ?? sizeOf(problem) ?? known?.detail ?? words(kind);
  return {
    ...members,
    type: `urn:rerail:problem:${kind}`,
    title: known?.title ?? words(kind),
    status,
    detail,
  };
}

/** Limits are named in the sentence too, since many clients show nothing else. */
function sizeOf(problem: Problem): string | undefined {
  if ('limitBytes' in problem && 'limit' in problem) {
    return `The ${String(problem.limit)} is larger than ${String(problem.limitBytes)} bytes.`;
  }
  if ('limitDepth' in problem) return `The JSON nests deeper than ${String(problem.limitDepth)} levels.`;
  return undefined;
}

export const problemAnswer = (
  problem: Problem,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Outgoing => ({
  status,
  headers: {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    ...challengeOf(problem, status),
    ...headers,
  },
  body: JSON.stringify(problemBody(problem, status)),
});

const CHALLENGE = 'Bearer realm="rerail"';

/** What a refusal says in headers too: how to sign in, when to come back. */
function challengeOf(problem: Problem, status: number): Readonly<Record<string, string>> {
  if (status === 401)
    return {
      'www-authenticate': problem.kind === 'bad-token' ? `${CHALLENGE}, error="invalid_token"` : CHALLENGE,
    };
  return 'retryAfterSeconds' in problem ? { 'retry-after': String(problem.retryAfterSeconds) } : {};
}

/** The answer to what no route takes. */
export function missAnswer(match: Exclude<Match<never>, { readonly kind: 'found' }>): Outgoing {
  switch (match.kind) {
    case 'method-not-allowed':
      return problemAnswer({ kind: 'method-not-allowed' }, 405, { allow: match.allow });
    case 'malformed':
      return problemAnswer(invalid('path', 'not a path of percent-encoded UTF-8'), 400);
    case 'none':
      return problemAnswer({ kind: 'not-found' }, 404);
  }
}
