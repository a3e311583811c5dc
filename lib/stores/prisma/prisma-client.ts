import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import { PrismaClient as PostgresClient } from '@/prisma/postgres/client/client';
import { PrismaClient as SqliteClient } from '@/prisma/sqlite/client/client';

/** What code is typed against: the SQLite client, which can do less. */
export type Client = InstanceType<typeof SqliteClient>;

export const sqliteClient = (adapter: SqlDriverAdapterFactory): Client => new SqliteClient({ adapter });

/** The two clients are built from the same models; their generated types are not assignable to each other. */
export const postgresClient = (adapter: SqlDriverAdapterFactory): Client =>
  new PostgresClient({ adapter }) as unknown as Client;
