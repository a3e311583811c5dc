import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { Grant } from './tokens';

/** What a cookie says: who signed in, by which token, until when (seconds since the epoch). */
export interface Session {
  readonly id: string;
  readonly actor: string;
  readonly grant: string;
  readonly until: number;
}

const content = z.tuple([z.string(), z.string(), z.string(), z.number().int()]);

/** Both, since a cookie named `__Host-` must be `Secure`, which plain http cannot set. */
const PLAIN = 'rerail_';
const SECURE = '__Host-rerail_';
const LONGEST = 2_048;

/**
 * Sessions are in the cookie alone, signed: they outlive a restart, and need no row. The key is made of the console's
 * secret and of the token that was shown, so a token that is taken away takes its sessions along.
 */
export class SessionCookies {
  readonly #secret: Buffer;
  /** Cookies know no ports: two consoles on one machine must not sign each other's people out. */
  readonly #suffix: string;

  constructor(secret: Buffer) {
    this.#secret = secret;
    this.#suffix = createHash('sha256').update('cookie').update(secret).digest('hex').slice(0, 8);
  }

  /** `Set-Cookie` of a new session. */
  set(session: Session, grant: Grant, secure: boolean, maxAge: number): string {
    const body = Buffer.from(
      JSON.stringify([session.id, session.actor, session.grant, session.until]),
    ).toString('base64url');
    return this.#line(`${body}.${this.#seal(body, grant).toString('base64url')}`, secure, maxAge);
  }

  /** `Set-Cookie` that takes it away. */
  clear(secure: boolean): string {
    return this.#line('', secure, 0);
  }

  /** The session of a `Cookie` header, where this console signed it for a grant that is still in force. */
  read(header: string | undefined, grants: readonly Grant[], nowMs: number): Session | undefined {
    for (const value of this.#values(header)) {
      const session = this.#open(value, grants);
      if (session !== undefined && session.until * 1_000 > nowMs) return session;
    }
    return undefined;
  }

  #line(value: string, secure: boolean, maxAge: number): string {
    const name = `${secure ? SECURE : PLAIN}${this.#suffix}`;
    return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure ? '; Secure' : ''}`;
  }

  #values(header: string | undefined): readonly string[] {
    if (header === undefined) return [];
    const names = [`${SECURE}${this.#suffix}`, `${PLAIN}${this.#suffix}`];
    return header.split(';').flatMap((pair) => {
      const [name, value] = [
        pair.slice(0, pair.indexOf('=')).trim(),
        pair.slice(pair.indexOf('=') + 1).trim(),
      ];
      return names.includes(name) && value.length <= LONGEST ? [value] : [];
    });
  }

  #open(value: string, grants: readonly Grant[]): Session | undefined {
    const [body, seal, more] = value.split('.');
    if (body === undefined || seal === undefined || more !== undefined) return undefined;
    const given = Buffer.from(seal, 'base64url');
    const grant = grants.find((one) => {
      const right = this.#seal(body, one);
      return given.byteLength === right.byteLength && timingSafeEqual(given, right);
    });
    if (grant === undefined) return undefined;
    const parsed = content.safeParse(JSON.parse(Buffer.from(body, 'base64url').toString('utf8')));
    if (!parsed.success) return undefined;
    const [id, actor, name, until] = parsed.data;
    return name === grant.name ? { id, actor, grant: name, until } : undefined;
  }

  #seal(body: string, grant: Grant): Buffer {
    const key = createHmac('sha256', this.#secret)
      .update(grant.name)
      .update('\0')
      .update(grant.digest)
      .digest();
    return createHmac('sha256', key).update(body).digest();
  }
}

const SECRET_BYTES = 32;

/** The secret as the file has it; made on first use, for its owner's eyes only. Throws where it cannot be kept. */
export function secretFrom(path: string): Buffer {
  for (;;) {
    try {
      const secret = Buffer.from(readFileSync(path, 'utf8').trim(), 'hex');
      if (secret.byteLength >= SECRET_BYTES) return secret;
      throw new Error(`${path} is no secret of ${SECRET_BYTES} bytes in hex; delete it and start again.`);
    } catch (error) {
      if (!isCode(error, 'ENOENT')) throw error;
    }
    mkdirSync(dirname(path), { recursive: true });
    try {
      writeFileSync(path, `${randomBytes(SECRET_BYTES).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      // Another process was first: its secret counts.
      if (!isCode(error, 'EEXIST')) throw error;
    }
  }
}

const isCode = (error: unknown, code: string) =>
  error instanceof Error && 'code' in error && error.code === code;
