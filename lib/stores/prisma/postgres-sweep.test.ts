import pg from 'pg';
import { expect, it, vi } from 'vitest';
import { describeOnPostgres } from '@/lib/testing/databases';
import { append, message, payload } from '@/lib/testing/store-rows';
import { openStore } from './open-store';

describeOnPostgres('PostgreSQL store', (url) => {
  it('has a payload that travels with its event, though a sweep of the same one is under way', async () => {
    const store = await openStore({ url: url() });
    const sweeping = new pg.Client({ connectionString: url() });
    const looking = new pg.Client({ connectionString: url() });
    try {
      await sweeping.connect();
      await looking.connect();
      const known = payload('"stored a day ago"');
      await store.payloads.put([known]);
      await append(store, 'run', {});

      // The first of the sweep's two statements; the second one runs once the append waits.
      await sweeping.query('BEGIN');
      await sweeping.query('DELETE FROM "Loose"');
      const appended = append(store, 'run', { bodies: [message(known)], payloads: [known] });
      await vi.waitFor(async () => {
        const { rows } = await looking.query(
          `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        );
        expect(rows).toHaveLength(1);
      });
      await sweeping.query('DELETE FROM "Payload"');
      await sweeping.query('COMMIT');
      await appended;
      expect(await store.payloads.missing([known.sha256])).toEqual([]);
    } finally {
      await sweeping.end();
      await looking.end();
      await store.close();
    }
  });
});
