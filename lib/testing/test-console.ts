import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { buildRoot } from '@/lib/server/container';
import type { Deps } from '@/lib/server/deps';
import type { Gate } from '@/lib/server/gate';
import { httpServer } from '@/lib/server/http-server';
import { listener } from '@/lib/server/listener';
import { router } from '@/lib/server/router';
import { routes } from '@/lib/server/routes';
import { openStore } from '@/lib/stores/prisma/open-store';
import type { Store } from '@/lib/usecases/ports';

export interface TestConsoleOptions {
  /** Length of leases; 1 s unless given. */
  readonly leaseMs?: number;
  /** The store by URL; absent: an SQLite file in a folder of its own, removed at the end. */
  readonly databaseUrl?: string;
  /** A store that is open already (the memory store); the caller does not close it. */
  readonly store?: Store;
  readonly limits?: Partial<Deps['limits']>;
  /** Who may come in; absent: whoever is on this machine, as the local user. */
  readonly gate?: Gate;
  /** Absent: errors on stderr. */
  readonly log?: Deps['log'];
  /** The built `decode-worker.mjs`; absent: uploads are decoded in the test's own thread. */
  readonly decoder?: string;
}

export interface TestConsole {
  readonly url: string;
  readonly store: Store;
  readonly deps: Deps;
  close(): Promise<void>;
}

const MIB = 1024 * 1024;

/** The console's API over its own route files and guards, on a free port of 127.0.0.1, without Next. */
export async function startTestConsole(options: TestConsoleOptions = {}): Promise<TestConsole> {
  const folder =
    options.databaseUrl === undefined && options.store === undefined
      ? await mkdtemp(join(tmpdir(), 'rerail-console-'))
      : undefined;
  const store =
    options.store ??
    (await openStore({
      url: options.databaseUrl ?? `file:${join(folder ?? '', 'rerail.db')}`,
      root: process.cwd(),
    }));
  const env = {
    leaseMs: options.leaseMs ?? 1_000,
    maxBodyBytes: options.limits?.bodyBytes ?? 32 * MIB,
    maxUnzippedBytes: options.limits?.unzippedBytes ?? 128 * MIB,
    maxJsonDepth: options.limits?.jsonDepth ?? 64,
    ...(options.decoder === undefined ? {} : { decoder: options.decoder }),
  };
  const log =
    options.log ??
    pino(
      { level: process.env['RERAIL_LOG'] ?? 'error', base: null },
      pino.destination({ fd: 2, sync: true }),
    );
  const { deps, close } = await buildRoot(store, env, log, options.gate);
  const serve = listener({
    route: router(routes),
    gate: deps.gate,
    pages: undefined,
    deps,
    onError: (error) => log.error({ err: error }, 'request failed'),
  });
  const server = httpServer(serve);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    store,
    deps,
    close: async () => {
      const closed = new Promise<void>((done) => server.close(() => done()));
      await deps.inFlight.end();
      server.closeAllConnections();
      await closed;
      await close();
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
