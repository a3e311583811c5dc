import { type AccessEnv, readEnv } from './env';
import { type Gate, LockedGate, openGate } from './gate';
import { SessionCookies, secretFrom } from './session-cookie';
import { systemUser } from './system-user';
import { TokenBook } from './tokens';

export type { Gate } from './gate';

/** The gate that these settings make. Throws where a token file or the secret cannot be used. */
export function gateFrom(access: AccessEnv, warn: (sentence: string) => void, now?: () => number): Gate {
  if (access.token === undefined && access.tokensFile === undefined) return openGate(systemUser());
  const { secret } = access;
  return new LockedGate({
    tokens: new TokenBook({ token: access.token, file: access.tokensFile }, warn),
    cookies: new SessionCookies(
      typeof secret === 'string' ? Buffer.from(secret, 'hex') : secretFrom(secret.file),
    ),
    hosts: access.hosts,
    sessionMs: access.sessionMs,
    ...(now !== undefined && { now }),
  });
}

/** As with the root: Next loads its proxy as a module instance of its own, and wrong tokens are counted once. */
const key = Symbol.for('rerail.gate');
const holder = globalThis as typeof globalThis & { [key]?: Gate };

/** The process's only gate. */
export function gate(): Gate {
  holder[key] ??= gateFrom(readEnv().access, (sentence) => process.stderr.write(`rerail: ${sentence}\n`));
  return holder[key];
}

/** Forgets it, for a process that builds its root anew. */
export function closeGate(): void {
  delete holder[key];
}
