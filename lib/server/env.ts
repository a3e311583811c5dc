import { resolve } from 'node:path';
import { z } from 'zod';
import { defaultUploadLimits, type UploadLimits } from './upload-body';

const whole = (fallback: number, least: number) => z.coerce.number().int().min(least).default(fallback);

const schema = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(3_000),
  DATABASE_URL: z.string().min(1).optional(),
  RERAIL_ROOT: z.string().min(1).optional(),
  RERAIL_DECODER: z.string().min(1).optional(),
  RERAIL_TOKEN: z.string().min(1).optional(),
  RERAIL_LEASE_MS: whole(15_000, 200),
  RERAIL_MAX_BODY_BYTES: whole(32 * 1024 * 1024, 1_024),
  RERAIL_MAX_UNZIPPED_BYTES: whole(128 * 1024 * 1024, 1_024),
  RERAIL_MAX_JSON_DEPTH: whole(64, 8),
  RERAIL_MAX_UPLOAD_BYTES: whole(defaultUploadLimits.bodyBytes, 1_024),
  RERAIL_MAX_UNZIPPED_UPLOAD_BYTES: whole(defaultUploadLimits.unzippedBytes, 1_024),
  RERAIL_MAX_UPLOAD_RATIO: whole(defaultUploadLimits.ratio, 2),
  RERAIL_MAX_UPLOAD_DEPTH: whole(defaultUploadLimits.jsonDepth, 8),
  RERAIL_LOG: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  RERAIL_NO_PAGES: z.enum(['0', '1']).default('0'),
});

/** What the environment may set, parsed once. Paths are absolute, sizes are bytes, times milliseconds. */
export interface Env {
  readonly host: string;
  readonly port: number;
  readonly root: string;
  /** `file:` with an absolute path, or `postgresql://…`. */
  readonly databaseUrl: string;
  readonly token: string | undefined;
  readonly leaseMs: number;
  readonly maxBodyBytes: number;
  readonly maxUnzippedBytes: number;
  readonly maxJsonDepth: number;
  /** Of `POST /api/v1/traces`. */
  readonly upload: UploadLimits;
  /** The built program that decodes large uploads in a thread; without it they are decoded in the main one. */
  readonly decoder: string;
  readonly logLevel: z.output<typeof schema>['RERAIL_LOG'];
  readonly pages: boolean;
}

/** Throws with every variable that is wrong: a console that starts with half its settings would be worse. */
export function readEnv(source: Readonly<Record<string, string | undefined>> = process.env): Env {
  const parsed = schema.safeParse(dropEmpty(source));
  if (!parsed.success) {
    const wrong = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
    throw new Error(`The environment holds values that the console cannot use (${wrong}).`);
  }
  const env = parsed.data;
  const root = resolve(env.RERAIL_ROOT ?? process.cwd());
  return {
    host: env.HOST,
    port: env.PORT,
    root,
    databaseUrl: absoluteUrl(env.DATABASE_URL ?? 'file:data/rerail.db', root),
    token: env.RERAIL_TOKEN,
    leaseMs: env.RERAIL_LEASE_MS,
    maxBodyBytes: env.RERAIL_MAX_BODY_BYTES,
    maxUnzippedBytes: env.RERAIL_MAX_UNZIPPED_BYTES,
    maxJsonDepth: env.RERAIL_MAX_JSON_DEPTH,
    upload: {
      bodyBytes: env.RERAIL_MAX_UPLOAD_BYTES,
      unzippedBytes: env.RERAIL_MAX_UNZIPPED_UPLOAD_BYTES,
      ratio: env.RERAIL_MAX_UPLOAD_RATIO,
      jsonDepth: env.RERAIL_MAX_UPLOAD_DEPTH,
      idleMs: defaultUploadLimits.idleMs,
    },
    decoder: env.RERAIL_DECODER ?? resolve(root, '.rerail/server/decode-worker.mjs'),
    logLevel: env.RERAIL_LOG,
    pages: env.RERAIL_NO_PAGES === '0',
  };
}

/** `PORT=` means "not set", as shells write it. */
const dropEmpty = (source: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined && value !== ''));

/** A relative SQLite file lies under the project's root, wherever the process was started. */
function absoluteUrl(url: string, root: string): string {
  if (!url.startsWith('file:')) return url;
  const path = url.slice('file:'.length).replace(/^\/\/(?=\/)/, '');
  return `file:${resolve(root, path)}`;
}
