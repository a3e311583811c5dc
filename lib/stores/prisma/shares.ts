import { epochMs, type RunId, type Sha256 } from '@/lib/core/events/ids';
import type { ShareRecord, ShareStore } from '@/lib/usecases/ports';
import type { Writer } from './catalogue';
import { fromColumn, toColumn } from './packed';
import type { Client } from './prisma-client';

/** Links by id and by the digest of their secret. */
export function shareStore(client: Client, write: Writer): ShareStore {
  return {
    add: (share, secret) =>
      write(async (sql) => {
        await sql.execute(
          'INSERT INTO "Share" ("id", "secret", "runId", "createdBy", "createdAt", "expiresAt") VALUES (?, ?, ?, ?, ?, ?)',
          [
            share.id,
            Buffer.from(secret, 'hex'),
            toColumn(share.runId),
            toColumn(share.createdBy),
            share.createdAt,
            share.expiresAt,
          ],
        );
      }),
    async get(id) {
      const found = await client.share.findUnique({ where: { id } });
      return found === null ? undefined : shareFrom(found);
    },
    async bySecret(secret: Sha256) {
      const found = await client.share.findUnique({ where: { secret: Buffer.from(secret, 'hex') } });
      return found === null ? undefined : shareFrom(found);
    },
    async of(runId: RunId) {
      const found = await client.share.findMany({
        where: { runId: toColumn(runId) },
        orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
      });
      return found.map(shareFrom);
    },
    async revoke(id, by, at) {
      let revoked = 0;
      await write(async (sql) => {
        revoked = await sql.execute(
          'UPDATE "Share" SET "revokedAt" = ?, "revokedBy" = ? WHERE "id" = ? AND "revokedAt" IS NULL',
          [at, toColumn(by), id],
        );
      });
      return revoked > 0;
    },
  };
}

const shareFrom = (share: NonNullable<Awaited<ReturnType<Client['share']['findUnique']>>>): ShareRecord => ({
  id: share.id,
  runId: fromColumn(share.runId) as RunId,
  createdBy: fromColumn(share.createdBy),
  createdAt: epochMs(Number(share.createdAt)),
  expiresAt: epochMs(Number(share.expiresAt)),
  ...(share.revokedAt !== null && {
    revoked: { at: epochMs(Number(share.revokedAt)), by: fromColumn(share.revokedBy ?? '') },
  }),
});
