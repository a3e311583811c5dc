import { randomBytes } from 'node:crypto';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { Attempts, keyOf } from './attempts';
import type { Outgoing } from './http';
import { PEER_HEADER } from './peer-header';
import type { Principal, Role } from './principal';
import { type Problem, problemAnswer } from './problems';
import type { SessionCookies } from './session-cookie';
import { digestOf, type Grant, grantWith, sameName, type TokenBook } from './tokens';

/** What a request says about who it comes from. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  /** The socket's remote address, for counting wrong tokens. */
  readonly peer: string | undefined;
}

/** Credentials of headers; under Next the peer is one of them. */
export const credentialsOf = (header: (name: string) => string | undefined): Credentials => ({
  authorization: header('authorization'),
  cookie: header('cookie'),
  peer: header(PEER_HEADER),
});

export type GateProblem =
  | { readonly kind: 'not-signed-in' }
  | { readonly kind: 'bad-token' }
  | { readonly kind: 'too-many-attempts'; readonly retryAfterSeconds: number }
  | { readonly kind: 'needs-role'; readonly needed: Role; readonly role: Role }
  | { readonly kind: 'link-reads-one-run' };

export type SignInProblem =
  | Extract<GateProblem, { readonly kind: 'bad-token' | 'too-many-attempts' }>
  | { readonly kind: 'bad-name'; readonly detail: string }
  | { readonly kind: 'sign-in-not-needed'; readonly detail: string };

export interface SignedIn {
  readonly principal: Extract<Principal, { readonly kind: 'person' }>;
  /** Name of the token that was shown. */
  readonly token: string;
  readonly setCookie: string;
}

/** Who may come in. One for a process, whoever asks: the console's own server, Next's routes, Next's proxy. */
export interface Gate {
  /** No token is set: whoever is on this machine is the local user. */
  readonly open: boolean;
  /** Host names beside this machine's own that the console answers to, in lower case. */
  readonly hosts: ReadonlySet<string>;
  /** Who it is; undefined where nobody is signed in. */
  enter(credentials: Credentials): Result<Principal | undefined, GateProblem>;
  signIn(ask: {
    readonly name: string;
    readonly token: string;
    readonly peer: string | undefined;
    readonly secure: boolean;
  }): Result<SignedIn, SignInProblem>;
  /** Ends the session of this cookie; gives the line that takes the cookie away. */
  signOut(cookie: string | undefined, secure: boolean): string;
}

/** The gate of a console without tokens. */
export const openGate = (actor: string): Gate => ({
  open: true,
  hosts: new Set(),
  enter: () => ok({ kind: 'local', actor, role: 'admin' }),
  signIn: () =>
    fail({ kind: 'sign-in-not-needed', detail: 'This console asks nobody to sign in: no token is set.' }),
  signOut: () => '',
});

export interface LockedGateOptions {
  readonly tokens: TokenBook;
  readonly cookies: SessionCookies;
  readonly hosts: ReadonlySet<string>;
  readonly sessionMs: number;
  readonly now?: () => number;
}

/** Characters of a person's name. */
export const MAX_NAME = 80;
/** Tokens and addresses that belong together are remembered, so that a neighbour's wrong tokens do not lock them out. */
const MOST_KNOWN = 10_000;

/** The gate of a console with tokens. */
export class LockedGate implements Gate {
  readonly open = false;
  readonly hosts: ReadonlySet<string>;
  readonly #options: LockedGateOptions;
  readonly #now: () => number;
  readonly #attempts = new Attempts();
  readonly #known = new Set<string>();
  /** Sessions that were signed out, until they would have ended: id → ms. */
  readonly #ended = new Map<string, number>();

  constructor(options: LockedGateOptions) {
    this.#options = options;
    this.hosts = options.hosts;
    this.#now = options.now ?? Date.now;
  }

