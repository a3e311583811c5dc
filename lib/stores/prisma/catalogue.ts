import { epochMs, type MachineDigest, machineDigest, workerId } from '@/lib/core/events/ids';
import type { Machine } from '@/lib/core/machine/machine';
import type { MachineStore, WorkerRecord, WorkerStore } from '@/lib/usecases/ports';
import { fromColumn, pack, toColumn, unpack } from './packed';
import type { Client } from './prisma-client';
import type { Sql } from './sql';

/** Runs a write in a transaction of its own, or in one that it shares with others; resolves once it is synced. */
export type Writer = (write: (sql: Sql) => Promise<void>) => Promise<void>;

/** Machines by digest: written once, never changed. Text as it came: the digest is of its canonical form. */
export function machineStore(client: Client, write: Writer): MachineStore {
  return {
    put: (digest, machine) =>
      write(async (sql) => {
        await sql.execute(
          'INSERT INTO "Machine" ("digest", "agent", "declaration") VALUES (?, ?, ?) ON CONFLICT ("digest") DO NOTHING',
          [digest, toColumn(machine.agent), JSON.stringify(machine)],
        );
      }),
    async get(digest: MachineDigest) {
      const found = await client.machine.findUnique({ where: { digest } });
      return found === null ? undefined : (JSON.parse(found.declaration) as Machine);
    },
  };
}

/** Workers that were heard of; the first time stays. */
export function workerStore(client: Client, write: Writer): WorkerStore {
  return {
    seen: (worker) =>
      write(async (sql) => {
        await sql.execute(
          'INSERT INTO "Worker" ("workerId", "agents", "firstSeenAt", "seenAt") VALUES (?, ?, ?, ?)' +
            ' ON CONFLICT ("workerId") DO UPDATE SET "agents" = excluded."agents", "seenAt" = excluded."seenAt"',
          [toColumn(worker.workerId), pack(worker.agents), worker.firstSeenAt, worker.seenAt],
        );
      }),
    async get(id) {
      const found = await client.worker.findUnique({ where: { workerId: toColumn(id) } });
      return found === null ? undefined : workerFrom(found);
    },
    async list(since) {
      const found = await client.worker.findMany({
        ...(since !== undefined && { where: { seenAt: { gte: since } } }),
        orderBy: [{ seenAt: 'desc' }, { workerId: 'asc' }],
      });
      return found.map(workerFrom);
    },
    async prune(unseenSince) {
      let pruned = 0;
      await write(async (sql) => {
        pruned = await sql.execute('DELETE FROM "Worker" WHERE "seenAt" < ?', [unseenSince]);
      });
      return pruned;
    },
  };
}

const workerFrom = (
  worker: NonNullable<Awaited<ReturnType<Client['worker']['findUnique']>>>,
): WorkerRecord => ({
  workerId: workerId(fromColumn(worker.workerId)),
  agents: (unpack(worker.agents) as WorkerRecord['agents']).map(({ name, machineDigest: digest }) => ({
    name,
    machineDigest: machineDigest(digest),
  })),
  firstSeenAt: epochMs(Number(worker.firstSeenAt)),
  seenAt: epochMs(Number(worker.seenAt)),
});
