import { randomBytes } from 'node:crypto';
import pino from 'pino';
import { sdkWorkerEngine } from '@/lib/engines/sdk-worker/sdk-worker';
import { importers } from '@/lib/ingest/registry';
import { openStore } from '@/lib/stores/prisma/open-store';
import { forgetWorkers } from '@/lib/usecases/forget-workers';
import { judgeLeases } from '@/lib/usecases/judge-leases';
import type { IdSource, Store } from '@/lib/usecases/ports';
import { sweepPayloads } from '@/lib/usecases/sweep-payloads';
import { BodyRoom, defaultPace } from './body-pace';
import { readInThread } from './decode-thread';
import type { Deps } from './deps';
import { type Env, readEnv } from './env';
import { openGate } from './gate';
import { closeGate, type Gate, gate } from './gate-of';
import { sha256Hash } from './hash';
import { InFlight } from './in-flight';
import { systemUser } from './system-user';
import { Turns } from './turns';
import { defaultUploadLimits } from './upload-body';

export const UPLOADS_AT_ONCE = 2;
export const SMALL_UPLOADS_AT_ONCE = 8;
const HOUR_MS = 60 * 60 * 1_000;

/* What the store tells by its errors: a database that cannot be opened as it is, a write that found no room. */
export { DatabaseProblem } from '@/lib/stores/prisma/database-problem';
export { isStorageFull } from '@/lib/stores/prisma/error-codes';

/** Everything of one console in one process. */
export interface Root {
  readonly deps: Deps;
  close(): Promise<void>;
}

/**
 * Next loads routes, pages and instrumentation as separate module instances, and `main.ts` is a bundle of its own:
 * a module variable would give each of them a root, and SQLite allows one owner.
 */
const key = Symbol.for('rerail.root');
interface Holder {
  [key]?: Promise<Root> | undefined;
}
const holder = globalThis as typeof globalThis & Holder;

/** The process's only root, built by whoever asks first. A failed start is tried again by the next caller. */
export function root(): Promise<Root> {
  const known = holder[key];
  if (known !== undefined) return known;
  const starting = startRoot(readEnv());
  holder[key] = starting;
  starting.catch(() => {
    if (holder[key] === starting) holder[key] = undefined;
  });
  return starting;
}

export const deps = async (): Promise<Deps> => (await root()).deps;

/** Ends the root where there is one; the next `root()` builds anew. */
export async function closeRoot(): Promise<void> {
  const known = holder[key];
  holder[key] = undefined;
  closeGate();
  if (known !== undefined) await (await known).close();
}

/** 120 random bits, so that an id is a secret as well. */
const randomIds: IdSource = { next: (prefix) => `${prefix}_${randomBytes(15).toString('base64url')}` };

async function startRoot(env: Env): Promise<Root> {
  const log = pino(
    { level: env.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination(2),
  );
  // Before the store: what refuses to start leaves nothing open.
  const doors = gate();
  const store = await openStore({ url: env.databaseUrl, root: env.root });
  log.info({ database: env.databaseUrl.replace(/\/\/[^@/]*@/, '//') }, 'store is open');
  return buildRoot(store, env, log, doors);
}

/** A root over a store that is open already; tests give their own. */
export async function buildRoot(
  store: Store,
  env: Pick<Env, 'leaseMs' | 'maxBodyBytes' | 'maxUnzippedBytes' | 'maxJsonDepth'> &
    Partial<Pick<Env, 'upload' | 'pace' | 'decoder'>>,
  log: Deps['log'],
  gate: Gate = openGate(systemUser()),
): Promise<Root> {
  const engine = sdkWorkerEngine();
  const built: Deps = {
    store,
    engine,
    ids: randomIds,
    hash: sha256Hash,
    leaseMs: env.leaseMs,
    judgedFrom: store.clock.now(),
    actor: systemUser(),
    gate,
    log,
    limits: {
      bodyBytes: env.maxBodyBytes,
      unzippedBytes: env.maxUnzippedBytes,
      jsonDepth: env.maxJsonDepth,
      ...(env.pace ?? defaultPace),
    },
    importers,
    uploads: env.upload ?? defaultUploadLimits,
    files: readInThread(env.decoder),
    inFlight: new InFlight(),
    uploadTurns: new Turns(UPLOADS_AT_ONCE),
    smallUploadTurns: new Turns(SMALL_UPLOADS_AT_ONCE),
    uploadRoom: new BodyRoom((env.upload ?? defaultUploadLimits).roomBytes),
  };
  const stopWaking = store.feed.subscribe((moved) => {
    if (moved.wanted) engine.wake(moved.runId);
  });
  const rounds = [
    everySoOften(
      Math.min(1_000, Math.max(50, env.leaseMs / 4)),
      () => judgeLeases(built),
      built.log,
      'judging leases failed',
    ),
    everySoOften(HOUR_MS, () => sweepPayloads(built), built.log, 'sweeping payloads failed'),
    everySoOften(HOUR_MS, () => forgetWorkers(built), built.log, 'forgetting old workers failed'),
  ];
  return {
    deps: built,
    close: async () => {
      await built.inFlight.end();
      stopWaking();
      await Promise.all(rounds.map((stop) => stop()));
      await store.close();
    },
  };
}

/** Runs `round` again and again, never twice at once; the returned function ends it and waits for the last one. */
function everySoOften(
  ms: number,
  round: () => Promise<unknown>,
  log: Deps['log'],
  failed: string,
): () => Promise<void> {
  let running: Promise<unknown> = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    running = round()
      .catch((error: unknown) => log.error({ err: error }, failed))
      .finally(() => {
        busy = false;
      });
  }, ms);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
