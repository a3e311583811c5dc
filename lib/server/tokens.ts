import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync, type Stats, statSync } from 'node:fs';
import { z } from 'zod';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { Role } from './principal';

/** A token that is accepted: by its digest, so that the token itself is nowhere. */
export interface Grant {
  readonly name: string;
  readonly role: Role;
  readonly digest: Buffer;
}

/** Name of the grant that `RERAIL_TOKEN` makes: what audit and journal show for programs that use it. */
export const ENV_TOKEN = 'RERAIL_TOKEN';

const LEAST_CHARACTERS = 16;

/** What a header can carry, and nobody guesses. */
export const tokenText = z
  .string()
  .min(LEAST_CHARACTERS, `needs at least ${LEAST_CHARACTERS} characters`)
  .max(512, 'holds at most 512 characters')
  .regex(/^[\x21-\x7e]*$/, 'holds visible ASCII without spaces only');

const named = { name: z.string().min(1).max(80), role: z.enum(['viewer', 'operator', 'admin']) };
const entry = z.union([
  z.strictObject({ ...named, token: tokenText }),
  z.strictObject({ ...named, sha256: z.string().regex(/^[0-9a-f]{64}$/i, 'is 64 hex digits') }),
]);

export const digestOf = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest();

/** The grant with this digest. Every grant is compared, each in constant time, so that time tells nothing. */
export function grantWith(
  grants: readonly Grant[],
  digest: Buffer,
  equal: typeof timingSafeEqual = timingSafeEqual,
): Grant | undefined {
  let found: Grant | undefined;
  for (const grant of grants) if (equal(grant.digest, digest)) found = grant;
  return found;
}

/** Grants as the file has them, or a sentence that names the entry which is wrong; never a token. */
export function parseTokens(text: string): Result<readonly Grant[], string> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's own message quotes what it read.
    return fail('it is not JSON');
  }
  if (!Array.isArray(json)) return fail('it is not a list: [{ "name", "role", "token" or "sha256" }]');
  if (json.length === 0) return fail('it holds no token');
  const grants: Grant[] = [];
  for (const [at, one] of json.entries()) {
    const parsed = entry.safeParse(one);
    if (!parsed.success) return fail(`entry ${at + 1}${nameOf(one)}: ${reasonOf(one, parsed.error)}`);
    const { name, role } = parsed.data;
    if (name === ENV_TOKEN || grants.some((grant) => sameName(grant.name, name)))
      return fail(`entry ${at + 1}${nameOf(one)}: the name is taken`);
    const digest =
      'token' in parsed.data ? digestOf(parsed.data.token) : Buffer.from(parsed.data.sha256, 'hex');
    if (grantWith(grants, digest) !== undefined)
      return fail(`entry ${at + 1}${nameOf(one)}: another entry has the same token`);
    grants.push({ name, role, digest });
  }
  return ok(grants);
}

/** Names that people could not tell apart. */
export const sameName = (one: string, other: string): boolean =>
  one.normalize('NFKC').toLowerCase() === other.normalize('NFKC').toLowerCase();

const nameOf = (one: unknown): string => {
  const name = z.object({ name: z.string().max(80) }).safeParse(one);
  return name.success ? ` (${JSON.stringify(name.data.name)})` : '';
};

/** Of the two shapes the one that was meant. */
function reasonOf(one: unknown, error: z.ZodError): string {
  const both = error.issues.flatMap((issue) => (issue.code === 'invalid_union' ? issue.errors : [[issue]]));
  const meant = typeof one === 'object' && one !== null && 'sha256' in one ? both[1] : both[0];
  const [issue] = meant ?? error.issues;
  if (issue === undefined) return 'it does not have the documented shape';
  const path = issue.path.map(String).join('.');
  return path === '' ? issue.message : `${path} ${issue.message}`;
}

/** How often at most the file is looked at for a change, ms. */
const LOOK_EVERY_MS = 1_000;

/** The tokens of the environment and of the file, which is read again when it changes. */
export class TokenBook {
  readonly #fixed: readonly Grant[];
  readonly #path: string | undefined;
  readonly #warn: (sentence: string) => void;
  #grants: readonly Grant[];
  #lookedAt = Number.NEGATIVE_INFINITY;
  #stamp = '';

  /** Throws where the file cannot be used: a console that starts without its tokens would be open or dead. */
  constructor(
    from: { readonly token: string | undefined; readonly file: string | undefined },
    warn: (sentence: string) => void,
  ) {
    this.#fixed =
      from.token === undefined ? [] : [{ name: ENV_TOKEN, role: 'admin', digest: digestOf(from.token) }];
    this.#path = from.file;
    this.#warn = warn;
    this.#grants = this.#fixed;
    if (from.file !== undefined) {
      const read = readTokens(from.file, warn);
      if (!read.ok) throw new Error(`RERAIL_TOKENS_FILE ${from.file}: ${read.problem}.`);
      this.#take(read.value);
    }
  }

  /** `now` in ms; decides whether the file is looked at again. */
  grants(now: number): readonly Grant[] {
    if (this.#path !== undefined && now - this.#lookedAt >= LOOK_EVERY_MS) {
      this.#lookedAt = now;
      this.#look(this.#path);
    }
    return this.#grants;
  }

  #look(path: string): void {
    const stamp = stampOf(path);
    if (stamp === this.#stamp) return;
    const read = readTokens(path, this.#warn);
    if (read.ok) this.#take(read.value);
    else {
      this.#stamp = stamp;
      this.#warn(`RERAIL_TOKENS_FILE ${path}: ${read.problem}; the tokens read before stay in force`);
    }
  }

  #take({ grants, stamp }: { readonly grants: readonly Grant[]; readonly stamp: string }): void {
    this.#grants = [...this.#fixed, ...grants];
    this.#stamp = stamp;
  }
}

function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? 'gone' : stampFrom(stats);
}

const stampFrom = (stats: Stats) => `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.mode}`;

const OTHERS_WRITE = 0o022;
const OTHERS_READ = 0o044;

function readTokens(
  path: string,
  warn: (sentence: string) => void,
): Result<{ readonly grants: readonly Grant[]; readonly stamp: string }, string> {
  let text: string;
  let stats: Stats;
  try {
    stats = statSync(path);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return fail(`it cannot be read (${code})`);
  }
  const modes = process.platform !== 'win32';
  if (modes && (stats.mode & OTHERS_WRITE) !== 0)
    return fail('others may write it, and so make themselves admin: chmod 600 it');
  if (modes && (stats.mode & OTHERS_READ) !== 0 && /"token"\s*:/.test(text))
    warn(`RERAIL_TOKENS_FILE ${path} holds tokens that others on this machine may read: chmod 600 it`);
  const grants = parseTokens(text);
  return grants.ok ? ok({ grants: grants.value, stamp: stampFrom(stats) }) : grants;
}
