import pg from 'pg';
import { describeOnPostgres } from '@/lib/testing/databases';
import { storeContract } from '@/lib/testing/store-contract';
import { openStore } from './open-store';

describeOnPostgres('PostgreSQL store', (url) => {
  storeContract({ durable: true }, async () => {
    let store = await openStore({ url: url() });
    await emptyTables(url());
    return {
      store,
      async reopen() {
        await store.close();
        store = await openStore({ url: url() });
        return store;
      },
      close: () => store.close(),
    };
  });
});

/** One database serves the whole suite: making one for each test takes longer than the tests. */
async function emptyTables(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly name: string }>(
      `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'`,
    );
    await client.query(`TRUNCATE ${rows.map(({ name }) => name).join(', ')} RESTART IDENTITY`);
  } finally {
    await client.end();
  }
}
