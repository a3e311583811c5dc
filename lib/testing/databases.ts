import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe } from 'vitest';
import { assertDefined } from '@/lib/core/shared/assert';
import { postgresServer } from '@/lib/dev/postgres-server.mjs';

/*
 * Databases for tests. PostgreSQL: only on the server that `postgresServer` gives, in a database of its own; a missing
 * server is a failure. Where there is none, such suites are skipped with a line.
 */

export { postgresServer };

export interface TestDatabase {
  /** What `openStore` takes. */
  readonly url: string;
  remove(): Promise<void>;
}

/** A SQLite file in a folder of its own under the system's temporary one. */
export function sqliteDatabase(): TestDatabase & { readonly file: string } {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rerail-sqlite-'));
  const file = path.join(folder, 'rerail.db');
  return {
    file,
    url: `file:${file}`,
    async remove() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A new, empty database on the server; `remove` closes what is connected to it and drops it. */
export async function postgresDatabase(server: string): Promise<TestDatabase> {
  const name = `rerail_test_${randomUUID().replaceAll('-', '')}`;
  await onServer(server, `CREATE DATABASE "${name}"`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, remove: () => onServer(server, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`) };
}

async function onServer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/**
 * A suite on a PostgreSQL database of its own, which `url()` names while its tests run. Skipped, with a line that says
 * so, where no server is named.
 */
export function describeOnPostgres(name: string, suite: (url: () => string) => void): void {
  const server = postgresServer();
  if (server === undefined) {
    // biome-ignore lint/suspicious/noConsole: a skipped suite says so, and why
    console.warn(`skipped: ${name} (set RERAIL_TEST_DATABASE_URL to a PostgreSQL server to run it)`);
    // biome-ignore lint/suspicious/noSkippedTests: there is no server that these tests may touch
    describe.skip(name, () => suite(() => ''));
    return;
  }
  describe(name, () => {
    let database: TestDatabase | undefined;
    beforeAll(async () => {
      database = await postgresDatabase(server);
    }, 30_000);
    afterAll(async () => database?.remove(), 30_000);
    suite(() => assertDefined(database, 'the suite has a database while its tests run').url);
  });
}