  enter({ authorization, cookie, peer }: Credentials): Result<Principal | undefined, GateProblem> {
    const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (token !== undefined) {
      const grant = this.#show(token, peer);
      return grant.ok ? ok({ kind: 'token', actor: grant.value.name, role: grant.value.role }) : grant;
    }
    const now = this.#now();
    const grants = this.#options.tokens.grants(now);
    const session = this.#options.cookies.read(cookie, grants, now);
    if (session === undefined || this.#ended.has(session.id)) return ok(undefined);
    const grant = grants.find(({ name }) => name === session.grant);
    return ok(grant && { kind: 'person', actor: session.actor, role: grant.role });
  }

  signIn(ask: Parameters<Gate['signIn']>[0]): Result<SignedIn, SignInProblem> {
    const grant = this.#show(ask.token, ask.peer);
    if (!grant.ok) return grant;
    const actor = this.#nameOf(ask.name);
    if (!actor.ok) return actor;
    const { name: token, role } = grant.value;
    const { cookies, sessionMs } = this.#options;
    const maxAge = Math.floor(sessionMs / 1_000);
    const until = Math.floor(this.#now() / 1_000) + maxAge;
    const session = { id: randomBytes(12).toString('base64url'), actor: actor.value, grant: token, until };
    return ok({
      principal: { kind: 'person', actor: actor.value, role },
      token,
      setCookie: cookies.set(session, grant.value, ask.secure, maxAge),
    });
  }

  signOut(cookie: string | undefined, secure: boolean): string {
    const now = this.#now();
    for (const [id, until] of this.#ended) if (until <= now) this.#ended.delete(id);
    const session = this.#options.cookies.read(cookie, this.#options.tokens.grants(now), now);
    if (session !== undefined) this.#ended.set(session.id, session.until * 1_000);
    return this.#options.cookies.clear(secure);
  }

  /** The grant of a token that somebody shows, counting wrong ones. */
  #show(
    token: string,
    peer: string | undefined,
  ): Result<Grant, Extract<GateProblem, { readonly kind: 'bad-token' | 'too-many-attempts' }>> {
    const now = this.#now();
    const digest = digestOf(token);
    const known = `${keyOf(peer)} ${digest.toString('base64')}`;
    const waitMs = this.#known.has(known) ? 0 : this.#attempts.waitMs(peer, now);
    // Looked at or not: whoever has to wait learns nothing about the token.
    if (waitMs > 0) return fail({ kind: 'too-many-attempts', retryAfterSeconds: Math.ceil(waitMs / 1_000) });
    const grant = grantWith(this.#options.tokens.grants(now), digest);
    if (grant === undefined) {
      this.#known.delete(known);
      this.#attempts.failed(peer, now);
      return fail({ kind: 'bad-token' });
    }
    if (!this.#known.has(known)) this.#remember(known);
    return ok(grant);
  }

  #remember(known: string): void {
    if (this.#known.size >= MOST_KNOWN) {
      const [oldest] = this.#known;
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    this.#known.add(known);
  }

  #nameOf(text: string): Result<string, SignInProblem> {
    const name = text.normalize('NFC').trim();
    const bad = (detail: string) => fail({ kind: 'bad-name', detail } as const);
    if (name === '' || [...name].length > MAX_NAME) return bad(`A name has 1 to ${MAX_NAME} characters.`);
    if (/[\p{C}\p{Zl}\p{Zp}]/u.test(name)) return bad('A name holds no control or invisible characters.');
    const taken = this.#options.tokens.grants(this.#now()).some((grant) => sameName(grant.name, name));
    return taken ? bad('This is the name of a token; give your own.') : ok(name);
  }
}

export const gateStatus = {
  'not-signed-in': 401,
  'bad-token': 401,
  'too-many-attempts': 429,
  'needs-role': 403,
  'link-reads-one-run': 403,
} as const satisfies Record<GateProblem['kind'], number>;

/** The answer to what the gate refused. */
export const refusedAtGate = (problem: GateProblem): Outgoing =>
  problemAnswer(withDetail(problem), gateStatus[problem.kind]);

const withDetail = (problem: GateProblem): Problem & { readonly detail?: string } =>
  problem.kind === 'needs-role'
    ? { ...problem, detail: `This needs the role ${problem.needed}; yours is ${problem.role}.` }
    : problem;
