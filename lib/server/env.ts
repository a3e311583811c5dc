import { isIP } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { BODY_BYTES_PER_SECOND, type BodyPace, defaultPace } from './body-pace';
import { tokenText } from './tokens';
import { defaultUploadLimits, type UploadLimits } from './upload-body';

const whole = (fallback: number, least: number) => z.coerce.number().int().min(least).default(fallback);

const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;

/** Names without scheme, port or path, between commas. */
const hostNames = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim().toLowerCase()))
  .pipe(z.array(z.string().regex(HOST_NAME, 'holds host names between commas, such as rerail.example.org')));

const schema = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(3_000),
  DATABASE_URL: z.string().min(1).optional(),
  RERAIL_ROOT: z.string().min(1).optional(),
  RERAIL_DECODER: z.string().min(1).optional(),
  RERAIL_TOKEN: tokenText.optional(),
  RERAIL_TOKENS_FILE: z.string().min(1).optional(),
  RERAIL_HOSTS: hostNames.optional(),
  RERAIL_SESSION_HOURS: whole(12, 1),
  RERAIL_SESSION_SECRET: z
    .string()
    .regex(/^[0-9a-f]{64,}$/i, 'needs at least 64 hex digits')
    .optional(),
  RERAIL_LEASE_MS: whole(15_000, 200),
  RERAIL_MAX_BODY_BYTES: whole(32 * 1024 * 1024, 1_024),
  RERAIL_MAX_UNZIPPED_BYTES: whole(128 * 1024 * 1024, 1_024),
  RERAIL_MAX_JSON_DEPTH: whole(64, 8),
  RERAIL_MIN_BODY_BYTES_PER_SECOND: whole(BODY_BYTES_PER_SECOND, 1),
  RERAIL_UPLOAD_ROOM_BYTES: whole(defaultUploadLimits.roomBytes, 1_024),
  RERAIL_MAX_UPLOAD_BYTES: whole(defaultUploadLimits.bodyBytes, 1_024),
  RERAIL_MAX_UNZIPPED_UPLOAD_BYTES: whole(defaultUploadLimits.unzippedBytes, 1_024),
  RERAIL_MAX_UPLOAD_RATIO: whole(defaultUploadLimits.ratio, 2),
  RERAIL_MAX_UPLOAD_DEPTH: whole(defaultUploadLimits.jsonDepth, 8),
  RERAIL_LOG: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  RERAIL_NO_PAGES: z.enum(['0', '1']).default('0'),
});

/** Who may come in. */
export interface AccessEnv {
  readonly token: string | undefined;
  readonly tokensFile: string | undefined;
  /** Beside this machine's own names and IP addresses, in lower case. */
  readonly hosts: ReadonlySet<string>;
  readonly sessionMs: number;
  /** Hex, or the file that keeps it. */
  readonly secret: string | { readonly file: string };
}

/** What the environment may set, parsed once. Paths are absolute, sizes are bytes, times milliseconds. */
export interface Env {
  readonly host: string;
  readonly port: number;
  readonly root: string;
  /** `file:` with an absolute path, or `postgresql://…`. */
  readonly databaseUrl: string;
  readonly access: AccessEnv;
  readonly leaseMs: number;
  readonly maxBodyBytes: number;
  readonly maxUnzippedBytes: number;
  readonly maxJsonDepth: number;
  /** Of `POST /api/v1/traces`. */
  readonly upload: UploadLimits;
  /** Of every body. */
  readonly pace: BodyPace;
  /** The built program that decodes large uploads in a thread; without it they are decoded in the main one. */
  readonly decoder: string;
  readonly logLevel: z.output<typeof schema>['RERAIL_LOG'];
  readonly pages: boolean;
}

const paceOf = (bytesPerSecond: number): BodyPace => ({
  ...defaultPace,
  stretchBytes: Math.ceil((bytesPerSecond * defaultPace.stretchMs) / 1_000),
});

/** Throws with every variable that is wrong: a console that starts with half its settings would be worse. */
export function readEnv(source: Readonly<Record<string, string | undefined>> = process.env): Env {
  const parsed = schema.safeParse(dropEmpty(source));
  if (!parsed.success) {
    const wrong = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
    throw new Error(`The environment holds values that the console cannot use (${wrong}).`);
  }
  const env = parsed.data;
  const root = resolve(/* turbopackIgnore: true */ env.RERAIL_ROOT ?? process.cwd());
  const databaseUrl = absoluteUrl(env.DATABASE_URL ?? 'file:data/rerail.db', root);
  return {
    host: env.HOST,
    port: env.PORT,
    root,
    databaseUrl,
    access: {
      token: env.RERAIL_TOKEN,
      tokensFile: env.RERAIL_TOKENS_FILE === undefined ? undefined : resolve(root, env.RERAIL_TOKENS_FILE),
      hosts: hostsOf(env.HOST, env.RERAIL_HOSTS ?? []),
      sessionMs: env.RERAIL_SESSION_HOURS * 3_600_000,
      secret: env.RERAIL_SESSION_SECRET ?? { file: secretFile(databaseUrl, root) },
    },
    leaseMs: env.RERAIL_LEASE_MS,
    maxBodyBytes: env.RERAIL_MAX_BODY_BYTES,
    maxUnzippedBytes: env.RERAIL_MAX_UNZIPPED_BYTES,
    maxJsonDepth: env.RERAIL_MAX_JSON_DEPTH,
    upload: {
      bodyBytes: env.RERAIL_MAX_UPLOAD_BYTES,
      unzippedBytes: env.RERAIL_MAX_UNZIPPED_UPLOAD_BYTES,
      ratio: env.RERAIL_MAX_UPLOAD_RATIO,
      jsonDepth: env.RERAIL_MAX_UPLOAD_DEPTH,
      roomBytes: Math.max(env.RERAIL_UPLOAD_ROOM_BYTES, env.RERAIL_MAX_UPLOAD_BYTES),
      ...paceOf(env.RERAIL_MIN_BODY_BYTES_PER_SECOND),
    },
    pace: paceOf(env.RERAIL_MIN_BODY_BYTES_PER_SECOND),
    decoder: env.RERAIL_DECODER ?? resolve(root, '.rerail/server/decode-worker.mjs'),
    logLevel: env.RERAIL_LOG,
    pages: env.RERAIL_NO_PAGES === '0',
  };
}

const hostsOf = (host: string, names: readonly string[]): ReadonlySet<string> =>
  new Set(isIP(host) === 0 ? [host.toLowerCase(), ...names] : names);

/** Beside the database, so that a copy of the folder is a whole console. */
const secretFile = (databaseUrl: string, root: string): string =>
  join(
    databaseUrl.startsWith('file:') ? dirname(databaseUrl.slice('file:'.length)) : join(root, 'data'),
    'session.key',
  );

/** `PORT=` means "not set", as shells write it. */
const dropEmpty = (source: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined && value !== ''));

/** A relative SQLite file lies under the project's root, wherever the process was started. */
function absoluteUrl(url: string, root: string): string {
  if (!url.startsWith('file:')) return url;
  const path = url.slice('file:'.length).replace(/^\/\/(?=\/)/, '');
  return `file:${resolve(root, path)}`;
}
