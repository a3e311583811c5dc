import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { type EpochMs, epochMs, runId, seq } from '@/lib/core/events/ids';
import type { RunStatus } from '@/lib/core/projections/records';
import type { LiveFeed, RunMoved } from '@/lib/usecases/ports';
import { LocalFeed } from './local-feed';
import type { Sql } from './sql';

const CHANNEL = 'rerail_moved';
const RETRY_MS = 500;

/** A feed over every process that has the database: a move is told in the transaction that made it. */
export interface PostgresFeed extends LiveFeed {
  /** Tells the other processes when the transaction commits; this one is told by `publish`, after it. */
  announce(transaction: Sql, change: RunMoved): Promise<void>;
  close(): Promise<void>;
}

/**
 * Listens on a connection of its own. Where that breaks it is opened again, and what moved meanwhile (`movedSince`,
 * by the database's clock) is told then.
 */
export async function openPostgresFeed(
  url: string,
  since: {
    readonly now: () => EpochMs;
    readonly moved: (since: EpochMs) => Promise<readonly RunMoved[]>;
  },
): Promise<PostgresFeed> {
  const self = randomUUID();
  const local = new LocalFeed();
  let closed = false;
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;

  async function listen(): Promise<void> {
    const opened = new pg.Client({ connectionString: url, keepAlive: true });
    opened.on('notification', ({ payload }) => {
      const heard = parseMove(payload ?? '');
      if (heard !== undefined && heard.from !== self) local.publish(heard.change);
    });
    opened.on('error', () => lost(opened));
    opened.on('end', () => lost(opened));
    try {
      await opened.connect();
      await opened.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      await opened.end().catch(() => undefined);
      throw error;
    }
    if (closed) await opened.end();
    else client = opened;
  }

  /** Listens again, and tells what moved meanwhile; where only the latter failed, only that is done again. */
  async function catchUp(from: EpochMs): Promise<void> {
    if (client === undefined) await listen();
    for (const change of await since.moved(from)) local.publish(change);
  }

  /** Of a connection that never came to listen, `listen` itself tells. */
  function lost(which: pg.Client): void {
    if (closed || client !== which) return;
    client = undefined;
    const from = epochMs(since.now() - MARGIN_MS);
    const again = () => {
      catchUp(from).catch(() => {
        if (!closed) retry = setTimeout(again, RETRY_MS);
      });
    };
    retry = setTimeout(again, RETRY_MS);
  }

  await listen();
  return {
    publish: (change) => local.publish(change),
    subscribe: (listener) => local.subscribe(listener),
    async announce(transaction, change) {
      await transaction.execute('SELECT pg_notify(?, ?)', [
        CHANNEL,
        JSON.stringify([self, change.runId, change.headSeq, change.status, change.wanted, change.edition]),
      ]);
    },
    async close() {
      closed = true;
      clearTimeout(retry);
      await client?.end();
    },
  };
}

/** Covers a transaction that was open when the connection broke. */
const MARGIN_MS = 60_000;

function parseMove(payload: string): { readonly from: string; readonly change: RunMoved } | undefined {
  const parsed: unknown = JSON.parse(payload);
  if (!Array.isArray(parsed)) return undefined;
  const [from, id, head, status, wanted, edition]: readonly unknown[] = parsed;
  if (typeof from !== 'string' || typeof id !== 'string' || typeof head !== 'number') return undefined;
  return {
    from,
    change: {
      runId: runId(id),
      headSeq: seq(head),
      edition: typeof edition === 'number' ? edition : 0,
      status: String(status) as RunStatus,
      wanted: wanted === true,
    },
  };
}
